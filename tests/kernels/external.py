"""Functions of NVIDIA's libdevice, and inline assembly."""

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from common import bits, blank, case, ints, normal, uniform, values


# -- libdevice: a few functions a kernel, each with its own output --------------------------------------------------

@triton.jit
def trigonometry(x_ptr, a_ptr, b_ptr, c_ptr, d_ptr, e_ptr, f_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(a_ptr + i, libdevice.asin(x))
    tl.store(b_ptr + i, libdevice.acos(x))
    tl.store(c_ptr + i, libdevice.atan(x * 5.0))
    tl.store(d_ptr + i, libdevice.tan(x))
    tl.store(e_ptr + i, libdevice.sin(x * 100.0))
    tl.store(f_ptr + i, libdevice.cos(x * 100.0))


@triton.jit
def half_turns(x_ptr, a_ptr, b_ptr, c_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(a_ptr + i, libdevice.sinpi(x))
    tl.store(b_ptr + i, libdevice.cospi(x))
    tl.store(c_ptr + i, libdevice.atan2(x, 0.5 - x))


@triton.jit
def hyperbolic(x_ptr, a_ptr, b_ptr, c_ptr, d_ptr, e_ptr, f_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(a_ptr + i, libdevice.sinh(x))
    tl.store(b_ptr + i, libdevice.cosh(x))
    tl.store(c_ptr + i, libdevice.tanh(x))
    tl.store(d_ptr + i, libdevice.asinh(x))
    tl.store(e_ptr + i, libdevice.acosh(1.0 + tl.abs(x)))
    tl.store(f_ptr + i, libdevice.atanh(x * 0.2))


@triton.jit
def exponentials(x_ptr, a_ptr, b_ptr, c_ptr, d_ptr, e_ptr, f_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(a_ptr + i, libdevice.exp10(x))
    tl.store(b_ptr + i, libdevice.expm1(x * 0.01))
    tl.store(c_ptr + i, libdevice.log10(tl.abs(x)))
    tl.store(d_ptr + i, libdevice.log1p(tl.abs(x) * 0.01))
    tl.store(e_ptr + i, libdevice.logb(x))
    tl.store(f_ptr + i, libdevice.pow(tl.abs(x), x))


@triton.jit
def error_functions(x_ptr, a_ptr, b_ptr, c_ptr, d_ptr, e_ptr, f_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(a_ptr + i, libdevice.erf(x))
    tl.store(b_ptr + i, libdevice.erfc(x))
    tl.store(c_ptr + i, libdevice.erfinv(x * 0.24))
    tl.store(d_ptr + i, libdevice.erfcx(tl.abs(x)))
    tl.store(e_ptr + i, libdevice.normcdf(x))
    tl.store(f_ptr + i, libdevice.normcdfinv(tl.abs(x) * 0.2 + 0.01))


@triton.jit
def gammas(x_ptr, a_ptr, b_ptr, c_ptr, d_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(a_ptr + i, libdevice.tgamma(x))
    tl.store(b_ptr + i, libdevice.lgamma(x))
    tl.store(c_ptr + i, libdevice.tgamma(-x - 0.5))
    tl.store(d_ptr + i, libdevice.lgamma(-x - 0.5))


@triton.jit
def bessel(x_ptr, a_ptr, b_ptr, c_ptr, d_ptr, e_ptr, f_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(a_ptr + i, libdevice.j0(x))
    tl.store(b_ptr + i, libdevice.j1(x))
    tl.store(c_ptr + i, libdevice.y0(x))
    tl.store(d_ptr + i, libdevice.y1(x))
    tl.store(e_ptr + i, libdevice.cyl_bessel_i0(x))
    tl.store(f_ptr + i, libdevice.cyl_bessel_i1(x))


@triton.jit
def bessel_orders(x_ptr, n_ptr, j_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    n = tl.load(n_ptr + i)
    x = tl.load(x_ptr + i)
    tl.store(j_ptr + i, libdevice.jn(n, x))
    tl.store(y_ptr + i, libdevice.yn(n, x))


@triton.jit
def rounding(x_ptr, a_ptr, b_ptr, c_ptr, d_ptr, e_ptr, f_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(a_ptr + i, libdevice.rint(x))
    tl.store(b_ptr + i, libdevice.nearbyint(x))
    tl.store(c_ptr + i, libdevice.round(x))
    tl.store(d_ptr + i, libdevice.trunc(x))
    tl.store(e_ptr + i, libdevice.floor(x) + libdevice.ceil(x))
    tl.store(f_ptr + i, libdevice.llrint(x))


@triton.jit
def two_operands(x_ptr, y_ptr, a_ptr, b_ptr, c_ptr, d_ptr, e_ptr, f_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(a_ptr + i, libdevice.fmod(x, y))
    tl.store(b_ptr + i, libdevice.remainder(x, y))
    tl.store(c_ptr + i, libdevice.hypot(x, y))
    tl.store(d_ptr + i, libdevice.copysign(x, y))
    tl.store(e_ptr + i, libdevice.fdim(x, y))
    tl.store(f_ptr + i, libdevice.nextafter(x, y))


@triton.jit
def roots_and_scales(x_ptr, n_ptr, a_ptr, b_ptr, c_ptr, d_ptr, e_ptr, f_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    n = tl.load(n_ptr + i)
    tl.store(a_ptr + i, libdevice.cbrt(x))
    tl.store(b_ptr + i, libdevice.rcbrt(x))
    tl.store(c_ptr + i, libdevice.rsqrt(tl.abs(x)))
    tl.store(d_ptr + i, libdevice.ldexp(x, n))
    tl.store(e_ptr + i, libdevice.ilogb(x).to(tl.float32))
    tl.store(f_ptr + i, libdevice.fma(x, x, 1.5))


@triton.jit
def classes(x_ptr, a_ptr, b_ptr, c_ptr, d_ptr, BLOCK: tl.constexpr):
    """Tests for NaN, infinity, finiteness and sign."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(a_ptr + i, libdevice.isnan(x).to(tl.int32))
    tl.store(b_ptr + i, libdevice.isinf(x).to(tl.int32))
    tl.store(c_ptr + i, libdevice.finitef(x).to(tl.int1).to(tl.int32))
    tl.store(d_ptr + i, libdevice.signbit(x).to(tl.int1).to(tl.int32))


@triton.jit
def integers(x_ptr, y_ptr, a_ptr, b_ptr, c_ptr, d_ptr, e_ptr, f_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(a_ptr + i, libdevice.clz(x))
    tl.store(b_ptr + i, libdevice.popc(x))
    tl.store(c_ptr + i, libdevice.brev(x))
    tl.store(d_ptr + i, libdevice.ffs(x))
    tl.store(e_ptr + i, libdevice.mulhi(x, y))
    tl.store(f_ptr + i, libdevice.mul24(x, y))


@triton.jit
def directed(x_ptr, y_ptr, bits_ptr, BLOCK: tl.constexpr):
    """The four directions of rounding, as bits."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(bits_ptr + i, libdevice.add_rn(x, y).to(tl.int32, bitcast=True))
    tl.store(bits_ptr + BLOCK + i, libdevice.add_rz(x, y).to(tl.int32, bitcast=True))
    tl.store(bits_ptr + 2 * BLOCK + i, libdevice.mul_rd(x, y).to(tl.int32, bitcast=True))
    tl.store(bits_ptr + 3 * BLOCK + i, libdevice.mul_ru(x, y).to(tl.int32, bitcast=True))
    tl.store(bits_ptr + 4 * BLOCK + i, libdevice.div_rn(x, y).to(tl.int32, bitcast=True))
    tl.store(bits_ptr + 5 * BLOCK + i, libdevice.div_rz(x, y).to(tl.int32, bitcast=True))


@triton.jit
def conversions(x_ptr, a_ptr, b_ptr, c_ptr, d_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(a_ptr + i, libdevice.float2int_rn(x))
    tl.store(b_ptr + i, libdevice.float2int_rd(x))
    tl.store(c_ptr + i, libdevice.float2int_ru(x))
    tl.store(d_ptr + i, libdevice.float_as_int(x))


@triton.jit
def fast_functions(x_ptr, a_ptr, b_ptr, c_ptr, d_ptr, e_ptr, BLOCK: tl.constexpr):
    """The quick and rough ones, where they are not so rough."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(a_ptr + i, libdevice.fast_expf(x))
    tl.store(b_ptr + i, libdevice.fast_log2f(x + 2.0))
    tl.store(c_ptr + i, libdevice.fast_dividef(1.0, x + 2.0))
    tl.store(d_ptr + i, libdevice.fast_sinf(x))
    tl.store(e_ptr + i, libdevice.fast_powf(x, 1.5))


# -- Inline assembly ------------------------------------------------------------------------------------------------

@triton.jit
def asm_add(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    z = tl.inline_asm_elementwise("add.s32 $0, $1, $2;", "=r,r,r", [tl.load(x_ptr + i), tl.load(y_ptr + i)],
                                  dtype=tl.int32, is_pure=True, pack=1)
    tl.store(z_ptr + i, z)


@triton.jit
def asm_funnel_shift(x_ptr, y_ptr, z_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    z = tl.inline_asm_elementwise("shf.l.wrap.b32 $0, $1, $2, $3;", "=r,r,r,r",
                                  [tl.load(x_ptr + i), tl.load(y_ptr + i), tl.full([BLOCK], 0, tl.int32) + n],
                                  dtype=tl.int32, is_pure=True, pack=1)
    tl.store(z_ptr + i, z)


@triton.jit
def asm_packed_bytes(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """Four bytes to a register."""
    i = tl.arange(0, BLOCK)
    y = tl.inline_asm_elementwise("and.b32 $0, $1, 0x1F1F1F1F; shl.b32 $0, $0, 3;", "=r,r", [tl.load(x_ptr + i)],
                                  dtype=tl.int8, is_pure=True, pack=4)
    tl.store(y_ptr + i, y)


@triton.jit
def asm_two_results(x_ptr, y_ptr, low_ptr, high_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    low, high = tl.inline_asm_elementwise("min.f32 $0, $2, $3; max.f32 $1, $2, $3;", "=&f,=f,f,f",
                                          [tl.load(x_ptr + i), tl.load(y_ptr + i)], dtype=(tl.float32, tl.float32),
                                          is_pure=True, pack=1)
    tl.store(low_ptr + i, low)
    tl.store(high_ptr + i, high)


@triton.jit
def asm_predicates(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    """Comparisons into predicates, instructions that they guard, decimal numbers, comments."""
    i = tl.arange(0, BLOCK)
    y, z = tl.inline_asm_elementwise("""
        {   // two branches without a jump
            .reg .pred below, both;
            .reg .f32 half<2>;
            setp.lt.f32 below, $2, -0.5;  /* false for NaN */
            setp.gtu.f32 both, $2, 1.5;
            or.pred both, both, below;
            mul.f32 half0, $2, 0.5;
            mov.f32 half1, 0f3E800000;
            mov.f32 $0, $2;
            @below add.ftz.f32 $0, half0, half1;
            @!below sub.f32 $0, $0, 1e1;
            selp.f32 $1, half0, half1, both;
        }
        """, "=r,=r,r", [tl.load(x_ptr + i)], dtype=(tl.float32, tl.float32), is_pure=True, pack=1)
    tl.store(y_ptr + i, y)
    tl.store(z_ptr + i, z)


@triton.jit
def asm_bits(x_ptr, y_ptr, n_ptr, out_ptr, BLOCK: tl.constexpr):
    """Bytes picked by a literal and by a register, functions of three words, fields."""
    i = tl.arange(0, BLOCK)
    x, y, n = tl.load(x_ptr + i), tl.load(y_ptr + i), tl.load(n_ptr + i)
    words = tl.inline_asm_elementwise("""
        .reg .b32 t;
        prmt.b32 $0, $6, $7, 0x5b24;
        prmt.b32 $1, $6, $7, $8;
        lop3.b32 $2, $6, $7, $8, 0xe8;
        lop3.b32 t, $6, $7, $8, 0x96;
        lop3.b32 $2, $2, t, $6, 0x1d;
        bfe.u32 $3, $6, 5, 11;
        bfe.s32 $4, $6, $8, 9;
        bfi.b32 $5, $6, $7, 12, 7;
        """, "=r,=r,=r,=r,=r,=r,r,r,r", [x, y, n],
        dtype=(tl.int32, tl.int32, tl.int32, tl.int32, tl.int32, tl.int32), is_pure=True, pack=1)
    for k in tl.static_range(6):
        tl.store(out_ptr + k * BLOCK + i, words[k])


@triton.jit
def asm_conversions(x_ptr, n_ptr, a_ptr, b_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, n = tl.load(x_ptr + i), tl.load(n_ptr + i)
    even, zero, down, up = tl.inline_asm_elementwise(
        "cvt.rni.s32.f32 $0, $4; cvt.rzi.s32.f32 $1, $4; cvt.rmi.s32.f32 $2, $4; cvt.rpi.u32.f32 $3, $4;",
        "=r,=r,=r,=r,r", [x], dtype=(tl.int32, tl.int32, tl.int32, tl.int32), is_pure=True, pack=1)
    tl.store(a_ptr + i, even)
    tl.store(a_ptr + BLOCK + i, zero)
    tl.store(a_ptr + 2 * BLOCK + i, down)
    tl.store(a_ptr + 3 * BLOCK + i, up)
    signed, byte = tl.inline_asm_elementwise(
        "{ .reg .b8 low<4>; mov.b32 {low0, low1, low2, low3}, $2; cvt.rn.f32.s32 $0, $2; cvt.rn.f32.u8 $1, low2; }",
        "=f,=f,r", [n], dtype=(tl.float32, tl.float32), is_pure=True, pack=1)
    tl.store(b_ptr + i, signed)
    tl.store(b_ptr + BLOCK + i, byte)


@triton.jit
def asm_bytes_to_floats(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    """Four elements at a time: one register of bytes, four of floats, two of halves."""
    i = tl.arange(0, BLOCK)
    wide, halves = tl.inline_asm_elementwise("""
        {
            .reg .b8 part<4>;
            .reg .f32 f<4>;
            mov.b32 {part0, part1, part2, part3}, $6;
            cvt.rn.f32.u8 f0, part0;
            cvt.rn.f32.u8 f1, part1;
            cvt.rn.f32.u8 f2, part2;
            cvt.rn.f32.u8 f3, part3;
            fma.rn.f32 $0, f0, 0.5, $7;
            fma.rn.f32 $1, f1, 0.5, $8;
            fma.rn.f32 $2, f2, 0.5, $9;
            fma.rn.f32 $3, f3, 0.5, $10;
            cvt.rn.f16x2.f32 $4, f1, f0;
            cvt.rn.f16x2.f32 $5, f3, f2;
        }
        """, "=r,=r,=r,=r,=r,=r,r,r,r,r,r", [tl.load(x_ptr + i), tl.load(y_ptr + i)], dtype=(tl.float32, tl.float16),
        is_pure=True, pack=4)
    tl.store(y_ptr + i, wide)
    tl.store(z_ptr + i, halves)


@triton.jit
def asm_pairs(x_ptr, y_ptr, z_ptr, BLOCK: tl.constexpr):
    """Products of bf16, two to a register; some operands are denormal, their products are not."""
    i = tl.arange(0, BLOCK)
    z = tl.inline_asm_elementwise("mul.bf16x2 $0, $1, $2;", "=r,r,r", [tl.load(x_ptr + i), tl.load(y_ptr + i)],
                                  dtype=tl.bfloat16, is_pure=True, pack=2)
    tl.store(z_ptr + i, z)


@triton.jit
def larger_magnitude(x, y):
    return tl.inline_asm_elementwise("max.NaN.xorsign.abs.f32 $0, $1, $2;", "=r,r,r", [x, y], dtype=tl.float32,
                                     is_pure=True, pack=1)


@triton.jit
def asm_in_reduction(x_ptr, y_ptr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, ROWS)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :])
    tl.store(y_ptr + tl.arange(0, ROWS), tl.reduce(x, 1, larger_magnitude))


def launches():
    inf, nan = float("inf"), float("nan")
    i32 = torch.int32
    out = lambda count, dtype=torch.float32: [blank(128, dtype=dtype) for _ in range(count)]

    yield case(trigonometry, uniform(128, low=-0.99, high=0.99), *out(6), BLOCK=128)
    yield case(half_turns, uniform(128, low=-3.0, high=3.0), *out(3), BLOCK=128)
    yield case(hyperbolic, uniform(128, low=-4.0, high=4.0), *out(6), BLOCK=128)
    yield case(exponentials, uniform(128, low=-3.0, high=3.0), *out(6), BLOCK=128)
    yield case(error_functions, uniform(128, low=-4.0, high=4.0), *out(6), BLOCK=128)
    yield case(gammas, uniform(128, low=0.1, high=5.0), *out(4), BLOCK=128)
    yield case(bessel, uniform(128, low=0.1, high=9.0), *out(6), BLOCK=128)
    yield case(bessel_orders, uniform(128, low=2.0, high=9.0), ints(128, low=0, high=6), *out(2), BLOCK=128)
    ties = torch.arange(-64, 64).float() / 2
    yield case(rounding, (ties + (torch.arange(128) % 5 == 4) * 0.25).cuda(), *out(5), *out(1, torch.int64), BLOCK=128)
    yield case(two_operands, normal(128, std=10.0), normal(128), *out(6), BLOCK=128)
    yield case(roots_and_scales, normal(128), ints(128, low=-9, high=9), *out(6), BLOCK=128)
    x = values([0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 1e-40])
    yield case(classes, x, *(blank(8, dtype=i32) for _ in range(4)), BLOCK=8)
    yield case(integers, bits(128), bits(128), *out(6, i32), BLOCK=128)
    yield case(directed, normal(64), normal(64), blank(6, 64, dtype=i32), BLOCK=64)
    yield case(conversions, normal(128, std=100.0), *out(4, i32), BLOCK=128)
    yield case(fast_functions, uniform(128, low=0.0, high=1.5), *out(5), BLOCK=128)
    yield case(asm_add, bits(128), bits(128), *out(1, i32), BLOCK=128)
    yield case(asm_funnel_shift, bits(128), bits(128), *out(1, i32), 17, BLOCK=128)
    yield case(asm_packed_bytes, bits(128, dtype=torch.int8), *out(1, torch.int8), BLOCK=128)
    yield case(asm_two_results, normal(128), normal(128), *out(2), BLOCK=128)
    yield case(asm_predicates, values([-2.0, -0.5, -0.25, 0.0, 1.0, 1.5, 1.75, nan]), *(blank(8) for _ in range(2)), BLOCK=8)
    yield case(asm_bits, bits(128), bits(128), ints(128, low=0, high=40), blank(6, 128, dtype=i32), BLOCK=128)
    yield case(asm_conversions, normal(128, std=9.0), bits(128), blank(4, 128, dtype=i32), blank(2, 128), BLOCK=128)
    yield case(asm_bytes_to_floats, bits(256, dtype=torch.uint8), normal(256), blank(256, dtype=torch.float16), BLOCK=256)
    small = normal(128) * torch.where(torch.arange(128) % 3 == 0, 2.0**-128, 1.0).cuda()
    yield case(asm_pairs, small.to(torch.bfloat16), (normal(128) * 2.0**100).to(torch.bfloat16),
               blank(128, dtype=torch.bfloat16), BLOCK=128)
    yield case(asm_in_reduction, normal(8, 64), blank(8), ROWS=8, BLOCK=64)
