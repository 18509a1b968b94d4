"""Matrix products planned for a chip.

There is one compiler for all chips. A plan for an M3 differs from one for an M1 where a column of the
GPU table says so: operands straight from device memory (the feature DIRECT_DOT), the number of cores,
bandwidth. The class has the name that the documents use for it.
"""

from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

from metal_hardware_optimizer import AppleSiliconGeneration, hardware_capabilities
from triton_metal import reports


class MatmulPlan(NamedTuple):
    """How one product runs."""

    kernel: str  # its name in the Metal
    tile: Optional[Tuple[int, int]]  # rows and columns that a threadgroup computes; None: no tiles
    threads: int  # per threadgroup
    threadgroups: Tuple[int, int, int]
    threadgroup_bytes: int  # threadgroup memory; 0: operands come straight from device memory
    registers: int  # of 32 bits per thread, estimated


class M3Optimizer:
    """Matrix products for the GPU that kernels are compiled for, whichever chip it is."""

    def is_available(self) -> bool:
        """True if that GPU is an M3 or later."""
        return hardware_capabilities.chip_generation.value >= AppleSiliconGeneration.M3.value

    def optimize_matmul(self, a: Any, b: Any) -> Any:
        """The product of two arrays, as a new array: one op list, compiled for these sizes.

        Sums are kept in float32. A third and further dimensions are batches, as in NumPy.
        """
        op = _matmul(a.shape, b.shape, reports.element(a), reports.element(b))
        return reports.run([op], {"a": a, "b": b})[0]

    def plan_matmul(self, m: int, n: int, k: int, dtype: str = "f32") -> MatmulPlan:
        """The plan of an m by k times k by n product, without running it.

        Of several kernels it is that of the last. Up to 16 rows or columns there are no tiles: the
        matrix is streamed once.
        """
        text = reports.op_list([_matmul((m, k), (k, n), dtype, dtype)])
        kernel = reports.explain(text)["kernels"][-1]
        grid = reports.plan(text)["kernels"][-1]["grid"]
        product = "result of a matrix product"
        tiles = [row["dims"] for row in kernel["layouts"] if row["reason"].startswith(product)]
        return MatmulPlan(
            kernel=kernel["entry"],
            tile=(tiles[0][-2], tiles[0][-1]) if tiles else None,
            threads=kernel["threads_per_threadgroup"],
            threadgroups=(grid["x"], grid["y"], grid["z"]),
            threadgroup_bytes=kernel["threadgroup_bytes"],
            registers=kernel["registers"],
        )


def _matmul(a: Sequence[int], b: Sequence[int], a_type: str, b_type: str) -> Dict[str, Any]:
    return {
        "type": "matmul",
        "id": "product",
        "inputs": ["a", "b"],
        "input_shapes": [list(a), list(b)],
        "input_dtypes": [a_type, b_type],
    }


m3_optimizer = M3Optimizer()
