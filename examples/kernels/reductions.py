"""Reductions over the rows and columns of a matrix: sum, mean, max, min, argmin, any, all, over both axes, and in two
stages. The input of each gets the COALESCED layout: `tmetal analyze examples/kernels/sum_rows.ttir --verbose`."""

import torch
import triton
import triton.language as tl


@triton.jit
def either(a, b):
    return a | b


@triton.jit
def both(a, b):
    return a & b


@triton.jit
def sum_rows(x_ptr, out_ptr, N, stride_m, stride_n, BLOCK: tl.constexpr):
    row_ptr = x_ptr + tl.program_id(0) * stride_m
    acc = 0.0
    for i in range(0, N, BLOCK):
        cols = i + tl.arange(0, BLOCK)
        acc += tl.sum(tl.load(row_ptr + cols * stride_n, mask=cols < N, other=0.0), axis=0)
    tl.store(out_ptr + tl.program_id(0), acc)


@triton.jit
def mean_rows(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * N + cols, mask=cols < N, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, axis=0) / N)


@triton.jit
def range_of_rows(x_ptr, low_ptr, high_ptr, where_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    inside = cols < N
    x = tl.load(x_ptr + row * N + cols, mask=inside, other=0.0)
    low = tl.where(inside, x, float("inf"))
    tl.store(low_ptr + row, tl.min(low, axis=0))
    tl.store(high_ptr + row, tl.max(tl.where(inside, x, float("-inf")), axis=0))
    tl.store(where_ptr + row, tl.argmin(low, axis=0))


@triton.jit
def truths_of_rows(x_ptr, any_ptr, all_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    positive = tl.load(x_ptr + row * N + cols, mask=cols < N, other=0) > 0
    tl.store(any_ptr + row, tl.reduce(positive, 0, either))
    tl.store(all_ptr + row, tl.reduce(positive | (cols >= N), 0, both))


@triton.jit
def sum_columns(x_ptr, out_ptr, M, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.arange(0, ROWS)[:, None]
    cols = tl.program_id(0) * COLS + tl.arange(0, COLS)[None, :]
    x = tl.load(x_ptr + rows * N + cols, mask=(rows < M) & (cols < N), other=0.0)
    out = tl.program_id(0) * COLS + tl.arange(0, COLS)
    tl.store(out_ptr + out, tl.sum(x, axis=0), mask=out < N)


@triton.jit
def sum_both(x_ptr, out_ptr, M, N, ROWS: tl.constexpr, COLS: tl.constexpr):
    rows = tl.arange(0, ROWS)[:, None]
    cols = tl.arange(0, COLS)[None, :]
    x = tl.load(x_ptr + rows * N + cols, mask=(rows < M) & (cols < N), other=0.0)
    tl.store(out_ptr, tl.sum(tl.sum(x, axis=1), axis=0))


@triton.jit
def sum_parts(x_ptr, part_ptr, n, BLOCK: tl.constexpr):
    """The first of two stages: each program leaves the sum of its block. sum_both or sum_rows adds the parts."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(part_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + at, mask=at < n, other=0.0), axis=0))


def launches():
    M, N = 12, 200
    x = torch.randn(M, N).cuda()

    def empty(n, dtype=torch.float32):
        return torch.zeros(n, dtype=dtype).cuda() - 7

    yield "sum_rows", sum_rows, (M,), (x, empty(M), N, x.stride(0), x.stride(1)), dict(BLOCK=64)
    yield "mean_rows", mean_rows, (M,), (x, empty(M), N), dict(BLOCK=256)
    yield "range_of_rows", range_of_rows, (M,), (x, empty(M), empty(M), empty(M, torch.int32), N), dict(BLOCK=256)
    steps = torch.arange(M * N, dtype=torch.int32).reshape(M, N).cuda() - 5 * N - 100  # rows of no, some and all
    truth = [torch.full((M,), 3, dtype=torch.uint8).cuda().view(torch.int8) for _ in range(2)]
    yield "truths_of_rows", truths_of_rows, (M,), (steps, truth[0], truth[1], N), dict(BLOCK=256)
    yield "sum_columns", sum_columns, (4,), (x, empty(N), M, N), dict(ROWS=16, COLS=64)
    yield "sum_both", sum_both, (1,), (x, empty(1), M, N), dict(ROWS=16, COLS=256)
    yield "sum_parts", sum_parts, (5,), (x, empty(5), M * N), dict(BLOCK=512)
