"""Reshape, transpose, permute, join, split, broadcast and their kin, ranks 0 to 5: data that only move."""

import torch
import triton
import triton.language as tl

from common import bits, blank, case, ints, normal


@triton.jit
def reshape_to_rank5(x_ptr, y_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    m = tl.reshape(x, (2, 2, N // 16, 2, 2))
    m = tl.permute(m, (4, 2, 0, 3, 1))
    tl.store(y_ptr + tl.arange(0, N), tl.reshape(m, (N,)))


@triton.jit
def reshape_matrix(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr):
    """A by B read as B by A: not a transpose."""
    x = tl.load(x_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    y = tl.reshape(x, (B, A))
    tl.store(y_ptr + tl.arange(0, B)[:, None] * A + tl.arange(0, A)[None, :], y)


@triton.jit
def transpose(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    tl.store(y_ptr + tl.arange(0, B)[:, None] * A + tl.arange(0, A)[None, :], tl.trans(x))


@triton.jit
def flatten_of_transpose(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    tl.store(y_ptr + tl.arange(0, A * B), tl.ravel(tl.trans(x)))


@triton.jit
def permute_3d(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.arange(0, A)
    b = tl.arange(0, B)
    c = tl.arange(0, C)
    x = tl.load(x_ptr + (a[:, None, None] * B + b[None, :, None]) * C + c[None, None, :])
    y = tl.permute(x, (2, 0, 1))
    tl.store(y_ptr + (c[:, None, None] * A + a[None, :, None]) * B + b[None, None, :], y)


@triton.jit
def permute_4d(x_ptr, y_ptr, N: tl.constexpr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr):
    x = tl.reshape(tl.load(x_ptr + tl.arange(0, N)), (A, B, C, D))
    tl.store(y_ptr + tl.arange(0, N), tl.reshape(tl.permute(x, (0, 2, 3, 1)), (N,)))


@triton.jit
def join_split(x_ptr, y_ptr, joined_ptr, difference_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    joined = tl.join(tl.load(x_ptr + i), tl.load(y_ptr + i))
    tl.store(joined_ptr + 2 * i[:, None] + tl.arange(0, 2)[None, :], joined)
    left, right = tl.split(joined * 2)
    tl.store(difference_ptr + i, left - right)


@triton.jit
def interleave(x_ptr, y_ptr, z_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(z_ptr + tl.arange(0, 2 * N), tl.interleave(tl.load(x_ptr + i), tl.load(y_ptr + i)))


@triton.jit
def deinterleave(x_ptr, even_ptr, odd_ptr, N: tl.constexpr):
    """Complex numbers as pairs: real and imaginary parts are taken apart and multiplied by i."""
    x = tl.load(x_ptr + tl.arange(0, 2 * N))
    re, im = tl.split(tl.reshape(x, (N, 2)))
    tl.store(even_ptr + tl.arange(0, N), -im)
    tl.store(odd_ptr + tl.arange(0, N), re)


@triton.jit
def interleave_rows(x_ptr, y_ptr, z_ptr, A: tl.constexpr, B: tl.constexpr):
    """The last axis doubles, in a matrix."""
    at = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    z = tl.interleave(tl.load(x_ptr + at), tl.load(y_ptr + at))
    tl.store(z_ptr + tl.arange(0, A)[:, None] * 2 * B + tl.arange(0, 2 * B)[None, :], z)


@triton.jit
def split_halves(x_ptr, low_ptr, high_ptr, N: tl.constexpr):
    """First and second half: reshape to (2, N), turn, split."""
    x = tl.reshape(tl.load(x_ptr + tl.arange(0, 2 * N)), (2, N))
    low, high = tl.split(tl.trans(x))
    tl.store(low_ptr + tl.arange(0, N), low)
    tl.store(high_ptr + tl.arange(0, N), high)


@triton.jit
def join_of_scalars(x_ptr, y_ptr):
    pair = tl.join(tl.load(x_ptr), tl.load(x_ptr + 1))
    tl.store(y_ptr + tl.arange(0, 2), pair + 1.0)
    first, second = tl.split(pair * 3.0)
    tl.store(y_ptr + 2, first - second)


@triton.jit
def cat_then_sum(x_ptr, y_ptr, z_ptr, N: tl.constexpr):
    """cat may reorder, so only what does not depend on the order is kept."""
    i = tl.arange(0, N)
    both = tl.cat(tl.load(x_ptr + i), tl.load(y_ptr + i), can_reorder=True)
    tl.store(z_ptr, tl.sum(both, axis=0))
    tl.store(z_ptr + 1, tl.max(both, axis=0))


@triton.jit
def flip(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(y_ptr + at, tl.flip(tl.load(x_ptr + at), 1))


@triton.jit
def flip_first_axis(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(y_ptr + at, tl.flip(tl.load(x_ptr + at), 0))


@triton.jit
def broadcasts(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    """Ranks 1 to 3 meet: (A, 1, 1), (1, B, 1), (C,) and a scalar."""
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    scale = tl.load(x_ptr + A)
    y = tl.load(x_ptr + a) * scale + b * 10 - c
    tl.store(y_ptr + (a * B + b) * C + c, y)


@triton.jit
def expand_rank5(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr, E: tl.constexpr):
    a = tl.arange(0, A)[:, None, None, None, None]
    b = tl.arange(0, B)[None, :, None, None, None]
    c = tl.arange(0, C)[None, None, :, None, None]
    d = tl.arange(0, D)[None, None, None, :, None]
    e = tl.arange(0, E)[None, None, None, None, :]
    at = (((a * B + b) * C + c) * D + d) * E + e
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, x - tl.max(x, axis=3, keep_dims=True))


@triton.jit
def rank5_permuted_store(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr,
                         E: tl.constexpr):
    a = tl.arange(0, A)[:, None, None, None, None]
    b = tl.arange(0, B)[None, :, None, None, None]
    c = tl.arange(0, C)[None, None, :, None, None]
    d = tl.arange(0, D)[None, None, None, :, None]
    e = tl.arange(0, E)[None, None, None, None, :]
    x = tl.load(x_ptr + (((a * B + b) * C + c) * D + d) * E + e)
    tl.store(y_ptr + (((e * C + c) * A + a) * D + d) * B + b, x)


@triton.jit
def rank0(x_ptr, y_ptr):
    """One element in a 1 by 1 tile, and the scalar out of it."""
    x = tl.load(x_ptr + tl.zeros([1, 1], tl.int32))
    tl.store(y_ptr, tl.sum(x) * 2.0)
    tl.store(y_ptr + 1 + tl.zeros([1], tl.int32), tl.reshape(x, (1,)) + 1.0)


@triton.jit
def unsplat(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """A one-element tensor becomes a scalar again, by item()."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    one = tl.sum(x, axis=0, keep_dims=True)
    tl.store(y_ptr, one.item() + 1.0)
    tl.store(y_ptr + 1 + i, x - one)


@triton.jit
def nibbles(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr):
    """Four-bit numbers, two in a byte, unpacked side by side as quantised weights are."""
    r = tl.arange(0, A)[:, None]
    x = tl.load(x_ptr + r * B + tl.arange(0, B)[None, :])
    low = (x & 0xF).to(tl.int8) - 8
    high = (x >> 4).to(tl.int8) - 8
    y = tl.reshape(tl.join(low, high), (A, 2 * B))
    tl.store(y_ptr + r * 2 * B + tl.arange(0, 2 * B)[None, :], y.to(tl.float16))


def launches():
    i32 = torch.int32
    yield case(reshape_to_rank5, normal(256), blank(256), N=256)
    yield case(reshape_matrix, normal(8, 32), blank(32, 8), A=8, B=32)
    yield case(transpose, bits(64, 16, dtype=torch.int8), blank(16, 64, dtype=torch.int8), name="transpose_i8",
               A=64, B=16)
    yield case(flatten_of_transpose, normal(8, 32), blank(256), A=8, B=32)
    yield case(permute_3d, normal(4, 8, 16), blank(16, 4, 8), A=4, B=8, C=16)
    yield case(permute_4d, ints(512), blank(512, dtype=i32), N=512, A=2, B=4, C=8, D=8)
    yield case(join_split, ints(64), ints(64), blank(128, dtype=i32), blank(64, dtype=i32), N=64)
    yield case(interleave, normal(64), normal(64), blank(128), N=64)
    yield case(deinterleave, normal(128), blank(64), blank(64), N=64)
    half = torch.float16
    yield case(interleave_rows, normal(8, 16, dtype=half), normal(8, 16, dtype=half), blank(8, 32, dtype=half), A=8,
               B=16)
    yield case(split_halves, normal(128), blank(64), blank(64), N=64)
    yield case(join_of_scalars, normal(2), blank(3))
    yield case(cat_then_sum, ints(64), ints(64), blank(2, dtype=i32), N=64)
    yield case(flip, normal(8, 32), blank(8, 32), A=8, B=32)
    yield case(flip_first_axis, normal(16, 8), blank(16, 8), A=16, B=8)
    yield case(broadcasts, normal(5), blank(4, 8, 16), A=4, B=8, C=16)
    yield case(expand_rank5, normal(2, 4, 2, 8, 4), blank(2, 4, 2, 8, 4), A=2, B=4, C=2, D=8, E=4)
    yield case(rank5_permuted_store, normal(2, 4, 2, 8, 4), blank(4, 2, 2, 8, 4), A=2, B=4, C=2, D=8, E=4)
    yield case(rank0, normal(1), blank(2))
    yield case(unsplat, normal(32), blank(33), BLOCK=32)
    yield case(nibbles, bits(8, 16, dtype=torch.uint8), blank(8, 32, dtype=torch.float16), A=8, B=16)
