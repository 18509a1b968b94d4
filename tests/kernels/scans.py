"""Scans: every direction and axis, combiners that do not commute, several operands, loops and what comes after."""

import torch
import triton
import triton.language as tl

from common import bits, blank, case, ints, normal, uniform


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def row_scan(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr, KIND: tl.constexpr, REVERSE: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0)
    if KIND == "sum":
        y = tl.cumsum(x, axis=0, reverse=REVERSE)
    elif KIND == "product":
        y = tl.cumprod(x, axis=0, reverse=REVERSE)
    elif KIND == "max":
        y = tl.associative_scan(x, 0, larger, reverse=REVERSE)
    elif KIND == "add":
        y = tl.associative_scan(x, 0, add, reverse=REVERSE)
    tl.store(y_ptr + row * n_cols + cols, y, mask=mask)


@triton.jit
def tile_scan(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    at = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(y_ptr + at, tl.cumsum(tl.load(x_ptr + at), axis=AXIS, reverse=REVERSE))


@triton.jit
def middle_axis(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    at = (tl.arange(0, A)[:, None, None] * B + tl.arange(0, B)[None, :, None]) * C + tl.arange(0, C)[None, None, :]
    tl.store(y_ptr + at, tl.cumsum(tl.load(x_ptr + at), axis=1))


@triton.jit
def after_other(value1, given1, value2, given2):
    """The last value that was given; not commutative."""
    return tl.where(given2 != 0, value2, value1), given1 | given2


@triton.jit
def forward_fill(x_ptr, given_ptr, y_ptr, BLOCK: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    filled, _ = tl.associative_scan((tl.load(x_ptr + i), tl.load(given_ptr + i)), 0, after_other, reverse=REVERSE)
    tl.store(y_ptr + i, filled)


@triton.jit
def compose(a1, b1, a2, b2):
    """First x -> a1 x + b1, then x -> a2 x + b2."""
    return a1 * a2, a2 * b1 + b2


@triton.jit
def linear_recurrence(a_ptr, b_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    a = tl.load(a_ptr + row * n_cols + cols, mask=mask, other=1.0)
    b = tl.load(b_ptr + row * n_cols + cols, mask=mask, other=0.0)
    _, y = tl.associative_scan((a, b), 0, compose)
    tl.store(y_ptr + row * n_cols + cols, y, mask=mask)


@triton.jit
def linear_recurrence_in_loop(a_ptr, b_ptr, y_ptr, n, BLOCK: tl.constexpr):
    state = 0.0
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + i, mask=i < n, other=1.0)
        b = tl.load(b_ptr + i, mask=i < n, other=0.0)
        factor, y = tl.associative_scan((a, b), 0, compose)
        y += factor * state
        tl.store(y_ptr + i, y, mask=i < n)
        state = tl.sum(tl.where(tl.arange(0, BLOCK) == BLOCK - 1, y, 0.0), axis=0)


@triton.jit
def add_in_segment(value1, starts1, value2, starts2):
    return tl.where(starts2 != 0, value2, value1 + value2), starts1 | starts2


@triton.jit
def segmented_sum(x_ptr, starts_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total, _ = tl.associative_scan((tl.load(x_ptr + i), tl.load(starts_ptr + i)), 0, add_in_segment)
    tl.store(y_ptr + i, total)


@triton.jit
def larger_with_index(value1, index1, value2, index2):
    first = (value1 > value2) | ((value1 == value2) & (index1 < index2))
    return tl.where(first, value1, value2), tl.where(first, index1, index2)


@triton.jit
def running_argmax(x_ptr, value_ptr, index_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value, index = tl.associative_scan((tl.load(x_ptr + i), i), 0, larger_with_index)
    tl.store(value_ptr + i, value)
    tl.store(index_ptr + i, index)


@triton.jit
def scan_in_loop(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    carry = tl.zeros([1], tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        y = tl.cumsum(x, axis=0) + carry
        tl.store(y_ptr + i, y, mask=i < n)
        carry += tl.sum(x, axis=0)


@triton.jit
def scan_of_loop_value(x_ptr, y_ptr, steps, BLOCK: tl.constexpr):
    """Each step scans what the step before made."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for _ in range(steps):
        x = tl.cumsum(x, axis=0) & 0xFF
    tl.store(y_ptr + i, x)


@triton.jit
def two_scans_in_a_row(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.cumsum(tl.cumsum(tl.load(x_ptr + i), axis=0), axis=0))


@triton.jit
def scan_then_gather(x_ptr, index_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    sums = tl.cumsum(tl.load(x_ptr + i), axis=0)
    tl.store(y_ptr + i, tl.gather(sums, tl.load(index_ptr + i), 0))


@triton.jit
def scan_after_reduction(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """The running share of the total."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, tl.cumsum(x / tl.sum(x, axis=0), axis=0))


@triton.jit
def compaction(x_ptr, y_ptr, count_ptr, n, BLOCK: tl.constexpr):
    """Keep the positive elements, in order: the scan of a mask gives their places."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=-1)
    keep = x > 0
    place = tl.cumsum(keep.to(tl.int32), axis=0) - 1
    tl.store(y_ptr + place, x, mask=keep)
    tl.store(count_ptr, tl.max(place, axis=0) + 1)


def launches():
    def scan(name, kind, x, result=None, n=100, reverse=False, block=128):
        y = blank(*x.shape, dtype=result or x.dtype)
        return case(row_scan, x, y, n, grid=x.shape[0], name=name, BLOCK=block, KIND=kind, REVERSE=reverse)

    yield scan("sum_f32", "sum", normal(4, 100))
    yield scan("sum_f32_reverse", "sum", normal(4, 100), reverse=True)
    yield scan("sum_i32_wraps", "sum", bits(4, 100))
    yield scan("sum_i8", "sum", bits(4, 100, dtype=torch.int8), torch.int32)
    yield scan("sum_f16", "sum", uniform(4, 100, dtype=torch.float16))
    yield scan("add_i16_wraps", "add", bits(4, 100, dtype=torch.int16))
    yield scan("product_f32", "product", uniform(4, 100, low=0.9, high=1.1))
    yield scan("max_i32_reverse", "max", ints(4, 100, low=0), reverse=True)
    yield scan("size_one", "sum", normal(4, 1), n=1, block=1)
    yield scan("long_row", "sum", ints(1, 2000, dtype=torch.int16), torch.int32, n=2000, block=2048)

    yield case(tile_scan, normal(16, 32), blank(16, 32), name="axis0", A=16, B=32, AXIS=0, REVERSE=False)
    yield case(tile_scan, normal(16, 32), blank(16, 32), name="axis1_reverse", A=16, B=32, AXIS=1, REVERSE=True)
    yield case(middle_axis, normal(4, 16, 8), blank(4, 16, 8), A=4, B=16, C=8)

    for reverse in False, True:
        given = (torch.rand(2, 128) < 0.2).int().cuda()
        yield case(forward_fill, normal(2, 128), given, blank(2, 128), grid=2,
                   name=f"forward_fill{'_reverse' * reverse}", BLOCK=128, REVERSE=reverse)
    yield case(linear_recurrence, uniform(4, 100), normal(4, 100), blank(4, 100), 100, grid=4, BLOCK=128)
    yield case(linear_recurrence, uniform(4, 50), normal(4, 50), blank(4, 50), 50, grid=4, name="raw_linear_recurrence",
               record="source", BLOCK=64)
    yield case(linear_recurrence_in_loop, uniform(300), normal(300), blank(300), 300, BLOCK=64)
    starts = (torch.rand(256) < 0.05).int().cuda()
    yield case(segmented_sum, normal(256), starts, blank(256), BLOCK=256)
    yield case(running_argmax, ints(128, low=-9, high=10).float(), blank(128), blank(128, dtype=torch.int32), BLOCK=128)
    yield case(scan_in_loop, normal(300), blank(300), 300, BLOCK=64)
    yield case(scan_of_loop_value, ints(64, low=0), blank(64, dtype=torch.int32), 5, BLOCK=64)
    yield case(two_scans_in_a_row, normal(2, 64), blank(2, 64), grid=2, BLOCK=64)
    yield case(scan_then_gather, ints(128), ints(128, low=0, high=128), blank(128, dtype=torch.int32), BLOCK=128)
    yield case(scan_after_reduction, uniform(3, 64), blank(3, 64), grid=3, BLOCK=64)
    yield case(compaction, ints(200), blank(200, dtype=torch.int32), blank(1, dtype=torch.int32), 200, BLOCK=256)
