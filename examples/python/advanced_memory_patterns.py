"""Loads, stores and atomic operations of a kernel by class, with what each costs.

The compiler classes every access by how the addresses of 32 neighboring lanes lie to each other. No
setting changes that; to change a class, change the kernel. This module reports the classes.
"""

import enum
from typing import Any, List, NamedTuple, Optional

from triton_metal import reports


class AccessPattern(enum.Enum):
    """How the addresses of a simdgroup's lanes lie to each other."""

    CONTIGUOUS = "contiguous"  # lane after lane, without a gap
    STRIDED = "strided"  # each lane the same distance further
    BLOCK = "block"  # several unbroken runs: rows of a tile
    GATHER = "gather"  # a load from addresses that follow no such rule
    SCATTER = "scatter"  # the same of a store or an atomic operation
    BROADCAST = "broadcast"  # one address for all lanes


class Access(NamedTuple):
    """One load, store or atomic operation of device memory, as a simdgroup of 32 lanes runs it."""

    kind: str  # "load", "store" or "atomic"
    pattern: AccessPattern
    buffer: str  # the parameter; "" if the address was loaded
    dtype: str  # of an element in memory, "f32"
    width: int  # elements that a lane moves at once
    stride: Optional[int]  # elements from lane to lane (of a block from run to run)
    bytes: int  # that the simdgroup moves
    lines: Optional[int]  # cache lines of 128 bytes that it touches at least
    most_lines: Optional[int]  # at most
    fewest_lines: int  # that the same bytes would need side by side
    repeats: Optional[int]  # times per program
    masked: bool  # a mask may leave lanes out
    reason: str
    file: str  # where the kernel's source has it; "" if unknown
    line: int

    @property
    def cost(self) -> Optional[float]:
        """Cache lines touched over the fewest possible: 1.0 is perfect, 32.0 the worst of f32."""
        return self.most_lines / self.fewest_lines if self.most_lines else None


class MemoryPatternOptimizer:
    """Reports accesses. It changes nothing: layouts follow from the accesses by themselves."""

    def analyze(self, kernel: Any) -> List[Access]:
        """The accesses of a kernel in the order of its Metal.

        `kernel` is what `fn.warmup(..., grid=...)` or a launch returns, Triton IR as text, or an op
        list. Strides that are arguments are not known; pass them as constants to see their cost.
        """
        found = []
        for report in reports.explain(reports.program_text(kernel))["kernels"]:
            found += [_access(row) for row in report["accesses"]]
        return found


def _access(row: "dict[str, Any]") -> Access:
    place = row.get("python", {})
    return Access(
        kind=row["kind"],
        pattern=AccessPattern(row["class"]),
        buffer=row["buffer"],
        dtype=row["type"],
        width=row["width"],
        stride=row["stride"] or None,
        bytes=row["bytes"],
        lines=row["lines"] or None,
        most_lines=row["most_lines"] or None,
        fewest_lines=row["fewest"],
        repeats=row["repeats"] or None,
        masked=row["masked"],
        reason=row["reason"],
        file=place.get("file", ""),
        line=place.get("line", 0),
    )


memory_pattern_optimizer = MemoryPatternOptimizer()
