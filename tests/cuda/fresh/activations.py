"""Fused activations of feed-forward layers, forward and backward."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks, near
from triton.language.extra import libdevice

F = torch.nn.functional


@triton.jit
def swiglu_packed(gate_up_ptr, out_ptr, width, BLOCK: tl.constexpr):
    """Gate and up are halves of a row, as the fused projection leaves them."""
    row = tl.program_id(0).to(tl.int64)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = c < width
    gate = tl.load(gate_up_ptr + row * 2 * width + c, mask=mask, other=0.0).to(tl.float32)
    up = tl.load(gate_up_ptr + row * 2 * width + width + c, mask=mask, other=0.0)
    act = gate * tl.sigmoid(gate)
    tl.store(out_ptr + row * width + c, act.to(up.dtype) * up, mask=mask)


@triton.jit
def swiglu_backward(dout_ptr, gate_ptr, up_ptr, dgate_ptr, dup_ptr, n_cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * stride
    c = tl.arange(0, BLOCK)
    mask = c < n_cols
    dout = tl.load(dout_ptr + row + c, mask=mask, other=0).to(tl.float32)
    g = tl.load(gate_ptr + row + c, mask=mask, other=0).to(tl.float32)
    u = tl.load(up_ptr + row + c, mask=mask, other=0).to(tl.float32)
    sig = tl.sigmoid(g)
    silu = g * sig
    tl.store(dup_ptr + row + c, dout * silu, mask=mask)
    tl.store(dgate_ptr + row + c, dout * u * (silu * (1 - sig) + sig), mask=mask)


@triton.jit
def geglu_tanh(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    a = tl.load(x_ptr + i, mask=mask).to(tl.float32)
    b = tl.load(y_ptr + i, mask=mask).to(tl.float32)
    inner = 0.7978845608028654 * a * (1 + 0.044715 * a * a)
    gelu = 0.5 * a * (1 + libdevice.tanh(inner))
    tl.store(out_ptr + i, gelu * b, mask=mask)


@triton.jit
def geglu_tanh_backward(dout_ptr, x_ptr, y_ptr, dx_ptr, dy_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    d = tl.load(dout_ptr + i, mask=mask).to(tl.float32)
    a = tl.load(x_ptr + i, mask=mask).to(tl.float32)
    b = tl.load(y_ptr + i, mask=mask).to(tl.float32)
    inner = 0.7978845608028654 * (a + 0.044715 * a * a * a)
    th = 2.0 * tl.sigmoid(2.0 * inner) - 1.0
    half = 0.5 * (1.0 + th)
    slope = half + 0.5 * a * (1.0 - th * th) * (0.7978845608028654 * (1.0 + 3 * 0.044715 * a * a))
    tl.store(dy_ptr + i, d * a * half, mask=mask)
    tl.store(dx_ptr + i, d * b * slope, mask=mask)


@triton.jit
def bias_gelu(X, B, Y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (m < M)[:, None] & (n < N)[None, :]
    x = tl.load(X + m[:, None] * N + n[None, :], mask=mask, other=0.0).to(tl.float32)
    x += tl.load(B + n, mask=n < N, other=0.0).to(tl.float32)[None, :]
    y = 0.5 * x * (1.0 + tl.erf(x * 0.70710678118))
    tl.store(Y + m[:, None] * N + n[None, :], y.to(Y.dtype.element_ty), mask=mask)


@triton.jit
def bias_gelu_backward(DY, X, B, DX, DB, M, N, CHUNK: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """dx, and the bias' gradient of CHUNK rows."""
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    b = tl.load(B + n, mask=n < N, other=0.0).to(tl.float32)
    db = tl.zeros((BN,), dtype=tl.float32)
    for i in range(0, CHUNK, BM):
        m = tl.program_id(0) * CHUNK + i + tl.arange(0, BM)
        mask = (m[:, None] < M) & (n[None, :] < N)
        at = m[:, None] * N + n[None, :]
        x = tl.load(X + at, mask=mask, other=0.0).to(tl.float32) + b[None, :]
        dy = tl.load(DY + at, mask=mask, other=0.0).to(tl.float32)
        cdf = 0.5 * (1.0 + tl.erf(x * 0.7071067811865476))
        pdf = tl.exp(-0.5 * x * x) * 0.3989422804014327
        dx = dy * (cdf + x * pdf)
        tl.store(DX + at, dx, mask=mask)
        db += tl.sum(dx, axis=0)
    tl.store(DB + tl.program_id(0) * N + n, db, mask=n < N)


@triton.jit
def squared_relu(x_ptr, dy_ptr, y_ptr, dx_ptr, n, BACKWARD: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.maximum(tl.load(x_ptr + i, mask=i < n, other=0.0), 0.0)
    if BACKWARD:
        dy = tl.load(dy_ptr + i, mask=i < n, other=0.0)
        tl.store(dx_ptr + i, 2.0 * x * dy, mask=i < n)
    else:
        tl.store(y_ptr + i, x * x, mask=i < n)


@triton.jit
def swiglu_clamped(x_ptr, out_ptr, rows, width, alpha, limit, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Gate and up are neighbors, both clamped; out = (up + 1) * gate * sigmoid(alpha * gate)."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = (r < rows)[:, None] & (c < width)[None, :]
    at = x_ptr + r[:, None] * (2 * width) + 2 * c[None, :]
    gate = tl.minimum(tl.load(at, mask=mask, other=0.0).to(tl.float32), limit)
    up = tl.clamp(tl.load(at + 1, mask=mask, other=0.0).to(tl.float32), -limit, limit)
    y = (up + 1.0) * gate * tl.sigmoid(alpha * gate)
    tl.store(out_ptr + r[:, None] * width + c[None, :], y, mask=mask)


# -- References ----------------------------------------------------------------------------------------------------

def grads(f, dy, *inputs):
    with torch.enable_grad():
        wide = [i.detach().double().requires_grad_() for i in inputs]
        return list(torch.autograd.grad(f(*wide), wide, dy.double()))


def geglu(a, b):
    return F.gelu(a, approximate='tanh') * b


def bias_ref(t, chunk):
    dx, = grads(lambda v: F.gelu(v), t['DY'], t['X'].double() + t['B'].double())
    return [dx, torch.stack([p.sum(0) for p in dx.split(chunk)])]


def clamped_ref(t, alpha, limit):
    x = t['x_ptr'].double()
    gate, up = x[:, 0::2].clamp_max(limit), x[:, 1::2].clamp(-limit, limit)
    return [(up + 1) * gate * torch.sigmoid(alpha * gate)]


# -- Cases ---------------------------------------------------------------------------------------------------------

def cases(small=False):
    for s, R, C in (('f16', 8192, 14336), ('bf16', 16384, 5504)):
        if small:
            R, C = 5, C // 50
        e = R * C * BYTES[s]
        block = 64 if small else 1024
        yield Case('swiglu_packed %s [%d,%d]' % (s, R, C), dict(gate_up_ptr=Tensor((R, 2 * C), s), out_ptr=Tensor((R, C), s, 9), width=C), ['out_ptr'],
                   lambda t: [(lambda v: F.silu(v[0]) * v[1])(t['gate_up_ptr'].double().chunk(2, 1))], near(2e-3, s), swiglu_packed,
                   (R, blocks(C, block)), dict(BLOCK=block, num_warps=4), bytes=3 * e)
    for s, R, C in (('bf16', 8192, 11008), ('f16', 16384, 4096)):
        if small:
            R, C = 5, C // 50
        x = lambda seed: Tensor((R, C), s, seed)
        yield Case('swiglu_backward %s [%d,%d]' % (s, R, C), dict(dout_ptr=x(1), gate_ptr=x(2), up_ptr=x(3), dgate_ptr=x(8), dup_ptr=x(9), n_cols=C,
                   stride=C), ['dgate_ptr', 'dup_ptr'], lambda t: grads(lambda g, u: F.silu(g) * u, t['dout_ptr'], t['gate_ptr'], t['up_ptr']), near(0, s),
                   swiglu_backward, (R,), dict(BLOCK=triton.next_power_of_2(C), num_warps=8), bytes=5 * R * C * BYTES[s])
    for s in ('f16', 'bf16'):
        n = 3000 if small else 8192 * 9216
        x = lambda seed: Tensor((n,), s, seed)
        launch = dict(grid=(blocks(n, 1024),), meta=dict(BLOCK=1024, num_warps=4))
        if s == 'f16':
            yield Case('geglu_tanh %s %d' % (s, n), dict(x_ptr=x(1), y_ptr=x(2), out_ptr=x(9), n=n), ['out_ptr'],
                       lambda t: [geglu(t['x_ptr'].double(), t['y_ptr'].double())], near(0, s), geglu_tanh, bytes=3 * n * BYTES[s], **launch)
            yield Case('squared_relu %s %d' % (s, n), dict(x_ptr=x(1), dy_ptr=x(2), y_ptr=x(9), dx_ptr=x(8), n=n), ['y_ptr'],
                       lambda t: [torch.relu(t['x_ptr'].double()).square()], near(0, s), squared_relu, grid=(blocks(n, 2048),),
                       meta=dict(BACKWARD=False, BLOCK=2048, num_warps=4), bytes=2 * n * BYTES[s])
        else:
            yield Case('geglu_tanh_backward %s %d' % (s, n), dict(dout_ptr=x(1), x_ptr=x(2), y_ptr=x(3), dx_ptr=x(8), dy_ptr=x(9), n=n),
                       ['dx_ptr', 'dy_ptr'], lambda t: grads(geglu, t['dout_ptr'], t['x_ptr'], t['y_ptr']), near(0, s), geglu_tanh_backward,
                       bytes=5 * n * BYTES[s], **launch)
            yield Case('squared_relu %s backward %d' % (s, n), dict(x_ptr=x(1), dy_ptr=x(2), y_ptr=x(9), dx_ptr=x(8), n=n), ['dx_ptr'],
                       lambda t: [2 * torch.relu(t['x_ptr'].double()) * t['dy_ptr'].double()], near(0, s), squared_relu, grid=(blocks(n, 2048),),
                       meta=dict(BACKWARD=True, BLOCK=2048, num_warps=4), bytes=3 * n * BYTES[s])
    s, M, N = ('f16', 21, 200) if small else ('f16', 16384, 4096)
    x, b, y = Tensor((M, N), s), Tensor((N,), s, 3), Tensor((M, N), s, 9)
    yield Case('bias_gelu %s [%d,%d]' % (s, M, N), dict(X=x, B=b, Y=y, M=M, N=N), ['Y'], lambda t: [F.gelu(t['X'].double() + t['B'].double())], 1e-3,
               bias_gelu, (blocks(M, 4), blocks(N, 256)), dict(BM=4, BN=256, num_warps=4), bytes=4 * M * N)
    chunk = 8 if small else 128
    yield Case('bias_gelu_backward %s [%d,%d]' % (s, M, N), dict(DY=Tensor((M, N), s, 2), X=x, B=b, DX=y, DB=Tensor((blocks(M, chunk), N)), M=M, N=N),
               ['DX', 'DB'], lambda t, c=chunk: bias_ref(t, c), 1e-3, bias_gelu_backward, (blocks(M, chunk), blocks(N, 128)),
               dict(CHUNK=chunk, BM=4, BN=128, num_warps=4), bytes=6 * M * N)
    s, R, C = ('bf16', 9, 90) if small else ('bf16', 16384, 2880)
    yield Case('swiglu_clamped %s [%d,%d]' % (s, R, C), dict(x_ptr=Tensor((R, 2 * C), s, scale=4), out_ptr=Tensor((R, C), s, 9), rows=R, width=C, alpha=1.702,
               limit=7.0), ['out_ptr'], lambda t: clamped_ref(t, 1.702, 7.0), 8e-3, swiglu_clamped, (blocks(R, 4), blocks(C, 256)),
               dict(ROWS=4, BLOCK=256, num_warps=4), bytes=6 * R * C)
