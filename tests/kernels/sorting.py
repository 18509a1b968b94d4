"""Sort, top-k, gather, histogram and scalar functions mapped over tensors."""

import torch
import triton
import triton.language as tl

from common import bits, blank, case, ints, normal, uniform


@triton.jit
def sort(x_ptr, y_ptr, BLOCK: tl.constexpr, DESCENDING: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.sort(tl.load(x_ptr + i), descending=DESCENDING))


@triton.jit
def sort_rows(x_ptr, y_ptr, n_cols, A: tl.constexpr, B: tl.constexpr):
    """Ragged rows: what lies outside is larger than all."""
    r = tl.arange(0, A)[:, None]
    c = tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + r * n_cols + c, mask=c < n_cols, other=float("inf"))
    tl.store(y_ptr + r * n_cols + c, tl.sort(x, dim=1), mask=c < n_cols)


@triton.jit
def sort_with_index(x_ptr, value_ptr, index_ptr, BLOCK: tl.constexpr):
    """Key and index in one 64-bit number."""
    i = tl.arange(0, BLOCK)
    packed = (tl.load(x_ptr + i).to(tl.int64) << 32) | i.to(tl.int64)
    packed = tl.sort(packed)
    tl.store(value_ptr + i, (packed >> 32).to(tl.int32))
    tl.store(index_ptr + i, (packed & 0xFFFFFFFF).to(tl.int32))


@triton.jit
def top_k(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr, K: tl.constexpr):
    r = tl.arange(0, A)[:, None]
    x = tl.load(x_ptr + r * B + tl.arange(0, B)[None, :])
    tl.store(y_ptr + r * K + tl.arange(0, K)[None, :], tl.topk(x, K))


@triton.jit
def median(x_ptr, y_ptr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.sort(tl.load(x_ptr + pid * BLOCK + i))
    tl.store(y_ptr + pid, tl.sum(tl.where(i == BLOCK // 2, x, 0.0), axis=0))


@triton.jit
def gather(x_ptr, index_ptr, y_ptr, N: tl.constexpr, M: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    m = tl.arange(0, M)
    tl.store(y_ptr + m, tl.gather(x, tl.load(index_ptr + m), 0))


@triton.jit
def gather_2d(x_ptr, index_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr, R: tl.constexpr, S: tl.constexpr,
              AXIS: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    at = tl.arange(0, R)[:, None] * S + tl.arange(0, S)[None, :]
    tl.store(y_ptr + at, tl.gather(x, tl.load(index_ptr + at), AXIS))


@triton.jit
def gather_computed(x_ptr, y_ptr, rounds, BLOCK: tl.constexpr):
    """A permutation of registers again and again, with an index that is made, not loaded."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for k in range(rounds):
        x = tl.gather(x, (i * 3 + k) % BLOCK, 0) + 1
    tl.store(y_ptr + i, x)


@triton.jit
def histogram(x_ptr, y_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    counts = tl.histogram(x, BINS)
    tl.store(y_ptr + tl.arange(0, BINS), counts)
    masked = tl.histogram(x, BINS, mask=i < n)
    tl.store(y_ptr + BINS + tl.arange(0, BINS), masked)


@triton.jit
def histogram_in_loop(x_ptr, y_ptr, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    counts = tl.zeros([BINS], tl.int32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0)
        counts += tl.histogram(x, BINS, mask=i < n)
    tl.store(y_ptr + tl.arange(0, BINS), tl.cumsum(counts, axis=0))


@triton.jit
def three_ways(x, y):
    if x < y:
        return -1
    elif x == y:
        return 0
    else:
        return 1


@triton.jit
def map_compare(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(z_ptr + i, tl.map_elementwise(three_ways, tl.load(x_ptr + i), tl.load(y_ptr + i)))


@triton.jit
def divide_or_root(x, y):
    if y > 0:
        quotient = x / y
        rest = x - y
    else:
        quotient = tl.sqrt(x * x + 1.0)
        rest = y
    return quotient, rest


@triton.jit
def map_two_results(x_ptr, y_ptr, quotient_ptr, rest_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    quotient, rest = tl.map_elementwise(divide_or_root, tl.load(x_ptr + i), tl.load(y_ptr + i))
    tl.store(quotient_ptr + i, quotient)
    tl.store(rest_ptr + i, rest)


@triton.jit
def pair_of_squares(x0, x1):
    return x0 * x0, x1 * x1


@triton.jit
def map_in_pairs(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """Two elements at a time; it does not matter which two."""
    i = tl.arange(0, BLOCK)
    y = tl.map_elementwise(pair_of_squares, tl.load(x_ptr + i), pack=2)
    tl.store(y_ptr + i, y[0])


@triton.jit
def collatz_steps(x):
    steps = 0
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    return steps


@triton.jit
def map_with_loop(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """Every element loops as long as it needs."""
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.map_elementwise(collatz_steps, tl.load(x_ptr + i)))


def launches():
    i32, f16 = torch.int32, torch.float16
    yield case(sort, normal(2, 128), blank(2, 128), grid=2, BLOCK=128, DESCENDING=False)
    yield case(sort, normal(2, 64), blank(2, 64), grid=2, name="sort_descending", BLOCK=64, DESCENDING=True)
    for dtype, name in (torch.int8, "i8"), (torch.uint32, "u32"):
        yield case(sort, bits(128, dtype=dtype), blank(128, dtype=dtype), name=f"sort_{name}", BLOCK=128,
                   DESCENDING=False)
    yield case(sort, bits(64, dtype=torch.int64), blank(64, dtype=torch.int64), name="sort_i64", BLOCK=64,
               DESCENDING=True)
    yield case(sort, normal(128, dtype=f16), blank(128, dtype=f16), name="sort_f16", BLOCK=128, DESCENDING=False)
    yield case(sort, normal(1024).half(), blank(1024, dtype=f16), name="sort_long", BLOCK=1024, DESCENDING=False,
               warps=8)
    yield case(sort, normal(32), blank(32), name="raw_sort", record="source", BLOCK=32, DESCENDING=False)
    yield case(sort_rows, normal(8, 50), blank(8, 50), 50, A=8, B=64)
    yield case(sort_with_index, ints(64, low=-5, high=5), blank(64, dtype=i32), blank(64, dtype=i32), BLOCK=64)
    yield case(top_k, normal(4, 64), blank(4, 8), A=4, B=64, K=8)
    yield case(top_k, ints(8, 32), blank(8, 1, dtype=i32), name="top_1", A=8, B=32, K=1)
    yield case(median, normal(3, 32), blank(3), grid=3, BLOCK=32)
    yield case(gather, normal(128), ints(32, low=0, high=128), blank(32), N=128, M=32)
    yield case(gather_2d, normal(16, 32), ints(8, 32, low=0, high=16), blank(8, 32), name="gather_axis0",
               A=16, B=32, R=8, S=32, AXIS=0)
    yield case(gather_2d, normal(16, 32), ints(16, 64, low=0, high=32), blank(16, 64), name="gather_axis1",
               A=16, B=32, R=16, S=64, AXIS=1)
    yield case(gather_computed, ints(64), blank(64, dtype=i32), 4, BLOCK=64)
    yield case(histogram, ints(256, low=0, high=16), blank(2, 16, dtype=i32), 200, BLOCK=256, BINS=16)
    yield case(histogram_in_loop, ints(700, low=0, high=32), blank(32, dtype=i32), 700, BLOCK=256, BINS=32)
    yield case(map_compare, ints(128, low=0, high=5), ints(128, low=0, high=5), blank(128, dtype=i32), BLOCK=128)
    yield case(map_compare, ints(64, low=0, high=5), ints(64, low=0, high=5), blank(64, dtype=i32),
               name="raw_map_compare", record="source", BLOCK=64)
    yield case(map_two_results, normal(128), normal(128), blank(128), blank(128), BLOCK=128)
    yield case(map_in_pairs, normal(512), blank(512), BLOCK=512)
    yield case(map_with_loop, ints(64, low=1, high=60), blank(64, dtype=i32), BLOCK=64)
