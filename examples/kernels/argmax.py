"""Largest value of each row and where it stands; of equal values the first counts."""

import torch
import triton
import triton.language as tl


@triton.jit
def argmax(x_ptr, value_ptr, index_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-float("inf"))
    value, index = tl.max(x, axis=0, return_indices=True)
    tl.store(value_ptr + row, value)
    tl.store(index_ptr + row, index)


def launches():
    n_rows, n_cols = 20, 100
    x = torch.randint(-9, 10, (n_rows, n_cols)).float().cuda()  # few values, so there are ties
    value = torch.full((n_rows,), float("nan")).cuda()
    index = torch.full((n_rows,), -1, dtype=torch.int32).cuda()
    yield "argmax", argmax, (n_rows,), (x, value, index, n_cols), dict(BLOCK=128)
