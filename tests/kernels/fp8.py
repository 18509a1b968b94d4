"""Eight-bit floats and microscaling: conversions both ways, arithmetic, products with and without block scales."""

import torch
import triton
import triton.language as tl

from common import blank, case, ints, normal, uniform


@triton.jit
def widen(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """All 256 bytes."""
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i).to(y_ptr.dtype.element_ty))


@triton.jit
def narrow(x_ptr, y_ptr, n, TO: tl.constexpr, BLOCK: tl.constexpr):
    """As bytes, so that every bit counts."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, x.to(TO).to(tl.uint8, bitcast=True), mask=i < n)


@triton.jit
def narrow_toward_zero(x_ptr, y_ptr, n, TO: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.store(y_ptr + i, x.to(TO, fp_downcast_rounding="rtz").to(tl.uint8, bitcast=True), mask=i < n)


@triton.jit
def quantise_rows(x_ptr, y_ptr, scale_ptr, n_cols, BLOCK: tl.constexpr):
    """One scale a row, as 8-bit training does it."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(x), axis=0), 1e-6) / 448.0
    tl.store(scale_ptr + row, scale)
    tl.store(y_ptr + row * n_cols + cols, (x / scale).to(tl.float8e4nv), mask=mask)


@triton.jit
def arithmetic(x_ptr, y_ptr, z_ptr, w_ptr, BLOCK: tl.constexpr):
    """Sums of eight-bit floats, and a choice between them."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(y_ptr + i)
    tl.store(z_ptr + i, (x.to(tl.float32) * y.to(tl.float32) + 1.0).to(tl.float16))
    tl.store(w_ptr + i, tl.where(x.to(tl.float32) > y.to(tl.float32), x, y))


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n, other=1.0))


@triton.jit
def dot(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, OUT: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + m * K + tl.arange(0, K)[None, :])
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * N + n)
    tl.store(c_ptr + m * N + n, tl.dot(a, b, out_dtype=OUT))


@triton.jit
def dot_in_loop(a_ptr, b_ptr, scale_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BLOCK_K: tl.constexpr):
    """A scale for each block of K, applied between the products."""
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    acc = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + m * K + k[None, :])
        b = tl.load(b_ptr + k[:, None] * N + n)
        acc += tl.dot(a, b) * tl.load(scale_ptr + start // BLOCK_K)
    tl.store(c_ptr + m * N + n, acc)


@triton.jit
def dot_scaled(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
               A: tl.constexpr, B: tl.constexpr, A_PACK: tl.constexpr, B_PACK: tl.constexpr, FAST: tl.constexpr):
    """A and B name the formats; e2m1 is packed two to a byte, along K unless PACK is false."""
    A_M: tl.constexpr = M // 2 if A == "e2m1" and not A_PACK else M
    A_K: tl.constexpr = K // 2 if A == "e2m1" and A_PACK else K
    B_N: tl.constexpr = N // 2 if B == "e2m1" and not B_PACK else N
    B_K: tl.constexpr = K // 2 if B == "e2m1" and B_PACK else K
    a = tl.load(a_ptr + tl.arange(0, A_M)[:, None] * A_K + tl.arange(0, A_K)[None, :])
    b = tl.load(b_ptr + tl.arange(0, B_K)[:, None] * B_N + tl.arange(0, B_N)[None, :])
    groups = tl.arange(0, K // 32)[None, :]
    m = tl.arange(0, M)[:, None]
    if a_scale_ptr is not None:
        a_scale = tl.load(a_scale_ptr + m * (K // 32) + groups)
    else:
        a_scale = None
    if b_scale_ptr is not None:
        b_scale = tl.load(b_scale_ptr + tl.arange(0, N)[:, None] * (K // 32) + groups)
    else:
        b_scale = None
    c = tl.dot_scaled(a, a_scale, A, b, b_scale, B, lhs_k_pack=A_PACK, rhs_k_pack=B_PACK, fast_math=FAST)
    tl.store(c_ptr + m * N + tl.arange(0, N)[None, :], c)


@triton.jit
def dot_scaled_accumulate(a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, steps, M: tl.constexpr, N: tl.constexpr,
                          K: tl.constexpr):
    """fp4 in a loop over K, into an accumulator that was loaded."""
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)
    c = tl.load(c_ptr + m * N + n[None, :])
    for step in range(steps):
        k = step * (K // 2) + tl.arange(0, K // 2)
        g = step * (K // 32) + tl.arange(0, K // 32)
        a = tl.load(a_ptr + m * (steps * K // 2) + k[None, :])
        b = tl.load(b_ptr + k[:, None] * N + n[None, :])
        a_scale = tl.load(a_scale_ptr + m * (steps * K // 32) + g[None, :])
        b_scale = tl.load(b_scale_ptr + n[:, None] * (steps * K // 32) + g[None, :])
        c = tl.dot_scaled(a, a_scale, "e2m1", b, b_scale, "e2m1", c)
    tl.store(c_ptr + m * N + n[None, :], c)


def decode(packed, scale, axis):
    """What four-bit floats, packed along an axis, mean; scales stand for 32 numbers along K."""
    table = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64, device=packed.device)
    table = torch.cat([table, -table])
    x = torch.stack([table[(packed & 15).long()], table[(packed >> 4).long()]], axis + 1).flatten(axis, axis + 1)
    factor = torch.exp2(scale.double() - 127).repeat_interleave(32, 1)
    return x * (factor if factor.shape == x.shape else factor.T)


def along_n_by_torch(a, a_scale, b, b_scale, c):
    c.copy_(decode(a, a_scale, 1) @ decode(b, b_scale, 1))


def along_m_by_torch(a, a_scale, b, b_scale, c):
    c.copy_(decode(a, a_scale, 0) @ decode(b, b_scale, 0))


def launches():
    e4, e5 = torch.float8_e4m3fn, torch.float8_e5m2
    f16, bf16, f32, u8 = torch.float16, torch.bfloat16, torch.float32, torch.uint8
    inf, nan = float("inf"), float("nan")
    kinds = (e4, "e4m3", tl.float8e4nv), (e5, "e5m2", tl.float8e5)

    def every(dtype):
        return torch.arange(256, dtype=torch.int32).to(u8).view(dtype).cuda()

    yield case(widen, every(e4), blank(256), name="e4m3_to_f32", BLOCK=256)
    yield case(widen, every(e4), blank(256, dtype=bf16), name="e4m3_to_bf16", BLOCK=256)
    yield case(widen, every(e5), blank(256, dtype=f16), name="e5m2_to_f16", BLOCK=256)

    for dtype, name, to in kinds:
        # every number of the type, halfway points and their neighbours, then what is out of range
        exact = every(dtype).float().cpu()
        exact = exact[exact.isfinite() & (exact >= 0)].sort().values.double()
        middle = (exact[1:] + exact[:-1]) / 2
        x = torch.cat([exact, middle, -middle, middle * (1 + 2.0**-9), middle * (1 - 2.0**-9)])
        x = torch.cat([x, torch.tensor([inf, -inf, nan, 1e6, -1e6, 449.0, 464.0, 465.0, 480.0, 57344.0, 61440.0,
                                        65504.0, -0.0, 1e-9, -1e-9])])
        for source, width in (f32, "f32"), (f16, "f16"), (bf16, "bf16"):
            yield case(narrow, x.to(source).cuda(), blank(x.numel(), dtype=u8), x.numel(), name=f"{width}_to_{name}",
                       TO=to, BLOCK=1024)
    yield case(narrow_toward_zero, normal(128), blank(128, dtype=u8), 128, name="f32_to_e5m2_toward_zero",
               TO=tl.float8e5, BLOCK=128)
    yield case(quantise_rows, normal(5, 100, std=3.0), blank(5, 100, dtype=e4), blank(5), 100, grid=5, BLOCK=128)
    x, y = normal(64, std=2.0).to(e5), normal(64, std=2.0).to(e5)
    yield case(arithmetic, x, y, blank(64, dtype=f16), blank(64, dtype=e5), BLOCK=64)
    yield case(copy, every(e4)[:100], blank(128, dtype=e4), 100, BLOCK=128)

    def product(name, left, right, M=32, N=32, K=32, out=f32, result=tl.float32, **options):
        return case(dot, normal(M, K).to(left), normal(K, N).to(right), blank(M, N, dtype=out), name=name, M=M, N=N,
                    K=K, OUT=result, **options)

    yield product("dot_e4m3", e4, e4)
    yield product("dot_mixed", e4, e5)
    yield product("dot_e4m3_wide", e4, e4, M=64, N=32, K=64)
    yield product("dot_e5m2_f16", e5, e5, out=f16, result=tl.float16)
    yield case(dot_in_loop, normal(32, 64).to(e4), normal(64, 32).to(e4), uniform(2), blank(32, 32), 64, M=32, N=32,
               BLOCK_K=32)

    def scales(rows, groups):
        return ints(rows, groups, low=120, high=132, dtype=u8)

    def numbers(rows, cols, kind):
        if kind == "e2m1":
            return ints(rows, cols, low=0, high=256, dtype=u8)
        return normal(rows, cols).to({"e4m3": e4, "e5m2": e5, "bf16": bf16, "fp16": f16}[kind])

    def scaled(name, a, b, M=32, N=32, K=64, a_scaled=True, b_scaled=True, a_pack=True, b_pack=True, fast=False,
               edit=None, **options):
        half = lambda kind, packed, size: size // 2 if kind == "e2m1" and packed else size
        left = numbers(half(a, not a_pack, M), half(a, a_pack, K), a)
        right = numbers(half(b, b_pack, K), half(b, not b_pack, N), b)
        a_scale = scales(M, K // 32) if a_scaled else None
        b_scale = scales(N, K // 32) if b_scaled else None
        if edit:
            edit(a_scale)
        return case(dot_scaled, left, a_scale, right, b_scale, blank(M, N), name=f"scaled_{name}", M=M, N=N, K=K,
                    A=a, B=b, A_PACK=a_pack, B_PACK=b_pack, FAST=fast, **options)

    yield scaled("e4m3", "e4m3", "e4m3")
    yield scaled("e2m1", "e2m1", "e2m1")
    yield scaled("e2m1_e4m3", "e2m1", "e4m3", N=64)
    yield scaled("bf16_e2m1", "bf16", "e2m1", a_scaled=False)
    yield scaled("fp16_e5m2", "fp16", "e5m2", a_scaled=False)
    yield scaled("packed_along_n", "e2m1", "e2m1", M=128, b_pack=False, stand_in=along_n_by_torch)
    yield scaled("packed_along_m", "e2m1", "e2m1", M=128, a_pack=False, stand_in=along_m_by_torch)

    def nan_scale(scale):
        scale[3, 0] = 255

    yield scaled("nan", "e4m3", "e4m3", edit=nan_scale)
    yield case(dot_scaled_accumulate, numbers(32, 64, "e2m1"), scales(32, 4), numbers(64, 32, "e2m1"), scales(32, 4),
               normal(32, 32), 2, M=32, N=32, K=64)
