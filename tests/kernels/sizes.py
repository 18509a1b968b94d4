"""Tiles from one element to a quarter of a million, ranks to five, one warp to sixteen."""

import torch
import triton
import triton.language as tl

from common import bits, blank, case, ints, normal


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def row_sum(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + row, tl.sum(tl.load(x_ptr + row * n + i, mask=i < n, other=0).to(tl.int32), axis=0))


@triton.jit
def matrix(x_ptr, y_ptr, sum_ptr, A: tl.constexpr, B: tl.constexpr):
    """A large tile read, transposed, written, and summed along its rows."""
    at = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + tl.arange(0, B)[:, None] * A + tl.arange(0, A)[None, :], tl.trans(x))
    tl.store(sum_ptr + tl.arange(0, A), tl.sum(x.to(tl.int32), axis=1))


@triton.jit
def made_not_loaded(y_ptr, seed, BLOCK: tl.constexpr):
    """A tile without memory behind it: numbers are made, hashed and summed."""
    x = tl.arange(0, BLOCK).to(tl.uint32) * 2654435761 + seed.to(tl.uint32)
    x ^= x >> 15
    tl.store(y_ptr, tl.sum((x & 0xFF).to(tl.int32), axis=0))
    tl.store(y_ptr + 1, tl.max((x >> 8).to(tl.int32), axis=0))


@triton.jit
def rank5(x_ptr, y_ptr, z_ptr):
    a = tl.arange(0, 2)[:, None, None, None, None]
    b = tl.arange(0, 4)[None, :, None, None, None]
    c = tl.arange(0, 2)[None, None, :, None, None]
    d = tl.arange(0, 4)[None, None, None, :, None]
    e = tl.arange(0, 8)[None, None, None, None, :]
    x = tl.load(x_ptr + ((((a * 4 + b) * 2 + c) * 4 + d) * 8 + e))
    tl.store(y_ptr + ((((e * 4 + d) * 2 + c) * 4 + b) * 2 + a), x * 2)
    once = tl.sum(tl.sum(x, axis=3), axis=1)
    tl.store(z_ptr + (tl.arange(0, 2)[:, None, None] * 2 + tl.arange(0, 2)[None, :, None]) * 8
             + tl.arange(0, 8)[None, None, :], once)


@triton.jit
def softmax(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=-float("inf")).to(tl.float32)
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n_cols + cols, (e / tl.sum(e, axis=0)).to(tl.float16), mask=mask)


@triton.jit
def many_programs(y_ptr, n, BLOCK: tl.constexpr):
    """More programs than work; the rest do nothing."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, i * i, mask=i < n)


def launches():
    i32, u8, f16 = torch.int32, torch.uint8, torch.float16
    for block in 1, 4, 16, 4096:
        n = 5 * block if block < 64 else 3000
        yield case(copy, ints(n), blank(n, dtype=i32), n, grid=triton.cdiv(n, block), name=f"copy_block_{block}",
                   BLOCK=block)
    for warps in 1, 2, 8, 16:
        yield case(softmax, normal(3, 200).half(), blank(3, 200, dtype=f16), 200, grid=3, name=f"softmax_warps_{warps}",
                   BLOCK=256, warps=warps)
    yield case(row_sum, ints(2, 1), blank(2, dtype=i32), 1, grid=2, name="row_sum_block_1", BLOCK=1)
    yield case(row_sum, ints(2, 13), blank(2, dtype=i32), 13, grid=2, name="row_sum_block_16", BLOCK=16)
    yield case(copy, bits(32768, dtype=u8), blank(32768, dtype=u8), 32768, name="copy_block_32768", BLOCK=32768,
               warps=8)
    yield case(row_sum, bits(1, 65001, dtype=u8), blank(1, dtype=i32), 65001, name="row_sum_block_65536", BLOCK=65536,
               warps=16)
    yield case(softmax, normal(1, 8000).half(), blank(1, 8000, dtype=f16), 8000, name="softmax_block_8192", BLOCK=8192,
               warps=8)
    yield case(matrix, bits(128, 128, dtype=u8), blank(128, 128, dtype=u8), blank(128, dtype=i32), A=128, B=128,
               warps=8)
    yield case(made_not_loaded, blank(2, dtype=i32), 12345, BLOCK=262144, warps=16)
    yield case(rank5, ints(512), blank(512, dtype=i32), blank(32, dtype=i32))
    yield case(many_programs, blank(50, dtype=i32), 50, grid=9, BLOCK=16)
