"""Layouts of values, as tmetal chooses them.

A layout says which thread holds which element of a tile. Data in memory stay where they are: nothing
is rearranged, and there is nothing to switch on. `get_memory_layout_for_op` compiles the operation
for the GPU at hand and returns the layout that its plan has.
"""

import enum
import math
from typing import Any, Mapping, Union

from triton_metal import reports


class MemoryLayout(enum.IntFlag):
    """Layouts by name. Several may hold at once, so test bits: `layout & COALESCED == COALESCED`."""

    DEFAULT = 0  # one element per thread in turn, or no choice was needed
    ROW_MAJOR = 1  # neighboring lanes hold neighbors along the last axis
    COLUMN_MAJOR = 2  # neighboring lanes hold neighbors along the first axis
    TILED = 4  # 8 by 8 simdgroup tiles: operands and results of matrix products
    COALESCED = 8  # input of a reduction: combined per thread, simdgroup, threadgroup


class MetalMemoryManager:
    """Answers which layout an operation gets. It allocates nothing and keeps no state."""

    def get_memory_layout_for_op(self, op: Union[str, Mapping[str, Any]]) -> MemoryLayout:
        """The layout in which an operation does its work: of a reduction that of its input, of a
        matrix product that of its accumulator, else that of its largest tile.

        `op` is an operation of an op list, `{"type": "tt.sum", "input_shapes": [[512, 512]],
        "args": {"axis": 1}}`, or its short form `"tt.sum:[512,512]:1"`.
        """
        text = op if isinstance(op, str) else reports.op_list([op])
        best, layout = (False, False, 0), MemoryLayout.DEFAULT
        for kernel in reports.explain(text)["kernels"]:
            for row in kernel["layouts"]:
                if not row["held"]:
                    continue
                bits = MemoryLayout(row["layout"])
                rank = (
                    bool(bits & MemoryLayout.COALESCED),
                    bool(bits & MemoryLayout.TILED),
                    math.prod(row["dims"]),
                )
                if rank > best:
                    best, layout = rank, bits
        return layout


_manager = MetalMemoryManager()


def get_metal_memory_manager() -> MetalMemoryManager:
    """The memory manager."""
    return _manager
