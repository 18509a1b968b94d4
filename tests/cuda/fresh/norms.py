"""Norms over other axes than a row's, and backward passes: group, instance, batch, layer and RMS norm."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, near

F = torch.nn.functional


@triton.jit
def group_norm(x_ptr, y_ptr, w_ptr, b_ptr, mean_ptr, rstd_ptr, C, HW, groups, eps,
                      CHANNELS: tl.constexpr, BLOCK: tl.constexpr):
    # one program per (sample, group); a group is contiguous in NCHW
    pid = tl.program_id(0)
    g = pid % groups
    size = CHANNELS * HW
    base = pid.to(tl.int64) * size
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    acc2 = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, size, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + base + offs, mask=offs < size, other=0.0).to(tl.float32)
        acc += x
        acc2 += x * x
    mean = tl.sum(acc, axis=0) / size
    var = tl.sum(acc2, axis=0) / size - mean * mean
    rstd = tl.rsqrt(var + eps)
    tl.store(mean_ptr + pid, mean)
    tl.store(rstd_ptr + pid, rstd)
    for c in range(0, CHANNELS):
        w = tl.load(w_ptr + g * CHANNELS + c).to(tl.float32) * rstd
        b = tl.load(b_ptr + g * CHANNELS + c).to(tl.float32) - mean * w
        for start in range(0, HW, BLOCK):
            offs = start + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + base + c * HW + offs, mask=offs < HW, other=0.0).to(tl.float32)
            tl.store(y_ptr + base + c * HW + offs, x * w + b, mask=offs < HW)


@triton.jit
def group_norm_silu_nhwc(x_ptr, y_ptr, w_ptr, b_ptr, C, HW, groups, eps, CG: tl.constexpr, BC: tl.constexpr,
                                BHW: tl.constexpr):
    n = tl.program_id(0)
    g = tl.program_id(1)
    c = tl.arange(0, BC)
    base = x_ptr + n * HW * C + g * CG
    total = tl.zeros([BHW, BC], dtype=tl.float32)
    square = tl.zeros([BHW, BC], dtype=tl.float32)
    for start in range(0, HW, BHW):
        p = start + tl.arange(0, BHW)
        mask = (p[:, None] < HW) & (c[None, :] < CG)
        x = tl.load(base + p[:, None] * C + c[None, :], mask=mask, other=0.0).to(tl.float32)
        total += x
        square += x * x
    count = CG * HW
    mean = tl.sum(total) / count
    rstd = 1.0 / tl.sqrt(tl.sum(square) / count - mean * mean + eps)
    w = tl.load(w_ptr + g * CG + c, mask=c < CG, other=0.0).to(tl.float32)
    b = tl.load(b_ptr + g * CG + c, mask=c < CG, other=0.0).to(tl.float32)
    for start in range(0, HW, BHW):
        p = start + tl.arange(0, BHW)
        mask = (p[:, None] < HW) & (c[None, :] < CG)
        x = tl.load(base + p[:, None] * C + c[None, :], mask=mask, other=0.0).to(tl.float32)
        y = (x - mean) * rstd * w[None, :] + b[None, :]
        y = y * tl.sigmoid(y)
        tl.store(y_ptr + n * HW * C + g * CG + p[:, None] * C + c[None, :], y, mask=mask)


@triton.jit
def group_norm_bwd(dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_ptr, db_ptr, HW, groups, C,
                          CHANNELS: tl.constexpr, BLOCK: tl.constexpr):
    """dx of a group; dw and db of the sample (summed over samples elsewhere)."""
    pid = tl.program_id(0)
    n = pid // groups
    g = pid % groups
    mean = tl.load(mean_ptr + pid)
    rstd = tl.load(rstd_ptr + pid)
    base = pid.to(tl.int64) * CHANNELS * HW
    sum_dy = 0.0
    sum_dyx = 0.0
    for c in range(CHANNELS):
        w = tl.load(w_ptr + g * CHANNELS + c).to(tl.float32)
        part_dy = tl.zeros([BLOCK], dtype=tl.float32)
        part_dyx = tl.zeros([BLOCK], dtype=tl.float32)
        for start in range(0, HW, BLOCK):
            offs = start + tl.arange(0, BLOCK)
            m = offs < HW
            dy = tl.load(dy_ptr + base + c * HW + offs, mask=m, other=0.0).to(tl.float32)
            x = tl.load(x_ptr + base + c * HW + offs, mask=m, other=0.0).to(tl.float32)
            part_dy += dy
            part_dyx += dy * (x - mean) * rstd
        db = tl.sum(part_dy, axis=0)
        dw = tl.sum(part_dyx, axis=0)
        tl.store(db_ptr + n * C + g * CHANNELS + c, db)
        tl.store(dw_ptr + n * C + g * CHANNELS + c, dw)
        sum_dy += db * w
        sum_dyx += dw * w
    count = CHANNELS * HW
    c1 = sum_dyx / count
    c2 = sum_dy / count
    for c in range(CHANNELS):
        w = tl.load(w_ptr + g * CHANNELS + c).to(tl.float32)
        for start in range(0, HW, BLOCK):
            offs = start + tl.arange(0, BLOCK)
            m = offs < HW
            dy = tl.load(dy_ptr + base + c * HW + offs, mask=m, other=0.0).to(tl.float32)
            x_hat = (tl.load(x_ptr + base + c * HW + offs, mask=m, other=0.0).to(tl.float32) - mean) * rstd
            tl.store(dx_ptr + base + c * HW + offs, (dy * w - (x_hat * c1 + c2)) * rstd, mask=m)


@triton.jit
def instance_norm(x_ptr, y_ptr, w_ptr, b_ptr, HW, C, eps, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """ROWS planes of an image at once; a plane fits in a block."""
    plane = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    offs = tl.arange(0, BLOCK)
    mask = offs[None, :] < HW
    at = plane[:, None] * HW + offs[None, :]
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=1) / HW
    d = tl.where(mask, x - mean[:, None], 0.0)
    rstd = tl.rsqrt(tl.sum(d * d, axis=1) / HW + eps)
    w = tl.load(w_ptr + plane % C)
    b = tl.load(b_ptr + plane % C)
    y = d * (rstd * w)[:, None] + b[:, None]
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), mask=mask)


@triton.jit
def batch_norm_train(x_ptr, y_ptr, w_ptr, b_ptr, run_mean_ptr, run_var_ptr, save_mean_ptr, save_rstd_ptr, N, C, HW,
                            momentum, eps, RELU: tl.constexpr, BN: tl.constexpr, BHW: tl.constexpr):
    c = tl.program_id(0)
    count = N * HW
    s = tl.zeros((BN, BHW), tl.float32)
    s2 = tl.zeros((BN, BHW), tl.float32)
    for n0 in range(0, N, BN):
        n = n0 + tl.arange(0, BN)
        for p0 in range(0, HW, BHW):
            p = p0 + tl.arange(0, BHW)
            mask = (n[:, None] < N) & (p[None, :] < HW)
            x = tl.load(x_ptr + (n[:, None] * C + c) * HW + p[None, :], mask=mask, other=0.0).to(tl.float32)
            s += x
            s2 += x * x
    mean = tl.sum(s) / count
    var = tl.sum(s2) / count - mean * mean
    rstd = tl.rsqrt(var + eps)
    tl.store(save_mean_ptr + c, mean)
    tl.store(save_rstd_ptr + c, rstd)
    unbiased = var * count / (count - 1)
    tl.store(run_mean_ptr + c, tl.load(run_mean_ptr + c) * (1 - momentum) + mean * momentum)
    tl.store(run_var_ptr + c, tl.load(run_var_ptr + c) * (1 - momentum) + unbiased * momentum)
    scale = tl.load(w_ptr + c) * rstd
    shift = tl.load(b_ptr + c) - mean * scale
    for n0 in range(0, N, BN):
        n = n0 + tl.arange(0, BN)
        for p0 in range(0, HW, BHW):
            p = p0 + tl.arange(0, BHW)
            mask = (n[:, None] < N) & (p[None, :] < HW)
            at = (n[:, None] * C + c) * HW + p[None, :]
            y = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32) * scale + shift
            if RELU:
                y = tl.maximum(y, 0.0)
            tl.store(y_ptr + at, y, mask=mask)


@triton.jit
def batch_norm_bwd(dy_ptr, x_ptr, w_ptr, mean_ptr, rstd_ptr, dx_ptr, dw_ptr, db_ptr, N, C, HW, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    mean = tl.load(mean_ptr + c)
    rstd = tl.load(rstd_ptr + c)
    w = tl.load(w_ptr + c)
    cols = tl.arange(0, BLOCK)
    db = tl.zeros((BLOCK,), tl.float32)
    dw = tl.zeros((BLOCK,), tl.float32)
    for n in range(N):
        row = (n * C + c) * HW
        for p in range(0, HW, BLOCK):
            keep = p + cols < HW
            dy = tl.load(dy_ptr + row + p + cols, mask=keep, other=0.0).to(tl.float32)
            x = tl.load(x_ptr + row + p + cols, mask=keep, other=0.0).to(tl.float32)
            db += dy
            dw += dy * (x - mean)
    sum_dy = tl.sum(db, 0)
    sum_dyx = tl.sum(dw, 0) * rstd
    tl.store(db_ptr + c, sum_dy)
    tl.store(dw_ptr + c, sum_dyx)
    count = (N * HW).to(tl.float32)
    a = w * rstd
    k1 = sum_dyx / count * rstd
    k0 = sum_dy / count
    for n in range(N):
        row = (n * C + c) * HW
        for p in range(0, HW, BLOCK):
            keep = p + cols < HW
            dy = tl.load(dy_ptr + row + p + cols, mask=keep, other=0.0).to(tl.float32)
            x = tl.load(x_ptr + row + p + cols, mask=keep, other=0.0).to(tl.float32)
            tl.store(dx_ptr + row + p + cols, a * (dy - k0 - (x - mean) * k1), mask=keep)


@triton.jit
def layer_norm_bwd(DX, DY, X, W, Mean, Rstd, DW, DB, M, N, rows_per_program, BLOCK_N: tl.constexpr):
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK_N)
    mask = cols < N
    w = tl.load(W + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK_N,), dtype=tl.float32)
    db = tl.zeros((BLOCK_N,), dtype=tl.float32)
    first = pid * rows_per_program
    for row in range(first, min(first + rows_per_program, M)):
        x = tl.load(X + row * N + cols, mask=mask, other=0.0).to(tl.float32)
        dy = tl.load(DY + row * N + cols, mask=mask, other=0.0).to(tl.float32)
        mean = tl.load(Mean + row)
        rstd = tl.load(Rstd + row)
        xhat = tl.where(mask, (x - mean) * rstd, 0.0)
        wdy = w * dy
        c1 = tl.sum(xhat * wdy, axis=0) / N
        c2 = tl.sum(wdy, axis=0) / N
        dx = (wdy - (xhat * c1 + c2)) * rstd
        tl.store(DX + row * N + cols, dx.to(DX.dtype.element_ty), mask=mask)
        dw += dy * xhat
        db += dy
    tl.store(DW + pid * N + cols, dw, mask=mask)
    tl.store(DB + pid * N + cols, db, mask=mask)


@triton.jit
def rms_norm_bwd(dy_ptr, x_ptr, w_ptr, rstd_ptr, dx_ptr, dw_ptr, n_rows, n_cols, x_stride,
                        ROWS: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    w = tl.load(w_ptr + cols, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros((BLOCK,), tl.float32)
    for i in range(ROWS):
        row = pid * ROWS + i
        if row < n_rows:
            dy = tl.load(dy_ptr + row * x_stride + cols, mask=mask, other=0.0).to(tl.float32)
            x = tl.load(x_ptr + row * x_stride + cols, mask=mask, other=0.0).to(tl.float32)
            rstd = tl.load(rstd_ptr + row)
            m = dy * w
            proj = tl.sum(m * x, axis=0)
            dx = rstd * m - (rstd * rstd * rstd / n_cols) * proj * x
            tl.store(dx_ptr + row * x_stride + cols, dx, mask=mask)
            dw += dy * (x * rstd)
    tl.store(dw_ptr + pid * n_cols + cols, dw, mask=mask)


@triton.jit
def layer_norm_2d(x_ptr, y_ptr, w_ptr, b_ptr, C, HW, eps, BC: tl.constexpr, BP: tl.constexpr):
    """Over the channels of NCHW, as ConvNeXt's: BP pixels of a sample at once."""
    n = tl.program_id(1)
    p = tl.program_id(0) * BP + tl.arange(0, BP)
    c = tl.arange(0, BC)
    at = n * C * HW + c[:, None] * HW + p[None, :]
    mask = (c[:, None] < C) & (p[None, :] < HW)
    x = tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
    mean = tl.sum(x, axis=0) / C
    d = tl.where(mask, x - mean[None, :], 0.0)
    rstd = tl.rsqrt(tl.sum(d * d, axis=0) / C + eps)
    w = tl.load(w_ptr + c, mask=c < C, other=0.0)
    b = tl.load(b_ptr + c, mask=c < C, other=0.0)
    tl.store(y_ptr + at, d * rstd[None, :] * w[:, None] + b[:, None], mask=mask)


# -- Inputs and references ----------------------------------------------------------------------------------------------------

def statistics(x, shape, axes=1, eps=1e-5, rms=False):
    """Tensors with the means of x and one over its deviations, over axes of x as `shape`."""
    view = lambda: x.make().float().view(shape)
    size = tuple(torch.empty(*shape if -1 not in shape else [n if n > 0 else 1 for n in shape], device='meta').sum(axes).shape)
    var = lambda v: v.square().mean(axes) if rms else v.var(axes, unbiased=False)
    return Tensor(size, made=lambda g: view().mean(axes)), Tensor(size, made=lambda g: (var(view()) + eps).rsqrt())


def grads(f, dy, *inputs):
    """Gradients of sum(f(inputs) * dy) in double."""
    with torch.enable_grad():
        wide = [i.detach().double().requires_grad_() for i in inputs]
        return torch.autograd.grad(f(*wide), wide, dy.double())


def group_ref(t, G):
    x = t['x_ptr'].double()
    N, C = x.shape[:2]
    v = x.view(N * G, -1)
    y = F.group_norm(x, G, t['w_ptr'].double(), t['b_ptr'].double(), 1e-5)
    return [y, v.mean(1), (v.var(1, unbiased=False) + 1e-5).rsqrt()]


def nhwc_ref(t, G):
    y = F.group_norm(t['x_ptr'].double().permute(0, 2, 1), G, t['w_ptr'].double(), t['b_ptr'].double(), 1e-5)
    return [F.silu(y).permute(0, 2, 1)]


def group_bwd_ref(t, G):
    x, dy = t['x_ptr'].double(), t['dy_ptr'].double()
    N, C = x.shape[:2]
    x_hat = F.group_norm(x, G, None, None, 1e-5)
    dx, = grads(lambda v: F.group_norm(v, G, t['w_ptr'].double(), None, 1e-5), t['dy_ptr'], x)
    return [dx, (dy * x_hat).sum((2, 3)), dy.sum((2, 3))]


def batch_ref(t):
    x = t['x_ptr'].double()
    y = torch.relu(F.batch_norm(x, None, None, t['w_ptr'].double(), t['b_ptr'].double(), True, 0.1, 1e-5))
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    kept = [0.9 * t['run_mean_ptr'] + 0.1 * mean, 0.9 * t['run_var_ptr'] + 0.1 * var]
    return [y, mean, (x.var((0, 2, 3), unbiased=False) + 1e-5).rsqrt()] + kept


def batch_bwd_ref(t):
    return list(grads(lambda x, w, b: F.batch_norm(x, None, None, w, b, True, 0.1, 1e-5), t['dy_ptr'], t['x_ptr'], t['w_ptr'],
                      torch.zeros_like(t['w_ptr'])))


def layer_bwd_ref(t, per):
    x, dy = t['X'].double(), t['DY'].double()
    M, N = x.shape
    dx, = grads(lambda v: F.layer_norm(v, (N,), t['W'].double(), None, 1e-5), dy, x)
    x_hat = F.layer_norm(x, (N,), None, None, 1e-5)
    part = lambda v: torch.stack([p.sum(0) for p in v.split(per)])
    return [dx, part(dy * x_hat), part(dy)]


def rms_bwd_ref(t, per):
    x, dy = t['x_ptr'].double(), t['dy_ptr'].double()
    rms = lambda v: v * (v.square().mean(1, keepdim=True) + 1e-6).rsqrt()
    dx, = grads(lambda v: rms(v) * t['w_ptr'].double(), dy, x)
    return [dx, torch.stack([p.sum(0) for p in (dy * rms(x)).split(per)])]


def layer_2d_ref(t):
    x = t['x_ptr'].double().permute(0, 2, 3, 1)
    y = F.layer_norm(x, (x.shape[-1],), t['w_ptr'].double(), t['b_ptr'].double(), 1e-6)
    return [y.permute(0, 3, 1, 2)]


# -- Cases ---------------------------------------------------------------------------------------------------------

def cases(small=False):
    for s, N, C, H, G in (('f16', 8, 320, 64, 32), ('bf16', 2, 512, 128, 32)):
        if small:
            N, C, H = 2, C // 8, 9
            G = 4
        K = C // G
        x, y, w, b = Tensor((N, C, H, H), s), Tensor((N, C, H, H), s, 9), Tensor((C,), s, 3), Tensor((C,), s, 4)
        shape = '%s [%d,%d,%d,%d]' % (s, N, C, H, H)
        e = N * C * H * H * BYTES[s]
        stats = lambda: dict(mean_ptr=Tensor((N * G,)), rstd_ptr=Tensor((N * G,)))
        block = 256 if small else 2048
        yield Case('group_norm ' + shape, dict(x_ptr=x, y_ptr=y, w_ptr=w, b_ptr=b, **stats(), C=C, HW=H * H, groups=G, eps=1e-5),
                   ['y_ptr', 'mean_ptr', 'rstd_ptr'], lambda t, G=G: group_ref(t, G), near(1e-4, s), group_norm, (N * G,),
                   dict(CHANNELS=K, BLOCK=block, num_warps=8), bytes=2 * e)
        if s == 'f16':
            mean, rstd = statistics(x, (N * G, -1))
            known = dict(mean_ptr=mean, rstd_ptr=rstd)
            yield Case('group_norm_bwd ' + shape, dict(dy_ptr=Tensor((N, C, H, H), s, 2), x_ptr=x, w_ptr=w, **known, dx_ptr=y,
                       dw_ptr=Tensor((N, C)), db_ptr=Tensor((N, C)), HW=H * H, groups=G, C=C), ['dx_ptr', 'dw_ptr', 'db_ptr'],
                       lambda t, G=G: group_bwd_ref(t, G), near(1e-4, s), group_norm_bwd, (N * G,),
                       dict(CHANNELS=K, BLOCK=128 if small else 1024, num_warps=4), bytes=3 * e)
    N, HW, C, G = (2, 50, 40, 4) if small else (8, 4096, 320, 32)
    yield Case('group_norm_silu_nhwc f16 [%d,%d,%d]' % (N, HW, C), dict(x_ptr=Tensor((N, HW, C), 'f16'), y_ptr=Tensor((N, HW, C), 'f16', 9),
               w_ptr=Tensor((C,), 'f16', 3), b_ptr=Tensor((C,), 'f16', 4), C=C, HW=HW, groups=G, eps=1e-5), ['y_ptr'],
               lambda t, G=G: nhwc_ref(t, G), 2e-3, group_norm_silu_nhwc, (N, G), dict(CG=C // G, BC=16, BHW=64, num_warps=4),
               bytes=4 * N * HW * C)
    N, C, H = (2, 8, 11) if small else (16, 256, 48)
    yield Case('instance_norm f16 [%d,%d,%d,%d]' % (N, C, H, H), dict(x_ptr=Tensor((N, C, H, H), 'f16'), y_ptr=Tensor((N, C, H, H), 'f16', 9),
               w_ptr=Tensor((C,), 'f32', 3), b_ptr=Tensor((C,), 'f32', 4), HW=H * H, C=C, eps=1e-5), ['y_ptr'],
               lambda t: [F.instance_norm(t['x_ptr'].double(), None, None, t['w_ptr'].double(), t['b_ptr'].double())], 2e-3,
               instance_norm, (N * C // 4,), dict(ROWS=4, BLOCK=triton.next_power_of_2(H * H), num_warps=8), bytes=4 * N * C * H * H)
    N, C, H = (5, 6, 9) if small else (32, 256, 56)
    shape = 'f16 [%d,%d,%d,%d]' % (N, C, H, H)
    x, w, b = Tensor((N, C, H, H), 'f16'), Tensor((C,), 'f32', 3), Tensor((C,), 'f32', 4)
    yield Case('batch_norm_train ' + shape, dict(x_ptr=x, y_ptr=Tensor((N, C, H, H), 'f16', 9), w_ptr=w, b_ptr=b,
               run_mean_ptr=Tensor((C,), 'f32', 5), run_var_ptr=Tensor((C,), 'f32', 6), save_mean_ptr=Tensor((C,)),
               save_rstd_ptr=Tensor((C,)), N=N, C=C, HW=H * H, momentum=0.1, eps=1e-5), 
               ['y_ptr', 'save_mean_ptr', 'save_rstd_ptr', 'run_mean_ptr', 'run_var_ptr'], batch_ref, 2e-3, batch_norm_train, (C,), dict(RELU=True, BN=2, BHW=64 if small else 1024, num_warps=8),
               bytes=4 * N * C * H * H, kept=('run_mean_ptr', 'run_var_ptr'))
    mean, rstd = statistics(x, (N, C, -1), (0, 2))
    yield Case('batch_norm_bwd ' + shape, dict(dy_ptr=Tensor((N, C, H, H), 'f16', 2), x_ptr=x, w_ptr=w, mean_ptr=mean, rstd_ptr=rstd,
               dx_ptr=Tensor((N, C, H, H), 'f16', 9), dw_ptr=Tensor((C,)), db_ptr=Tensor((C,)), N=N, C=C, HW=H * H),
               ['dx_ptr', 'dw_ptr', 'db_ptr'], batch_bwd_ref, 2e-3, batch_norm_bwd, (C,),
               dict(BLOCK=64 if small else 4096, num_warps=8), bytes=6 * N * C * H * H)
    for s, M, N, per in (('f16', 16384, 1024, 64), ('bf16', 8192, 4096, 32)):
        if small:
            M, N, per = 11, N // 8 - 3, 4
        programs = triton.cdiv(M, per)
        x = Tensor((M, N), s)
        mean, rstd = statistics(x, (M, N))
        yield Case('layer_norm_bwd %s [%d,%d]' % (s, M, N), dict(DX=Tensor((M, N), s, 9), DY=Tensor((M, N), s, 2), X=x, W=Tensor((N,), s, 3),
                   Mean=mean, Rstd=rstd, DW=Tensor((programs, N)), DB=Tensor((programs, N)), M=M, N=N, rows_per_program=per), ['DX', 'DW', 'DB'],
                   lambda t, per=per: layer_bwd_ref(t, per), near(1e-4, s), layer_norm_bwd, (programs,),
                   dict(BLOCK_N=triton.next_power_of_2(N), num_warps=8 if N > 1024 else 4), bytes=3 * M * N * BYTES[s])
    s, M, N, per = ('bf16', 10, 250, 4) if small else ('bf16', 8192, 5120, 16)
    x = Tensor((M, N), s)
    yield Case('rms_norm_bwd %s [%d,%d]' % (s, M, N), dict(dy_ptr=Tensor((M, N), s, 2), x_ptr=x, w_ptr=Tensor((N,), s, 3),
               rstd_ptr=statistics(x, (M, N), eps=1e-6, rms=True)[1], dx_ptr=Tensor((M, N), s, 9),
               dw_ptr=Tensor((triton.cdiv(M, per), N)), n_rows=M, n_cols=N, x_stride=N), ['dx_ptr', 'dw_ptr'],
               lambda t, per=per: rms_bwd_ref(t, per), near(1e-4, s), rms_norm_bwd, (triton.cdiv(M, per),),
               dict(ROWS=per, BLOCK=triton.next_power_of_2(N), num_warps=8), bytes=3 * M * N * BYTES[s])
    N, C, H = (2, 24, 7) if small else (32, 96, 56)
    yield Case('layer_norm_2d f16 [%d,%d,%d,%d]' % (N, C, H, H), dict(x_ptr=Tensor((N, C, H, H), 'f16'), y_ptr=Tensor((N, C, H, H), 'f16', 9),
               w_ptr=Tensor((C,), 'f32', 3), b_ptr=Tensor((C,), 'f32', 4), C=C, HW=H * H, eps=1e-6), ['y_ptr'], layer_2d_ref, 2e-3,
               layer_norm_2d, (triton.cdiv(H * H, 32), N), dict(BC=triton.next_power_of_2(C), BP=32, num_warps=4),
               bytes=4 * N * C * H * H)
