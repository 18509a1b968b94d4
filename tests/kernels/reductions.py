"""Reductions of every kind, axis and type, and the ones that a detector may take for another."""

import torch
import triton
import triton.language as tl

from common import bits, blank, case, ints, normal, uniform, values


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def bit_and(a, b):
    return a & b


@triton.jit
def bit_or(a, b):
    return a | b


# -- One row, one result: the kind is the combiner ------------------------------------------------------------------

@triton.jit
def row_reduce(x_ptr, y_ptr, n_cols, other, BLOCK: tl.constexpr, KIND: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=other)
    if KIND == "sum":
        y = tl.sum(x, axis=0)
    elif KIND == "max":
        y = tl.max(x, axis=0)
    elif KIND == "min":
        y = tl.min(x, axis=0)
    elif KIND == "product":
        y = tl.reduce(x, 0, multiply)
    elif KIND == "and":
        y = tl.reduce(x, 0, bit_and)
    elif KIND == "or":
        y = tl.reduce(x, 0, bit_or)
    elif KIND == "xor":
        y = tl.xor_sum(x, axis=0)
    elif KIND == "add":
        y = tl.reduce(x, 0, add)  # no widening
    tl.store(y_ptr + row, y)


@triton.jit
def sum_of_splat(x_ptr, y_ptr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row)
    many = tl.broadcast_to(x, [BLOCK])
    tl.store(y_ptr + 2 * row, tl.sum(many, axis=0))
    tl.store(y_ptr + 2 * row + 1, tl.max(many, axis=0))


@triton.jit
def sum_where(x_ptr, y_ptr, n_cols, limit, BLOCK: tl.constexpr):
    """Only some elements count; the mask is not the one of the load."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
    chosen = x > limit
    tl.store(y_ptr + 2 * row, tl.sum(tl.where(chosen, x, 0.0), axis=0))
    tl.store(y_ptr + 2 * row + 1, tl.sum(chosen.to(tl.float32), axis=0))


@triton.jit
def count_any_all(x_ptr, count_ptr, any_ptr, all_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=1)
    positive = x > 0
    tl.store(count_ptr + row, tl.sum(positive, axis=0))
    tl.store(any_ptr + row, tl.reduce(positive, 0, bit_or))
    tl.store(all_ptr + row, tl.reduce(positive, 0, bit_and))


@triton.jit
def elementwise_max_is_no_reduction(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.maximum(x, y), mask=i < n)


# -- Axes -----------------------------------------------------------------------------------------------------------

@triton.jit
def middle_axis_after_scale(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.arange(0, A)
    b = tl.arange(0, B)
    c = tl.arange(0, C)
    x = tl.load(x_ptr + (a[:, None, None] * B + b[None, :, None]) * C + c[None, None, :])
    y = tl.sum(x * 2.0 + 1.0, axis=1)
    tl.store(y_ptr + a[:, None] * C + c[None, :], y)


@triton.jit
def every_axis(x_ptr, first_ptr, middle_ptr, last_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.arange(0, A)
    b = tl.arange(0, B)
    c = tl.arange(0, C)
    x = tl.load(x_ptr + (a[:, None, None] * B + b[None, :, None]) * C + c[None, None, :])
    tl.store(first_ptr + b[:, None] * C + c[None, :], tl.max(x, axis=0))
    tl.store(middle_ptr + a[:, None] * C + c[None, :], tl.max(x, axis=1))
    tl.store(last_ptr + a[:, None] * B + b[None, :], tl.max(x, axis=2))


@triton.jit
def axis_none(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    tl.store(y_ptr, tl.sum(x))
    tl.store(y_ptr + 1, tl.min(x))


@triton.jit
def column_sums(x_ptr, y_ptr, n_rows, n_cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)
    acc = tl.zeros([COLS], tl.float32)
    for start in range(0, n_rows, ROWS):
        r = start + tl.arange(0, ROWS)
        x = tl.load(x_ptr + r[:, None] * n_cols + c[None, :],
                    mask=(r[:, None] < n_rows) & (c[None, :] < n_cols), other=0.0)
        acc += tl.sum(x, axis=0)
    tl.store(y_ptr + c, acc, mask=c < n_cols)


@triton.jit
def chained(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr):
    """The largest of the row sums, then the sum of the column maxima."""
    x = tl.load(x_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    tl.store(y_ptr, tl.max(tl.sum(x, axis=1), axis=0))
    tl.store(y_ptr + 1, tl.sum(tl.max(x, axis=0), axis=0))


@triton.jit
def keep_dims(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr):
    at = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, x - tl.max(x, axis=1, keep_dims=True) + tl.sum(x, axis=0, keep_dims=True))


@triton.jit
def axis_of_size_one(x_ptr, y_ptr, A: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, A)[:, None])
    tl.store(y_ptr + tl.arange(0, A), tl.sum(x, axis=1))


# -- In loops -------------------------------------------------------------------------------------------------------

@triton.jit
def sum_in_loop(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = tl.zeros((), tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
        acc += tl.sum(x, axis=0)
    tl.store(y_ptr + row, acc)


@triton.jit
def sum_in_loop_read_too(x_ptr, y_ptr, partial_ptr, n_cols, BLOCK: tl.constexpr):
    """The running sum is stored in every step, so it cannot wait until after the loop."""
    row = tl.program_id(0)
    acc = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
        acc += tl.sum(x, axis=0)
        tl.store(partial_ptr + row * tl.cdiv(n_cols, BLOCK) + start // BLOCK, acc)
    tl.store(y_ptr + row, acc)


@triton.jit
def decayed_sum_in_loop(x_ptr, y_ptr, n_cols, decay, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    acc = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
        acc = acc * decay + tl.sum(x, axis=0)
    tl.store(y_ptr + row, acc)


@triton.jit
def max_and_sum_in_loop(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest = -float("inf")
    total = 0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-float("inf"))
        largest = tl.maximum(largest, tl.max(x, axis=0))
        total += tl.sum((x > 0).to(tl.int32), axis=0)
    tl.store(y_ptr + row * 2, largest)
    tl.store(y_ptr + row * 2 + 1, total.to(tl.float32))


# -- Several operands and own combiners -----------------------------------------------------------------------------

@triton.jit
def argmin_row(x_ptr, value_ptr, index_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=float("inf"))
    value, index = tl.min(x, axis=0, return_indices=True)
    tl.store(value_ptr + row, value)
    tl.store(index_ptr + row, index)


@triton.jit
def argmax_axis1(x_ptr, y_ptr, A: tl.constexpr, B: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    tl.store(y_ptr + tl.arange(0, A), tl.argmax(x, axis=1))


@triton.jit
def smaller_or_nan(value1, index1, value2, index2):
    """As PyTorch has it: NaN is smaller than all, and the first of equals wins."""
    nan1 = value1 != value1
    nan2 = value2 != value2
    first = (value1 < value2) | (nan1 & ~nan2)
    tie = (value1 == value2) | (nan1 & nan2)
    first = first | (tie & (index1 < index2))
    return tl.where(first, value1, value2), tl.where(first, index1, index2)


@triton.jit
def argmin_nan_and_ties(x_ptr, value_ptr, index_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=float("inf"))
    value, index = tl.reduce((x, cols), 0, smaller_or_nan)
    tl.store(value_ptr + row, value)
    tl.store(index_ptr + row, index)


@triton.jit
def compound(a, b):
    return a + b + a * b


@triton.jit
def compound_growth(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=0.0)
    tl.store(y_ptr + row, tl.reduce(x, 0, compound))


@triton.jit
def max_propagating_nan(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def max_with_nan(x_ptr, ignored_ptr, propagated_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-float("inf"))
    tl.store(ignored_ptr + row, tl.max(x, axis=0))
    tl.store(propagated_ptr + row, tl.reduce(x, 0, max_propagating_nan))


@triton.jit
def merge_max_sum(max1, sum1, max2, sum2):
    largest = tl.maximum(max1, max2)
    return largest, sum1 * tl.exp(max1 - largest) + sum2 * tl.exp(max2 - largest)


@triton.jit
def log_sum_exp(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-1e30)
    ones = tl.full([BLOCK], 1.0, tl.float32)
    largest, total = tl.reduce((x, ones), 0, merge_max_sum)
    tl.store(y_ptr + row, largest + tl.log(total))


@triton.jit
def merge_moments(mean1, m2_1, weight1, mean2, m2_2, weight2):
    delta = mean2 - mean1
    weight = weight1 + weight2
    share = tl.where(weight == 0.0, 0.0, weight2 / weight)
    return mean1 + delta * share, m2_1 + m2_2 + delta * delta * weight1 * share, weight


@triton.jit
def welford(x_ptr, mean_ptr, variance_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    mean, m2, weight = tl.reduce((x, tl.zeros_like(x), mask.to(tl.float32)), 0, merge_moments)
    tl.store(mean_ptr + row, mean)
    tl.store(variance_ptr + row, m2 / weight)


@triton.jit
def lexicographic_max(high1, low1, high2, low2):
    first = (high1 > high2) | ((high1 == high2) & (low1 > low2))
    return tl.where(first, high1, high2), tl.where(first, low1, low2)


@triton.jit
def pair_of_two_types(high_ptr, low_ptr, high_out_ptr, low_out_ptr, A: tl.constexpr, B: tl.constexpr):
    """An i8 beside an i64, over the first axis."""
    at = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    high, low = tl.reduce((tl.load(high_ptr + at), tl.load(low_ptr + at)), 0, lexicographic_max)
    tl.store(high_out_ptr + tl.arange(0, B), high)
    tl.store(low_out_ptr + tl.arange(0, B), low)


def launches():
    inf, nan = float("inf"), float("nan")

    def reduce(name, kind, x, result, other, block=128):
        return case(row_reduce, x, blank(x.shape[0], dtype=result), x.shape[1], other, grid=x.shape[0], name=name,
                    BLOCK=block, KIND=kind)

    yield case(sum_of_splat, normal(6), blank(12), grid=6, BLOCK=128)
    yield case(sum_where, normal(5, 100), blank(10), 100, 0.25, grid=5, BLOCK=128)
    x = torch.cat([ints(3, 50, low=-3, high=4), ints(1, 50, low=1, high=5), ints(1, 50, low=-5, high=0)])
    yield case(count_any_all, x, blank(5, dtype=torch.int32), blank(5, dtype=torch.bool), blank(5, dtype=torch.bool),
               50, grid=5, BLOCK=64)
    yield case(elementwise_max_is_no_reduction, normal(100), normal(100), blank(100), 100, grid=2, BLOCK=64)

    yield reduce("sum_i32_past_2_24", "sum", ints(5, 100, low=1 << 22, high=1 << 24), torch.int32, 0)
    yield reduce("sum_i32_wraps", "sum", bits(5, 100), torch.int32, 0)
    yield reduce("sum_i64", "sum", ints(5, 100, low=-1 << 45, high=1 << 45, dtype=torch.int64), torch.int64, 0)
    yield reduce("sum_i8", "sum", bits(5, 100, dtype=torch.int8), torch.int32, 0)
    yield reduce("sum_u8", "sum", bits(5, 100, dtype=torch.uint8), torch.int32, 0)
    yield reduce("add_i8_wraps", "add", bits(5, 100, dtype=torch.int8), torch.int8, 0)
    yield reduce("sum_f16", "sum", normal(5, 100, dtype=torch.float16), torch.float16, 0.0)
    yield reduce("sum_bf16", "sum", normal(5, 100, dtype=torch.bfloat16), torch.bfloat16, 0.0)
    yield reduce("max_bf16", "max", normal(5, 100, dtype=torch.bfloat16), torch.float32, -inf)
    yield reduce("max_all_minus_inf", "max", torch.full((3, 100), -inf).cuda(), torch.float32, -inf)
    yield reduce("sum_with_inf", "sum", values([[1.0, inf, 2.0], [inf, -inf, 0.0], [1.0, nan, 3.0], [1.5, 2.5, -9.0]]),
                 torch.float32, 0.0, block=4)
    yield reduce("product_i64", "product", ints(5, 60, low=-9, high=10, dtype=torch.int64) * 2 + 1, torch.int64, 3)
    yield reduce("min_u32", "min", bits(5, 100, dtype=torch.uint32), torch.uint32, 4000000000)
    yield reduce("max_u8", "max", bits(5, 100, dtype=torch.uint8), torch.int32, 0)
    yield reduce("min_u64", "min", bits(5, 100, dtype=torch.uint64), torch.uint64, 1 << 62)
    yield reduce("and_i32", "and", bits(5, 7), torch.int32, -1, block=8)
    yield reduce("or_i32", "or", ints(5, 100, low=0, high=1 << 30) & ints(5, 100, low=0, high=1 << 30), torch.int32, 0)
    yield reduce("xor_i32", "xor", bits(5, 100), torch.int32, 0)

    yield case(middle_axis_after_scale, normal(4, 8, 16), blank(4, 16), A=4, B=8, C=16)
    yield case(every_axis, normal(4, 8, 16), blank(8, 16), blank(4, 16), blank(4, 8), A=4, B=8, C=16)
    yield case(axis_none, normal(16, 32), blank(2), A=16, B=32)
    yield case(column_sums, normal(70, 45), blank(45), 70, 45, grid=2, ROWS=16, COLS=32)
    yield case(chained, normal(16, 32), blank(2), A=16, B=32)
    yield case(keep_dims, normal(16, 32), blank(16, 32), A=16, B=32)
    yield case(axis_of_size_one, normal(32), blank(32), A=32)

    yield case(sum_in_loop, normal(5, 300), blank(5), 300, grid=5, BLOCK=64)
    yield case(sum_in_loop_read_too, normal(5, 300), blank(5), blank(5, 5), 300, grid=5, BLOCK=64)
    yield case(decayed_sum_in_loop, normal(5, 300), blank(5), 300, 0.5, grid=5, BLOCK=64)
    yield case(max_and_sum_in_loop, normal(5, 300), blank(5, 2), 300, grid=5, BLOCK=64)

    x = ints(5, 100, low=-4, high=5).float()
    yield case(argmin_row, x, blank(5), blank(5, dtype=torch.int32), 100, grid=5, name="argmin_ties", BLOCK=128)
    yield case(argmin_row, normal(5, 50), blank(5), blank(5, dtype=torch.int32), 50, grid=5, name="raw_argmin",
               record="source", BLOCK=64)
    x = ints(6, 100, low=-4, high=5).float()
    x[0, 17] = x[0, 60] = x[2, 99] = x[3, 0] = nan
    x[4, :] = nan
    yield case(argmin_nan_and_ties, x, blank(6), blank(6, dtype=torch.int32), 100, grid=6, BLOCK=128)
    yield case(argmax_axis1, ints(16, 32, low=0, high=9), blank(16, dtype=torch.int32), A=16, B=32)
    yield case(compound_growth, uniform(5, 100, low=-0.02, high=0.02), blank(5), 100, grid=5, BLOCK=128)
    x = normal(5, 40)
    x[1, 3] = x[2, 0] = x[2, 39] = nan
    x[3, :] = nan
    yield case(max_with_nan, x, blank(5), blank(5), 40, grid=5, BLOCK=64)
    yield case(log_sum_exp, normal(5, 100, std=5.0), blank(5), 100, grid=5, BLOCK=128)
    yield case(welford, normal(5, 100, mean=3.0), blank(5), blank(5), 100, grid=5, BLOCK=128)
    yield case(pair_of_two_types, ints(32, 8, low=0, high=3, dtype=torch.int8), bits(32, 8, dtype=torch.int64),
               blank(8, dtype=torch.int8), blank(8, dtype=torch.int64), A=32, B=8)
