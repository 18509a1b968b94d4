"""Loads, stores and atomic operations of a kernel: the class of each and what it costs.

The compiler classes each access by the addresses of a simdgroup's 32 lanes. No setting changes a
class: it follows from the kernel. This module reports it. docs/memory.md explains the figures.
"""
import enum
from typing import Any, List, NamedTuple

from triton_metal import reports


class AccessPattern(enum.Enum):
    """How the addresses of a simdgroup's lanes relate."""

    CONTIGUOUS = "contiguous"  # lane after lane, without a gap
    STRIDED = "strided"  # the same distance from each lane to the next
    BLOCK = "block"  # several unbroken runs: rows of a tile
    GATHER = "gather"  # a load from addresses without such a rule
    SCATTER = "scatter"  # a store or an atomic operation, likewise
    BROADCAST = "broadcast"  # one address for all lanes


class Access(NamedTuple):
    """One access of device memory, as a simdgroup runs it once. A number of 0 is unknown."""

    kind: str  # "load", "store" or "atomic"
    pattern: AccessPattern
    buffer: str  # the parameter; "": the address was loaded
    dtype: str  # of an element in memory, "f32"
    stride: int  # elements from lane to lane; of a block from run to run
    bytes: int  # that the simdgroup moves
    lines: int  # cache lines of 128 bytes that it touches, at most
    fewest_lines: int  # that hold as many bytes
    masked: bool  # a mask may leave lanes out
    reason: str  # for the class
    file: str  # the kernel's source; "": unknown
    line: int

    @property
    def cost(self) -> float:
        """Cache lines touched, divided by the fewest possible; 1.0 is ideal."""
        return self.lines / self.fewest_lines


class MemoryPatternOptimizer:
    """Reports accesses. It changes nothing."""

    def analyze(self, kernel: Any) -> List[Access]:
        """The accesses of a kernel, in the order of its Metal.

        `kernel` is what `fn.warmup(..., grid=...)` or a launch returns, Triton IR, or an op list. A
        stride that is an argument is unknown; as a tl.constexpr it is known.
        """
        text = reports.program_text(kernel)
        return [_access(row) for k in reports.explain(text)["kernels"] for row in k["accesses"]]


def _access(row: "dict[str, Any]") -> Access:
    place = row.get("python", {})
    return Access(
        row["kind"], AccessPattern(row["class"]), row["buffer"], row["type"], row["stride"],
        row["bytes"], row["most_lines"], row["fewest"], row["masked"], row["reason"],
        place.get("file", ""), place.get("line", 0))


memory_pattern_optimizer = MemoryPatternOptimizer()
