"""Dropout with a seed: the mask comes from Triton's counter-based generator and is never stored."""

import torch
import triton
import triton.language as tl


@triton.jit
def dropout(x_ptr, y_ptr, n, p, seed, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    keep = tl.rand(seed, offsets) > p
    tl.store(y_ptr + offsets, tl.where(keep, x / (1 - p), 0.0), mask=mask)


def launches():
    n = 1000
    x = torch.randn(n).cuda()
    y = torch.full_like(x, float("nan"))
    yield "dropout", dropout, (triton.cdiv(n, 512),), (x, y, n, 0.3, 1234), dict(BLOCK=512)
