"""Losses of training and distillation: cross entropy with smoothing, z-loss and ignored tokens, KL, BCE, focal."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor

F = torch.nn.functional


@triton.jit
def ce_fused(logits_ptr, labels_ptr, grad_ptr, loss_ptr, z_ptr, vocab, row_stride, n_valid, smoothing, z_weight, ignore_index,
             BLOCK: tl.constexpr):
    """Loss and gradient in one launch; ignored rows have neither."""
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * row_stride
    grad_ptr += row * row_stride
    label = tl.load(labels_ptr + row)
    if label == ignore_index:
        for i in range(0, vocab, BLOCK):
            offs = i + tl.arange(0, BLOCK)
            tl.store(grad_ptr + offs, 0.0, mask=offs < vocab)
        tl.store(loss_ptr + row, 0.0)
        tl.store(z_ptr + row, 0.0)
        return
    m = float("-inf")
    d = 0.0
    total = 0.0
    for i in range(0, vocab, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + offs, mask=offs < vocab, other=float("-inf")).to(tl.float32)
        m_new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - m_new) + tl.sum(tl.exp(x - m_new))
        m = m_new
        total += tl.sum(tl.where(offs < vocab, x, 0.0))
    lse = m + tl.log(d)
    x_label = tl.load(logits_ptr + label).to(tl.float32)
    eps = smoothing / vocab
    loss = lse - (1.0 - smoothing) * x_label - eps * total
    z = z_weight * lse * lse
    tl.store(loss_ptr + row, (loss + z) / n_valid)
    tl.store(z_ptr + row, z / n_valid)
    scale = (1.0 + 2.0 * z_weight * lse) / n_valid
    for i in range(0, vocab, BLOCK):
        offs = i + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + offs, mask=offs < vocab, other=float("-inf")).to(tl.float32)
        g = tl.exp(x - lse) * scale
        g -= tl.where(offs == label, (1.0 - smoothing) + eps, eps) / n_valid
        tl.store(grad_ptr + offs, g, mask=offs < vocab)


@triton.jit
def ce_chunk(logits, labels, loss, lse_out, V, stride, BLOCK: tl.constexpr):
    """One chunk of a large vocabulary a program; chunks are joined by their lse."""
    row = tl.program_id(0)
    chunk = tl.program_id(1)
    cols = chunk * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(logits + row.to(tl.int64) * stride + cols, mask=cols < V, other=-float("inf")).to(tl.float32)
    top = tl.max(x, axis=0)
    lse = tl.log(tl.sum(tl.exp(x - top), axis=0)) + top
    tl.store(lse_out + row * tl.num_programs(1) + chunk, lse)
    label = tl.load(labels + row).to(tl.int32)
    hit = tl.sum(tl.where(cols == label, x, 0.0), axis=0)
    if (label >= chunk * BLOCK) & (label < (chunk + 1) * BLOCK):
        tl.store(loss + row, -hit)


@triton.jit
def ce_backward(grad, logits, lse, labels, dloss, V, stride, smoothing, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    label = tl.load(labels + row)
    up = tl.load(dloss + row)
    x = tl.load(logits + row * stride + cols, mask=cols < V, other=-float("inf")).to(tl.float32)
    p = tl.exp(x - tl.load(lse + row))
    p = tl.where(cols == label, p - (1.0 - smoothing), p) - smoothing / V
    tl.store(grad + row * stride + cols, p * up, mask=cols < V)


@triton.jit
def kl_forward(student_ptr, teacher_ptr, loss_ptr, V, inv_temperature, BLOCK: tl.constexpr):
    """KL(teacher || student) of logits, both normalized on the way."""
    row = tl.program_id(0)
    s_ptr = student_ptr + row * V
    t_ptr = teacher_ptr + row * V
    offs = tl.arange(0, BLOCK)
    s_max = tl.full([BLOCK], -float("inf"), tl.float32)
    t_max = tl.full([BLOCK], -float("inf"), tl.float32)
    s_sum = tl.zeros([BLOCK], tl.float32)
    t_sum = tl.zeros([BLOCK], tl.float32)
    cross = tl.zeros([BLOCK], tl.float32)
    for i in range(0, V, BLOCK):
        mask = i + offs < V
        s = tl.load(s_ptr + i + offs, mask=mask, other=-1e30).to(tl.float32) * inv_temperature
        t = tl.load(t_ptr + i + offs, mask=mask, other=-1e30).to(tl.float32) * inv_temperature
        s_new = tl.maximum(s_max, s)
        t_new = tl.maximum(t_max, t)
        s_sum = s_sum * tl.exp(s_max - s_new) + tl.exp(s - s_new)
        e = tl.exp(t - t_new)
        decay = tl.exp(t_max - t_new)
        t_sum = t_sum * decay + e
        cross = cross * decay + tl.where(mask, e * (t - s), 0.0)
        s_max = s_new
        t_max = t_new
    sm = tl.max(s_max, axis=0)
    s_lse = sm + tl.log(tl.sum(s_sum * tl.exp(s_max - sm), axis=0))
    tm = tl.max(t_max, axis=0)
    weight = tl.exp(t_max - tm)
    t_total = tl.sum(t_sum * weight, axis=0)
    t_lse = tm + tl.log(t_total)
    tl.store(loss_ptr + row, tl.sum(cross * weight, axis=0) / t_total + s_lse - t_lse)


@triton.jit
def kl_log_target(input_ptr, target_ptr, loss_ptr, grad_ptr, n_cols, scale, LOG_TARGET: tl.constexpr, BLOCK: tl.constexpr):
    """Of log-probabilities, with the gradient; a sum a row."""
    row = tl.program_id(0)
    acc = 0.0
    for first in range(0, n_cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        m = c < n_cols
        x = tl.load(input_ptr + row * n_cols + c, mask=m, other=0.0).to(tl.float32)
        y = tl.load(target_ptr + row * n_cols + c, mask=m, other=0.0).to(tl.float32)
        if LOG_TARGET:
            p = tl.where(m, tl.exp(y), 0.0)
            part = p * (y - x)
        else:
            p = y
            part = tl.where(y > 0, y * (tl.log(tl.maximum(y, 1e-10)) - x), 0.0)
        acc += tl.sum(part, axis=0)
        tl.store(grad_ptr + row * n_cols + c, -p * scale, mask=m)
    tl.store(loss_ptr + row, acc * scale)


@triton.jit
def bce_with_logits(x_ptr, y_ptr, weight_ptr, loss_ptr, grad_ptr, n, classes, inv_n, BLOCK: tl.constexpr):
    """Multi-label BCE with a weight for the positives of each class; a partial sum a program, and the gradient."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + i, mask=mask, other=0).to(tl.float32)
    w = tl.load(weight_ptr + i % classes, mask=mask, other=1.0)
    soft = tl.log(1.0 + tl.exp(-tl.abs(x))) + tl.maximum(-x, 0.0)
    k = 1.0 + (w - 1.0) * y
    loss = tl.where(mask, (1.0 - y) * x + k * soft, 0.0)
    tl.store(loss_ptr + pid, tl.sum(loss, axis=0) * inv_n)
    p = 1.0 / (1.0 + tl.exp(-x))
    grad = (1.0 - y) - k * (1.0 - p)
    tl.store(grad_ptr + i, grad * inv_n, mask=mask)


@triton.jit
def sigmoid_focal(logits, targets, losses, grads, alpha, gamma, numel, GAMMA_IS_2: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    offs = tl.program_id(0) * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    ok = offs < numel
    x = tl.load(logits + offs, mask=ok, other=0.0).to(tl.float32)
    t = tl.load(targets + offs, mask=ok, other=0).to(tl.float32)
    p = tl.sigmoid(x)
    sign = 2.0 * t - 1.0
    pt = tl.where(t > 0.5, p, 1.0 - p)
    a = tl.where(t > 0.5, alpha, 1.0 - alpha)
    log_pt = -(tl.maximum(-x * sign, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(x))))
    if GAMMA_IS_2:
        f = (1.0 - pt) * (1.0 - pt)
    else:
        f = tl.exp2(gamma * tl.log2(1.0 - pt + 1e-12))
    tl.store(losses + offs, -a * f * log_pt, mask=ok)
    tl.store(grads + offs, a * f * sign * (gamma * pt * log_pt - (1.0 - pt)), mask=ok)


# -- References ----------------------------------------------------------------------------------------------------

def with_grad(f, x, up=None):
    """The result of f and its gradient, in double."""
    with torch.enable_grad():
        x = x.detach().double().requires_grad_()
        y = f(x)
        return y.detach(), torch.autograd.grad(y, x, torch.ones_like(y) if up is None else up.double())[0]


def fused_ref(t, smoothing, z_weight, n):
    label = t['labels_ptr']
    z = lambda x: z_weight * torch.logsumexp(x, 1).square() * (label >= 0) / n
    loss = lambda x: F.cross_entropy(x, label, ignore_index=-100, label_smoothing=smoothing, reduction='none') / n + z(x)
    y, g = with_grad(loss, t['logits_ptr'])
    return [y, z(t['logits_ptr'].double()), g]


def chunk_ref(t, block):
    x = t['logits'].double()
    lse = torch.stack([p.logsumexp(1) for p in x.split(block, 1)], 1)
    return [-x.gather(1, t['labels'][:, None])[:, 0], lse]


def backward_ref(t, smoothing):
    f = lambda x: F.cross_entropy(x, t['labels'], label_smoothing=smoothing, reduction='none')
    return [with_grad(f, t['logits'], t['dloss'])[1]]


def kl_ref(t, inv):
    s, p = (torch.log_softmax(t[n].double() * inv, 1) for n in ('student_ptr', 'teacher_ptr'))
    return [F.kl_div(s, p, log_target=True, reduction='none').sum(1)]


def kl_log_ref(t, scale):
    y, g = with_grad(lambda x: F.kl_div(x, t['target_ptr'].double(), log_target=True, reduction='none').sum(1) * scale, t['input_ptr'])
    return [y, g]


def bce_ref(t, block):
    x, y = t['x_ptr'].double(), t['y_ptr'].double()
    f = lambda x: F.binary_cross_entropy_with_logits(x, y, pos_weight=t['weight_ptr'].double(), reduction='none') / x.numel()
    loss, g = with_grad(f, x)
    return [torch.stack([p.sum() for p in loss.flatten().split(block)]), g]


def focal_ref(t, alpha, gamma):
    y = t['targets'].double()
    def f(x):
        ce = F.binary_cross_entropy_with_logits(x, y, reduction='none')
        p = torch.sigmoid(x)
        return (alpha * y + (1 - alpha) * (1 - y)) * (1 - (p * y + (1 - p) * (1 - y))) ** gamma * ce
    return list(with_grad(f, t['logits']))


# -- Cases ---------------------------------------------------------------------------------------------------------

def some_ignored(rows, vocab):
    """Labels of which every fifth or so is ignored."""
    def make(g):
        label = torch.randint(0, vocab, (rows,), generator=g, device=g.device)
        return torch.where(torch.rand(rows, generator=g, device=g.device) < 0.2, -100, label)
    return Tensor((rows,), 'i64', 5, made=make)


def cases(small=False):
    for s, R, V in (('bf16', 4096, 32000), ('f16', 2048, 50257)):
        if small:
            R, V = 5, V // 100
        smooth, zw, n = 0.1, 1e-3, 0.8 * R
        x, e = Tensor((R, V), s, scale=2), BYTES[s]
        block = 128 if small else 4096
        yield Case('ce_fused %s [%d,%d]' % (s, R, V), dict(logits_ptr=x, labels_ptr=some_ignored(R, V), grad_ptr=Tensor((R, V), s, 9),
                   loss_ptr=Tensor((R,)), z_ptr=Tensor((R,)), vocab=V, row_stride=V, n_valid=n, smoothing=smooth, z_weight=zw,
                   ignore_index=-100), ['loss_ptr', 'z_ptr', 'grad_ptr'],
                   lambda t, n=n: fused_ref(t, smooth, zw, n), 1e-2 if s == 'bf16' else 4e-3, ce_fused, (R,), dict(BLOCK=block, num_warps=8),
                   bytes=2 * R * V * e)
    R, V, block = (5, 300, 128) if small else (4096, 128256, 16384)
    x = Tensor((R, V), 'bf16')
    yield Case('ce_chunk bf16 [%d,%d]' % (R, V), dict(logits=x, labels=Tensor((R,), 'i64', 5, V), loss=Tensor((R,)),
               lse_out=Tensor((R, triton.cdiv(V, block))), V=V, stride=V), ['loss', 'lse_out'], lambda t, b=block: chunk_ref(t, b), 1e-5,
               ce_chunk, (R, triton.cdiv(V, block)), dict(BLOCK=block, num_warps=16), bytes=2 * R * V)
    R, V, block = (5, 300, 128) if small else (4096, 32000, 2048)
    x = Tensor((R, V), 'f16')
    yield Case('ce_backward f16 [%d,%d]' % (R, V), dict(grad=Tensor((R, V), 'f16', 9), logits=x,
               lse=Tensor((R,), made=lambda g, x=x: x.make().float().logsumexp(1)), labels=Tensor((R,), 'i64', 5, V), dloss=Tensor((R,), 'f32', 6),
               V=V, stride=V, smoothing=0.1), ['grad'], lambda t: backward_ref(t, 0.1), 2e-3, ce_backward, (R, triton.cdiv(V, block)),
               dict(BLOCK=block, num_warps=4), bytes=4 * R * V)
    R, V = (4, 500) if small else (4096, 32000)
    yield Case('kl_forward bf16 [%d,%d]' % (R, V), dict(student_ptr=Tensor((R, V), 'bf16', 1), teacher_ptr=Tensor((R, V), 'bf16', 2),
               loss_ptr=Tensor((R,)), V=V, inv_temperature=0.5), ['loss_ptr'], lambda t: kl_ref(t, 0.5), 1e-4, kl_forward, (R,),
               dict(BLOCK=128 if small else 2048, num_warps=8), bytes=4 * R * V)
    logs = lambda seed: Tensor((R, V), 'f32', seed, made=lambda g: torch.log_softmax(torch.randn(R, V, generator=g, device=g.device), 1))
    yield Case('kl_log_target f32 [%d,%d]' % (R, V), dict(input_ptr=logs(1), target_ptr=logs(2), loss_ptr=Tensor((R,)),
               grad_ptr=Tensor((R, V)), n_cols=V, scale=1 / R), ['loss_ptr', 'grad_ptr'], lambda t, R=R: kl_log_ref(t, 1 / R), 1e-4, kl_log_target,
               (R,), dict(LOG_TARGET=True, BLOCK=128 if small else 4096, num_warps=8), bytes=12 * R * V)
    R, C, block = (20, 80, 256) if small else (65536, 1000, 1024)
    yield Case('bce_with_logits f16 [%d,%d]' % (R, C), dict(x_ptr=Tensor((R, C), 'f16', scale=3), y_ptr=Tensor((R, C), 'u8', 2, 2),
               weight_ptr=Tensor((C,), 'f32', made=lambda g, C=C: torch.linspace(0.5, 4, C)), loss_ptr=Tensor((triton.cdiv(R * C, block),)),
               grad_ptr=Tensor((R, C), 'f32'), n=R * C, classes=C, inv_n=1 / (R * C)), ['loss_ptr', 'grad_ptr'], lambda t, b=block: bce_ref(t, b),
               1e-4, bce_with_logits, (triton.cdiv(R * C, block),), dict(BLOCK=block, num_warps=4), bytes=7 * R * C)
    for s, two in (('bf16', True), ('f32', False)):
        n = 1500 if small else 120000 * 91
        gamma = 2.0 if two else 1.5
        yield Case('sigmoid_focal %s %d' % (s, n), dict(logits=Tensor((n,), s, scale=2), targets=Tensor((n,), 'u8', made=lambda g, n=n:
                   torch.rand(n, generator=g, device=g.device) < 0.1), losses=Tensor((n,), s, 9), grads=Tensor((n,), s, 9), alpha=0.25,
                   gamma=gamma, numel=n), ['losses', 'grads'], lambda t, g=gamma: focal_ref(t, 0.25, g), 8e-3 if s == 'bf16' else 1e-4, sigmoid_focal,
                   (triton.cdiv(n, 1024),), dict(GAMMA_IS_2=two, BLOCK_SIZE=1024, num_warps=4), bytes=n * (3 * BYTES[s] + 1))
