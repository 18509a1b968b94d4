"""Convolutions: causal and dense in one dimension, depthwise, by tiles of an implicit product in two, and patches."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks, near


@triton.jit
def conv1d_causal_silu(x, w, bias, out, length, dim, W: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr):
    """Depthwise over the last W tokens of [batch, length, dim]; weights [dim, W]."""
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    t = tl.program_id(1) * BT + tl.arange(0, BT)
    batch = tl.program_id(2).to(tl.int64)
    acc = tl.zeros((BT, BD), tl.float32) + tl.load(bias + d, mask=d < dim, other=0.0).to(tl.float32)[None, :]
    for i in tl.static_range(W):
        at = t - (W - 1) + i
        inside = ((at >= 0) & (at < length))[:, None] & (d < dim)[None, :]
        v = tl.load(x + (batch * length + at)[:, None] * dim + d[None, :], mask=inside, other=0.0).to(tl.float32)
        acc += v * tl.load(w + d * W + i, mask=d < dim, other=0.0).to(tl.float32)[None, :]
    y = acc * tl.sigmoid(acc)
    tl.store(out + (batch * length + t)[:, None] * dim + d[None, :], y.to(out.dtype.element_ty), mask=(t < length)[:, None] & (d < dim)[None, :])


@triton.jit
def conv1d_causal_rows(x, w, bias, out, length, dim, BT: tl.constexpr):
    """The same for [batch, dim, length]: a program has one channel's tokens, and width 4."""
    d = tl.program_id(1)
    row = (tl.program_id(2) * dim + d).to(tl.int64) * length
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    w0 = tl.load(w + d * 4).to(tl.float32)
    w1 = tl.load(w + d * 4 + 1).to(tl.float32)
    w2 = tl.load(w + d * 4 + 2).to(tl.float32)
    w3 = tl.load(w + d * 4 + 3).to(tl.float32)
    x0 = tl.load(x + row + t - 3, mask=(t >= 3) & (t < length + 3), other=0.0).to(tl.float32)
    x1 = tl.load(x + row + t - 2, mask=(t >= 2) & (t < length + 2), other=0.0).to(tl.float32)
    x2 = tl.load(x + row + t - 1, mask=(t >= 1) & (t < length + 1), other=0.0).to(tl.float32)
    x3 = tl.load(x + row + t, mask=t < length, other=0.0).to(tl.float32)
    y = tl.load(bias + d).to(tl.float32) + x0 * w0 + x1 * w1 + x2 * w2 + x3 * w3
    tl.store(out + row + t, (y / (1.0 + tl.exp(-y))).to(out.dtype.element_ty), mask=t < length)


@triton.jit
def conv1d_step(x, state, w, bias, out, dim, BD: tl.constexpr):
    """One token: the last three of each channel [batch, 3, dim] move on."""
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    batch = tl.program_id(1)
    inside = d < dim
    new = tl.load(x + batch * dim + d, mask=inside, other=0.0)
    at = state + batch * 3 * dim + d
    a = tl.load(at, mask=inside, other=0.0)
    b = tl.load(at + dim, mask=inside, other=0.0)
    c = tl.load(at + 2 * dim, mask=inside, other=0.0)
    y = tl.load(bias + d, mask=inside, other=0.0).to(tl.float32)
    y += a.to(tl.float32) * tl.load(w + d * 4, mask=inside, other=0.0).to(tl.float32)
    y += b.to(tl.float32) * tl.load(w + d * 4 + 1, mask=inside, other=0.0).to(tl.float32)
    y += c.to(tl.float32) * tl.load(w + d * 4 + 2, mask=inside, other=0.0).to(tl.float32)
    y += new.to(tl.float32) * tl.load(w + d * 4 + 3, mask=inside, other=0.0).to(tl.float32)
    tl.store(at, b, mask=inside)
    tl.store(at + dim, c, mask=inside)
    tl.store(at + 2 * dim, new, mask=inside)
    tl.store(out + batch * dim + d, (y * tl.sigmoid(y)).to(out.dtype.element_ty), mask=inside)


@triton.jit
def conv1d_weight_gradient(x, g, dw, length, dim, W: tl.constexpr, BT: tl.constexpr, BD: tl.constexpr, STEPS: tl.constexpr):
    """Sums over a span of tokens, added by atomic operations to [W, dim]."""
    d = tl.program_id(0) * BD + tl.arange(0, BD)
    batch = tl.program_id(2).to(tl.int64)
    for i in tl.static_range(W):
        acc = tl.zeros((BD,), tl.float32)
        for step in range(STEPS):
            t = (tl.program_id(1) * STEPS + step) * BT + tl.arange(0, BT)
            at = t - (W - 1) + i
            go = tl.load(g + (batch * length + t)[:, None] * dim + d[None, :], mask=(t < length)[:, None], other=0.0).to(tl.float32)
            v = tl.load(x + (batch * length + at)[:, None] * dim + d[None, :], mask=((at >= 0) & (t < length))[:, None], other=0.0).to(tl.float32)
            acc += tl.sum(go * v, axis=0)
        tl.atomic_add(dw + i * dim + d, acc)


@triton.jit
def depthwise_3x3(x, w, out, height, width, channels, BH: tl.constexpr, BW: tl.constexpr):
    """NCHW, padding 1: a tile of one plane."""
    plane = tl.program_id(2)
    h = tl.program_id(1) * BH + tl.arange(0, BH)
    c = tl.program_id(0) * BW + tl.arange(0, BW)
    x += plane.to(tl.int64) * height * width
    out += plane.to(tl.int64) * height * width
    w += plane % channels * 9
    acc = tl.zeros((BH, BW), tl.float32)
    for i in tl.static_range(3):
        for j in tl.static_range(3):
            row = h + i - 1
            col = c + j - 1
            inside = (row[:, None] >= 0) & (row[:, None] < height) & (col[None, :] >= 0) & (col[None, :] < width)
            v = tl.load(x + row[:, None] * width + col[None, :], mask=inside, other=0.0)
            acc += v.to(tl.float32) * tl.load(w + i * 3 + j).to(tl.float32)
    tl.store(out + h[:, None] * width + c[None, :], acc.to(out.dtype.element_ty), mask=(h[:, None] < height) & (c[None, :] < width))


@triton.jit
def depthwise_7x7_nhwc(x, w, bias, out, height, width, channels, BW: tl.constexpr, BC: tl.constexpr):
    """A row of pixels by channels; weights [7, 7, channels]."""
    c = tl.program_id(0) * BC + tl.arange(0, BC)
    col = tl.program_id(1) * BW + tl.arange(0, BW)
    row = tl.program_id(2) % height
    image = (tl.program_id(2) // height).to(tl.int64)
    acc = tl.zeros((BW, BC), tl.float32)
    for i in range(7):
        y = row + i - 3
        for j in range(7):
            z = col + j - 3
            inside = (y >= 0) & (y < height) & (z >= 0) & (z < width)
            v = tl.load(x + ((image * height + y) * width + z)[:, None] * channels + c[None, :], mask=inside[:, None] & (c < channels)[None, :], other=0.0)
            acc += v.to(tl.float32) * tl.load(w + (i * 7 + j) * channels + c, mask=c < channels, other=0.0).to(tl.float32)[None, :]
    acc += tl.load(bias + c, mask=c < channels, other=0.0).to(tl.float32)[None, :]
    at = ((image * height + row) * width + col)[:, None] * channels + c[None, :]
    tl.store(out + at, acc.to(out.dtype.element_ty), mask=(col < width)[:, None] & (c < channels)[None, :])


@triton.jit
def conv2d_nhwc(x, w, bias, out, batch, height, width, C, K, stride, out_h, out_w, R: tl.constexpr, S: tl.constexpr, PAD: tl.constexpr,
                BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """An implicit product: pixels by channels, weights [R, S, C, K]."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    image = m // (out_h * out_w)
    top = m // out_w % out_h * stride - PAD
    left = m % out_w * stride - PAD
    acc = tl.zeros((BM, BN), tl.float32)
    for r in range(R):
        for s in range(S):
            y = top + r
            z = left + s
            inside = (image < batch) & (y >= 0) & (y < height) & (z >= 0) & (z < width)
            pixel = ((image * height + y) * width + z) * C
            for c in range(0, C, BK):
                p = tl.load(x + pixel[:, None] + (c + k)[None, :], mask=inside[:, None] & (c + k < C)[None, :], other=0.0)
                q = tl.load(w + ((r * S + s) * C + c + k)[:, None] * K + n[None, :], mask=(c + k < C)[:, None] & (n < K)[None, :], other=0.0)
                acc = tl.dot(p, q, acc)
    acc += tl.load(bias + n, mask=n < K, other=0.0).to(tl.float32)[None, :]
    acc = tl.maximum(acc, 0.0)
    tl.store(out + m[:, None] * K + n[None, :], acc.to(out.dtype.element_ty), mask=(m < batch * out_h * out_w)[:, None] & (n < K)[None, :])


@triton.jit
def conv2d_nchw(x, w, out, C, K, height, width, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """3x3, padding 1, NCHW with weights [K, C, 3, 3]: channels by pixels, steps over all of C * 9."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    image = tl.program_id(2).to(tl.int64)
    row = n // width
    col = n % width
    size = height * width
    x += image * C * size
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, C * 9, BK):
        k = first + tl.arange(0, BK)
        c = k // 9
        y = row[None, :] + (k % 9 // 3)[:, None] - 1
        z = col[None, :] + (k % 3)[:, None] - 1
        inside = (y >= 0) & (y < height) & (z >= 0) & (z < width) & (k < C * 9)[:, None] & (n < size)[None, :]
        p = tl.load(w + m[:, None] * (C * 9) + k[None, :], mask=(m < K)[:, None] & (k < C * 9)[None, :], other=0.0)
        q = tl.load(x + c[:, None] * size + y * width + z, mask=inside, other=0.0)
        acc = tl.dot(p, q, acc)
    tl.store(out + image * K * size + m[:, None] * size + n[None, :], acc.to(out.dtype.element_ty), mask=(m < K)[:, None] & (n < size)[None, :])


@triton.jit
def conv2d_pointwise(x, w, scale, shift, out, C, K, pixels, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """1x1, NCHW, with a batch norm folded to scale and shift, and silu."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    image = tl.program_id(2).to(tl.int64)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, C, BK):
        k = first + tl.arange(0, BK)
        p = tl.load(w + m[:, None] * C + k[None, :])
        q = tl.load(x + (image * C + k)[:, None] * pixels + n[None, :], mask=(n < pixels)[None, :], other=0.0)
        acc += tl.dot(p, q)
    y = acc * tl.load(scale + m)[:, None] + tl.load(shift + m)[:, None]
    y = y * tl.sigmoid(y)
    tl.store(out + (image * K + m)[:, None] * pixels + n[None, :], y.to(out.dtype.element_ty), mask=(n < pixels)[None, :])


@triton.jit
def patch_embed(x, w, bias, out, size, D, P: tl.constexpr, C: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Patches of P x P of square images NCHW as tokens [patches, D]; weights [D, C, P, P]."""
    side = size // P
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    image = tl.program_id(2)
    x += image * C * size * size
    corner = m // side * P * size + m % side * P
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, C * P * P, BK):
        k = first + tl.arange(0, BK)
        at = k // (P * P) * size * size + k % (P * P) // P * size + k % P
        p = tl.load(x + corner[:, None] + at[None, :], mask=(m < side * side)[:, None] & (k < C * P * P)[None, :], other=0.0)
        q = tl.load(w + n[None, :] * (C * P * P) + k[:, None], mask=(k < C * P * P)[:, None], other=0.0)
        acc = tl.dot(p, q, acc)
    acc += tl.load(bias + n).to(tl.float32)[None, :]
    at = (image * side * side + m)[:, None] * D + n[None, :]
    tl.store(out + at, acc.to(out.dtype.element_ty), mask=(m < side * side)[:, None])


@triton.jit
def conv1d_dense(x, w, bias, out, length, out_length, C, K, stride, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Width 3, padding 1, [batch, length, C] and weights [3, C, K], with gelu."""
    t = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    batch = tl.program_id(2).to(tl.int64)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in tl.static_range(3):
        at = t * stride + i - 1
        inside = (at >= 0) & (at < length)
        row = x + (batch * length + at)[:, None] * C
        for c in range(0, C, BK):
            p = tl.load(row + (c + k)[None, :], mask=inside[:, None] & (c + k < C)[None, :], other=0.0)
            q = tl.load(w + (i * C + c + k)[:, None] * K + n[None, :], mask=(c + k < C)[:, None], other=0.0)
            acc = tl.dot(p, q, acc)
    acc += tl.load(bias + n).to(tl.float32)[None, :]
    y = 0.5 * acc * (1.0 + tl.erf(acc * 0.70710678))
    tl.store(out + (batch * out_length + t)[:, None] * K + n[None, :], y.to(out.dtype.element_ty), mask=(t < out_length)[:, None])


# -- Cases -------------------------------------------------------------------------------------------------------

F = torch.nn.functional


def wide(t):
    return {n: x.float() if hasattr(x, 'float') else x for n, x in t.items()}


def lines(s, small):
    e, tol = BYTES[s], near(0, s)
    B, L, D, bt, bd = (2, 37, 40, 16, 32) if small else (4, 4096, 5120, 32, 128)
    size = ' %s B%d L%d D%d' % (s, B, L, D)
    x, w, bias = Tensor((B, L, D), s), Tensor((D, 4), s, 2), Tensor((D,), s, 3)

    def causal(t):  # [B, D, L]
        t = wide(t)
        return F.silu(F.conv1d(F.pad(t['x'], (3, 0)), t['w'][:, None], t['bias'], groups=D))
    yield Case('conv1d_causal_silu' + size, dict(x=x, w=w, bias=bias, out=Tensor((B, L, D), s, 9), length=L, dim=D), ['out'],
               lambda t: [causal(dict(t, x=t['x'].transpose(1, 2))).transpose(1, 2)], tol, conv1d_causal_silu, (blocks(D, bd), blocks(L, bt), B),
               dict(W=4, BT=bt, BD=bd, num_warps=4), bytes=2 * B * L * D * e)
    bl = 32 if small else 1024
    y = lambda seed: Tensor((B, D, L), s, seed)
    yield Case('conv1d_causal_rows' + size, dict(x=y(1), w=w, bias=bias, out=y(9), length=L, dim=D), ['out'], lambda t: [causal(t)], tol,
               conv1d_causal_rows, (blocks(L, bl), D, B), dict(BT=bl, num_warps=4), bytes=2 * B * L * D * e)
    N = 3 if small else 1024

    def step(t):
        t = wide(t)
        rows = torch.cat((t['state'], t['x'][:, None]), 1)
        return [F.silu((rows * t['w'].t()).sum(1) + t['bias']), rows[:, 1:]]
    yield Case('conv1d_step %s B%d D%d' % (s, N, D), dict(x=Tensor((N, D), s), state=Tensor((N, 3, D), s, 4), w=w, bias=bias, out=Tensor((N, D), s), dim=D),
               ['out', 'state'], step, tol, conv1d_step, (blocks(D, 256), N), dict(BD=256, num_warps=4), bytes=8 * N * D * e, kept=('state',))
    D, bd, steps = (64, 32, 2) if small else (5120, 64, 16)

    def gradient(t):
        x, g = F.pad(t['x'].double(), (0, 0, 3, 0)), t['g'].double()
        return [torch.stack([(x[:, i:i + L] * g).sum((0, 1)) for i in range(4)])]
    yield Case('conv1d_weight_gradient %s B%d L%d D%d' % (s, B, L, D), dict(x=Tensor((B, L, D), s), g=Tensor((B, L, D), s, 2), dw=Tensor((4, D),
               made=lambda g: torch.zeros(4, D)), length=L, dim=D), ['dw'], gradient, 1e-4, conv1d_weight_gradient, (D // bd, blocks(L, bt * steps), B),
               dict(W=4, BT=bt, BD=bd, STEPS=steps, num_warps=4), bytes=2 * B * L * D * e, kept=('dw',))
    B, L, C, K, stride, bm, bn, bk = (2, 41, 40, 64, 2, 32, 32, 32) if small else (16, 3000, 384, 384, 2, 64, 128, 32)
    O = (L - 1) // stride + 1
    yield Case('conv1d_dense %s B%d L%d C%d K%d' % (s, B, L, C, K), dict(x=Tensor((B, L, C), s), w=Tensor((3, C, K), s, 2, scale=.05), bias=Tensor((K,), s, 3),
               out=Tensor((B, O, K), s), length=L, out_length=O, C=C, K=K, stride=stride), ['out'], lambda t: [F.gelu(F.conv1d(t['x'].float().transpose(1, 2),
               t['w'].float().permute(2, 1, 0), t['bias'].float(), stride, 1)).transpose(1, 2)], tol, conv1d_dense, (blocks(O, bm), K // bn, B),
               dict(BM=bm, BN=bn, BK=bk, num_warps=4), flops=6 * B * O * C * K)


def planes(s, small):
    e, tol = BYTES[s], near(0, s)
    B, C, H, W, bh, bw = (2, 3, 18, 21, 8, 16) if small else (32, 240, 56, 56, 16, 64)
    yield Case('depthwise_3x3 %s %dx%dx%dx%d' % (s, B, C, H, W), dict(x=Tensor((B, C, H, W), s), w=Tensor((C, 1, 3, 3), s, 2), out=Tensor((B, C, H, W), s),
               height=H, width=W, channels=C), ['out'], lambda t: [F.conv2d(t['x'].float(), t['w'].float(), padding=1, groups=C)], tol, depthwise_3x3,
               (blocks(W, bw), blocks(H, bh), B * C), dict(BH=bh, BW=bw, num_warps=4), bytes=2 * B * C * H * W * e)
    B, C, H, W, bw, bc = (1, 40, 9, 11, 8, 32) if small else (32, 96, 56, 56, 16, 64)
    yield Case('depthwise_7x7_nhwc %s %dx%dx%dx%d' % (s, B, H, W, C), dict(x=Tensor((B, H, W, C), s), w=Tensor((7, 7, C), s, 2), bias=Tensor((C,), s, 3),
               out=Tensor((B, H, W, C), s), height=H, width=W, channels=C), ['out'], lambda t: [F.conv2d(t['x'].float().permute(0, 3, 1, 2),
               t['w'].float().permute(2, 0, 1)[:, None], t['bias'].float(), padding=3, groups=C).permute(0, 2, 3, 1)], tol, depthwise_7x7_nhwc,
               (blocks(C, bc), blocks(W, bw), B * H), dict(BW=bw, BC=bc, num_warps=4), bytes=2 * B * C * H * W * e)


def images(s, small):
    tol = near(0, s)
    for B, H, W, C, K, R, stride, bm, bn, bk in ((1, 9, 8, 24, 40, 3, 2, 32, 32, 32),) if small else ((16, 56, 56, 128, 128, 3, 1, 64, 64, 32),
                                                                                                  (16, 56, 56, 256, 512, 3, 2, 128, 64, 32)):
        oh, ow = (H + 2 - R) // stride + 1, (W + 2 - R) // stride + 1
        M = B * oh * ow
        yield Case('conv2d_nhwc %s %dx%dx%dx%d K%d /%d' % (s, B, H, W, C, K, stride), dict(x=Tensor((B, H, W, C), s), w=Tensor((R, R, C, K), s, 2, scale=.05),
                   bias=Tensor((K,), s, 3), out=Tensor((B, oh, ow, K), s), batch=B, height=H, width=W, C=C, K=K, stride=stride, out_h=oh, out_w=ow), ['out'],
                   lambda t, stride=stride: [F.relu(F.conv2d(t['x'].float().permute(0, 3, 1, 2), t['w'].float().permute(3, 2, 0, 1), t['bias'].float(), stride,
                   1)).permute(0, 2, 3, 1)], tol, conv2d_nhwc, (blocks(M, bm), blocks(K, bn)), dict(R=R, S=R, PAD=1, BM=bm, BN=bn, BK=bk, num_warps=4),
                   flops=2 * M * K * C * R * R)
    B, C, H, W, K, bm, bn, bk = (1, 5, 9, 10, 20, 32, 32, 32) if small else (8, 320, 64, 64, 320, 64, 64, 32)
    yield Case('conv2d_nchw %s %dx%dx%dx%d K%d' % (s, B, C, H, W, K), dict(x=Tensor((B, C, H, W), s), w=Tensor((K, C, 3, 3), s, 2, scale=.05),
               out=Tensor((B, K, H, W), s), C=C, K=K, height=H, width=W), ['out'], lambda t: [F.conv2d(t['x'].float(), t['w'].float(), padding=1)], tol,
               conv2d_nchw, (blocks(H * W, bn), blocks(K, bm), B), dict(BM=bm, BN=bn, BK=bk, num_warps=4), flops=18 * B * C * K * H * W)
    B, C, K, pixels, bm, bn, bk = (2, 64, 32, 49, 32, 32, 32) if small else (32, 512, 1024, 784, 64, 64, 32)
    of = lambda t, n: t[n][:, None]
    yield Case('conv2d_pointwise %s %dx%dx%d K%d' % (s, B, C, pixels, K), dict(x=Tensor((B, C, pixels), s), w=Tensor((K, C), s, 2, scale=.05),
               scale=Tensor((K,), seed=3), shift=Tensor((K,), seed=4), out=Tensor((B, K, pixels), s), C=C, K=K, pixels=pixels), ['out'],
               lambda t: [F.silu((t['w'].float() @ t['x'].float()) * of(t, 'scale') + of(t, 'shift'))], tol, conv2d_pointwise,
               (blocks(pixels, bn), K // bm, B), dict(BM=bm, BN=bn, BK=bk, num_warps=4), flops=2 * B * C * K * pixels)
    B, size, P, D, bm, bn, bk = (2, 28, 7, 32, 16, 32, 32) if small else (64, 336, 14, 1024, 64, 64, 32)
    n = (size // P) ** 2
    yield Case('patch_embed %s %dx3x%dx%d P%d D%d' % (s, B, size, size, P, D), dict(x=Tensor((B, 3, size, size), s), w=Tensor((D, 3, P, P), s, 2, scale=.05),
               bias=Tensor((D,), s, 3), out=Tensor((B, n, D), s), size=size, D=D), ['out'], lambda t: [F.conv2d(t['x'].float(), t['w'].float(),
               t['bias'].float(), P).flatten(2).transpose(1, 2)], tol, patch_embed, (blocks(n, bm), D // bn, B), dict(P=P, C=3, BM=bm, BN=bn, BK=bk,
               num_warps=4), flops=6 * B * n * D * P * P)


def cases(small=False):
    for s in ('f16', 'bf16'):
        for family in (lines, planes, images):
            yield from family(s, small)
