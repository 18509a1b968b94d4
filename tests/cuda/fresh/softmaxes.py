"""Softmax in its variants: masked, with a bias, over long rows, over a middle axis; logarithms and gradients."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks, near


@triton.jit
def softmax_masked(s_ptr, mask_ptr, out_ptr, scale, heads, S, BLOCK: tl.constexpr):
    """Scores [batch, heads, S, S], bytes [batch, S] that keep a key; rows a program, whole."""
    q = tl.program_id(0)
    bh = tl.program_id(1)
    k = tl.arange(0, BLOCK)
    row = (bh * S + q).to(tl.int64) * S
    keep = tl.load(mask_ptr + (bh // heads) * S + k, mask=k < S, other=0) != 0
    x = tl.load(s_ptr + row + k, mask=keep, other=-float("inf")).to(tl.float32) * scale
    x = x - tl.max(x, axis=0)
    e = tl.exp(x)
    y = e / tl.sum(e, axis=0)
    tl.store(out_ptr + row + k, y.to(out_ptr.dtype.element_ty), mask=k < S)


@triton.jit
def softmax_causal_tile(s_ptr, out_ptr, scale, slope_ptr, heads, S, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Causal, with a slope a head times the distance; ROWS rows at once."""
    q = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    bh = tl.program_id(1).to(tl.int64)
    k = tl.arange(0, BLOCK)
    slope = tl.load(slope_ptr + bh % heads)
    at = bh * S * S + q[:, None] * S + k[None, :]
    inside = (q[:, None] < S) & (k[None, :] < S)
    x = tl.load(s_ptr + at, mask=inside, other=0.0).to(tl.float32) * scale
    x += slope * (k[None, :] - q[:, None])
    x = tl.where(k[None, :] <= q[:, None], x, -float("inf"))
    e = tl.exp2((x - tl.max(x, axis=1)[:, None]) * 1.4426950408889634)
    tl.store(out_ptr + at, e / tl.sum(e, axis=1)[:, None], mask=inside)


@triton.jit
def softmax_online(x_ptr, out_ptr, n_cols, BLOCK: tl.constexpr):
    """Long rows in two passes: largest and sum together, then the results."""
    row = tl.program_id(0).to(tl.int64)
    x_ptr += row * n_cols
    out_ptr += row * n_cols
    m = -float("inf")
    d = 0.0
    for start in tl.range(0, n_cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + c, mask=c < n_cols, other=-float("inf")).to(tl.float32)
        new = tl.maximum(m, tl.max(x, axis=0))
        d = d * tl.exp(m - new) + tl.sum(tl.exp(x - new), axis=0)
        m = new
    for start in tl.range(0, n_cols, BLOCK):
        c = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + c, mask=c < n_cols, other=-float("inf")).to(tl.float32)
        tl.store(out_ptr + c, (tl.exp(x - m) / d).to(out_ptr.dtype.element_ty), mask=c < n_cols)


@triton.jit
def log_softmax(x_ptr, out_ptr, x_stride, out_stride, rows, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, BLOCK)
    mask = (r < rows)[:, None] & (c < cols)[None, :]
    x = tl.load(x_ptr + r[:, None] * x_stride + c[None, :], mask=mask, other=-float("inf")).to(tl.float32)
    x = x - tl.max(x, axis=1, keep_dims=True)
    y = x - tl.log(tl.sum(tl.exp(x), axis=1, keep_dims=True))
    tl.store(out_ptr + r[:, None] * out_stride + c[None, :], y, mask=mask)


@triton.jit
def log_softmax_backward(dy_ptr, y_ptr, dx_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n_cols
    total = tl.zeros([BLOCK], tl.float32)
    for i in range(0, n_cols, BLOCK):
        c = i + tl.arange(0, BLOCK)
        total += tl.load(dy_ptr + row + c, mask=c < n_cols, other=0.0).to(tl.float32)
    s = tl.sum(total, axis=0)
    for i in range(0, n_cols, BLOCK):
        c = i + tl.arange(0, BLOCK)
        mask = c < n_cols
        dy = tl.load(dy_ptr + row + c, mask=mask, other=0.0).to(tl.float32)
        y = tl.load(y_ptr + row + c, mask=mask, other=0.0).to(tl.float32)
        tl.store(dx_ptr + row + c, dy - tl.exp(y) * s, mask=mask)


@triton.jit
def softmax_backward(dy, y, dx, scale, cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """dx = y (dy - sum(y dy)) scale."""
    c = tl.arange(0, BLOCK)
    for i in range(ROWS):
        row = (tl.program_id(0) * ROWS + i).to(tl.int64) * cols
        p = tl.load(y + row + c, mask=c < cols, other=0.0).to(tl.float32)
        g = tl.load(dy + row + c, mask=c < cols, other=0.0).to(tl.float32)
        dot = tl.sum(p * g, axis=0)
        tl.store(dx + row + c, (p * (g - dot) * scale).to(dx.dtype.element_ty), mask=c < cols)


@triton.jit
def softmax_middle(x_ptr, out_ptr, C, N, BC: tl.constexpr, BN: tl.constexpr):
    """Over the classes of [batch, C, N], as segmentation heads need it."""
    b = tl.program_id(1)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    c = tl.arange(0, BC)
    at = b * C * N + c[:, None] * N + n[None, :]
    mask = (c < C)[:, None] & (n < N)[None, :]
    x = tl.load(x_ptr + at, mask=mask, other=-float("inf")).to(tl.float32)
    x = tl.where((n < N)[None, :], x, 0.0)
    e = tl.exp(x - tl.max(x, axis=0)[None, :])
    tl.store(out_ptr + at, e / tl.sum(e, axis=0)[None, :], mask=mask)


# -- References and cases ------------------------------------------------------------------------------------------

def masked_ref(t, scale):
    keep = t['mask_ptr'].bool()[:, None, None, :]
    return [torch.softmax((t['s_ptr'].float() * scale).masked_fill(~keep, -float('inf')), 3)]


def causal_ref(t, scale):
    S = t['s_ptr'].shape[-1]
    i = torch.arange(S, device=t['s_ptr'].device)
    x = t['s_ptr'].float() * scale + t['slope_ptr'][:, None, None] * (i[None, :] - i[:, None])
    return [torch.softmax(x.masked_fill(i[None, :] > i[:, None], -float('inf')), 3)]


def cases(small=False):
    s, B, H, S = ('f16', 2, 3, 77) if small else ('f16', 8, 16, 1024)
    some = lambda g, B=B, S=S: (torch.arange(S, device=g.device)[None, :] < torch.randint(S // 2, S, (B, 1), generator=g, device=g.device))
    x, y = Tensor((B, H, S, S), s), Tensor((B, H, S, S), s, 9)
    yield Case('softmax_masked %s [%d,%d,%d,%d]' % (s, B, H, S, S), dict(s_ptr=x, mask_ptr=Tensor((B, S), 'u8', 5, made=some), out_ptr=y, scale=0.5, heads=H, S=S),
               ['out_ptr'], lambda t: masked_ref(t, 0.5), 2e-3, softmax_masked, (S, B * H), dict(BLOCK=triton.next_power_of_2(S), num_warps=4),
               bytes=4 * B * H * S * S)
    slopes = Tensor((H,), made=lambda g, H=H: 2.0 ** (-8 * torch.arange(1, H + 1) / H))
    s, S = ('bf16', S if small else 1000)
    x, y = Tensor((B, H, S, S), s), Tensor((B, H, S, S), s, 9)
    yield Case('softmax_causal_tile %s [%d,%d,%d,%d]' % (s, B, H, S, S), dict(s_ptr=x, out_ptr=y, scale=0.125, slope_ptr=slopes, heads=H, S=S), ['out_ptr'],
               lambda t: causal_ref(t, 0.125), 8e-3, softmax_causal_tile, (blocks(S, 4), B * H), dict(ROWS=4, BLOCK=triton.next_power_of_2(S), num_warps=4),
               bytes=4 * B * H * S * S)
    for s, R, C in (('f16', 1024, 131072), ('bf16', 2048, 50257)):
        if small:
            R, C = 3, C // 200
        yield Case('softmax_online %s [%d,%d]' % (s, R, C), dict(x_ptr=Tensor((R, C), s), out_ptr=Tensor((R, C), s, 9), n_cols=C), ['out_ptr'],
                   lambda t: [torch.softmax(t['x_ptr'].float(), 1)], near(2e-3, s), softmax_online, (R,), dict(BLOCK=128 if small else 8192, num_warps=8),
                   bytes=2 * R * C * BYTES[s])
    for s, R, C in (('f16', 65536, 1000), ('bf16', 8192, 10000)):
        if small:
            R, C = 7, C // 20
        y = Tensor((R, C), s, 2, made=lambda g, R=R, C=C: torch.log_softmax(torch.randn(R, C, generator=g, device=g.device), 1))
        rows = 4 if C <= 1000 else 1
        yield Case('log_softmax %s [%d,%d]' % (s, R, C), dict(x_ptr=Tensor((R, C), s), out_ptr=Tensor((R, C), s, 9), x_stride=C, out_stride=C, rows=R, cols=C),
                   ['out_ptr'], lambda t: [torch.log_softmax(t['x_ptr'].float(), 1)], near(0, s), log_softmax, (blocks(R, rows),),
                   dict(ROWS=rows, BLOCK=triton.next_power_of_2(C), num_warps=8), bytes=2 * R * C * BYTES[s])
        if s == 'f16':
            yield Case('log_softmax_backward %s [%d,%d]' % (s, R, C), dict(dy_ptr=Tensor((R, C), s), y_ptr=y, dx_ptr=Tensor((R, C), s, 9), n_cols=C), ['dx_ptr'],
                       lambda t: [t['dy_ptr'].double() - t['y_ptr'].double().exp() * t['dy_ptr'].double().sum(1, keepdim=True)], near(0, s),
                       log_softmax_backward, (R,), dict(BLOCK=64 if small else 1024, num_warps=4), bytes=3 * R * C * BYTES[s])
    s, R, C = ('bf16', 12, 100) if small else ('bf16', 8 * 16 * 1024, 1024)
    p = Tensor((R, C), s, 2, made=lambda g, R=R, C=C: torch.softmax(torch.randn(R, C, generator=g, device=g.device), 1))
    yield Case('softmax_backward %s [%d,%d]' % (s, R, C), dict(dy=Tensor((R, C), s), y=p, dx=Tensor((R, C), s, 9), scale=0.125, cols=C), ['dx'],
               lambda t: [(lambda y, g: y * (g - (y * g).sum(1, keepdim=True)) * 0.125)(t['y'].double(), t['dy'].double())], 8e-3, softmax_backward, (R // 4,),
               dict(ROWS=4, BLOCK=triton.next_power_of_2(C), num_warps=4), bytes=3 * R * C * BYTES[s])
    s, B, C, N = ('f16', 2, 21, 90) if small else ('f16', 16, 150, 16384)
    yield Case('softmax_middle %s [%d,%d,%d]' % (s, B, C, N), dict(x_ptr=Tensor((B, C, N), s), out_ptr=Tensor((B, C, N), s, 9), C=C, N=N), ['out_ptr'],
               lambda t: [torch.softmax(t['x_ptr'].float(), 1)], 2e-3, softmax_middle, (blocks(N, 64), B), dict(BC=triton.next_power_of_2(C), BN=64, num_warps=4),
               bytes=4 * B * C * N)
