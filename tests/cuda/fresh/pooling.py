"""Pooling of images and sequences: largest with places, average, to a given size, gradients."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks, near

F = torch.nn.functional


@triton.jit
def max_pool_2d(x_ptr, out_ptr, index_ptr, H, W, OH, OW, KERNEL: tl.constexpr, STRIDE: tl.constexpr, PAD: tl.constexpr, BLOCK: tl.constexpr):
    """NCHW; the place of the largest in its plane, as PyTorch keeps it."""
    plane = tl.program_id(0)
    o = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = o < OH * OW
    oh = o // OW
    ow = o % OW
    base = x_ptr + plane.to(tl.int64) * H * W
    best = tl.full([BLOCK], -float("inf"), tl.float32)
    place = tl.zeros([BLOCK], tl.int32)
    for i in tl.static_range(KERNEL):
        for j in tl.static_range(KERNEL):
            h = oh * STRIDE - PAD + i
            w = ow * STRIDE - PAD + j
            ok = inside & (h >= 0) & (h < H) & (w >= 0) & (w < W)
            v = tl.load(base + h * W + w, mask=ok, other=-float("inf")).to(tl.float32)
            more = v > best
            best = tl.where(more, v, best)
            place = tl.where(more, h * W + w, place)
    at = plane.to(tl.int64) * OH * OW + o
    tl.store(out_ptr + at, best, mask=inside)
    tl.store(index_ptr + at, place, mask=inside)


@triton.jit
def avg_pool_nhwc(x_ptr, out_ptr, H, W, C, OH, OW, K: tl.constexpr, ROWS: tl.constexpr, BC: tl.constexpr):
    """NHWC, K x K without overlap; ROWS results of BC channels."""
    o = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    n = tl.program_id(2)
    c = tl.program_id(1) * BC + tl.arange(0, BC)
    mask = (o < OH * OW)[:, None] & (c < C)[None, :]
    top = o // OW * K
    left = o % OW * K
    acc = tl.zeros((ROWS, BC), tl.float32)
    for i in range(K):
        for j in range(K):
            at = ((n * H + top + i) * W + left + j)[:, None] * C + c[None, :]
            acc += tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + (n * OH * OW + o)[:, None] * C + c[None, :], acc * (1.0 / (K * K)), mask=mask)


@triton.jit
def adaptive_avg_pool(x_ptr, out_ptr, H, W, OH, OW, BH: tl.constexpr, BW: tl.constexpr):
    """Windows of unequal sizes: a program averages one of them."""
    plane = tl.program_id(0)
    oh = tl.program_id(1) // OW
    ow = tl.program_id(1) % OW
    h0 = oh * H // OH
    h1 = ((oh + 1) * H + OH - 1) // OH
    w0 = ow * W // OW
    w1 = ((ow + 1) * W + OW - 1) // OW
    h = h0 + tl.arange(0, BH)
    w = w0 + tl.arange(0, BW)
    v = tl.load(x_ptr + plane * H * W + h[:, None] * W + w[None, :], mask=(h < h1)[:, None] & (w < w1)[None, :], other=0.0).to(tl.float32)
    tl.store(out_ptr + (plane * OH + oh) * OW + ow, tl.sum(v) / ((h1 - h0) * (w1 - w0)))


@triton.jit
def global_avg_max(x, avg, most, HW, PLANES: tl.constexpr, BLOCK: tl.constexpr):
    """Mean and largest of each plane, PLANES at once (channel attention)."""
    p = tl.program_id(0) * PLANES + tl.arange(0, PLANES)
    total = tl.zeros((PLANES, BLOCK), tl.float32)
    top = tl.full((PLANES, BLOCK), -float("inf"), tl.float32)
    for i in range(0, HW, BLOCK):
        c = i + tl.arange(0, BLOCK)
        keep = c[None, :] < HW
        v = tl.load(x + p[:, None] * HW + c[None, :], mask=keep, other=0.0).to(tl.float32)
        total += v
        top = tl.maximum(top, tl.where(keep, v, -float("inf")))
    tl.store(avg + p, tl.sum(total, axis=1) / HW)
    tl.store(most + p, tl.max(top, axis=1))


@triton.jit
def avg_pool_1d_backward(dy_ptr, dx_ptr, L, OL, K: tl.constexpr, STRIDE: tl.constexpr, BLOCK: tl.constexpr):
    """A gradient is the sum of those of the windows that hold it."""
    row = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for k in tl.static_range(0, K):
        start = i - k
        o = start // STRIDE
        ok = (start >= 0) & (start % STRIDE == 0) & (o < OL) & (i < L)
        acc += tl.load(dy_ptr + row * OL + o, mask=ok, other=0.0).to(tl.float32)
    tl.store(dx_ptr + row * L + i, acc / K, mask=i < L)


# -- References and cases ------------------------------------------------------------------------------------------

def max_ref(t, k, stride, pad):
    return list(F.max_pool2d(t['x_ptr'].float(), k, stride, pad, return_indices=True))


def backward_ref(t, L, k, stride):
    with torch.enable_grad():
        x = torch.zeros(len(t['dy_ptr']), 1, L, dtype=torch.float64, device=t['dy_ptr'].device, requires_grad=True)
        return [torch.autograd.grad(F.avg_pool1d(x, k, stride), x, t['dy_ptr'].double()[:, None])[0][:, 0]]


def cases(small=False):
    for s, N, C, H, k, stride, pad in (('f16', 32, 64, 112, 3, 2, 1), ('bf16', 32, 128, 56, 2, 2, 0)):
        if small:
            N, C, H = 1, 3, 17
        O = (H + 2 * pad - k) // stride + 1
        block = 64 if small else 1024
        yield Case('max_pool_2d %s [%d,%d,%d,%d] %d' % (s, N, C, H, H, k), dict(x_ptr=Tensor((N, C, H, H), s), out_ptr=Tensor((N, C, O, O), s, 9),
                   index_ptr=Tensor((N, C, O, O), 'i32'), H=H, W=H, OH=O, OW=O), ['out_ptr', 'index_ptr'],
                   lambda t, a=(k, stride, pad): max_ref(t, *a), 1e-5, max_pool_2d, (N * C, blocks(O * O, block)),
                   dict(KERNEL=k, STRIDE=stride, PAD=pad, BLOCK=block, num_warps=4), bytes=N * C * (H * H * BYTES[s] + O * O * (4 + BYTES[s])))
    s, N, H, W, C = ('f16', 2, 8, 10, 70) if small else ('f16', 32, 56, 56, 256)
    yield Case('avg_pool_nhwc %s [%d,%d,%d,%d] 2' % (s, N, H, W, C), dict(x_ptr=Tensor((N, H, W, C), s), out_ptr=Tensor((N, H // 2, W // 2, C), s, 9), H=H,
               W=W, C=C, OH=H // 2, OW=W // 2), ['out_ptr'], lambda t: [F.avg_pool2d(t['x_ptr'].double().permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1)], 1e-3,
               avg_pool_nhwc, (blocks(H * W // 4, 16), blocks(C, 128), N), dict(K=2, ROWS=16, BC=128, num_warps=4), bytes=N * H * W * C * 5 // 2)
    s, N, C, H, O = ('bf16', 2, 3, 17, 7) if small else ('bf16', 64, 512, 50, 7)
    yield Case('adaptive_avg_pool %s [%d,%d,%d,%d] %d' % (s, N, C, H, H, O), dict(x_ptr=Tensor((N, C, H, H), s), out_ptr=Tensor((N, C, O, O), s, 9), H=H, W=H,
               OH=O, OW=O), ['out_ptr'], lambda t, O=O: [F.adaptive_avg_pool2d(t['x_ptr'].double(), O)], 8e-3, adaptive_avg_pool, (N * C, O * O),
               dict(BH=16, BW=16, num_warps=1), bytes=2 * N * C * (H * H + O * O))
    s, P, HW = ('f16', 16, 90) if small else ('f16', 64 * 512, 28 * 28)
    yield Case('global_avg_max %s [%d,%d]' % (s, P, HW), dict(x=Tensor((P, HW), s), avg=Tensor((P,)), most=Tensor((P,)), HW=HW), ['avg', 'most'],
               lambda t: [t['x'].double().mean(1), t['x'].double().amax(1)], 1e-4, global_avg_max, (P // 8,),
               dict(PLANES=8, BLOCK=64 if small else 256, num_warps=4), bytes=2 * P * HW)
    s, R, L, k, stride = ('bf16', 3, 100, 5, 2) if small else ('bf16', 16384, 3000, 5, 2)
    OL = (L - k) // stride + 1
    block = 64 if small else 1024
    yield Case('avg_pool_1d_backward %s [%d,%d]' % (s, R, L), dict(dy_ptr=Tensor((R, OL), s), dx_ptr=Tensor((R, L), s, 9), L=L, OL=OL), ['dx_ptr'],
               lambda t, a=(L, k, stride): backward_ref(t, *a), near(0, s), avg_pool_1d_backward, (R, blocks(L, block)),
               dict(K=k, STRIDE=stride, BLOCK=block, num_warps=4), bytes=R * (L + OL) * 2)
