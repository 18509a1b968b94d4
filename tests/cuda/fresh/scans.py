"""Cumulative sums and products: reversed, in segments, down columns, linear recurrences."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks, near


@triton.jit
def cumsum_reverse(x_ptr, out_ptr, n_cols, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """What is still to come, rewards for example, itself included."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, BLOCK)
    mask = c[None, :] < n_cols
    x = tl.load(x_ptr + r[:, None] * n_cols + c[None, :], mask=mask, other=0.0).to(tl.float32)
    y = tl.cumsum(x, axis=1, reverse=True)
    tl.store(out_ptr + r[:, None] * n_cols + c[None, :], y, mask=mask)


@triton.jit
def cumsum_long(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A long row a program, a carry from block to block."""
    row = tl.program_id(0).to(tl.int64) * n
    carry = 0.0
    for first in range(0, n, BLOCK):
        c = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row + c, mask=c < n, other=0.0).to(tl.float32)
        y = tl.cumsum(x, axis=0) + carry
        tl.store(out_ptr + row + c, y, mask=c < n)
        carry += tl.sum(x, axis=0)


@triton.jit
def transmittance(alpha_ptr, depth_ptr, weight_ptr, out_ptr, SAMPLES: tl.constexpr, RAYS: tl.constexpr):
    """Volume rendering: products of 1 - alpha before a sample, weights, and the depth of the ray."""
    r = tl.program_id(0) * RAYS + tl.arange(0, RAYS)
    s = tl.arange(0, SAMPLES)
    at = r[:, None] * SAMPLES + s[None, :]
    a = tl.load(alpha_ptr + at).to(tl.float32)
    through = tl.cumprod(1.0 - a, axis=1)
    w = through / (1.0 - a) * a
    tl.store(weight_ptr + at, w)
    tl.store(out_ptr + r, tl.sum(w * tl.load(depth_ptr + at).to(tl.float32), axis=1))


@triton.jit
def add_in_segment(a, a_first, b, b_first):
    return tl.where(b_first != 0, b, a + b), a_first | b_first


@triton.jit
def cumsum_segments(x_ptr, first_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Sums begin anew where a flag is set; rows a program."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    mask = c < n
    x = tl.load(x_ptr + row * n + c, mask=mask, other=0.0).to(tl.float32)
    f = tl.load(first_ptr + row * n + c, mask=mask, other=0).to(tl.int32)
    y, _ = tl.associative_scan((x, f), 0, add_in_segment)
    tl.store(out_ptr + row * n + c, y, mask=mask)


@triton.jit
def decay_step(a, x, b, y):
    return a * b, x * b + y


@triton.jit
def advantages(reward_ptr, value_ptr, done_ptr, out_ptr, T, gamma, lam, ENVS: tl.constexpr, BLOCK: tl.constexpr):
    """Generalized advantage estimation: a linear recurrence from the end, over [environments, T]."""
    e = tl.program_id(0) * ENVS + tl.arange(0, ENVS)
    t = tl.arange(0, BLOCK)
    mask = t[None, :] < T
    at = e[:, None] * T + t[None, :]
    value_at = e[:, None] * (T + 1) + t[None, :]
    going = 1.0 - tl.load(done_ptr + at, mask=mask, other=1).to(tl.float32)
    v = tl.load(value_ptr + value_at, mask=mask, other=0.0)
    nxt = tl.load(value_ptr + value_at + 1, mask=mask, other=0.0)
    delta = tl.load(reward_ptr + at, mask=mask, other=0.0) + gamma * nxt * going - v
    _, adv = tl.associative_scan((gamma * lam * going, delta), 1, decay_step, reverse=True)
    tl.store(out_ptr + at, adv, mask=mask)


@triton.jit
def ema_columns(x_ptr, out_ptr, decay_ptr, T, D, BLOCK: tl.constexpr):
    """h = a h + (1 - a) x down the columns of [batch, T, D], a step at a time."""
    b = tl.program_id(1)
    d = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = d < D
    a = tl.load(decay_ptr + d, mask=mask, other=0.0)
    h = tl.zeros([BLOCK], tl.float32)
    at = b * T * D + d
    for _ in range(T):
        h = a * h + (1.0 - a) * tl.load(x_ptr + at, mask=mask, other=0.0).to(tl.float32)
        tl.store(out_ptr + at, h.to(out_ptr.dtype.element_ty), mask=mask)
        at += D


@triton.jit
def larger(a, i, b, j):
    keep = (a > b) | ((a == b) & (i < j))
    return tl.where(keep, a, b), tl.where(keep, i, j)


@triton.jit
def cummax_rows(x_ptr, value_ptr, place_ptr, cols, BLOCK: tl.constexpr):
    """The largest so far and the place where it was first."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * cols + c, mask=c < cols, other=-float("inf")).to(tl.float32)
    m, at = tl.associative_scan((x, c), 0, larger)
    tl.store(value_ptr + row * cols + c, m, mask=c < cols)
    tl.store(place_ptr + row * cols + c, at, mask=c < cols)


@triton.jit
def cumsum_tile_columns(x_ptr, out_ptr, N, BT: tl.constexpr, BN: tl.constexpr, REVERSE: tl.constexpr):
    """Within chunks of BT rows, down the columns (gates of linear attention)."""
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    at = t[:, None] * N + n[None, :]
    x = tl.load(x_ptr + at, mask=n[None, :] < N, other=0.0).to(tl.float32)
    y = tl.cumsum(x, axis=0, reverse=REVERSE)
    tl.store(out_ptr + at, y, mask=n[None, :] < N)


# -- Inputs and references -----------------------------------------------------------------------------------------

def backwards(x):
    return x.flip(1).cumsum(1).flip(1)


def rays_ref(t):
    a = t['alpha_ptr'].double()
    w = torch.cat([torch.ones_like(a[:, :1]), (1 - a).cumprod(1)[:, :-1]], 1) * a
    return [w, (w * t['depth_ptr'].double()).sum(1)]


def segments_ref(t):
    total, f = t['x_ptr'].double().cumsum(1), t['first_ptr'].bool()
    start = torch.where(f, torch.arange(f.shape[1], device=f.device), 0).cummax(1)[0]
    before = torch.cat([torch.zeros_like(total[:, :1]), total], 1).gather(1, start)
    return [total - before]


def advantages_ref(t, gamma, lam):
    r, v, going = t['reward_ptr'].double(), t['value_ptr'].double(), 1 - t['done_ptr'].double()
    delta = r + gamma * v[:, 1:] * going - v[:, :-1]
    out, a = torch.zeros_like(delta), 0
    for i in reversed(range(r.shape[1])):
        a = delta[:, i] + gamma * lam * going[:, i] * a
        out[:, i] = a
    return [out]


def ema_ref(t):
    x, a = t['x_ptr'].double(), t['decay_ptr'].double()
    h, out = torch.zeros_like(x[:, 0]), torch.zeros_like(x)
    for i in range(x.shape[1]):
        h = a * h + (1 - a) * x[:, i]
        out[:, i] = h
    return [out]


def cummax_ref(t):
    x = t['x_ptr'].float()
    m = x.cummax(1)[0]
    new = torch.cat([torch.ones_like(m[:, :1], dtype=torch.bool), m[:, 1:] > m[:, :-1]], 1)
    return [m, torch.where(new, torch.arange(x.shape[1], device=x.device), 0).cummax(1)[0]]


def chunks_ref(t, bt, reverse):
    x = t['x_ptr'].double()
    y = x.view(-1, bt, x.shape[1])
    return [(backwards(y) if reverse else y.cumsum(1)).view(x.shape)]


def rare(shape, share, s='u8', seed=6):
    return Tensor(shape, s, seed, made=lambda g: torch.rand(shape, generator=g, device=g.device) < share)


# -- Cases ---------------------------------------------------------------------------------------------------------

def cases(small=False):
    s, R, C = ('f16', 8, 100) if small else ('f16', 65536, 1000)
    yield Case('cumsum_reverse %s [%d,%d]' % (s, R, C), dict(x_ptr=Tensor((R, C), s), out_ptr=Tensor((R, C), 'f32', 9), n_cols=C), ['out_ptr'],
               lambda t: [backwards(t['x_ptr'].double())], 1e-5, cumsum_reverse, (R // 4,), dict(ROWS=4, BLOCK=triton.next_power_of_2(C), num_warps=4),
               bytes=6 * R * C)
    s, R, C = ('bf16', 3, 700) if small else ('bf16', 1024, 65536)
    yield Case('cumsum_long %s [%d,%d]' % (s, R, C), dict(x_ptr=Tensor((R, C), s), out_ptr=Tensor((R, C), 'f32', 9), n=C), ['out_ptr'],
               lambda t: [t['x_ptr'].double().cumsum(1)], 1e-5, cumsum_long, (R,), dict(BLOCK=128 if small else 4096, num_warps=8), bytes=6 * R * C)
    R, S = (16, 64) if small else (1 << 18, 128)
    alpha = lambda g, R=R, S=S: torch.rand(R, S, generator=g, device=g.device) * 0.1
    yield Case('transmittance f16 [%d,%d]' % (R, S), dict(alpha_ptr=Tensor((R, S), 'f16', made=alpha), depth_ptr=Tensor((R, S), 'f16', 2), weight_ptr=Tensor((R, S), 'f16', 9),
               out_ptr=Tensor((R,))), ['weight_ptr', 'out_ptr'], rays_ref, 1e-3, transmittance, (R // 8,), dict(SAMPLES=S, RAYS=8, num_warps=4), bytes=6 * R * S)
    R, C = (4, 200) if small else (32768, 2048)
    yield Case('cumsum_segments f16 [%d,%d]' % (R, C), dict(x_ptr=Tensor((R, C), 'f16'), first_ptr=rare((R, C), 0.05), out_ptr=Tensor((R, C), 'f32', 9), n=C),
               ['out_ptr'], segments_ref, 1e-5, cumsum_segments, (R,), dict(BLOCK=triton.next_power_of_2(C), num_warps=4), bytes=7 * R * C)
    E, T = (8, 60) if small else (65536, 512)
    yield Case('advantages f32 [%d,%d]' % (E, T), dict(reward_ptr=Tensor((E, T)), value_ptr=Tensor((E, T + 1), 'f32', 2), done_ptr=rare((E, T), 0.02),
               out_ptr=Tensor((E, T), 'f32', 9), T=T, gamma=0.99, lam=0.95), ['out_ptr'], lambda t: advantages_ref(t, 0.99, 0.95), 1e-5, advantages, (E // 4,),
               dict(ENVS=4, BLOCK=triton.next_power_of_2(T), num_warps=4), bytes=13 * E * T)
    s, B, T, D = ('bf16', 2, 20, 80) if small else ('bf16', 64, 2048, 1024)
    decay = lambda g, D=D: torch.linspace(0.5, 0.99, D)
    yield Case('ema_columns %s [%d,%d,%d]' % (s, B, T, D), dict(x_ptr=Tensor((B, T, D), s), out_ptr=Tensor((B, T, D), s, 9), decay_ptr=Tensor((D,), made=decay), T=T, D=D),
               ['out_ptr'], ema_ref, 8e-3, ema_columns, (blocks(D, 128), B), dict(BLOCK=128, num_warps=4), bytes=4 * B * T * D)
    R, C = (5, 120) if small else (32768, 1024)
    yield Case('cummax_rows f16 [%d,%d]' % (R, C), dict(x_ptr=Tensor((R, C), 'f16'), value_ptr=Tensor((R, C), 'f16', 9), place_ptr=Tensor((R, C), 'i32'), cols=C),
               ['value_ptr', 'place_ptr'], cummax_ref, 1e-5, cummax_rows, (R,), dict(BLOCK=triton.next_power_of_2(C), num_warps=4), bytes=8 * R * C)
    for s, reverse in (('bf16', False), ('f16', True)):
        T, N, bt = (64, 70, 32) if small else (131072, 512, 64)
        yield Case('cumsum_tile_columns %s%s [%d,%d]' % (s, ' reverse' if reverse else '', T, N), dict(x_ptr=Tensor((T, N), s), out_ptr=Tensor((T, N), 'f32', 9), N=N),
                   ['out_ptr'], lambda t, a=(bt, reverse): chunks_ref(t, *a), 1e-5, cumsum_tile_columns, (T // bt, blocks(N, 64)),
                   dict(BT=bt, BN=64, REVERSE=reverse, num_warps=4), bytes=6 * T * N)
