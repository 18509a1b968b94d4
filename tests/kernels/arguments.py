"""What a kernel can be given: scalars of every type, tuples, nothing at all, too many pointers, awkward names."""

import torch
import triton
import triton.language as tl

from common import blank, case, ints, normal


@triton.jit
def nothing_used(x_ptr, y_ptr, n, scale):
    """Arguments that no op reads."""
    tl.debug_barrier()


@triton.jit
def every_scalar(y_ptr, flag, off, small, negative, big: tl.int64, huge, ratio, BLOCK: tl.constexpr):
    """Booleans, ints of 32 and 64 bits, a float; each is stored as an i64."""
    tl.store(y_ptr, flag.to(tl.int64))
    tl.store(y_ptr + 1, off.to(tl.int64))
    tl.store(y_ptr + 2, small.to(tl.int64))
    tl.store(y_ptr + 3, negative.to(tl.int64))
    tl.store(y_ptr + 4, big)
    tl.store(y_ptr + 5, huge.to(tl.int64, bitcast=True))
    tl.store(y_ptr + 6, (ratio * 1000).to(tl.int64))


@triton.jit
def odd_floats(y_ptr, infinity, minus, not_a_number, zero, tiny):
    """Infinities, NaN, minus zero and a denormal as arguments."""
    tl.store(y_ptr, infinity)
    tl.store(y_ptr + 1, minus)
    tl.store(y_ptr + 2, not_a_number)
    tl.store(y_ptr + 3, 1.0 / zero)
    tl.store(y_ptr + 4, tiny * 1e30)


@triton.jit
def half_scalar(x_ptr, y_ptr, scale: tl.float16, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i) * scale)


@triton.jit
def ones_vanish(x_ptr, y_ptr, row_stride, col_stride, rows, BLOCK: tl.constexpr):
    """An int that is 1 becomes a constant and is no argument any more."""
    i = tl.arange(0, BLOCK)
    for row in range(rows):
        tl.store(y_ptr + row * BLOCK + i, tl.load(x_ptr + row * row_stride + i * col_stride))


@triton.jit(do_not_specialize=["n"])
def ones_stay(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i) * n)


@triton.jit
def optional(x_ptr, bias_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x, mask=i < n)


@triton.jit
def tuple_of_pointers(pointers, shape, y_ptr, BLOCK: tl.constexpr):
    """Two tuples, flattened into arguments."""
    i = tl.arange(0, BLOCK)
    x = tl.load(pointers[0] + i, mask=i < shape[0], other=0.0)
    z = tl.load(pointers[1] + i, mask=i < shape[1], other=0.0)
    tl.store(y_ptr + i, x - z)


@triton.jit
def many_pointers(p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15, p16, p17,
                  p18, p19, p20, p21, p22, p23, p24, p25, p26, p27, p28, p29, p30, p31, p32, p33, p34, p35,
                  out_ptr, n, BLOCK: tl.constexpr):
    """More buffers than Metal has places for."""
    i = tl.arange(0, BLOCK)
    total = tl.load(p0 + i, mask=i < n, other=0)
    total += tl.load(p1 + i, mask=i < n, other=0) * 2
    total += tl.load(p2 + i, mask=i < n, other=0) * 3
    total += tl.load(p3 + i, mask=i < n, other=0) * 4
    total += tl.load(p4 + i, mask=i < n, other=0) * 5
    total += tl.load(p5 + i, mask=i < n, other=0) * 6
    total += tl.load(p6 + i, mask=i < n, other=0) * 7
    total += tl.load(p7 + i, mask=i < n, other=0) * 8
    total += tl.load(p8 + i, mask=i < n, other=0) * 9
    total += tl.load(p9 + i, mask=i < n, other=0) * 10
    total += tl.load(p10 + i, mask=i < n, other=0) * 11
    total += tl.load(p11 + i, mask=i < n, other=0) * 12
    total += tl.load(p12 + i, mask=i < n, other=0) * 13
    total += tl.load(p13 + i, mask=i < n, other=0) * 14
    total += tl.load(p14 + i, mask=i < n, other=0) * 15
    total += tl.load(p15 + i, mask=i < n, other=0) * 16
    total += tl.load(p16 + i, mask=i < n, other=0) * 17
    total += tl.load(p17 + i, mask=i < n, other=0) * 18
    total += tl.load(p18 + i, mask=i < n, other=0) * 19
    total += tl.load(p19 + i, mask=i < n, other=0) * 20
    total += tl.load(p20 + i, mask=i < n, other=0) * 21
    total += tl.load(p21 + i, mask=i < n, other=0) * 22
    total += tl.load(p22 + i, mask=i < n, other=0) * 23
    total += tl.load(p23 + i, mask=i < n, other=0) * 24
    total += tl.load(p24 + i, mask=i < n, other=0) * 25
    total += tl.load(p25 + i, mask=i < n, other=0) * 26
    total += tl.load(p26 + i, mask=i < n, other=0) * 27
    total += tl.load(p27 + i, mask=i < n, other=0) * 28
    total += tl.load(p28 + i, mask=i < n, other=0) * 29
    total += tl.load(p29 + i, mask=i < n, other=0) * 30
    total += tl.load(p30 + i, mask=i < n, other=0) * 31
    total += tl.load(p31 + i, mask=i < n, other=0) * 32
    total += tl.load(p32 + i, mask=i < n, other=0) * 33
    total += tl.load(p33 + i, mask=i < n, other=0) * 34
    total += tl.load(p34 + i, mask=i < n, other=0) * 35
    total += tl.load(p35 + i, mask=i < n, other=0) * 36
    tl.store(out_ptr + i, total, mask=i < n)


@triton.jit
def kernel(device, thread, constant, half, threadgroup, template, BLOCK: tl.constexpr):
    """Names that are words of C++ or of Metal."""
    int = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    float4 = tl.load(device + int, mask=int < half, other=0.0)
    auto = tl.load(thread + int, mask=int < half, other=0.0)
    typename = float4 * auto
    for register in range(template):
        namespace = typename + register
        if register == 2:
            typename = namespace * 0.5
        else:
            typename = namespace
    simd_sum = tl.sum(typename, axis=0)
    INFINITY = simd_sum * 0.0 + 1.0
    tl.store(threadgroup + tl.program_id(0), simd_sum)
    tl.store(constant + int, typename * INFINITY, mask=int < half)


@triton.jit
def main(x, x_0, x_1, _x, __x, n, BLOCK: tl.constexpr):
    """Names that a numbering scheme may make itself, underscores, and reassignments."""
    x_2 = tl.arange(0, BLOCK)
    x_3 = tl.load(x + x_2)
    x_3 = x_3 + tl.load(x_0 + x_2)
    x_4 = x_3 * 2
    x_3 = x_4 - x_3
    __x_2 = tl.load(__x + x_2)
    tl.store(x_1 + x_2, x_3 + __x_2)
    tl.store(_x + x_2, x_4 + n)


@triton.jit
def names_outside_ascii(eingang, ausgang, maß, BLOCK: tl.constexpr):
    """Names outside ASCII."""
    λ = tl.arange(0, BLOCK)
    größe = tl.load(eingang + λ) * maß
    tl.store(ausgang + λ, größe)


def launches():
    inf, nan = float("inf"), float("nan")
    i32, i64 = torch.int32, torch.int64
    yield case(nothing_used, normal(4), normal(4), 4, 0.5, grid=3)
    yield case(every_scalar, blank(7, dtype=i64), True, False, 7, -(1 << 31), 12, (1 << 63) + 5, 2.5, BLOCK=32)
    yield case(odd_floats, blank(5), inf, -inf, nan, -0.0, 1e-40)
    yield case(half_scalar, normal(32, dtype=torch.float16), blank(32, dtype=torch.float16), 0.3, BLOCK=32)
    yield case(ones_vanish, normal(3, 32), blank(3, 32), 32, 1, 3, BLOCK=32)
    yield case(ones_vanish, normal(1, 70), blank(1, 32), 70, 2, 1, name="one_row_vanishes", BLOCK=32)
    yield case(ones_stay, normal(32), blank(32), 1, BLOCK=32)
    yield case(optional, normal(50), None, blank(50), 50, name="optional_absent", BLOCK=64)
    yield case(optional, normal(50), normal(50), blank(50), 50, name="optional_present", BLOCK=64)
    yield case(tuple_of_pointers, (normal(50), normal(60)), (50, 60), blank(64), BLOCK=64)
    yield case(many_pointers, *(ints(40) for _ in range(36)), blank(40, dtype=i32), 40, BLOCK=64)
    yield case(kernel, normal(100), normal(100), blank(100), 100, blank(2), 4, grid=2, name="words_of_metal", BLOCK=64)
    yield case(main, ints(32), ints(32), blank(32, dtype=i32), blank(32, dtype=i32), ints(32), 3, name="numbered_names",
               BLOCK=32)
    yield case(names_outside_ascii, normal(32), blank(32), 1.5, BLOCK=32)
