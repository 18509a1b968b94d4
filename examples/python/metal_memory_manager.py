"""Layouts of values, as tmetal chooses them (docs/layouts.md).

A layout says which thread holds which element of a tile. Data in memory stay where they are:
nothing is rearranged, and there is nothing to switch on.
"""
import enum
import math
from typing import Any, Mapping, Union

from triton_metal import reports


class MemoryLayout(enum.IntFlag):
    """Layouts by name. Several may hold at once, so test bits."""

    DEFAULT = 0  # one element per thread in turn, or no choice was needed
    ROW_MAJOR = 1  # neighboring lanes hold neighbors along the last axis
    COLUMN_MAJOR = 2  # along the first axis
    TILED = 4  # 8 by 8 simdgroup tiles: operands and results of matrix products
    COALESCED = 8  # input of a reduction: combined per thread, simdgroup, threadgroup


class MetalMemoryManager:
    """Tells which layout an operation gets. It allocates nothing and keeps no state."""

    def get_memory_layout_for_op(self, op: Union[str, Mapping[str, Any]]) -> MemoryLayout:
        """The layout of a reduction's input, a product's accumulator, or else the largest tile.

        The operation is compiled for the current GPU. `op` is one of an op list, such as
        {"type": "tt.sum", "input_shapes": [[512, 512]], "args": {"axis": 1}}, or its short form
        "tt.sum:[512,512]:1".
        """
        report = reports.explain(op if isinstance(op, str) else reports.op_list([op]))
        rows = [row for kernel in report["kernels"] for row in kernel["layouts"] if row["held"]]
        best = max(rows, default={"layout": 0}, key=lambda row: (
            row["layout"] & MemoryLayout.COALESCED, row["layout"] & MemoryLayout.TILED,
            math.prod(row["dims"])))
        return MemoryLayout(best["layout"])


_manager = MetalMemoryManager()


def get_metal_memory_manager() -> MetalMemoryManager:
    """The memory manager."""
    return _manager
