"""Stencils: heat, waves and images; each result from its neighbors."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks, near

F = torch.nn.functional


@triton.jit
def heat_2d(u_ptr, out_ptr, H, W, alpha, BH: tl.constexpr, BW: tl.constexpr):
    """A step of five points; the border stays."""
    h = tl.program_id(1) * BH + tl.arange(0, BH)[:, None]
    w = tl.program_id(0) * BW + tl.arange(0, BW)[None, :]
    inside = (h < H) & (w < W)
    inner = (h > 0) & (h < H - 1) & (w > 0) & (w < W - 1)
    at = u_ptr + h * W + w
    mid = tl.load(at, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(at - W, mask=inner, other=0.0).to(tl.float32)
    down = tl.load(at + W, mask=inner, other=0.0).to(tl.float32)
    left = tl.load(at - 1, mask=inner, other=0.0).to(tl.float32)
    right = tl.load(at + 1, mask=inner, other=0.0).to(tl.float32)
    new = mid + alpha * (up + down + left + right - 4.0 * mid)
    tl.store(out_ptr + h * W + w, tl.where(inner, new, mid), mask=inside)


@triton.jit
def wave_3d(now_ptr, before_ptr, after_ptr, NX, NY, NZ, c2, BY: tl.constexpr, BZ: tl.constexpr):
    """after = 2 now - before + c2 * laplacian(now), seven points, zero outside."""
    x = tl.program_id(2)
    y = tl.program_id(1) * BY + tl.arange(0, BY)
    z = tl.program_id(0) * BZ + tl.arange(0, BZ)
    mask = (y[:, None] < NY) & (z[None, :] < NZ)
    at = (x * NY + y[:, None]) * NZ + z[None, :]
    mid = tl.load(now_ptr + at, mask=mask, other=0.0)
    total = -6.0 * mid
    total += tl.load(now_ptr + at - 1, mask=mask & (z[None, :] > 0), other=0.0)
    total += tl.load(now_ptr + at + 1, mask=mask & (z[None, :] + 1 < NZ), other=0.0)
    total += tl.load(now_ptr + at - NZ, mask=mask & (y[:, None] > 0), other=0.0)
    total += tl.load(now_ptr + at + NZ, mask=mask & (y[:, None] + 1 < NY), other=0.0)
    total += tl.load(now_ptr + at - NY * NZ, mask=mask & (x > 0), other=0.0)
    total += tl.load(now_ptr + at + NY * NZ, mask=mask & (x + 1 < NX), other=0.0)
    before = tl.load(before_ptr + at, mask=mask, other=0.0)
    tl.store(after_ptr + at, 2.0 * mid - before + c2 * total, mask=mask)


@triton.jit
def bilinear_resize(x_ptr, y_ptr, H, W, OH, OW, scale_h, scale_w, BLOCK: tl.constexpr):
    """NCHW, corners not aligned."""
    plane = tl.program_id(1).to(tl.int64)
    o = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = o < OH * OW
    fh = tl.maximum((o // OW + 0.5) * scale_h - 0.5, 0.0)
    fw = tl.maximum((o % OW + 0.5) * scale_w - 0.5, 0.0)
    h0 = fh.to(tl.int32)
    w0 = fw.to(tl.int32)
    h1 = tl.minimum(h0 + 1, H - 1)
    w1 = tl.minimum(w0 + 1, W - 1)
    ah = fh - h0
    aw = fw - w0
    base = x_ptr + plane * H * W
    a = tl.load(base + h0 * W + w0, mask=mask, other=0.0).to(tl.float32)
    b = tl.load(base + h0 * W + w1, mask=mask, other=0.0).to(tl.float32)
    c = tl.load(base + h1 * W + w0, mask=mask, other=0.0).to(tl.float32)
    d = tl.load(base + h1 * W + w1, mask=mask, other=0.0).to(tl.float32)
    top = a + (b - a) * aw
    bottom = c + (d - c) * aw
    tl.store(y_ptr + plane * OH * OW + o, top + (bottom - top) * ah, mask=mask)


@triton.jit
def sobel_u8(img, out, H, W, stride, BH: tl.constexpr, BW: tl.constexpr):
    """Gradients of a gray image of bytes, borders repeated; the sum of the absolute values, cut at 255."""
    h = tl.program_id(0) * BH + tl.arange(0, BH)
    w = tl.program_id(1) * BW + tl.arange(0, BW)
    hm = tl.maximum(h - 1, 0)[:, None] * stride
    hp = tl.minimum(h + 1, H - 1)[:, None] * stride
    hc = tl.minimum(h, H - 1)[:, None] * stride
    wm = tl.minimum(tl.maximum(w - 1, 0), W - 1)[None, :]
    wp = tl.minimum(w + 1, W - 1)[None, :]
    wc = tl.minimum(w, W - 1)[None, :]
    hp = tl.where(h[:, None] < H, hp, 0)
    hm = tl.where(h[:, None] < H, hm, 0)
    a = tl.load(img + hm + wm).to(tl.int32)
    b = tl.load(img + hm + wc).to(tl.int32)
    c = tl.load(img + hm + wp).to(tl.int32)
    d = tl.load(img + hc + wm).to(tl.int32)
    f = tl.load(img + hc + wp).to(tl.int32)
    g = tl.load(img + hp + wm).to(tl.int32)
    i = tl.load(img + hp + wc).to(tl.int32)
    j = tl.load(img + hp + wp).to(tl.int32)
    gx = (c + 2 * f + j) - (a + 2 * d + g)
    gy = (g + 2 * i + j) - (a + 2 * b + c)
    m = tl.minimum(tl.abs(gx) + tl.abs(gy), 255)
    tl.store(out + h[:, None] * stride + w[None, :], m.to(tl.uint8), mask=(h[:, None] < H) & (w[None, :] < W))


# -- References and cases ------------------------------------------------------------------------------------------

def heat_ref(t, alpha):
    u = t['u_ptr'].double()
    new = u.clone()
    new[1:-1, 1:-1] += alpha * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])
    return [new]


def wave_ref(t, c2):
    u = t['now_ptr'].double()
    p = F.pad(u, (1,) * 6)
    s = slice(1, -1)
    around = p[2:, s, s] + p[:-2, s, s] + p[s, 2:, s] + p[s, :-2, s] + p[s, s, 2:] + p[s, s, :-2]
    return [2 * u - t['before_ptr'].double() + c2 * (around - 6 * u)]


def sobel_ref(t):
    x = F.pad(t['img'].double()[None, None], (1,) * 4, mode='replicate')
    k = torch.tensor([[-1., 0, 1], [-2, 0, 2], [-1, 0, 1]], dtype=torch.float64, device=x.device)
    gx, gy = (F.conv2d(x, v[None, None])[0, 0] for v in (k, k.T.contiguous()))
    return [(gx.abs() + gy.abs()).clamp_max(255)]


def cases(small=False):
    for s, H, W in (('f32', 8192, 8192), ('f16', 8000, 6000)):
        if small:
            H, W = 21, 70
        yield Case('heat_2d %s [%d,%d]' % (s, H, W), dict(u_ptr=Tensor((H, W), s), out_ptr=Tensor((H, W), s, 9), H=H, W=W, alpha=0.2), ['out_ptr'],
                   lambda t: heat_ref(t, 0.2), near(0, s), heat_2d, (blocks(W, 128), blocks(H, 8)), dict(BH=8, BW=128, num_warps=4), bytes=2 * H * W * BYTES[s])
    X, Y, Z = (5, 9, 40) if small else (384, 384, 384)
    u = lambda seed: Tensor((X, Y, Z), 'f32', seed)
    yield Case('wave_3d f32 [%d,%d,%d]' % (X, Y, Z), dict(now_ptr=u(1), before_ptr=u(2), after_ptr=u(9), NX=X, NY=Y, NZ=Z, c2=0.15), ['after_ptr'],
               lambda t: wave_ref(t, 0.15), 1e-5, wave_3d, (blocks(Z, 64), blocks(Y, 8), X), dict(BY=8, BZ=64, num_warps=4), bytes=12 * X * Y * Z)
    for s, N, C, H, O in (('f16', 8, 256, 64, 128), ('bf16', 16, 3, 640, 224)):
        if small:
            N, C, H, O = 1, 3, H // 16, O // 16
        size = N * C * (H * H + O * O) * BYTES[s]
        yield Case('bilinear_resize %s [%d,%d,%d,%d] %d' % (s, N, C, H, H, O), dict(x_ptr=Tensor((N, C, H, H), s), y_ptr=Tensor((N, C, O, O), s, 9), H=H, W=H, OH=O,
                   OW=O, scale_h=H / O, scale_w=H / O), ['y_ptr'], lambda t, O=O: [F.interpolate(t['x_ptr'].double(), O, mode='bilinear', align_corners=False)],
                   near(2e-3, s), bilinear_resize, (blocks(O * O, 512), N * C), dict(BLOCK=512, num_warps=4), bytes=size)
    H, W = (20, 75) if small else (4320, 7680)
    yield Case('sobel_u8 u8 [%d,%d]' % (H, W), dict(img=Tensor((H, W), 'u8', 5, 256), out=Tensor((H, W), 'u8'), H=H, W=W, stride=W), ['out'], sobel_ref, 0,
               sobel_u8, (blocks(H, 8), blocks(W, 128)), dict(BH=8, BW=128, num_warps=4), bytes=2 * H * W)
