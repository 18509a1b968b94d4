"""Double precision: arithmetic, conversions, comparison, elementary functions, reductions and scans."""

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from common import bits, blank, case, ints, normal, uniform, values


@triton.jit
def arithmetic(x_ptr, y_ptr, sum_ptr, difference_ptr, product_ptr, quotient_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    y = tl.load(y_ptr + i, mask=mask)
    tl.store(sum_ptr + i, x + y, mask=mask)
    tl.store(difference_ptr + i, x - y, mask=mask)
    tl.store(product_ptr + i, x * y, mask=mask)
    tl.store(quotient_ptr + i, x / y, mask=mask)


@triton.jit
def exact(x_ptr, y_ptr, bits_ptr, BLOCK: tl.constexpr):
    """Operations that IEEE 754 rounds correctly, as bits; the edges are among the data."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(bits_ptr + i, (x + y).to(tl.int64, bitcast=True))
    tl.store(bits_ptr + BLOCK + i, (x - y).to(tl.int64, bitcast=True))
    tl.store(bits_ptr + 2 * BLOCK + i, (x * y).to(tl.int64, bitcast=True))
    tl.store(bits_ptr + 3 * BLOCK + i, tl.fma(x, y, x).to(tl.int64, bitcast=True))
    tl.store(bits_ptr + 4 * BLOCK + i, tl.sqrt(tl.abs(x)).to(tl.int64, bitcast=True))
    tl.store(bits_ptr + 5 * BLOCK + i, (x / y).to(tl.int64, bitcast=True))


@triton.jit
def edges(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    """Infinities, NaN, zeros and subnormals: NaN is NaN, the rest is exact."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(z_ptr + i, x + y)
    tl.store(z_ptr + BLOCK + i, x * y)
    tl.store(z_ptr + 2 * BLOCK + i, x / y)
    tl.store(z_ptr + 3 * BLOCK + i, tl.sqrt(x))
    tl.store(z_ptr + 4 * BLOCK + i, tl.maximum(x, y))
    tl.store(z_ptr + 5 * BLOCK + i, tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(z_ptr + 6 * BLOCK + i, tl.floor(x) + tl.ceil(y))


@triton.jit
def compare(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    z = (x < y).to(tl.int32) + (x <= y).to(tl.int32) * 2 + (x > y).to(tl.int32) * 4
    z += (x >= y).to(tl.int32) * 8 + (x == y).to(tl.int32) * 16 + (x != y).to(tl.int32) * 32
    tl.store(z_ptr + i, z, mask=i < n)


@triton.jit
def convert(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x.to(y_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def functions(x_ptr, exp_ptr, log_ptr, sin_ptr, cos_ptr, rsqrt_ptr, erf_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    tl.store(exp_ptr + i, tl.exp(x), mask=mask)
    tl.store(log_ptr + i, tl.log(tl.abs(x)), mask=mask)
    tl.store(sin_ptr + i, tl.sin(x), mask=mask)
    tl.store(cos_ptr + i, tl.cos(x), mask=mask)
    tl.store(rsqrt_ptr + i, tl.rsqrt(tl.abs(x)), mask=mask)
    tl.store(erf_ptr + i, tl.erf(x), mask=mask)


@triton.jit
def exp2_log2(x_ptr, exp2_ptr, log2_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(exp2_ptr + i, tl.exp2(x), mask=i < n)
    tl.store(log2_ptr + i, tl.log2(tl.abs(x)), mask=i < n)


@triton.jit
def library(x_ptr, y_ptr, pow_ptr, tanh_ptr, atan2_ptr, cbrt_ptr, expm1_ptr, fmod_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    y = tl.load(y_ptr + i, mask=mask)
    tl.store(pow_ptr + i, libdevice.pow(tl.abs(x), y), mask=mask)
    tl.store(tanh_ptr + i, libdevice.tanh(x), mask=mask)
    tl.store(atan2_ptr + i, libdevice.atan2(y, x), mask=mask)
    tl.store(cbrt_ptr + i, libdevice.cbrt(x), mask=mask)
    tl.store(expm1_ptr + i, libdevice.expm1(x), mask=mask)
    tl.store(fmod_ptr + i, libdevice.fmod(x * 10.0, y), mask=mask)


@triton.jit
def sums(x_ptr, sum_ptr, running_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    tl.store(sum_ptr + row, tl.sum(x, axis=0))
    tl.store(running_ptr + row * n_cols + cols, tl.cumsum(x, axis=0), mask=mask)


@triton.jit
def axpy(x_ptr, y_ptr, alpha: tl.float64, n, BLOCK: tl.constexpr):
    """A scalar argument in double precision."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = alpha * tl.load(x_ptr + i, mask=i < n) + tl.load(y_ptr + i, mask=i < n)
    tl.store(y_ptr + i, y, mask=i < n)


@triton.jit
def compensated_sum(x_ptr, y_ptr, n):
    """Scalars of both precisions in a loop."""
    total = tl.load(x_ptr).to(tl.float64)
    short = tl.load(x_ptr)
    for i in range(1, n):
        x = tl.load(x_ptr + i)
        total += x
        short += x
    tl.store(y_ptr, total - short)
    tl.store(y_ptr + 1, total)


def launches():
    f64, f32, f16 = torch.float64, torch.float32, torch.float16
    inf, nan = float("inf"), float("nan")
    out = lambda count, n=100: [blank(n, dtype=f64) for _ in range(count)]
    yield case(arithmetic, normal(100, dtype=f64), normal(100, dtype=f64), *out(4), 100, BLOCK=128)
    x = values([1.0, 3.0, 1e308, 2.0**-1022, 2.0**-1074, 1 + 2.0**-52, 0.1, 7.0, -0.0, 1e16, 2.0**-1030, 1e300, -5.5,
                123456789.125, 2.0**53, 1e-300], f64)
    y = values([3.0, 7.0, 1e308, 2.0**-1, 2.0**-1074, 1 - 2.0**-53, 0.2, -7.0, 5.0, 1.0, 3.0, 1e-300, 1.1, 3.3,
                -1.0, 1e-20], f64)
    yield case(exact, x, y, blank(6, 16, dtype=torch.int64), BLOCK=16)
    x = values([inf, -inf, nan, 0.0, -0.0, 1.0, inf, nan, 2.5, -2.5, 1e308, -4.0, 2.0**-1074, 0.0, inf, -1.5], f64)
    y = values([1.0, inf, 1.0, 0.0, 3.0, 0.0, -inf, nan, nan, inf, -1e308, 0.5, 0.5, -2.0, 0.0, -0.0], f64)
    yield case(edges, x, y, blank(7, 16, dtype=f64), BLOCK=16)
    x, y = normal(64, dtype=f64), normal(64, dtype=f64)
    y[::4] = x[::4]
    x[3] = y[5] = nan
    x[9], y[10] = inf, -inf
    yield case(compare, x, y, blank(64, dtype=torch.int32), 64, BLOCK=64)

    def change(name, x, dtype):
        n = x.numel()
        return case(convert, x, blank(n, dtype=dtype), n, name=name, BLOCK=triton.next_power_of_2(n))

    yield change("f64_to_f32", normal(100, dtype=f64), f32)
    yield change("f64_to_f16", normal(100, dtype=f64), f16)
    yield change("i64_to_f64", bits(100, dtype=torch.int64), f64)
    yield change("f64_to_i32", uniform(100, low=-2e9, high=2e9, dtype=f64), torch.int32)
    yield change("f64_to_i64", uniform(100, low=-9e18, high=9e18, dtype=f64), torch.int64)
    yield change("f64_to_u64", uniform(100, low=0.0, high=1.8e19, dtype=f64), torch.uint64)

    yield case(functions, uniform(100, low=-6.0, high=6.0, dtype=f64), *out(6), 100, BLOCK=128)
    yield case(exp2_log2, uniform(100, low=-20.0, high=20.0, dtype=f64), *out(2), 100, BLOCK=128)
    yield case(library, uniform(100, low=-3.0, high=3.0, dtype=f64), uniform(100, low=0.5, high=3.0, dtype=f64),
               *out(6), 100, BLOCK=128)
    yield case(sums, normal(3, 100, dtype=f64), blank(3, dtype=f64), blank(3, 100, dtype=f64), 100, grid=3, BLOCK=128)
    yield case(axpy, normal(100, dtype=f64), normal(100, dtype=f64), 0.1, 100, BLOCK=128)
    yield case(compensated_sum, ints(40, low=1, high=1000).float() + 0.125, blank(2, dtype=f64), 40)
