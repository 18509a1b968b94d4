"""Triton's counter-based random numbers: they must be the same numbers, not only random ones."""

import torch
import triton
import triton.language as tl

from common import blank, case, ints


@triton.jit
def uniform(y_ptr, seed, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.rand(seed, i), mask=i < n)


@triton.jit
def gaussian(y_ptr, seed, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.randn(seed, i), mask=i < n)


@triton.jit
def whole(y_ptr, seed, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.randint(seed, i), mask=i < n)


@triton.jit
def whole_far(y_ptr, seed, start, BLOCK: tl.constexpr):
    """Counters beyond 32 bits."""
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.randint(seed, start + i.to(tl.int64)))


@triton.jit
def four_at_once(y_ptr, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(y_ptr + i, a)
    tl.store(y_ptr + BLOCK + i, b)
    tl.store(y_ptr + 2 * BLOCK + i, c)
    tl.store(y_ptr + 3 * BLOCK + i, d)


@triton.jit
def few_rounds(y_ptr, seed, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.rand(seed, i, n_rounds=4))


@triton.jit
def seeds_from_memory(seed_ptr, y_ptr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + pid * BLOCK + i, tl.randint(tl.load(seed_ptr + pid), i))


def launches():
    i32 = torch.int32
    yield case(uniform, blank(300), 42, 300, grid=3, BLOCK=128)
    yield case(gaussian, blank(300), 42, 300, grid=3, BLOCK=128)
    yield case(gaussian, blank(100), 42, 100, name="raw_gaussian", record="source", BLOCK=128)
    yield case(whole, blank(300, dtype=i32), -7, 300, grid=3, BLOCK=128)
    yield case(whole, blank(100, dtype=i32), 0x123456789ABCDEF, 100, name="long_seed", BLOCK=128)
    yield case(whole_far, blank(64, dtype=i32), 5, (1 << 40) + 3, BLOCK=64)
    yield case(four_at_once, blank(4, 64, dtype=i32), 42, BLOCK=64)
    yield case(few_rounds, blank(64), 42, BLOCK=64)
    yield case(seeds_from_memory, ints(3, low=-1 << 50, high=1 << 50, dtype=torch.int64), blank(3, 64, dtype=i32),
               grid=3, BLOCK=64)
