"""Matrix products planned for a chip.

There is one compiler for all chips. A plan for an M3 differs from one for an M1 where a column of
the GPU table says so: operands straight from device memory, accumulators per simdgroup, cores.
"""
from typing import Any, Dict, NamedTuple, Sequence, Tuple

from metal_hardware_optimizer import AppleSiliconGeneration, capabilities
from triton_metal import reports


class MatmulPlan(NamedTuple):
    """How one product runs."""

    kernel: str  # its name in the Metal
    tile: Tuple[int, ...]  # rows and columns per threadgroup; (): no tiles, a matrix is streamed
    threads: int  # per threadgroup
    threadgroups: Tuple[int, int, int]
    threadgroup_bytes: int  # of threadgroup memory; 0: operands come straight from device memory
    registers: int  # of 32 bits per thread, estimated


class M3Optimizer:
    """Matrix products for the GPU that kernels are compiled for, whichever chip it is."""

    def is_available(self) -> bool:
        """True if that GPU is of an M3 or later."""
        return capabilities().chip_generation.value >= AppleSiliconGeneration.M3.value

    def optimize_matmul(self, a: Any, b: Any) -> Any:
        """The product of two arrays as a new array, by a kernel that is compiled for these sizes.

        Dimensions before the last two are batches, as in NumPy. float16 is summed in float32.
        """
        op = _matmul(a.shape, b.shape, reports.element(a), reports.element(b))
        return reports.run([op], {"a": a, "b": b})[0]

    def plan_matmul(self, m: int, n: int, k: int, dtype: str = "f32") -> MatmulPlan:
        """How an m by k times k by n product runs; of several kernels the last."""
        text = reports.op_list([_matmul((m, k), (k, n), dtype, dtype)])
        kernel = reports.explain(text)["kernels"][-1]
        grid = reports.plan(text)["kernels"][-1]["grid"]
        product = "result of a matrix product"
        tiles = [row["dims"] for row in kernel["layouts"] if row["reason"].startswith(product)]
        return MatmulPlan(
            kernel["entry"], tuple(tiles[0][-2:]) if tiles else (),
            kernel["threads_per_threadgroup"], (grid["x"], grid["y"], grid["z"]),
            kernel["threadgroup_bytes"], kernel["registers"])


def _matmul(a: Sequence[int], b: Sequence[int], a_type: str, b_type: str) -> Dict[str, Any]:
    return {"type": "matmul", "id": "product", "inputs": ["a", "b"],
            "input_shapes": [list(a), list(b)], "input_dtypes": [a_type, b_type]}


m3_optimizer = M3Optimizer()
