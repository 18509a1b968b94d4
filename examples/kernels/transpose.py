"""Matrix transpose by tiles: read row by row, turned in registers, written row by row."""

import torch
import triton
import triton.language as tl


@triton.jit
def transpose(x_ptr, out_ptr, n_rows, n_cols, TILE: tl.constexpr):
    i = tl.program_id(0) * TILE + tl.arange(0, TILE)
    j = tl.program_id(1) * TILE + tl.arange(0, TILE)
    x = tl.load(x_ptr + i[:, None] * n_cols + j[None, :], mask=(i[:, None] < n_rows) & (j[None, :] < n_cols))
    tl.store(out_ptr + j[:, None] * n_rows + i[None, :], tl.trans(x),
             mask=(j[:, None] < n_cols) & (i[None, :] < n_rows))


def launches():
    n_rows, n_cols = 50, 37
    x = torch.randn(n_rows, n_cols).cuda()
    out = torch.full((n_cols, n_rows), float("nan")).cuda()
    grid = (triton.cdiv(n_rows, 32), triton.cdiv(n_cols, 32))
    yield "transpose", transpose, grid, (x, out, n_rows, n_cols), dict(TILE=32)
