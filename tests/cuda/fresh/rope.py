"""Rotary embeddings: neighbors or halves, in place or not, of queries and keys at once, after a norm."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks


@triton.jit
def rope_interleaved(x_ptr, cos_ptr, sin_ptr, seq_len, heads, stride_t, stride_h, HALF: tl.constexpr, HEADS: tl.constexpr):
    """Neighbors are a pair; in place. A token a program, all its heads as a tile."""
    t = tl.program_id(0)
    pos = t % seq_len
    i = tl.arange(0, HALF)
    h = tl.arange(0, HEADS)
    c = tl.load(cos_ptr + pos * HALF + i).to(tl.float32)
    s = tl.load(sin_ptr + pos * HALF + i).to(tl.float32)
    at = x_ptr + t.to(tl.int64) * stride_t + h[:, None] * stride_h + 2 * i[None, :]
    mask = h[:, None] < heads
    a = tl.load(at, mask=mask).to(tl.float32)
    b = tl.load(at + 1, mask=mask).to(tl.float32)
    tl.store(at, a * c[None, :] - b * s[None, :], mask=mask)
    tl.store(at + 1, a * s[None, :] + b * c[None, :], mask=mask)


@triton.jit
def rope_pairs_split(x_ptr, out_ptr, freq_ptr, pos_ptr, n, D: tl.constexpr, ROWS: tl.constexpr):
    """Neighbors, loaded together and taken apart with split; angles from positions. Not in place."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    d = tl.arange(0, D)
    i = tl.arange(0, D // 2)
    mask = r[:, None] < n
    x = tl.load(x_ptr + r[:, None] * D + d[None, :], mask=mask, other=0.0).to(tl.float32)
    pos = tl.load(pos_ptr + r, mask=r < n, other=0).to(tl.float32)
    angle = pos[:, None] * tl.load(freq_ptr + i)[None, :]
    c = tl.cos(angle)
    s = tl.sin(angle)
    a, b = tl.split(tl.reshape(x, [ROWS, D // 2, 2]))
    y = tl.reshape(tl.join(a * c - b * s, a * s + b * c), [ROWS, D])
    tl.store(out_ptr + r[:, None] * D + d[None, :], y, mask=mask)


@triton.jit
def rope_halves(Q, K, COS, SIN, POS, q_heads, k_heads, q_stride, k_stride, HALF: tl.constexpr, QH: tl.constexpr, KH: tl.constexpr):
    """First half with second half; queries and keys of a token, in place, at the position that its id says."""
    token = tl.program_id(0)
    pos = tl.load(POS + token)
    i = tl.arange(0, HALF)
    cos = tl.load(COS + pos * (2 * HALF) + i).to(tl.float32)[None, :]
    sin = tl.load(SIN + pos * (2 * HALF) + i).to(tl.float32)[None, :]
    qh = tl.arange(0, QH)
    kh = tl.arange(0, KH)
    q_at = Q + token * q_stride + qh[:, None] * (2 * HALF) + i[None, :]
    k_at = K + token * k_stride + kh[:, None] * (2 * HALF) + i[None, :]
    qm = (qh < q_heads)[:, None]
    km = (kh < k_heads)[:, None]
    q1 = tl.load(q_at, mask=qm, other=0).to(tl.float32)
    q2 = tl.load(q_at + HALF, mask=qm, other=0).to(tl.float32)
    k1 = tl.load(k_at, mask=km, other=0).to(tl.float32)
    k2 = tl.load(k_at + HALF, mask=km, other=0).to(tl.float32)
    tl.store(q_at, q1 * cos - q2 * sin, mask=qm)
    tl.store(q_at + HALF, q2 * cos + q1 * sin, mask=qm)
    tl.store(k_at, k1 * cos - k2 * sin, mask=km)
    tl.store(k_at + HALF, k2 * cos + k1 * sin, mask=km)


@triton.jit
def qk_norm_rope(qkv_ptr, out_ptr, qw_ptr, kw_ptr, cos_ptr, sin_ptr, seq_len, q_heads, kv_heads, eps, D: tl.constexpr):
    """RMS norm of each head of queries and keys, then rotation; values are copied. A head of a token a program."""
    t = tl.program_id(0)
    h = tl.program_id(1)
    base = (t * (q_heads + 2 * kv_heads) + h).to(tl.int64) * D
    d = tl.arange(0, D)
    x = tl.load(qkv_ptr + base + d)
    if h < q_heads + kv_heads:
        half = D // 2
        w_ptr = qw_ptr if h < q_heads else kw_ptr
        v = x.to(tl.float32)
        scale = tl.rsqrt(tl.sum(v * v, axis=0) / D + eps)
        other = tl.where(d < half, d + half, d - half)
        mate = tl.load(qkv_ptr + base + other).to(tl.float32) * scale * tl.load(w_ptr + other).to(tl.float32)
        v = v * scale * tl.load(w_ptr + d).to(tl.float32)
        pos = t % seq_len
        cos = tl.load(cos_ptr + pos * half + d % half)
        sin = tl.load(sin_ptr + pos * half + d % half)
        y = v * cos + tl.where(d < half, -mate, mate) * sin
        tl.store(out_ptr + base + d, y.to(out_ptr.dtype.element_ty))
    else:
        tl.store(out_ptr + base + d, x)


# -- Inputs and references -----------------------------------------------------------------------------------------

def angles(positions, half, base=10000.0):
    return torch.outer(torch.arange(positions).double(), base ** (-torch.arange(half).double() / half))


def table(positions, half, function, s='f32', twice=False):
    made = lambda g: function(angles(positions, half)).repeat(1, 2 if twice else 1)
    return Tensor((positions, 2 * half if twice else half), s, made=made)


def turned(x, cos, sin, interleaved):
    a, b = (x[..., 0::2], x[..., 1::2]) if interleaved else x.chunk(2, -1)
    y, z = a * cos - b * sin, a * sin + b * cos
    return torch.stack([y, z], -1).flatten(-2) if interleaved else torch.cat([y, z], -1)


def interleaved_ref(t, S):
    pos = torch.arange(len(t['x_ptr']), device=t['x_ptr'].device) % S
    return [turned(t['x_ptr'].double(), t['cos_ptr'].double()[pos][:, None], t['sin_ptr'].double()[pos][:, None], True)]


def split_ref(t):
    angle = t['pos_ptr'].double()[:, None] * t['freq_ptr'].double()
    return [turned(t['x_ptr'].double(), angle.cos(), angle.sin(), True)]


def halves_ref(t, half):
    c, s = (t[n].double()[t['POS'].long(), None, :half] for n in ('COS', 'SIN'))
    return [turned(t[n].double(), c, s, False) for n in 'QK']


def norm_ref(t, S, QH, KH):
    x = t['qkv_ptr'].double()
    rms = lambda v, w: v * (v.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * w.double()
    pos = torch.arange(len(x), device=x.device) % S
    c, s = (t[n].double()[pos, None] for n in ('cos_ptr', 'sin_ptr'))
    q, k, v = x.split([QH, KH, KH], 1)
    return [torch.cat([turned(rms(q, t['qw_ptr']), c, s, False), turned(rms(k, t['kw_ptr']), c, s, False), v], 1)]


# -- Cases ---------------------------------------------------------------------------------------------------------

def cases(small=False):
    for s, T, S, H, D in (('f16', 16384, 4096, 32, 128), ('bf16', 32768, 2048, 12, 64)):
        if small:
            T, S, H = 10, 7, H // 4
        yield Case('rope_interleaved %s [%d,%d,%d]' % (s, T, H, D), dict(x_ptr=Tensor((T, H, D), s), cos_ptr=table(S, D // 2, torch.cos, s),
                   sin_ptr=table(S, D // 2, torch.sin, s), seq_len=S, heads=H, stride_t=H * D, stride_h=D), ['x_ptr'],
                   lambda t, S=S: interleaved_ref(t, S), 8e-3 if s == 'bf16' else 1e-3, rope_interleaved, (T,),
                   dict(HALF=D // 2, HEADS=triton.next_power_of_2(H), num_warps=4), bytes=2 * T * H * D * BYTES[s], kept=('x_ptr',))
    n, D = (50, 64) if small else (524288, 64)
    yield Case('rope_pairs_split bf16 [%d,%d]' % (n, D), dict(x_ptr=Tensor((n, D), 'bf16'), out_ptr=Tensor((n, D), 'bf16', 9),
               freq_ptr=Tensor((D // 2,), made=lambda g, D=D: 10000.0 ** (-torch.arange(D // 2) / (D // 2))), pos_ptr=Tensor((n,), 'i32', 5, 2048), n=n),
               ['out_ptr'], split_ref, 8e-3, rope_pairs_split, (blocks(n, 16),), dict(D=D, ROWS=16, num_warps=4), bytes=4 * n * D)
    for s, T, QH, KH, D in (('bf16', 16384, 32, 8, 128), ('f16', 16384, 28, 4, 128)):
        if small:
            T, QH = 6, 5
        P = 20 if small else 4096
        yield Case('rope_halves %s [%d,%d+%d,%d]' % (s, T, QH, KH, D), dict(Q=Tensor((T, QH, D), s), K=Tensor((T, KH, D), s, 2),
                   COS=table(P, D // 2, torch.cos, s, True), SIN=table(P, D // 2, torch.sin, s, True), POS=Tensor((T,), 'i64', 5, P), q_heads=QH,
                   k_heads=KH, q_stride=QH * D, k_stride=KH * D), ['Q', 'K'], lambda t, D=D: halves_ref(t, D // 2), 8e-3 if s == 'bf16' else 1e-3,
                   rope_halves, (T,), dict(HALF=D // 2, QH=triton.next_power_of_2(QH), KH=triton.next_power_of_2(KH), num_warps=4),
                   bytes=2 * T * (QH + KH) * D * BYTES[s], kept=('Q', 'K'))
    s, T, S, QH, KH, D = ('bf16', 9, 5, 4, 2, 128) if small else ('bf16', 8192, 4096, 32, 8, 128)
    yield Case('qk_norm_rope %s [%d,%d+%d,%d]' % (s, T, QH, KH, D), dict(qkv_ptr=Tensor((T, QH + 2 * KH, D), s), out_ptr=Tensor((T, QH + 2 * KH, D), s, 9),
               qw_ptr=Tensor((D,), s, 3), kw_ptr=Tensor((D,), s, 4), cos_ptr=table(S, D // 2, torch.cos), sin_ptr=table(S, D // 2, torch.sin), seq_len=S,
               q_heads=QH, kv_heads=KH, eps=1e-6), ['out_ptr'], lambda t, S=S, QH=QH, KH=KH: norm_ref(t, S, QH, KH), 8e-3, qk_norm_rope,
               (T, QH + 2 * KH), dict(D=D, num_warps=1), bytes=4 * T * (QH + 2 * KH) * D)
