"""Optimizer steps: AdamW, Adam with 16-bit moments, Lion, SGD with momentum, Muon's Newton-Schulz step, clipping by norm."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks


@triton.jit
def adamw_step(p_ptr, copy_ptr, g_ptr, m_ptr, v_ptr, lr, beta1, beta2, eps, weight_decay, bias1, bias2, n, BLOCK: tl.constexpr):
    """Master weights and moments in f32; gradient and the model's copy in 16 bits."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    p = tl.load(p_ptr + i, mask=mask)
    g = tl.load(g_ptr + i, mask=mask).to(tl.float32)
    m = tl.load(m_ptr + i, mask=mask)
    v = tl.load(v_ptr + i, mask=mask)
    p = p * (1.0 - lr * weight_decay)
    m = beta1 * m + (1.0 - beta1) * g
    v = beta2 * v + (1.0 - beta2) * g * g
    p = p - lr * (m / bias1) / (tl.sqrt(v / bias2) + eps)
    tl.store(p_ptr + i, p, mask=mask)
    tl.store(copy_ptr + i, p.to(copy_ptr.dtype.element_ty), mask=mask)
    tl.store(m_ptr + i, m, mask=mask)
    tl.store(v_ptr + i, v, mask=mask)


@triton.jit
def adam_l2_16bit(param, grad, exp_avg, exp_avg_sq, step_ptr, scale_ptr, lr, b1, b2, eps, l2, numel, BLOCK_SIZE: tl.constexpr):
    """Everything in 16 bits; the step and the loss scale are in memory, so that a graph of launches can be replayed."""
    offs = tl.program_id(0).to(tl.int64) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offs < numel
    step = tl.load(step_ptr).to(tl.float32)
    inv = 1.0 / tl.load(scale_ptr)
    p = tl.load(param + offs, mask=mask, other=0.0).to(tl.float32)
    g = tl.load(grad + offs, mask=mask, other=0.0).to(tl.float32) * inv + l2 * p
    m = tl.load(exp_avg + offs, mask=mask, other=0.0).to(tl.float32)
    v = tl.load(exp_avg_sq + offs, mask=mask, other=0.0).to(tl.float32)
    m = m + (1.0 - b1) * (g - m)
    v = b2 * v + (1.0 - b2) * (g * g)
    c1 = 1.0 - tl.exp2(step * tl.log2(b1))
    c2 = 1.0 - tl.exp2(step * tl.log2(b2))
    denom = tl.sqrt(v) / tl.sqrt(c2) + eps
    p -= lr / c1 * m / denom
    tl.store(param + offs, p.to(param.dtype.element_ty), mask=mask)
    tl.store(exp_avg + offs, m.to(exp_avg.dtype.element_ty), mask=mask)
    tl.store(exp_avg_sq + offs, v.to(exp_avg_sq.dtype.element_ty), mask=mask)


@triton.jit
def lion_step(p_ptr, g_ptr, m_ptr, lr, wd, beta1, beta2, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    p = tl.load(p_ptr + i, mask=mask).to(tl.float32)
    g = tl.load(g_ptr + i, mask=mask).to(tl.float32)
    m = tl.load(m_ptr + i, mask=mask).to(tl.float32)
    u = m * beta1 + g * (1 - beta1)
    sign = tl.where(u > 0, 1.0, tl.where(u < 0, -1.0, 0.0))
    p = p * (1 - lr * wd) - lr * sign
    tl.store(p_ptr + i, p, mask=mask)
    tl.store(m_ptr + i, m * beta2 + g * (1 - beta2), mask=mask)


@triton.jit
def sgd_nesterov(p_ptr, g_ptr, buf_ptr, lr, momentum, dampening, weight_decay, n, NESTEROV: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    p = tl.load(p_ptr + offsets, mask=mask)
    d = tl.load(g_ptr + offsets, mask=mask).to(tl.float32) + weight_decay * p
    buf = momentum * tl.load(buf_ptr + offsets, mask=mask) + (1 - dampening) * d
    tl.store(buf_ptr + offsets, buf, mask=mask)
    if NESTEROV:
        d += momentum * buf
    else:
        d = buf
    tl.store(p_ptr + offsets, p - lr * d, mask=mask)


@triton.jit
def gram(X, A, M, K, stride_x, stride_a, BM: tl.constexpr, BK: tl.constexpr):
    """A = X X^T: tiles of the lower half, each written twice."""
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)
    if pid_n > pid_m:
        return
    m = pid_m * BM + tl.arange(0, BM)
    n = pid_n * BM + tl.arange(0, BM)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BM), dtype=tl.float32)
    for k0 in range(0, K, BK):
        kmask = k0 + k < K
        x = tl.load(X + m[:, None] * stride_x + (k0 + k)[None, :], mask=(m < M)[:, None] & kmask[None, :], other=0.0)
        y = tl.load(X + n[None, :] * stride_x + (k0 + k)[:, None], mask=(n < M)[None, :] & kmask[:, None], other=0.0)
        acc += tl.dot(x, y)
    out = acc.to(A.dtype.element_ty)
    mask = (m[:, None] < M) & (n[None, :] < M)
    tl.store(A + m[:, None] * stride_a + n[None, :], out, mask=mask)
    if pid_n < pid_m:
        tl.store(A + n[:, None] * stride_a + m[None, :], tl.trans(out), mask=(n[:, None] < M) & (m[None, :] < M))


@triton.jit
def newton_schulz(A, C, M, b, c, stride, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """b A + c A A for a symmetric A, whose rows serve as columns."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros((BM, BN), tl.float32)
    for k0 in range(0, M, BK):
        k = k0 + tl.arange(0, BK)
        x = tl.load(A + m[:, None] * stride + k[None, :], mask=(m[:, None] < M) & (k[None, :] < M), other=0.0)
        y = tl.load(A + n[:, None] * stride + k[None, :], mask=(n[:, None] < M) & (k[None, :] < M), other=0.0)
        acc = tl.dot(x, y.T, acc)
    mask = (m[:, None] < M) & (n[None, :] < M)
    a = tl.load(A + m[:, None] * stride + n[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.store(C + m[:, None] * stride + n[None, :], (b * a + c * acc).to(C.dtype.element_ty), mask=mask)


@triton.jit
def sum_of_squares(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Persistent: as many programs as are launched share the blocks; each adds to the result once."""
    pid = tl.program_id(0)
    acc = tl.zeros([BLOCK], tl.float32)
    for block in range(pid, tl.cdiv(n, BLOCK), tl.num_programs(0)):
        i = block * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
        acc += x * x
    tl.atomic_add(out_ptr, tl.sum(acc))


@triton.jit
def clip_by_norm(g_ptr, out_ptr, square_ptr, max_norm, n, BLOCK: tl.constexpr):
    norm = tl.sqrt(tl.load(square_ptr))
    factor = tl.minimum(max_norm / (norm + 1e-6), 1.0)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(g_ptr + i, mask=i < n).to(tl.float32)
    tl.store(out_ptr + i, (g * factor).to(out_ptr.dtype.element_ty), mask=i < n)


# -- References ----------------------------------------------------------------------------------------------------

def adamw_ref(t, lr, b1, b2, eps, wd, c1, c2):
    p, g, m, v = (t[n].double() for n in ('p_ptr', 'g_ptr', 'm_ptr', 'v_ptr'))
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    p = p * (1 - lr * wd) - lr * (m / c1) / ((v / c2).sqrt() + eps)
    return [p, p, m, v]


def adam_ref(t, lr, b1, b2, eps, l2):
    p, m, v = (t[n].double() for n in ('param', 'exp_avg', 'exp_avg_sq'))
    g = t['grad'].double() / t['scale_ptr'].double() + l2 * p
    step = t['step_ptr'].item()
    m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
    return [p - lr / (1 - b1 ** step) * m / (v.sqrt() / (1 - b2 ** step) ** 0.5 + eps), m, v]


def lion_ref(t, lr, wd, b1, b2):
    p, g, m = (t[n].double() for n in ('p_ptr', 'g_ptr', 'm_ptr'))
    return [p * (1 - lr * wd) - lr * torch.sign(m * b1 + g * (1 - b1)), m * b2 + g * (1 - b2)]


def sgd_ref(t, lr, momentum, wd):
    p, g, buf = (t[n].double() for n in ('p_ptr', 'g_ptr', 'buf_ptr'))
    g = g + wd * p
    buf = momentum * buf + g
    return [p - lr * (g + momentum * buf), buf]


# -- Cases ---------------------------------------------------------------------------------------------------------

def positive(shape, s):
    return Tensor(shape, s, 4, made=lambda g: torch.rand(shape, generator=g, device=g.device) * 1.5 + 0.01)


def cases(small=False):
    n = 3000 if small else 4096 * 14336
    launch = lambda block: dict(grid=(blocks(n, block),), meta=dict(BLOCK=block, num_warps=4))
    x = lambda seed, s='f32': Tensor((n,), s, seed)
    for s in ('bf16', 'f16'):
        o = dict(lr=0.1, beta1=0.9, beta2=0.95, eps=1e-8, weight_decay=0.1, bias1=1 - 0.9 ** 5, bias2=1 - 0.95 ** 5)
        yield Case('adamw_step %s %d' % (s, n), dict(p_ptr=x(1), copy_ptr=x(9, s), g_ptr=x(2, s), m_ptr=x(3), v_ptr=positive((n,), 'f32'),
                   **o, n=n), ['p_ptr', 'copy_ptr', 'm_ptr', 'v_ptr'], lambda t, o=o: adamw_ref(t, *o.values()), 8e-3 if s == 'bf16' else 1e-3,
                   adamw_step, bytes=n * 28, kept=('p_ptr', 'm_ptr', 'v_ptr'), **launch(1024))
    o = dict(lr=0.2, b1=0.9, b2=0.99, eps=1e-6, l2=0.01)
    yield Case('adam_l2_16bit bf16 %d' % n, dict(param=x(1, 'bf16'), grad=Tensor((n,), 'bf16', 2, scale=8), exp_avg=x(3, 'bf16'),
               exp_avg_sq=positive((n,), 'bf16'), step_ptr=Tensor((1,), 'i32', made=lambda g: torch.tensor([7])),
               scale_ptr=Tensor((1,), made=lambda g: torch.tensor([8.0])), **o, numel=n), ['param', 'exp_avg', 'exp_avg_sq'],
               lambda t: adam_ref(t, *o.values()), 8e-3, adam_l2_16bit, (blocks(n, 2048),), dict(BLOCK_SIZE=2048, num_warps=8), bytes=n * 14,
               kept=('param', 'exp_avg', 'exp_avg_sq'))
    lion = dict(lr=0.05, wd=0.2, beta1=0.9, beta2=0.99)
    yield Case('lion_step bf16 %d' % n, dict(p_ptr=x(1, 'bf16'), g_ptr=x(2, 'bf16'), m_ptr=x(3, 'bf16'), **lion, n=n), ['p_ptr', 'm_ptr'],
               lambda t: lion_ref(t, *lion.values()), 8e-3, lion_step, bytes=n * 10, kept=('p_ptr', 'm_ptr'), **launch(2048))
    yield Case('sgd_nesterov f16 %d' % n, dict(p_ptr=x(1), g_ptr=x(2, 'f16'), buf_ptr=x(3), lr=0.1, momentum=0.9, dampening=0.0,
               weight_decay=0.05, n=n), ['p_ptr', 'buf_ptr'], lambda t: sgd_ref(t, 0.1, 0.9, 0.05), 1e-5, sgd_nesterov, (blocks(n, 1024),),
               dict(NESTEROV=True, BLOCK=1024, num_warps=4), bytes=n * 18, kept=('p_ptr', 'buf_ptr'))
    for s, M, K in (('bf16', 2048, 8192), ('f16', 1000, 4000)):
        if small:
            M, K = M // 20, K // 50
        B = 32 if small else 128 if s == 'bf16' else 64
        yield Case('gram %s [%d,%d]' % (s, M, K), dict(X=Tensor((M, K), s), A=Tensor((M, M), s, 9), M=M, K=K, stride_x=K, stride_a=M), ['A'],
                   lambda t: [t['X'].float() @ t['X'].float().T], 8e-3 if s == 'bf16' else 1e-3, gram, (blocks(M, B), blocks(M, B)),
                   dict(BM=B, BK=32 if small else 64, num_warps=8), flops=M * M * K)
        symmetric = lambda g, M=M: (lambda v: (v + v.T) * 0.5)(torch.randn(M, M, generator=g, device=g.device))
        yield Case('newton_schulz %s %d' % (s, M), dict(A=Tensor((M, M), s, made=symmetric), C=Tensor((M, M), s, 9), M=M, b=-4.775, c=2.0315, stride=M),
                   ['C'], lambda t: [-4.775 * t['A'].float() + 2.0315 * (t['A'].float() @ t['A'].float())], 8e-3 if s == 'bf16' else 1e-3, newton_schulz,
                   (blocks(M, B), blocks(M, B)), dict(BM=B, BN=B, BK=32, num_warps=4), flops=2 * M ** 3)
    yield Case('sum_of_squares bf16 %d' % n, dict(x_ptr=x(1, 'bf16'), out_ptr=Tensor((1,), made=lambda g: torch.zeros(1)), n=n), ['out_ptr'],
               lambda t: [t['x_ptr'].double().square().sum().view(1)], 1e-4, sum_of_squares, (5 if small else 1056,),
               dict(BLOCK=256 if small else 4096, num_warps=8), bytes=2 * n, kept=('out_ptr',))
    yield Case('clip_by_norm f16 %d' % n, dict(g_ptr=x(1, 'f16'), out_ptr=x(9, 'f16'), square_ptr=Tensor((1,), made=lambda g: torch.tensor([7.5])),
               max_norm=1.0, n=n), ['out_ptr'], lambda t: [t['g_ptr'].double() / (7.5 ** 0.5 + 1e-6)], 1e-3, clip_by_norm, bytes=4 * n, **launch(1024))
