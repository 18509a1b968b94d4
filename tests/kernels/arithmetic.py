"""Integers that wrap, divide and shift; floats at their edges; comparisons, selections and elementary functions."""

import torch
import triton
import triton.language as tl

from common import SIGNED, bits, blank, case, ints, normal, uniform, values


# -- Integers -------------------------------------------------------------------------------------------------------

@triton.jit
def operate(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    """In the type of the operands. Each result is a row of z."""
    i = tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=1)
    y = tl.load(y_ptr + i, mask=mask, other=1)
    if KIND == "wrap":
        tl.store(z_ptr + i, x + y, mask=mask)
        tl.store(z_ptr + n + i, x - y, mask=mask)
        tl.store(z_ptr + 2 * n + i, x * y, mask=mask)
        tl.store(z_ptr + 3 * n + i, -x, mask=mask)
    elif KIND == "divide":
        tl.store(z_ptr + i, x // y, mask=mask)
        tl.store(z_ptr + n + i, x % y, mask=mask)
    elif KIND == "compare":
        z = (x < y).to(tl.int8) + (x <= y).to(tl.int8) * 2 + (x > y).to(tl.int8) * 4
        z += (x >= y).to(tl.int8) * 8 + (x == y).to(tl.int8) * 16 + (x != y).to(tl.int8) * 32
        tl.store(z_ptr + i, z, mask=mask)
    elif KIND == "min_max":
        tl.store(z_ptr + i, tl.minimum(x, y), mask=mask)
        tl.store(z_ptr + n + i, tl.maximum(x, y), mask=mask)
    elif KIND == "shift":
        tl.store(z_ptr + i, x << y, mask=mask)
        tl.store(z_ptr + n + i, x >> y, mask=mask)
    elif KIND == "bitwise":
        tl.store(z_ptr + i, ((x & ~y) | (y ^ x)) ^ (x | y), mask=mask)


@triton.jit
def four_widths(x8_ptr, y8_ptr, z8_ptr, x16_ptr, y16_ptr, z16_ptr, x32_ptr, y32_ptr, z32_ptr, x64_ptr, y64_ptr, z64_ptr,
                n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    operate(x8_ptr, y8_ptr, z8_ptr, n, BLOCK, KIND)
    operate(x16_ptr, y16_ptr, z16_ptr, n, BLOCK, KIND)
    operate(x32_ptr, y32_ptr, z32_ptr, n, BLOCK, KIND)
    operate(x64_ptr, y64_ptr, z64_ptr, n, BLOCK, KIND)


@triton.jit
def compare(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    """All six, as bits of one number."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    z = (x < y).to(tl.int32) + (x <= y).to(tl.int32) * 2 + (x > y).to(tl.int32) * 4
    z += (x >= y).to(tl.int32) * 8 + (x == y).to(tl.int32) * 16 + (x != y).to(tl.int32) * 32
    tl.store(z_ptr + i, z, mask=i < n)


@triton.jit
def mixed_signs(x_ptr, y_ptr, sum_ptr, less_ptr, quotient_ptr, BLOCK: tl.constexpr):
    """A signed and an unsigned operand of one width: unsigned wins."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(sum_ptr + i, x + y)
    tl.store(less_ptr + i, (x < y).to(tl.int32))
    tl.store(quotient_ptr + i, x.to(tl.uint32) // y)


@triton.jit
def mixed_widths(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    """i8 and i32 make i32, and the sum with an i64 an i64."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(z_ptr + i, x * y + y.to(tl.int64) * 1000)


@triton.jit
def shift_narrow_by_wide(x_ptr, y_ptr, left_ptr, right_ptr, BLOCK: tl.constexpr):
    """An i8 by 0 to 31: the operand is widened to i32 first, so every count is below the width."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(left_ptr + i, x << y)
    tl.store(right_ptr + i, x >> y)


@triton.jit
def shift_past_the_width(x_ptr, y_ptr, left_ptr, right_ptr, BLOCK: tl.constexpr):
    """Counts of 0 to 63 on 32 bits; those past the width are replaced after the shift, which leaves them defined."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(left_ptr + i, tl.where(y < 32, x << y, 0))
    tl.store(right_ptr + i, tl.where(y < 32, x >> y, x >> 31))


@triton.jit
def logic(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    """Booleans: and, or, xor, not, and their sum, which is theirs modulo two when kept as a boolean."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i) > 0
    y = tl.load(y_ptr + i) > 0
    z = (x & y).to(tl.int32) + (x | y).to(tl.int32) * 2 + (x ^ y).to(tl.int32) * 4 + (~x).to(tl.int32) * 8
    z += (x == y).to(tl.int32) * 16 + (x < y).to(tl.int32) * 32
    tl.store(z_ptr + i, z)


@triton.jit
def high_half(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(z_ptr + i, tl.umulhi(tl.load(x_ptr + i), tl.load(y_ptr + i)))


@triton.jit
def absolute(x_ptr, y_ptr, minus_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.abs(x), mask=i < n)
    tl.store(minus_ptr + i, -x, mask=i < n)


@triton.jit
def hash_mix(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """A chain of wrapping multiplies, shifts and xors on unsigned numbers."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    x ^= x >> 16
    x *= 0x85EBCA6B
    x ^= x >> 13
    x *= 0xC2B2AE35
    x ^= x >> 16
    tl.store(y_ptr + i, x)


# -- Floats ---------------------------------------------------------------------------------------------------------

@triton.jit
def float_ops(x_ptr, y_ptr, sum_ptr, product_ptr, quotient_ptr, fused_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(sum_ptr + i, x + y)
    tl.store(product_ptr + i, x * y - x)
    tl.store(quotient_ptr + i, x / y)
    tl.store(fused_ptr + i, tl.fma(x, y, x))


@triton.jit
def signed_zeros(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    """Results as bits: the sign of a zero is seen."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(z_ptr + i, (x + y).to(tl.int32, bitcast=True))
    tl.store(z_ptr + BLOCK + i, (x * y).to(tl.int32, bitcast=True))
    tl.store(z_ptr + 2 * BLOCK + i, (x - y).to(tl.int32, bitcast=True))
    tl.store(z_ptr + 3 * BLOCK + i, tl.abs(x).to(tl.int32, bitcast=True))
    tl.store(z_ptr + 4 * BLOCK + i, tl.sqrt_rn(tl.where(x < 0.0, 4.0, x)).to(tl.int32, bitcast=True))
    tl.store(z_ptr + 5 * BLOCK + i, tl.floor(x).to(tl.int32, bitcast=True))
    tl.store(z_ptr + 6 * BLOCK + i, tl.ceil(x).to(tl.int32, bitcast=True))
    low = tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)
    high = tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)
    tl.store(z_ptr + 7 * BLOCK + i, low.to(tl.int32, bitcast=True))
    tl.store(z_ptr + 8 * BLOCK + i, high.to(tl.int32, bitcast=True))
    tl.store(z_ptr + 9 * BLOCK + i, (x == y).to(tl.int32))


@triton.jit
def denormals(x_ptr, y_ptr, bits_ptr, BLOCK: tl.constexpr):
    """Sums, differences and products whose results are denormal, as bits."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(bits_ptr + i, (x + y).to(tl.int32, bitcast=True))
    tl.store(bits_ptr + BLOCK + i, (x - y).to(tl.int32, bitcast=True))
    tl.store(bits_ptr + 2 * BLOCK + i, (x * 0.5).to(tl.int32, bitcast=True))
    tl.store(bits_ptr + 3 * BLOCK + i, (x > 0).to(tl.int32))


@triton.jit
def denormals_f16(x_ptr, y_ptr, sum_ptr, wide_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(sum_ptr + i, (x + y).to(tl.int16, bitcast=True))
    tl.store(wide_ptr + i, x.to(tl.float32).to(tl.int32, bitcast=True))


@triton.jit
def float_rest(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    """The remainder has the sign of the left operand."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(z_ptr + i, x % y, mask=i < n)


@triton.jit
def min_max_nan(x_ptr, y_ptr, number_ptr, nan_ptr, clamped_ptr, clamped_nan_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(number_ptr + i, tl.maximum(x, y))
    tl.store(number_ptr + BLOCK + i, tl.minimum(x, y))
    tl.store(nan_ptr + i, tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(nan_ptr + BLOCK + i, tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL))
    tl.store(clamped_ptr + i, tl.clamp(x, -1.0, 2.0))
    tl.store(clamped_nan_ptr + i, tl.clamp(x, -1.0, 2.0, propagate_nan=tl.PropagateNan.ALL))


@triton.jit
def exact_division(x_ptr, y_ptr, quotient_ptr, root_ptr, BLOCK: tl.constexpr):
    """Correctly rounded: the bits are stored."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(quotient_ptr + i, tl.div_rn(x, y).to(tl.int32, bitcast=True))
    tl.store(root_ptr + i, tl.sqrt_rn(y).to(tl.int32, bitcast=True))


@triton.jit
def functions(x_ptr, exp_ptr, exp2_ptr, log_ptr, log2_ptr, sqrt_ptr, rsqrt_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    positive = tl.abs(x) + 0.01
    tl.store(exp_ptr + i, tl.exp(x), mask=mask)
    tl.store(exp2_ptr + i, tl.exp2(x), mask=mask)
    tl.store(log_ptr + i, tl.log(positive), mask=mask)
    tl.store(log2_ptr + i, tl.log2(positive), mask=mask)
    tl.store(sqrt_ptr + i, tl.sqrt(positive), mask=mask)
    tl.store(rsqrt_ptr + i, tl.rsqrt(positive), mask=mask)


@triton.jit
def more_functions(x_ptr, sin_ptr, cos_ptr, erf_ptr, floor_ptr, ceil_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    tl.store(sin_ptr + i, tl.sin(x), mask=mask)
    tl.store(cos_ptr + i, tl.cos(x), mask=mask)
    tl.store(erf_ptr + i, tl.erf(x * 0.1), mask=mask)
    tl.store(floor_ptr + i, tl.floor(x), mask=mask)
    tl.store(ceil_ptr + i, tl.ceil(x), mask=mask)


@triton.jit
def functions_at_edges(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """Infinities, NaN, zeros, and arguments that overflow or underflow."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, tl.exp(x))
    tl.store(y_ptr + BLOCK + i, tl.log(x))
    tl.store(y_ptr + 2 * BLOCK + i, tl.sqrt(x))
    tl.store(y_ptr + 3 * BLOCK + i, tl.rsqrt(x))
    tl.store(y_ptr + 4 * BLOCK + i, tl.erf(x))
    tl.store(y_ptr + 5 * BLOCK + i, 1.0 / x)
    tl.store(y_ptr + 6 * BLOCK + i, tl.sigmoid(x))
    tl.store(y_ptr + 7 * BLOCK + i, tl.floor(x))


@triton.jit
def select(flag_ptr, x_ptr, y_ptr, z_ptr, A: tl.constexpr, B: tl.constexpr):
    """Conditions and operands that are broadcast, nested selections, a scalar side."""
    a = tl.arange(0, A)[:, None]
    b = tl.arange(0, B)[None, :]
    flag = tl.load(flag_ptr + a) != 0
    x = tl.load(x_ptr + b)
    y = tl.load(y_ptr + a * B + b)
    tl.store(z_ptr + a * B + b, tl.where(flag, tl.where(y > 0, x, y), tl.where(b > a, -1.0, x * y)))


@triton.jit
def polynomial(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Multiplies and adds in a row, which a compiler may fuse."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = 0.00833333 * x + 0.04166667
    y = y * x + 0.16666667
    y = y * x + 0.5
    y = y * x + 1.0
    tl.store(y_ptr + i, y * x + 1.0, mask=i < n)


def widths(kind, signed):
    """Operands of the four widths, and room for the results."""
    types = torch.int8, torch.int16, torch.int32, torch.int64
    results = {"wrap": 4, "divide": 2, "compare": 1, "min_max": 2, "shift": 2, "bitwise": 1}[kind]
    for width, dtype in zip((8, 16, 32, 64), types):
        x, y = bits(60, dtype=dtype), bits(60, dtype=dtype)
        if kind == "divide":  # by small ones and large ones, none of them 0 or -1
            y = y | 1
            y[::3] = 10
            y[1::3] = 7 if not signed else -3
            y[y == -1] = 5
        elif kind == "shift":
            y = ints(60, low=0, high=width, dtype=dtype)
        elif kind in ("compare", "min_max"):
            y[::4] = x[::4]
        kept = dtype if signed else {v: k for k, v in SIGNED.items()}.get(dtype, torch.uint8)
        yield from (x.view(kept), y.view(kept), blank(results, 60, dtype=torch.int8 if kind == "compare" else kept))


def launches():
    inf, nan = float("inf"), float("nan")
    for kind in "wrap", "divide", "compare", "min_max", "shift", "bitwise":
        for signed in True, False:
            if signed or kind not in ("wrap", "bitwise"):
                yield case(four_widths, *widths(kind, signed), 60, name=f"{kind}_{'signed' if signed else 'unsigned'}",
                           BLOCK=64, KIND=kind)
    i32, u32, u64 = torch.int32, torch.uint32, torch.uint64
    yield case(mixed_signs, bits(64), bits(64, dtype=u32), blank(64, dtype=u32), blank(64, dtype=torch.int32),
               blank(64, dtype=u32), BLOCK=64)
    yield case(mixed_widths, bits(64, dtype=torch.int8), bits(64), blank(64, dtype=torch.int64), BLOCK=64)
    yield case(shift_narrow_by_wide, bits(64, dtype=torch.int8), ints(64, low=0, high=32), blank(64, dtype=i32),
               blank(64, dtype=i32), BLOCK=64)
    yield case(shift_past_the_width, bits(64), ints(64, low=0, high=64), blank(64, dtype=i32), blank(64, dtype=i32),
               BLOCK=64)
    yield case(logic, ints(64, low=-1, high=3), ints(64, low=-1, high=3), blank(64, dtype=i32), BLOCK=64)
    yield case(high_half, bits(64, dtype=u32), bits(64, dtype=u32), blank(64, dtype=u32), name="high_half_u32",
               BLOCK=64)
    yield case(high_half, bits(64, dtype=u64), bits(64, dtype=u64), blank(64, dtype=u64), name="high_half_u64",
               BLOCK=64)
    x = ints(64)
    x[3] = -(1 << 31)
    yield case(absolute, x, blank(64, dtype=i32), blank(64, dtype=i32), 64, name="absolute_i32", BLOCK=64)
    x = values([0.0, -0.0, inf, -inf, 1.5, -1.5, nan, -2.0], torch.float16)
    yield case(absolute, x, blank(8, dtype=torch.float16), blank(8, dtype=torch.float16), 8, name="absolute_f16",
               BLOCK=8)
    yield case(hash_mix, bits(128, dtype=u32), blank(128, dtype=u32), grid=2, BLOCK=64)

    for dtype, name in (torch.float16, "f16"), (torch.bfloat16, "bf16"):
        out = [blank(128, dtype=dtype) for _ in range(4)]
        yield case(float_ops, normal(128, dtype=dtype), normal(128, dtype=dtype) + 2.5, *out, name=f"ops_{name}",
                   BLOCK=128)
    x = values([0.0, 0.0, -0.0, -0.0, 1.0, -1.0, 0.5, -0.5])
    y = values([0.0, -0.0, 0.0, -0.0, -1.0, -0.0, 0.0, 0.0])
    yield case(signed_zeros, x, y, blank(10, 8, dtype=i32), BLOCK=8)
    tiny = 2.0**-126
    x = values([tiny, tiny * 1.5, 2.0**-149, tiny, 3 * 2.0**-149, 2.0**-127, 1.0, -tiny])
    y = values([-tiny / 2, -tiny, 2.0**-149, tiny / 4, 2.0**-148, 2.0**-130, 2.0**-149, tiny / 8])
    yield case(denormals, x, y, blank(4, 8, dtype=i32), BLOCK=8)
    x = values([2.0**-14, 2.0**-15, 2.0**-24, 3 * 2.0**-24, 2.0**-20, -(2.0**-24), 0.0, 1.0], torch.float16)
    y = values([-(2.0**-15), 2.0**-24, 2.0**-24, -(2.0**-23), 2.0**-21, 2.0**-24, -(2.0**-24), 2.0**-24],
               torch.float16)
    yield case(denormals_f16, x, y, blank(8, dtype=torch.int16), blank(8, dtype=i32), BLOCK=8)
    yield case(float_rest, normal(100, std=10.0), normal(100), blank(100), 100, BLOCK=128)
    x, y = normal(64, std=2.0), normal(64, std=2.0)
    x[3] = x[5] = y[5] = y[7] = nan
    x[9], y[10], x[11] = inf, -inf, -inf
    for dtype, name in (torch.float32, "f32"), (torch.float16, "f16"):
        out = [blank(2, 64, dtype=dtype), blank(2, 64, dtype=dtype), blank(64, dtype=dtype), blank(64, dtype=dtype)]
        yield case(min_max_nan, x.to(dtype), y.to(dtype), *out, name=f"min_max_nan_{name}", BLOCK=64)
    for dtype, name in (torch.float32, "f32"), (torch.bfloat16, "bf16"):
        x, y = normal(64, dtype=dtype), normal(64, dtype=dtype)
        y[::4] = x[::4]
        x[3] = x[5] = y[5] = y[7] = nan
        x[9], y[10] = inf, -inf
        yield case(compare, x, y, blank(64, dtype=i32), 64, name=f"compare_{name}_nan", BLOCK=64)
    yield case(exact_division, normal(128), uniform(128, low=0.01, high=50.0), blank(128, dtype=i32),
               blank(128, dtype=i32), BLOCK=128)
    yield case(functions, uniform(200, low=-8.0, high=8.0), *(blank(200) for _ in range(6)), 200, grid=2, BLOCK=128)
    yield case(more_functions, uniform(200, low=-30.0, high=30.0), *(blank(200) for _ in range(5)), 200, grid=2,
               BLOCK=128)
    x = uniform(200, low=-1e5, high=1e5)
    yield case(more_functions, x, *(blank(200) for _ in range(5)), 200, grid=2, name="more_functions_large", BLOCK=128)
    x = values([0.0, -0.0, inf, -inf, nan, 1000.0, -1000.0, 1.0])
    yield case(functions_at_edges, x, blank(8, 8), BLOCK=8)
    yield case(select, ints(16, low=0, high=2), normal(32), normal(16, 32), blank(16, 32), A=16, B=32)
    yield case(polynomial, uniform(200, low=-1.0, high=1.0), blank(200), 200, grid=2, BLOCK=128)
