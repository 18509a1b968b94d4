"""Conversions of every width, kind and rounding; those out of range as the GPU gives them."""

import torch
import triton
import triton.language as tl

from common import bits, blank, case, ints, normal, uniform, values


@triton.jit
def ints_to_float(i8_ptr, i16_ptr, i32_ptr, i64_ptr, u8_ptr, u16_ptr, u32_ptr, u64_ptr, y_ptr, n,
                  S16: tl.constexpr, S32: tl.constexpr, S64: tl.constexpr, BLOCK: tl.constexpr):
    """From every width to the element type of the output, a row each; powers of two bring all to one size."""
    i = tl.arange(0, BLOCK)
    mask = i < n
    to = y_ptr.dtype.element_ty
    tl.store(y_ptr + i, tl.load(i8_ptr + i, mask=mask).to(to), mask=mask)
    tl.store(y_ptr + n + i, tl.load(i16_ptr + i, mask=mask).to(to) * S16, mask=mask)
    tl.store(y_ptr + 2 * n + i, tl.load(i32_ptr + i, mask=mask).to(to) * S32, mask=mask)
    tl.store(y_ptr + 3 * n + i, tl.load(i64_ptr + i, mask=mask).to(to) * S64, mask=mask)
    tl.store(y_ptr + 4 * n + i, tl.load(u8_ptr + i, mask=mask).to(to), mask=mask)
    tl.store(y_ptr + 5 * n + i, tl.load(u16_ptr + i, mask=mask).to(to) * S16, mask=mask)
    tl.store(y_ptr + 6 * n + i, tl.load(u32_ptr + i, mask=mask).to(to) * S32, mask=mask)
    tl.store(y_ptr + 7 * n + i, tl.load(u64_ptr + i, mask=mask).to(to) * S64, mask=mask)


@triton.jit
def float_to_ints(x_ptr, i8_ptr, i16_ptr, i32_ptr, i64_ptr, u8_ptr, u16_ptr, u32_ptr, u64_ptr, n, BLOCK: tl.constexpr):
    """To every width; the unsigned ones from the absolute value."""
    i = tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    tl.store(i8_ptr + i, x.to(tl.int8), mask=mask)
    tl.store(i16_ptr + i, x.to(tl.int16), mask=mask)
    tl.store(i32_ptr + i, x.to(tl.int32), mask=mask)
    tl.store(i64_ptr + i, x.to(tl.int64), mask=mask)
    x = tl.abs(x)
    tl.store(u8_ptr + i, x.to(tl.uint8), mask=mask)
    tl.store(u16_ptr + i, x.to(tl.uint16), mask=mask)
    tl.store(u32_ptr + i, x.to(tl.uint32), mask=mask)
    tl.store(u64_ptr + i, x.to(tl.uint64), mask=mask)


@triton.jit
def widen_and_narrow(i8_ptr, u8_ptr, u16_ptr, i64_ptr, wide_ptr, narrow_ptr, BLOCK: tl.constexpr):
    """Between widths of integers: by the sign or with zeros upwards, cut downwards."""
    i = tl.arange(0, BLOCK)
    x = tl.load(i64_ptr + i)
    tl.store(wide_ptr + i, tl.load(i8_ptr + i).to(tl.int64))
    tl.store(wide_ptr + BLOCK + i, tl.load(u8_ptr + i).to(tl.int64))
    tl.store(wide_ptr + 2 * BLOCK + i, tl.load(u16_ptr + i).to(tl.int32).to(tl.int64))
    tl.store(wide_ptr + 3 * BLOCK + i, x.to(tl.uint32).to(tl.int64))
    tl.store(narrow_ptr + i, x.to(tl.int8))
    tl.store(narrow_ptr + BLOCK + i, x.to(tl.int16).to(tl.int8) + 1)


@triton.jit
def half_kinds(f16_ptr, bf16_ptr, f32_ptr, to_bf16_ptr, to_f16_ptr, to_f32_ptr, BLOCK: tl.constexpr):
    """Between the two 16-bit floats the way leads through f32."""
    i = tl.arange(0, BLOCK)
    tl.store(to_bf16_ptr + i, tl.load(f16_ptr + i).to(tl.bfloat16))
    tl.store(to_f16_ptr + i, tl.load(bf16_ptr + i).to(tl.float16))
    tl.store(to_f32_ptr + i, tl.load(f16_ptr + i).to(tl.float32) + tl.load(bf16_ptr + i) + tl.load(f32_ptr + i))


@triton.jit
def convert(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """To the element type of the output."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x.to(y_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def convert_to_bits(x_ptr, y_ptr, n, TO: tl.constexpr, BITS: tl.constexpr, BLOCK: tl.constexpr):
    """The result as an integer, so that every bit counts."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x.to(TO).to(BITS, bitcast=True), mask=i < n)


@triton.jit
def truncate_to_bits(x_ptr, y_ptr, n, TO: tl.constexpr, BITS: tl.constexpr, BLOCK: tl.constexpr):
    """Narrowed toward zero."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x.to(TO, fp_downcast_rounding="rtz").to(BITS, bitcast=True), mask=i < n)


@triton.jit
def reinterpret(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """The exponent of each number, by its bits; and back with the exponent cleared."""
    i = tl.arange(0, BLOCK)
    raw = tl.load(x_ptr + i).to(tl.int32, bitcast=True)
    exponent = ((raw >> 23) & 0xFF) - 127
    mantissa = ((raw & 0x007FFFFF) | 0x3F800000).to(tl.float32, bitcast=True)
    tl.store(y_ptr + i, mantissa + exponent * 10)


@triton.jit
def reinterpret_half(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """A bf16 widened by hand: its bits shifted up are a float."""
    i = tl.arange(0, BLOCK)
    raw = tl.load(x_ptr + i).to(tl.uint16, bitcast=True)
    tl.store(y_ptr + i, (raw.to(tl.uint32) << 16).to(tl.float32, bitcast=True))


@triton.jit
def to_bool_and_back(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    """True is everything but zero, NaN too."""
    i = tl.arange(0, BLOCK)
    flag = tl.load(x_ptr + i, mask=i < n).to(tl.int1)
    tl.store(y_ptr + i, flag.to(tl.int32), mask=i < n)
    tl.store(z_ptr + i, flag.to(tl.float32) * 0.5, mask=i < n)


@triton.jit
def round_trips(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """Chains of casts that lose something on the way and so are no copies."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, x.to(tl.float16).to(tl.float32))
    tl.store(y_ptr + BLOCK + i, x.to(tl.bfloat16).to(tl.float16).to(tl.float32))
    tl.store(y_ptr + 2 * BLOCK + i, x.to(tl.int32).to(tl.int8).to(tl.float32))
    tl.store(y_ptr + 3 * BLOCK + i, x.to(tl.int32).to(tl.uint8).to(tl.float32))
    tl.store(y_ptr + 4 * BLOCK + i, x.to(tl.int16).to(tl.int64).to(tl.float32))


def launches():
    inf, nan = float("inf"), float("nan")
    names = {torch.float16: "f16", torch.bfloat16: "bf16", torch.float32: "f32"}

    def change(name, x, dtype):
        n = x.numel()
        return case(convert, x, blank(n, dtype=dtype), n, name=name, BLOCK=triton.next_power_of_2(n))

    kinds = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.uint16, torch.uint32, torch.uint64]
    for result in torch.float32, torch.bfloat16:
        yield case(ints_to_float, *(bits(60, dtype=kind) for kind in kinds), blank(8, 60, dtype=result), 60,
                   name=f"ints_to_{names[result]}", S16=2.0**-8, S32=2.0**-24, S64=2.0**-56, BLOCK=64)
    yield case(ints_to_float, *(ints(60, low=0 if kind in kinds[4:] else -128, high=128, dtype=kind) for kind in kinds),
               blank(8, 60, dtype=torch.float16), 60, name="ints_to_f16", S16=1.0, S32=1.0,
               S64=1.0, BLOCK=64)
    for source in torch.float32, torch.float16, torch.bfloat16:
        yield case(float_to_ints, uniform(60, low=-120.0, high=120.0, dtype=source),
                   *(blank(60, dtype=kind) for kind in kinds), 60, name=f"{names[source]}_to_ints", BLOCK=64)
    yield change("f32_to_i64_large", uniform(100, low=-1e18, high=1e18), torch.int64)
    yield change("f32_to_u64_large", uniform(100, low=0.0, high=1.8e19), torch.uint64)
    yield change("f32_to_u32_large", uniform(100, low=0.0, high=4.2e9), torch.uint32)

    edges = values([nan, inf, -inf, 3e9, -3e9, 2147483648.0, -2147483648.0, 2147483520.0, 0.99, -0.99, -0.0, 1e-40,
                    1e38, -1e38, 2.5, -2.5])
    yield change("f32_to_i32_out_of_range", edges, torch.int32)
    yield change("f32_to_u32_out_of_range", values([nan, inf, -1.0, 5e9, -0.5, 4294967296.0, 4294967040.0, 0.99]),
                 torch.uint32)
    yield change("f32_to_i64_out_of_range", values([inf, -inf, 1e19, -1e19, 9.3e18, -9.3e18, 9.2e18, -0.99]),
                 torch.int64)

    yield case(widen_and_narrow, bits(64, dtype=torch.int8), bits(64, dtype=torch.uint8), bits(64, dtype=torch.uint16),
               bits(64, dtype=torch.int64), blank(4, 64, dtype=torch.int64), blank(2, 64, dtype=torch.int8), BLOCK=64)
    half, brain = torch.float16, torch.bfloat16
    yield case(half_kinds, normal(64, dtype=half), normal(64, dtype=brain), normal(64), blank(64, dtype=brain),
               blank(64, dtype=half), blank(64), BLOCK=64)

    # halfway between two neighbours, just above, at the largest, at the smallest
    halfway = values([1 + 2.0**-11, 1 + 3 * 2.0**-11, 1 + 2.0**-11 + 2.0**-20, -1 - 2.0**-11, 2049.0, 2051.0, 65504.0,
                      65519.0, 65520.0, 1e6, 2.0**-24, 2.0**-25, 3 * 2.0**-25, 2.0**-26, inf, -inf])
    whole = values([1 + 2.0**-8, 1 + 3 * 2.0**-8, 1 + 2.0**-8 + 2.0**-20, -1 - 2.0**-8, 257.0, 259.0, 3.3895e38,
                    3.4e38, 1e-39, 2.0**-133, 2.0**-134, 3 * 2.0**-134, -0.0, 0.0, inf, -inf])
    for kernel, how in (convert_to_bits, "nearest"), (truncate_to_bits, "toward_zero"):
        yield case(kernel, halfway, blank(16, dtype=torch.int16), 16, name=f"f32_to_f16_{how}", TO=tl.float16,
                   BITS=tl.int16, BLOCK=16)
        yield case(kernel, whole, blank(16, dtype=torch.int16), 16, name=f"f32_to_bf16_{how}", TO=tl.bfloat16,
                   BITS=tl.int16, BLOCK=16)
    x = values([16777217, 16777219, -16777217, 33554433, 33554434, 33554435, 2147483647, -2147483648], torch.int32)
    yield case(convert_to_bits, x, blank(8, dtype=torch.int32), 8, name="i32_to_f32_nearest", TO=tl.float32,
               BITS=tl.int32, BLOCK=8)
    x = values([(1 << 53) + 1, (1 << 24) + 1, (1 << 40) + (1 << 16), (1 << 40) + 3 * (1 << 16), (1 << 63) - 1, -1 << 63,
                (1 << 62) + 1, -(1 << 40) - (1 << 16) - 1], torch.int64)
    yield case(convert_to_bits, x, blank(8, dtype=torch.int32), 8, name="i64_to_f32_nearest", TO=tl.float32,
               BITS=tl.int32, BLOCK=8)
    x = values([2049, 2051, 65504, 65519, 65520, 70000, -2049, 4098], torch.int32)
    yield case(convert_to_bits, x, blank(8, dtype=torch.int16), 8, name="i32_to_f16_nearest", TO=tl.float16,
               BITS=tl.int16, BLOCK=8)

    x = values([0.0, -0.0, 1.0, -1.0, 1e-45, nan, inf, 0.5])
    yield case(to_bool_and_back, x, blank(8, dtype=torch.int32), blank(8), 8, name="f32_to_bool", BLOCK=8)
    x = values([0, 1, -1, 256, 2, 128, 1 << 30, -1 << 31], torch.int32)
    yield case(to_bool_and_back, x, blank(8, dtype=torch.int32), blank(8), 8, name="i32_to_bool", BLOCK=8)
    yield case(reinterpret, normal(64, std=100.0), blank(64), BLOCK=64)
    yield case(reinterpret_half, normal(64, dtype=torch.bfloat16), blank(64), BLOCK=64)
    yield case(round_trips, uniform(64, low=-2000.0, high=2000.0), blank(5, 64), BLOCK=64)
