"""Rotary position embedding: the two halves of each head are turned by an angle that depends on the position."""

import torch
import triton
import triton.language as tl


@triton.jit
def rope(x_ptr, out_ptr, n_heads, base, HALF: tl.constexpr):
    position = tl.program_id(0)
    head = tl.program_id(1)
    i = tl.arange(0, HALF)
    angle = position * tl.exp(-tl.log(base) * i / HALF)
    cos = tl.cos(angle)
    sin = tl.sin(angle)
    start = (position * n_heads + head) * 2 * HALF
    low = tl.load(x_ptr + start + i)
    high = tl.load(x_ptr + start + HALF + i)
    tl.store(out_ptr + start + i, low * cos - high * sin)
    tl.store(out_ptr + start + HALF + i, high * cos + low * sin)


def launches():
    positions, heads, dim = 21, 3, 32
    x = torch.randn(positions, heads, dim).cuda()
    out = torch.full_like(x, float("nan"))
    yield "rope", rope, (positions, heads), (x, out, heads, 10000.0), dict(HALF=dim // 2)
