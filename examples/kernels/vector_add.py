"""Vector addition: the first kernel of every Triton user. One program adds BLOCK neighbouring elements."""

import torch
import triton
import triton.language as tl


@triton.jit
def vector_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def launches():
    n = 1000
    x, y = torch.randn(n).cuda(), torch.randn(n).cuda()
    out = torch.full_like(x, float("nan"))
    yield "vector_add", vector_add, (triton.cdiv(n, 256),), (x, y, out, n), dict(BLOCK=256)
