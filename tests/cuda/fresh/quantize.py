"""Quantization to int8, int4 and fp8 by row, group, block and tensor, and back."""
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from kernels import BYTES, Case, Tensor, blocks, near, warps


@triton.jit
def quantize_int8_row(x, out, scales, cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    inside = c < cols
    v = tl.load(x + row * stride + c, mask=inside, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(v), axis=0), 1e-10) / 127.0
    q = libdevice.rint(v / scale)
    tl.store(out + row * stride + c, q.to(tl.int8), mask=inside)
    tl.store(scales + row, scale)


@triton.jit
def quantize_int8_row_loop(x, out, scales, cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    x += row * stride
    out += row * stride
    most = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        most = tl.maximum(most, tl.abs(tl.load(x + c, mask=c < cols, other=0.0).to(tl.float32)))
    top = tl.max(most, axis=0) + 1e-8
    inverse = 127.0 / top
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        v = tl.load(x + c, mask=c < cols, other=0.0).to(tl.float32) * inverse
        v = tl.where(v >= 0, v + 0.5, v - 0.5)  # rounded half away from zero by the cast
        tl.store(out + c, v.to(tl.int8), mask=c < cols)
    tl.store(scales + row, top / 127.0)


@triton.jit
def quantize_int8_tensor(x, out, scale, n, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inverse = 1.0 / tl.load(scale)
    v = tl.load(x + i, mask=i < n).to(tl.float32) * inverse
    v = tl.clamp(tl.floor(v + 0.5), -128.0, 127.0)
    tl.store(out + i, v.to(tl.int8), mask=i < n)


@triton.jit
def quantize_int8_asymmetric(x, out, scales, zeros, cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    inside = c < cols
    v = tl.load(x + row * stride + c, mask=inside, other=0.0).to(tl.float32)
    low = tl.min(v, axis=0)
    high = tl.max(v, axis=0)
    scale = tl.maximum((high - low) / 255.0, 1e-8)
    zero = libdevice.rint(-low / scale)
    q = libdevice.rint(v / scale) + zero
    q = tl.minimum(tl.maximum(q, 0.0), 255.0)
    tl.store(out + row * stride + c, q.to(tl.uint8), mask=inside)
    tl.store(scales + row, scale)
    tl.store(zeros + row, zero.to(tl.int32))


@triton.jit
def absmax_tensor(x, amax, n, BLOCK: tl.constexpr, STEPS: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * BLOCK * STEPS
    most = tl.zeros((BLOCK,), tl.float32)
    for step in range(STEPS):
        i = first + step * BLOCK + tl.arange(0, BLOCK)
        most = tl.maximum(most, tl.abs(tl.load(x + i, mask=i < n, other=0.0).to(tl.float32)))
    tl.atomic_max(amax, tl.max(most, axis=0))


@triton.jit
def quantize_fp8_row(x, out, scales, cols, x_stride, out_stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * x_stride + c, mask=c < cols, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(v), axis=0) / 448.0, 1e-12)
    q = tl.clamp(v / scale, -448.0, 448.0).to(out.dtype.element_ty)
    tl.store(out + row * out_stride + c, q, mask=c < cols)
    tl.store(scales + row, scale)


@triton.jit
def quantize_fp8_group(x, out, scales, groups, x_stride, out_stride, GROUP: tl.constexpr, HELD: tl.constexpr):
    """Scales of 128 neighbors: a program has some groups of a row."""
    row = tl.program_id(1).to(tl.int64)
    g = tl.program_id(0) * HELD + tl.arange(0, HELD)
    c = g[:, None] * GROUP + tl.arange(0, GROUP)[None, :]
    inside = (g < groups)[:, None]
    v = tl.load(x + row * x_stride + c, mask=inside, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(v), axis=1), 1e-4) / 448.0
    q = (v / scale[:, None]).to(out.dtype.element_ty)
    tl.store(out + row * out_stride + c, q, mask=inside)
    tl.store(scales + row * groups + g, scale, mask=g < groups)


@triton.jit
def quantize_fp8_block(w, out, scales, rows, cols, stride, scale_stride, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    at = m[:, None] * stride + n[None, :]
    inside = (m[:, None] < rows) & (n[None, :] < cols)
    v = tl.load(w + at, mask=inside, other=0.0).to(tl.float32)
    scale = tl.max(tl.abs(v)) / 448.0
    tl.store(out + at, (v / scale).to(out.dtype.element_ty), mask=inside)
    tl.store(scales + tl.program_id(0) * scale_stride + tl.program_id(1), scale)


@triton.jit
def quantize_e5m2_tensor(g, out, scale, amax, n, BLOCK: tl.constexpr):
    """Gradients by a scale that was known before; the largest magnitude of a block is kept for the next step's."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(g + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(amax + tl.program_id(0), tl.max(tl.abs(v), axis=0))
    v = tl.clamp(v * tl.load(scale), -57344.0, 57344.0)
    tl.store(out + i, v.to(tl.float8e5), mask=i < n)


@triton.jit
def dequantize_fp8_block(w, scales, out, rows, cols, stride, scale_stride, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    at = m[:, None] * stride + n[None, :]
    inside = (m[:, None] < rows) & (n[None, :] < cols)
    v = tl.load(w + at, mask=inside).to(tl.float32)
    scale = tl.load(scales + tl.program_id(0) * scale_stride + tl.program_id(1))
    tl.store(out + at, (v * scale).to(out.dtype.element_ty), mask=inside)


@triton.jit
def dequantize_int8_row(q, scales, out, n, cols, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(q + i, mask=i < n).to(tl.float32)
    scale = tl.load(scales + i // cols, mask=i < n)
    tl.store(out + i, (v * scale).to(out.dtype.element_ty), mask=i < n)


@triton.jit
def dequantize_int4_group(q, scales, zeros, out, cols, GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """Two values a byte, the lower half first; a scale and a zero point for each group."""
    row = tl.program_id(1).to(tl.int64)
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    byte = tl.load(q + row * (cols // 2) + c, mask=c < cols // 2, other=0)
    low = (byte & 15).to(tl.float32)
    high = (byte >> 4).to(tl.float32)
    at = row * (cols // GROUP) + c * 2 // GROUP
    scale = tl.load(scales + at, mask=c < cols // 2, other=0.0).to(tl.float32)
    zero = tl.load(zeros + at, mask=c < cols // 2, other=0.0).to(tl.float32)
    v = tl.interleave((low - zero) * scale, (high - zero) * scale)
    i = tl.program_id(0) * BLOCK * 2 + tl.arange(0, BLOCK * 2)
    tl.store(out + row * cols + i, v.to(out.dtype.element_ty), mask=i < cols)


@triton.jit
def pack_int4_group(x, out, scales, cols, GROUP: tl.constexpr, HELD: tl.constexpr):
    """Symmetric int4 in groups, value i of a group's first half beside value i of its second."""
    row = tl.program_id(1).to(tl.int64)
    g = tl.program_id(0) * HELD + tl.arange(0, HELD)
    c = tl.arange(0, GROUP // 2)
    inside = (g < cols // GROUP)[:, None]
    at = row * cols + g[:, None] * GROUP + c[None, :]
    first = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
    second = tl.load(x + at + GROUP // 2, mask=inside, other=0.0).to(tl.float32)
    most = tl.maximum(tl.max(tl.abs(first), axis=1), tl.max(tl.abs(second), axis=1))
    scale = tl.where(most > 0, most / 7.0, 1.0)
    a = (libdevice.rint(first / scale[:, None]) + 8.0).to(tl.int32)
    b = (libdevice.rint(second / scale[:, None]) + 8.0).to(tl.int32)
    packed = (a & 15) | ((b & 15) << 4)
    tl.store(out + row * (cols // 2) + g[:, None] * (GROUP // 2) + c[None, :], packed.to(tl.uint8), mask=inside)
    tl.store(scales + row * (cols // GROUP) + g, scale.to(scales.dtype.element_ty), mask=g < cols // GROUP)


@triton.jit
def add_rms_norm_quantize_int8(x, residual, w, kept, out, scales, cols, stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    inside = c < cols
    h = tl.load(x + row * stride + c, mask=inside, other=0.0).to(tl.float32)
    h += tl.load(residual + row * stride + c, mask=inside, other=0.0).to(tl.float32)
    tl.store(kept + row * stride + c, h.to(kept.dtype.element_ty), mask=inside)
    y = h * tl.rsqrt(tl.sum(h * h, axis=0) / cols + eps) * tl.load(w + c, mask=inside, other=0.0).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(y), axis=0), 1e-5) / 127.0
    tl.store(scales + row, scale)
    tl.store(out + row * stride + c, tl.floor(y / scale + 0.5).to(tl.int8), mask=inside)


@triton.jit
def rms_norm_quantize_fp8(x, w, scale, out, cols, stride, eps, BLOCK: tl.constexpr):
    """By a scale of the whole tensor that calibration has found."""
    row = tl.program_id(0).to(tl.int64)
    c = tl.arange(0, BLOCK)
    inside = c < cols
    v = tl.load(x + row * stride + c, mask=inside, other=0.0).to(tl.float32)
    y = v * tl.rsqrt(tl.sum(v * v, axis=0) / cols + eps) * tl.load(w + c, mask=inside, other=0.0).to(tl.float32)
    y = tl.clamp(y / tl.load(scale), -448.0, 448.0)
    tl.store(out + row * stride + c, y.to(tl.float8e4nv), mask=inside)


@triton.jit
def silu_mul_quantize_fp8(gate_up, out, scales, cols, GROUP: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    g = tl.program_id(1)
    c = g * GROUP + tl.arange(0, GROUP)
    gate = tl.load(gate_up + row * 2 * cols + c).to(tl.float32)
    up = tl.load(gate_up + row * 2 * cols + cols + c).to(tl.float32)
    y = gate * tl.sigmoid(gate) * up
    scale = tl.maximum(tl.max(tl.abs(y), axis=0), 1e-10) / 448.0
    tl.store(out + row * cols + c, (y / scale).to(tl.float8e4nv))
    tl.store(scales + row * (cols // GROUP) + g, scale)


@triton.jit
def store_cache_int8(key, cache, scales, slots, HEADS: tl.constexpr, D: tl.constexpr):
    """New keys into slots of a cache, with a scale for each token and head."""
    token = tl.program_id(0)
    slot = tl.load(slots + token).to(tl.int64)
    h = tl.arange(0, HEADS)
    at = h[:, None] * D + tl.arange(0, D)[None, :]
    v = tl.load(key + token * HEADS * D + at).to(tl.float32)
    scale = tl.max(tl.abs(v), axis=1) / 127.0 + 1e-7
    q = libdevice.rint(v / scale[:, None]).to(tl.int8)
    tl.store(cache + slot * HEADS * D + at, q)
    tl.store(scales + slot * HEADS + h, scale)


# -- Cases -------------------------------------------------------------------------------------------------------

def e4m3(x):
    return x.clamp(-448, 448).to(torch.float8_e4m3fn).float()


def half_up(x):
    return torch.floor(x + 0.5)


def row_int8(t):
    x = t['x'].float()
    scale = x.abs().amax(1).clamp_min(1e-10) / 127
    return [torch.round(x / scale[:, None]), scale]


def row_int8_loop(t):
    x = t['x'].float()
    top = x.abs().amax(1) + 1e-8
    v = x * (127 / top)[:, None]
    return [torch.trunc(torch.where(v >= 0, v + 0.5, v - 0.5)), top / 127]


def asymmetric(t):
    x = t['x'].float()
    low, high = x.amin(1), x.amax(1)
    scale = ((high - low) / 255).clamp_min(1e-8)
    zero = torch.round(-low / scale)
    return [(torch.round(x / scale[:, None]) + zero[:, None]).clamp(0, 255), scale, zero]


def grouped(t, group, rounded):
    x = t['x'].float()
    v = x.view(-1, group)
    scale, q = rounded(v)
    return [q.view(x.shape), scale.view(x.shape[0], -1)]


def fp8_group(v):
    scale = v.abs().amax(1).clamp_min(1e-4) / 448
    return scale, e4m3(v / scale[:, None])


def tiles(x, b):
    """[rows, cols] as [rows / b, cols / b, b * b]."""
    return x.view(x.shape[0] // b, b, x.shape[1] // b, b).transpose(1, 2).reshape(x.shape[0] // b, x.shape[1] // b, b * b)


def untiled(x, b):
    return x.view(x.shape[0], x.shape[1], b, b).transpose(1, 2).reshape(x.shape[0] * b, x.shape[1] * b)


def fp8_block(t, b):
    v = tiles(t['w'].float(), b)
    scale = v.abs().amax(2) / 448
    return [untiled(e4m3(v / scale[:, :, None]), b), scale]


def nibbles(q):
    """Bytes as values of the lower and of the upper half."""
    return q.int() & 15, q.int() >> 4


def int4_group(t, group):
    low, high = nibbles(t['q'])
    v = torch.stack((low, high), 2).view(low.shape[0], -1, group).float()
    return [((v - t['zeros'].float()[:, :, None]) * t['scales'].float()[:, :, None]).view(low.shape[0], -1)]


def packed_int4(t, group):
    v = t['x'].float().view(t['x'].shape[0], -1, 2, group // 2)
    scale = v.abs().amax((2, 3)) / 7
    q = torch.round(v / scale[:, :, None, None]) + 8
    return [(q[:, :, 0] + 16 * q[:, :, 1]).view(v.shape[0], -1), scale]


def normed(t, eps=1e-6):
    h = t['x'].float() + (t['residual'].float() if 'residual' in t else 0)
    return h, h * torch.rsqrt((h * h).mean(1, keepdim=True) + eps) * t['w'].float()


def norm_int8(t):
    h, y = normed(t)
    scale = y.abs().amax(1).clamp_min(1e-5) / 127
    return [h, half_up(y / scale[:, None]), scale]


def silu_mul_fp8(t, group):
    gate, up = t['gate_up'].float().chunk(2, 1)
    y = (torch.nn.functional.silu(gate) * up).view(-1, group)
    scale = y.abs().amax(1).clamp_min(1e-10) / 448
    return [e4m3(y / scale[:, None]).view(gate.shape), scale.view(gate.shape[0], -1)]


def cached(t, S, H, D):
    key = t['key'].float().view(-1, H, D)
    scale = key.abs().amax(2) / 127 + 1e-7
    cache = torch.zeros(S, H, D, device=key.device)
    scales = torch.zeros(S, H, device=key.device)
    at = t['slots'].long()
    cache[at] = torch.round(key / scale[:, :, None])
    scales[at] = scale
    return [cache, scales]


def by_row(s, small):
    e = BYTES[s]
    for R, C in ((7, 200),) if small else ((8192, 4096), (4096, 14336)):
        B = triton.next_power_of_2(C)
        sh = ' %s [%d,%d]' % (s, R, C)
        x, q, f8, sc = Tensor((R, C), s), Tensor((R, C), 'i8'), Tensor((R, C), 'e4m3'), Tensor((R,))
        row = dict(x=x, out=q, scales=sc, cols=C, stride=C)
        one = dict(grid=(R,), meta=dict(BLOCK=B, num_warps=warps(B)))
        if C != 14336:
            yield Case('quantize_int8_row' + sh, row, ['out', 'scales'], row_int8, 1e-3, quantize_int8_row, bytes=R * C * (e + 1), **one)
            yield Case('quantize_int8_asymmetric' + sh, dict(x=x, out=Tensor((R, C), 'u8'), scales=sc, zeros=Tensor((R,), 'i32'), cols=C,
                       stride=C), ['out', 'scales', 'zeros'], asymmetric, 1e-3, quantize_int8_asymmetric, bytes=R * C * (e + 1), **one)
            yield Case('add_rms_norm_quantize_int8' + sh, dict(x=x, residual=Tensor((R, C), s, 2), w=Tensor((C,), s, 3),
                       kept=Tensor((R, C), s), out=q, scales=sc, cols=C, stride=C, eps=1e-6), ['kept', 'out', 'scales'], norm_int8,
                       near(1e-3, s), add_rms_norm_quantize_int8, bytes=R * C * (3 * e + 1), **one)
            yield Case('rms_norm_quantize_fp8' + sh, dict(x=x, w=Tensor((C,), s, 3), scale=Tensor((1,), made=lambda g: torch.full((1,), 0.02)),
                       out=f8, cols=C, stride=C, eps=1e-6), ['out'], lambda t: [e4m3(normed(t)[1] / t['scale'])], 1e-2,
                       rms_norm_quantize_fp8, bytes=R * C * (e + 1), **one)
        if C != 4096:
            yield Case('quantize_int8_row_loop' + sh, row, ['out', 'scales'], row_int8_loop, 1e-3, quantize_int8_row_loop, (R,),
                       dict(BLOCK=min(2048, B // 2), num_warps=8), bytes=R * C * (e + 1))
        yield Case('quantize_fp8_row' + sh, dict(x=x, out=f8, scales=sc, cols=C, x_stride=C, out_stride=C), ['out', 'scales'],
                   lambda t: (lambda x, s: [e4m3(x / s[:, None]), s])(t['x'].float(), t['x'].float().abs().amax(1) / 448), 1e-2,
                   quantize_fp8_row, bytes=R * C * (e + 1), **one)
        yield Case('dequantize_int8_row' + sh, dict(q=Tensor((R, C), 'i8', 4, 128, -128), scales=Tensor((R,), seed=2, scale=0.02),
                   out=x, n=R * C, cols=C), ['out'], lambda t: [t['q'].float() * t['scales'][:, None]], near(0, s),
                   dequantize_int8_row, (blocks(R * C, 1024),), dict(BLOCK=1024, num_warps=4), bytes=R * C * (e + 1))


def by_group(s, small):
    e = BYTES[s]
    R, C, G, H = (6, 384, 128, 2) if small else (8192, 7168, 128, 8)
    sh = ' %s [%d,%d]' % (s, R, C)
    x = Tensor((R, C), s)
    yield Case('quantize_fp8_group' + sh, dict(x=x, out=Tensor((R, C), 'e4m3'), scales=Tensor((R, C // G)), groups=C // G, x_stride=C,
               out_stride=C), ['out', 'scales'], lambda t: grouped(t, G, fp8_group), 1e-2, quantize_fp8_group, (blocks(C // G, H), R),
               dict(GROUP=G, HELD=H, num_warps=4), bytes=R * C * (e + 1))
    yield Case('pack_int4_group' + sh, dict(x=x, out=Tensor((R, C // 2), 'u8'), scales=Tensor((R, C // G), s), cols=C), ['out', 'scales'],
               lambda t: packed_int4(t, G), near(2e-3, s), pack_int4_group, (blocks(C // G, H), R), dict(GROUP=G, HELD=H, num_warps=4),
               bytes=R * C * e + R * C // 2)
    yield Case('dequantize_int4_group' + sh, dict(q=Tensor((R, C // 2), 'u8', 1, 256), scales=Tensor((R, C // G), s, 2),
               zeros=Tensor((R, C // G), s, 3, made=lambda g: torch.randint(0, 16, (R, C // G), generator=g, device=g.device)), out=x, cols=C),
               ['out'], lambda t: int4_group(t, G), near(0, s), dequantize_int4_group, (blocks(C // 2, 128 if small else 512), R),
               dict(GROUP=G, BLOCK=128 if small else 512, num_warps=4), bytes=R * C * e + R * C // 2)
    R, C = (5, 256) if small else (8192, 14336)
    yield Case('silu_mul_quantize_fp8 %s [%d,%d]' % (s, R, C), dict(gate_up=Tensor((R, 2 * C), s), out=Tensor((R, C), 'e4m3'),
               scales=Tensor((R, C // G)), cols=C), ['out', 'scales'], lambda t: silu_mul_fp8(t, G), 1e-2, silu_mul_quantize_fp8,
               (R, C // G), dict(GROUP=G, num_warps=1), bytes=R * C * (2 * e + 1))


def by_block(s, small):
    e = BYTES[s]
    R, C, b = (128, 96, 32) if small else (7168, 18432, 128)
    sh = ' %s [%d,%d]' % (s, R, C)
    args = lambda t: dict(t, rows=R, cols=C, stride=C, scale_stride=C // b)
    launch = dict(grid=(R // b, C // b), meta=dict(BM=b, BN=b, num_warps=8), bytes=R * C * (e + 1))
    f8, sc = Tensor((R, C), 'e4m3'), Tensor((R // b, C // b))
    yield Case('quantize_fp8_block' + sh, args(dict(w=Tensor((R, C), s), out=f8, scales=sc)), ['out', 'scales'],
               lambda t: fp8_block(t, b), 1e-2, quantize_fp8_block, **launch)
    yield Case('dequantize_fp8_block' + sh, args(dict(w=f8, scales=sc, out=Tensor((R, C), s, 9))), ['out'],
               lambda t: [untiled(tiles(t['w'].float(), b) * t['scales'][:, :, None], b)], near(0, s), dequantize_fp8_block, **launch)


def by_tensor(s, small):
    e = BYTES[s]
    n, B = (5000, 1024) if small else (8192 * 11008, 4096)
    sh, x = ' %s %d' % (s, n), Tensor((n,), s)
    const = lambda v: Tensor((1,), made=lambda g: torch.full((1,), v))
    launch = dict(grid=(blocks(n, B),), meta=dict(BLOCK=B, num_warps=8))
    yield Case('quantize_int8_tensor' + sh, dict(x=x, out=Tensor((n,), 'i8'), scale=const(0.02), n=n), ['out'],
               lambda t: [half_up(t['x'].float() * (1 / t['scale'])).clamp(-128, 127)], 1e-3, quantize_int8_tensor, bytes=n * (e + 1), **launch)
    yield Case('quantize_e5m2_tensor' + sh, dict(g=x, out=Tensor((n,), 'e5m2'), scale=const(12000.0), amax=Tensor((blocks(n, B),)), n=n),
               ['out', 'amax'], lambda t: [(t['g'].float() * t['scale']).clamp(-57344, 57344).to(torch.float8_e5m2).float(), torch.nn.functional.pad(
               t['g'].float().abs(), (0, -n % B)).view(-1, B).amax(1)], 1e-2, quantize_e5m2_tensor, bytes=n * (e + 1), **launch)
    yield Case('absmax_tensor' + sh, dict(x=x, amax=Tensor((1,), made=lambda g: torch.zeros(1)), n=n), ['amax'],
               lambda t: [t['x'].float().abs().amax().view(1)], 1e-6, absmax_tensor, (blocks(n, 8 * 1024),),
               dict(BLOCK=1024, STEPS=8, num_warps=4), bytes=n * e, kept=('amax',))


def into_cache(s, small):
    T, S, H, D = (5, 16, 2, 64) if small else (16384, 65536, 8, 128)
    slots = Tensor((T,), 'i64', 5, made=lambda g: torch.randperm(S, generator=g, device=g.device)[:T])
    zero = lambda *shape: (lambda g: torch.zeros(shape, device=g.device))
    yield Case('store_cache_int8 %s T%d H%d D%d' % (s, T, H, D), dict(key=Tensor((T, H * D), s), cache=Tensor((S, H, D), 'i8', made=zero(S, H, D)),
               scales=Tensor((S, H), made=zero(S, H)), slots=slots), ['cache', 'scales'], lambda t: cached(t, S, H, D), 1e-3,
               store_cache_int8, (T,), dict(HEADS=H, D=D, num_warps=4), bytes=T * H * D * (BYTES[s] + 1), kept=('cache', 'scales'))


def cases(small=False):
    for s in ('f16', 'bf16'):
        for family in (by_row, by_group, by_block, by_tensor, into_cache):
            yield from family(s, small)
