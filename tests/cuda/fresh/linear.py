"""Linear attention and state-space models: recurrent, in chunks, one step at a time."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks, near


@triton.jit
def linear_step(a0, b0, a1, b1):
    return a1 * a0, a1 * b0 + b1


@triton.jit
def selective_scan(x, dt, a, b, c, d, z, out, length, dim, N: tl.constexpr, BD: tl.constexpr):
    """States [BD, N] of a block of channels pass all tokens; tensors are [batch, length, ...]."""
    batch = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0) * BD + tl.arange(0, BD)
    n = tl.arange(0, N)
    log_a = -tl.exp(tl.load(a + i[:, None] * N + n[None, :])) * 1.44269504
    skip = tl.load(d + i)
    state = tl.zeros((BD, N), tl.float32)
    for t in range(length):
        at = (batch * length + t) * dim + i
        u = tl.load(x + at).to(tl.float32)
        step = tl.load(dt + at).to(tl.float32)
        step = tl.where(step > 20.0, step, tl.log(1.0 + tl.exp(step)))
        bt = tl.load(b + (batch * length + t) * N + n).to(tl.float32)
        ct = tl.load(c + (batch * length + t) * N + n).to(tl.float32)
        state = state * tl.exp2(step[:, None] * log_a) + (step * u)[:, None] * bt[None, :]
        y = tl.sum(state * ct[None, :], axis=1) + skip * u
        gate = tl.load(z + at).to(tl.float32)
        tl.store(out + at, (y * gate * tl.sigmoid(gate)).to(out.dtype.element_ty))


@triton.jit
def selective_scan_tile(x, dt, a, b, c, out, length, dim, N: tl.constexpr, BT: tl.constexpr):
    """One channel, tiles of BT tokens by an associative scan of pairs."""
    i = tl.program_id(0)
    batch = tl.program_id(1).to(tl.int64)
    n = tl.arange(0, N)
    log_a = -tl.exp(tl.load(a + i * N + n))
    carry = tl.zeros((N,), tl.float32)
    last = (tl.arange(0, BT) == BT - 1)[:, None]
    for first in range(0, length, BT):
        t = first + tl.arange(0, BT)
        inside = t < length
        at = (batch * length + t) * dim + i
        u = tl.load(x + at, mask=inside, other=0.0).to(tl.float32)
        step = tl.load(dt + at, mask=inside, other=0.0).to(tl.float32)
        bn = (batch * length + t)[:, None] * N + n[None, :]
        bt = tl.load(b + bn, mask=inside[:, None], other=0.0).to(tl.float32)
        ct = tl.load(c + bn, mask=inside[:, None], other=0.0).to(tl.float32)
        decay = tl.exp(step[:, None] * log_a[None, :])
        added = (step * u)[:, None] * bt
        product, state = tl.associative_scan((decay, added), 0, linear_step)
        state += product * carry[None, :]
        tl.store(out + at, tl.sum(state * ct, axis=1).to(out.dtype.element_ty), mask=inside)
        carry = tl.sum(tl.where(last, state, 0.0), axis=0)


@triton.jit
def selective_state_step(state, x, dt, dt_bias, a, b, c, d, z, out, heads, N: tl.constexpr, P: tl.constexpr, BP: tl.constexpr):
    """One token of mamba2: states [batch, heads, P, N] are changed where they are."""
    head = tl.program_id(1)
    batch = tl.program_id(2)
    p = tl.program_id(0) * BP + tl.arange(0, BP)
    n = tl.arange(0, N)
    row = (batch * heads + head) * P + p
    at = state + row[:, None] * N + n[None, :]
    h = tl.load(at).to(tl.float32)
    step = tl.load(dt + batch * heads + head).to(tl.float32) + tl.load(dt_bias + head)
    step = tl.where(step <= 20.0, tl.log(1.0 + tl.exp(step)), step)
    decay = tl.exp(-tl.exp(tl.load(a + head)) * step)
    u = tl.load(x + row).to(tl.float32)
    bt = tl.load(b + batch * N + n).to(tl.float32)
    ct = tl.load(c + batch * N + n).to(tl.float32)
    h = h * decay + (u * step)[:, None] * bt[None, :]
    tl.store(at, h.to(state.dtype.element_ty))
    y = tl.sum(h * ct[None, :], axis=1) + u * tl.load(d + head)
    gate = tl.load(z + row).to(tl.float32)
    tl.store(out + row, (y * gate * tl.sigmoid(gate)).to(out.dtype.element_ty))


@triton.jit
def linear_recurrence(a, b, h0, out, length, dim, BT: tl.constexpr, BD: tl.constexpr):
    """h = a h + b along time, tiles [BT, BD]."""
    batch = tl.program_id(1).to(tl.int64)
    i = tl.program_id(0) * BD + tl.arange(0, BD)
    carry = tl.load(h0 + batch * dim + i, mask=i < dim, other=0.0).to(tl.float32)
    for first in range(0, length, BT):
        t = first + tl.arange(0, BT)
        at = (batch * length + t)[:, None] * dim + i[None, :]
        inside = (t < length)[:, None] & (i < dim)[None, :]
        at_a = tl.load(a + at, mask=inside, other=1.0).to(tl.float32)
        at_b = tl.load(b + at, mask=inside, other=0.0).to(tl.float32)
        product, sums = tl.associative_scan((at_a, at_b), axis=0, combine_fn=linear_step)
        h = sums + product * carry[None, :]
        tl.store(out + at, h.to(out.dtype.element_ty), mask=inside)
        carry = tl.sum(tl.where((tl.arange(0, BT) == BT - 1)[:, None], h, 0.0), axis=0)


@triton.jit
def retention_chunk(q, k, v, decays, out, scale, length, heads, DK: tl.constexpr, DV: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr):
    """A constant decay for each head; tensors [batch * heads, length, D]."""
    bh = tl.program_id(1).to(tl.int64)
    j = tl.program_id(0) * BV + tl.arange(0, BV)
    i = tl.arange(0, DK)
    r = tl.arange(0, BT)
    rate = tl.load(decays + bh % heads)
    inner = tl.where(r[:, None] >= r[None, :], tl.exp2((r[:, None] - r[None, :]) * rate), 0.0)
    since = tl.exp2((r + 1) * rate)
    until = tl.exp2((BT - 1 - r) * rate)
    state = tl.zeros((DK, BV), tl.float32)
    for first in range(0, length, BT):
        t = first + r
        qt = tl.load(q + (bh * length + t)[:, None] * DK + i[None, :])
        kt = tl.load(k + (bh * length + t)[None, :] * DK + i[:, None])
        vt = tl.load(v + (bh * length + t)[:, None] * DV + j[None, :])
        s = tl.dot(qt, kt) * inner
        y = tl.dot(s.to(vt.dtype), vt) + tl.dot(qt, state.to(qt.dtype)) * since[:, None]
        tl.store(out + (bh * length + t)[:, None] * DV + j[None, :], (y * scale).to(out.dtype.element_ty))
        state = state * tl.exp2(BT * rate) + tl.dot((kt * until[None, :]).to(vt.dtype), vt)


@triton.jit
def retention_recurrent(q, k, v, decays, out, state, scale, length, heads, DK: tl.constexpr, DV: tl.constexpr, BV: tl.constexpr):
    bh = tl.program_id(1).to(tl.int64)
    j = tl.program_id(0) * BV + tl.arange(0, BV)
    i = tl.arange(0, DK)
    decay = tl.exp2(tl.load(decays + bh % heads))
    h = tl.zeros((BV, DK), tl.float32)
    for t in range(length):
        kt = tl.load(k + (bh * length + t) * DK + i).to(tl.float32)
        vt = tl.load(v + (bh * length + t) * DV + j).to(tl.float32)
        qt = tl.load(q + (bh * length + t) * DK + i).to(tl.float32) * scale
        h = h * decay + vt[:, None] * kt[None, :]
        tl.store(out + (bh * length + t) * DV + j, tl.sum(h * qt[None, :], axis=1).to(out.dtype.element_ty))
    tl.store(state + bh * DK * DV + j[:, None] * DK + i[None, :], h)


@triton.jit
def gla_recurrent(q, k, v, g, out, scale, length, DK: tl.constexpr, DV: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    """A gate for each key's channel. Blocks of keys leave partial results [blocks, batch * heads, length, DV]."""
    bh = tl.program_id(2).to(tl.int64)
    block = tl.program_id(1)
    j = tl.program_id(0) * BV + tl.arange(0, BV)
    i = block * BK + tl.arange(0, BK)
    q_at = q + bh * length * DK + i
    k_at = k + bh * length * DK + i
    g_at = g + bh * length * DK + i
    v_at = v + bh * length * DV + j
    o_at = out + (block * tl.num_programs(2) + bh) * length * DV + j
    h = tl.zeros((BK, BV), tl.float32)
    for _ in range(0, length):
        kt = tl.load(k_at).to(tl.float32)
        vt = tl.load(v_at).to(tl.float32)
        gate = tl.exp(tl.load(g_at).to(tl.float32))
        h = h * gate[:, None] + kt[:, None] * vt[None, :]
        qt = tl.load(q_at).to(tl.float32) * scale
        tl.store(o_at, tl.sum(h * qt[:, None], axis=0))
        q_at += DK
        k_at += DK
        g_at += DK
        v_at += DV
        o_at += DV


@triton.jit
def gate_cumsum(g, out, length, dim, BT: tl.constexpr, BD: tl.constexpr):
    """Sums of gates within each chunk."""
    i = tl.program_id(0) * BD + tl.arange(0, BD)
    t = tl.program_id(1) * BT + tl.arange(0, BT)
    at = (tl.program_id(2).to(tl.int64) * length + t)[:, None] * dim + i[None, :]
    inside = (t < length)[:, None] & (i < dim)[None, :]
    v = tl.load(g + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(out + at, tl.cumsum(v, axis=0), mask=inside)


@triton.jit
def gla_chunk_state(k, v, sums, states, length, DK: tl.constexpr, DV: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr):
    """The state before each chunk, [batch * heads, chunks, DK, DV], from sums of gates within chunks."""
    bh = tl.program_id(1).to(tl.int64)
    j = tl.program_id(0) * BV + tl.arange(0, BV)
    i = tl.arange(0, DK)
    r = tl.arange(0, BT)
    chunks = length // BT
    h = tl.zeros((DK, BV), tl.float32)
    for chunk in range(chunks):
        tl.store(states + ((bh * chunks + chunk) * DK + i[:, None]) * DV + j[None, :], h.to(states.dtype.element_ty))
        t = bh * length + chunk * BT + r
        whole = tl.load(sums + (bh * length + chunk * BT + BT - 1) * DK + i)
        kt = tl.load(k + t[None, :] * DK + i[:, None])
        part = tl.load(sums + t[None, :] * DK + i[:, None])
        kt = (kt * tl.exp(whole[:, None] - part)).to(kt.dtype)
        vt = tl.load(v + t[:, None] * DV + j[None, :])
        h = h * tl.exp(whole)[:, None] + tl.dot(kt, vt)


@triton.jit
def gla_chunk_out(q, k, v, sums, states, out, scale, length, DK: tl.constexpr, DV: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr):
    bh = tl.program_id(2).to(tl.int64)
    chunk = tl.program_id(1)
    j = tl.program_id(0) * BV + tl.arange(0, BV)
    i = tl.arange(0, DK)
    r = tl.arange(0, BT)
    t = bh * length + chunk * BT + r
    at = t[:, None] * DK + i[None, :]
    g = tl.load(sums + at)
    qt = tl.load(q + at)
    kt = tl.load(k + at)
    q_in = (qt * tl.exp(g) * scale).to(qt.dtype)
    k_in = (kt * tl.exp(-g)).to(kt.dtype)
    h = tl.load(states + ((bh * tl.num_programs(1) + chunk) * DK + i[:, None]) * DV + j[None, :])
    y = tl.dot(q_in, h)
    s = tl.dot(q_in, tl.trans(k_in))
    s = tl.where(r[:, None] >= r[None, :], s, 0.0)
    vt = tl.load(v + t[:, None] * DV + j[None, :])
    y += tl.dot(s.to(vt.dtype), vt)
    tl.store(out + t[:, None] * DV + j[None, :], y.to(out.dtype.element_ty))


@triton.jit
def delta_rule_recurrent(q, k, v, beta, out, scale, length, DK: tl.constexpr, DV: tl.constexpr, BV: tl.constexpr):
    bh = tl.program_id(1).to(tl.int64)
    j = tl.program_id(0) * BV + tl.arange(0, BV)
    i = tl.arange(0, DK)
    h = tl.zeros((DK, BV), tl.float32)
    for t in range(length):
        at = bh * length + t
        kt = tl.load(k + at * DK + i).to(tl.float32)
        vt = tl.load(v + at * DV + j).to(tl.float32)
        qt = tl.load(q + at * DK + i).to(tl.float32) * scale
        vt -= tl.sum(h * kt[:, None], axis=0)
        vt *= tl.load(beta + at).to(tl.float32)
        h += kt[:, None] * vt[None, :]
        tl.store(out + at * DV + j, tl.sum(h * qt[:, None], axis=0).to(out.dtype.element_ty))


@triton.jit
def delta_rule_prepare(k, v, beta, w, u, length, DK: tl.constexpr, DV: tl.constexpr, BT: tl.constexpr):
    """(1 + tril(beta k k^T, -1))^-1 of each chunk by rows, times beta k and beta v."""
    chunk = tl.program_id(0)
    bh = tl.program_id(1).to(tl.int64)
    r = tl.arange(0, BT)
    t = bh * length + chunk * BT + r
    i = tl.arange(0, DK)
    j = tl.arange(0, DV)
    b = tl.load(beta + t).to(tl.float32)
    kt = tl.load(k + t[:, None] * DK + i[None, :])
    kb = (kt * b[:, None]).to(kt.dtype)
    a = tl.dot(kb, tl.trans(kt))
    a = tl.where(r[:, None] > r[None, :], -a, 0.0)
    for row in range(1, BT):
        line = tl.sum(tl.where(r[:, None] == row, a, 0.0), axis=0)
        line += tl.sum(line[:, None] * a, axis=0) * (r < row)
        a = tl.where((r == row)[:, None], line[None, :], a)
    a += tl.where(r[:, None] == r[None, :], 1.0, 0.0)
    a = a.to(kt.dtype)
    tl.store(w + t[:, None] * DK + i[None, :], tl.dot(a, kb).to(w.dtype.element_ty))
    vt = tl.load(v + t[:, None] * DV + j[None, :])
    vb = (vt * b[:, None]).to(vt.dtype)
    tl.store(u + t[:, None] * DV + j[None, :], tl.dot(a, vb).to(u.dtype.element_ty))


@triton.jit
def delta_rule_chunk(q, k, w, u, out, scale, length, DK: tl.constexpr, DV: tl.constexpr, BT: tl.constexpr, BV: tl.constexpr):
    """From what delta_rule_prepare leaves: states stay in registers, chunk after chunk."""
    bh = tl.program_id(1).to(tl.int64)
    j = tl.program_id(0) * BV + tl.arange(0, BV)
    i = tl.arange(0, DK)
    r = tl.arange(0, BT)
    h = tl.zeros((DK, BV), tl.float32)
    for first in range(0, length, BT):
        t = bh * length + first + r
        wt = tl.load(w + t[:, None] * DK + i[None, :])
        new = tl.load(u + t[:, None] * DV + j[None, :]).to(tl.float32) - tl.dot(wt, h.to(wt.dtype))
        new = new.to(wt.dtype)
        qt = (tl.load(q + t[:, None] * DK + i[None, :]) * scale).to(wt.dtype)
        kt = tl.load(k + t[None, :] * DK + i[:, None])
        s = tl.dot(qt, kt)
        s = tl.where(r[:, None] >= r[None, :], s, 0.0)
        y = tl.dot(qt, h.to(qt.dtype)) + tl.dot(s.to(new.dtype), new)
        tl.store(out + t[:, None] * DV + j[None, :], y.to(out.dtype.element_ty))
        h += tl.dot(kt, new)


@triton.jit
def ssd_chunk_state(x, b, dt, sums, states, length, heads, P: tl.constexpr, N: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr):
    """mamba2: what each chunk adds to the state [P, N] of a head. x [batch, length, heads, P], b [batch, length, N], dt and sums f32."""
    chunk = tl.program_id(0)
    head = tl.program_id(1)
    batch = tl.program_id(2)
    p = tl.arange(0, P)
    n = tl.arange(0, N)
    first = batch * length + chunk * BT
    whole = tl.load(sums + (first + BT - 1) * heads + head)
    acc = tl.zeros((P, N), tl.float32)
    for step in range(0, BT, BK):
        t = first + step + tl.arange(0, BK)
        xt = tl.load(x + (t[None, :] * heads + head) * P + p[:, None])
        bt = tl.load(b + t[:, None] * N + n[None, :]).to(tl.float32)
        scale = tl.exp(whole - tl.load(sums + t * heads + head)) * tl.load(dt + t * heads + head)
        acc += tl.dot(xt, (bt * scale[:, None]).to(xt.dtype))
    at = ((batch * tl.num_programs(0) + chunk) * heads + head) * P
    tl.store(states + (at + p[:, None]) * N + n[None, :], acc.to(states.dtype.element_ty))


@triton.jit
def ssd_chunk_scan(x, b, c, dt, sums, states, d, out, length, heads, P: tl.constexpr, N: tl.constexpr, BT: tl.constexpr, BM: tl.constexpr,
                   BK: tl.constexpr):
    """mamba2: outputs of BM tokens of a chunk from the state before it and from its earlier tokens."""
    parts = BT // BM
    chunk = tl.program_id(0) // parts
    begin = tl.program_id(0) % parts * BM
    head = tl.program_id(1)
    batch = tl.program_id(2)
    chunks = tl.num_programs(0) // parts
    p = tl.arange(0, P)
    n = tl.arange(0, N)
    first = batch * length + chunk * BT
    r = begin + tl.arange(0, BM)
    ct = tl.load(c + (first + r)[:, None] * N + n[None, :])
    own = tl.load(sums + (first + r) * heads + head)
    h = tl.load(states + (((batch * chunks + chunk) * heads + head) * P + p[None, :]) * N + n[:, None])
    acc = tl.dot(ct, h.to(ct.dtype)) * tl.exp(own)[:, None]
    for step in range(0, begin + BM, BK):
        l = step + tl.arange(0, BK)
        bt = tl.load(b + (first + l)[None, :] * N + n[:, None])
        s = tl.dot(ct, bt)
        at = (first + l) * heads + head
        s *= tl.exp(tl.minimum(own[:, None] - tl.load(sums + at)[None, :], 0.0)) * tl.load(dt + at)[None, :]
        s = tl.where(r[:, None] >= l[None, :], s, 0.0)
        xt = tl.load(x + at[:, None] * P + p[None, :])
        acc += tl.dot(s.to(xt.dtype), xt)
    at = ((first + r) * heads + head)[:, None] * P + p[None, :]
    acc += tl.load(x + at).to(tl.float32) * tl.load(d + head)
    tl.store(out + at, acc.to(out.dtype.element_ty))


@triton.jit
def time_mix(r, k, v, w, u, out, length, heads, D: tl.constexpr):
    """rwkv6: data decides the decay; the token itself counts with a bonus u of the head."""
    bh = tl.program_id(0)
    i = tl.arange(0, D)
    bonus = tl.load(u + bh % heads * D + i).to(tl.float32)
    h = tl.zeros((D, D), tl.float32)
    base = bh.to(tl.int64) * length * D
    for t in range(0, length):
        at = base + t * D + i
        rt = tl.load(r + at).to(tl.float32)
        kt = tl.load(k + at).to(tl.float32)
        vt = tl.load(v + at).to(tl.float32)
        decay = tl.exp(-tl.exp(tl.load(w + at).to(tl.float32)))
        kv = kt[:, None] * vt[None, :]
        y = tl.sum((h + kv * bonus[:, None]) * rt[:, None], axis=0)
        h = kv + h * decay[:, None]
        tl.store(out + at, y.to(out.dtype.element_ty))


# -- Cases -------------------------------------------------------------------------------------------------------

def unit(shape, s, seed):
    """Rows of length one."""
    return Tensor(shape, s, seed, made=lambda g: torch.nn.functional.normalize(torch.randn(shape, generator=g, device=g.device), dim=-1))


def between(shape, low, high, s='f32', seed=7):
    return Tensor(shape, s, seed, made=lambda g: low + (high - low) * torch.rand(shape, generator=g, device=g.device))


def scanned(decay, added, read, length, h=None):
    """h = decay(t) h + added(t) for each t; read(t, h) stacked along axis 1, and the last state."""
    found = []
    for t in range(length):
        h = added(t) if h is None else h * decay(t) + added(t)
        found.append(read(t, h))
    return torch.stack(found, 1), h


def softplus(x):
    return torch.nn.functional.softplus(x.float())


def mamba(s, small):
    e, tol = BYTES[s], near(1e-3, s)
    B, L, D, N, bd = (2, 19, 32, 16, 16) if small else (4, 2048, 4096, 16, 64)
    x = lambda seed: Tensor((B, L, D), s, seed)
    bc = lambda seed: Tensor((B, L, N), s, seed)
    a = between((D, N), 0.0, 2.0)

    def scan(t, step):
        rate, u, b, c = -torch.exp(t['a']), t['x'].float(), t['b'].float(), t['c'].float()
        return scanned(lambda i: torch.exp(step[:, i, :, None] * rate), lambda i: (step[:, i] * u[:, i])[:, :, None] * b[:, i, None],
                       lambda i, h: (h * c[:, i, None]).sum(2), L)[0]
    size = ' %s B%d L%d D%d N%d' % (s, B, L, D, N)
    yield Case('selective_scan' + size, dict(x=x(1), dt=x(2), a=a, b=bc(3), c=bc(4), d=Tensor((D,), seed=5), z=x(6), out=x(9), length=L, dim=D), ['out'],
               lambda t: [(scan(t, softplus(t['dt'])) + t['d'] * t['x'].float()) * torch.nn.functional.silu(t['z'].float())], tol, selective_scan,
               (D // bd, B), dict(N=N, BD=bd, num_warps=4), bytes=4 * B * L * D * e + 2 * B * L * N * e)
    bt = 16 if small else 64
    yield Case('selective_scan_tile' + size, dict(x=x(1), dt=between((B, L, D), 0.001, 0.1, s), a=a, b=bc(3), c=bc(4), out=x(9), length=L, dim=D), ['out'],
               lambda t: [scan(t, t['dt'].float())], tol, selective_scan_tile, (D, B), dict(N=N, BT=bt, num_warps=4), bytes=3 * B * L * D * e + 2 * B * L * N * e)
    B, H, P, N = (2, 3, 32, 32) if small else (128, 64, 64, 128)
    r = lambda seed: Tensor((B, H, P), s, seed)

    def step(t):
        dt = softplus(t['dt'].float() + t['dt_bias'])
        h = t['state'].float() * torch.exp(-torch.exp(t['a']) * dt)[:, :, None, None]
        h = h + (t['x'].float() * dt[:, :, None])[..., None] * t['b'].float()[:, None, None]
        y = (h * t['c'].float()[:, None, None]).sum(3) + t['x'].float() * t['d'][:, None]
        return [h, y * torch.nn.functional.silu(t['z'].float())]
    yield Case('selective_state_step %s B%d H%d P%d N%d' % (s, B, H, P, N), dict(state=Tensor((B, H, P, N), s), x=r(2), dt=Tensor((B, H), s, 3),
               dt_bias=Tensor((H,), seed=4), a=between((H,), 0.0, 2.0), b=Tensor((B, N), s, 5), c=Tensor((B, N), s, 6), d=Tensor((H,), seed=7), z=r(8),
               out=r(9), heads=H), ['state', 'out'], step, tol, selective_state_step, (P // 16, H, B), dict(N=N, P=P, BP=16, num_warps=4),
               bytes=2 * B * H * P * N * e, kept=('state',))
    B, L, D, bt, bd = (2, 40, 50, 16, 32) if small else (8, 4096, 2560, 64, 64)

    def linear(t):
        a, b = t['a'].float(), t['b'].float()
        return [scanned(lambda i: a[:, i], lambda i: b[:, i], lambda i, h: h, L, t['h0'].float())[0]]
    yield Case('linear_recurrence %s B%d L%d D%d' % (s, B, L, D), dict(a=between((B, L, D), 0.7, 0.99, s), b=Tensor((B, L, D), s, 2), h0=Tensor((B, D), s, 3),
               out=Tensor((B, L, D), s), length=L, dim=D), ['out'], linear, tol, linear_recurrence, (blocks(D, bd), B), dict(BT=bt, BD=bd, num_warps=4),
               bytes=3 * B * L * D * e)
    B, L, H, P, N, bt, bm = (1, 64, 2, 32, 32, 32, 16) if small else (4, 4096, 64, 64, 128, 256, 64)
    C = L // bt
    sums = Tensor((B, L, H), made=lambda g: (-0.05 * torch.rand(B, C, bt, H, generator=g, device=g.device)).cumsum(2))
    few = dict(x=Tensor((B, L, H, P), s), b=Tensor((B, L, N), s, 2))
    dt = between((B, L, H), 0.01, 0.5, seed=3)
    cut = lambda x: x.float().view(B, C, bt, *x.shape[2:])

    def state(t):
        g, x, b, dt = (cut(t[n]) for n in ('sums', 'x', 'b', 'dt'))
        return [torch.einsum('bcthp,bctn->bchpn', x * (torch.exp(g[:, :, -1:] - g) * dt)[..., None], b)]

    def chunk(t):
        g, x, b, c, dt = (cut(t[n]) for n in ('sums', 'x', 'b', 'c', 'dt'))
        y = torch.einsum('bctn,bchpn->bcthp', c, t['states'].float()) * torch.exp(g)[..., None]
        low = torch.tril(torch.ones(bt, bt, device=x.device))
        for h in range(H):
            m = torch.einsum('bctn,bcln->bctl', c, b) * torch.exp((g[..., h, None] - g[:, :, None, :, h]).clamp(max=0)) * low * dt[:, :, None, :, h]
            y[:, :, :, h] += m @ x[:, :, :, h]
        return [(y + x * t['d'][:, None]).view(B, L, H, P)]
    size = ' %s B%d L%d H%d P%d N%d' % (s, B, L, H, P, N)
    yield Case('ssd_chunk_state' + size, dict(few, dt=dt, sums=sums, states=Tensor((B, C, H, P, N), s), length=L, heads=H), ['states'], state, near(2e-3, s),
               ssd_chunk_state, (C, H, B), dict(P=P, N=N, BT=bt, BK=32, num_warps=4), flops=2 * B * L * H * P * N)
    yield Case('ssd_chunk_scan' + size, dict(few, c=Tensor((B, L, N), s, 4), dt=dt, sums=sums, states=Tensor((B, C, H, P, N), s, 5), d=Tensor((H,), seed=6),
               out=Tensor((B, L, H, P), s), length=L, heads=H), ['out'], chunk, near(2e-3, s), ssd_chunk_scan, (C * bt // bm, H, B),
               dict(P=P, N=N, BT=bt, BM=bm, BK=16 if small else 32, num_warps=4), flops=2 * B * L * H * (P * N + (bt // 2) * (P + N)))


def linear_attention(s, small):
    e, tol = BYTES[s], near(2e-3, s)
    B, H, L, K, V, bt, bv = (1, 2, 64, 32, 32, 16, 16) if small else (4, 16, 4096, 128, 128, 64, 64)
    R, scale, C = B * H, K ** -0.5, L // bt
    q, k, v = Tensor((R, L, K), s), unit((R, L, K), s, 2), Tensor((R, L, V), s, 3)
    out, small_out = Tensor((R, L, V), s, 9), dict(scale=scale, length=L)
    size = ' %s B%d H%d L%d D%d' % (s, B, H, L, K)
    moved = dict(bytes=R * L * (2 * K + 2 * V) * e)
    chunked = dict(flops=R * L * (bt * (K + V) + 4 * K * V))
    outer = lambda t, i, v: t['k'][:, i, :, None].float() * v[:, None]
    read = lambda t: lambda i, h: (h * t['q'][:, i, :, None].float()).sum(1) * scale
    decays = Tensor((H,), made=lambda g: torch.log2(1 - torch.exp2(-5.0 - torch.arange(H))))

    def retained(t):
        rate = torch.exp2(t['decays']).repeat(B)[:, None, None]
        return scanned(lambda i: rate, lambda i: outer(t, i, t['v'][:, i].float()), read(t), L)
    yield Case('retention_chunk' + size, dict(q=q, k=k, v=v, decays=decays, out=out, **small_out, heads=H), ['out'], lambda t: [retained(t)[0]], tol,
               retention_chunk, (V // bv, R), dict(DK=K, DV=V, BT=bt, BV=bv, num_warps=4), **chunked)
    yield Case('retention_recurrent' + size, dict(q=q, k=k, v=v, decays=decays, out=out, state=Tensor((R, V, K)), **small_out, heads=H), ['out', 'state'],
               lambda t: (lambda y, h: [y, h.transpose(1, 2)])(*retained(t)), tol, retention_recurrent, (V // 16, R),
               dict(DK=K, DV=V, BV=16, num_warps=4), **moved)
    g = between((R, L, K), -0.06, 0.0, s, 4)
    bk = K // 2

    def gated(t, v=None):
        gate = torch.exp(t['g'].float())
        halves = [slice(i * bk, (i + 1) * bk) for i in range(2)]
        return [torch.stack([scanned(lambda i: gate[:, i, c, None], lambda i: t['k'][:, i, c, None].float() * t['v'][:, i, None].float(),
                lambda i, h: (h * t['q'][:, i, c, None].float()).sum(1) * scale, L)[0] for c in halves])]
    yield Case('gla_recurrent' + size, dict(q=q, k=k, v=v, g=g, out=Tensor((2, R, L, V)), **small_out), ['out'], gated, 1e-4, gla_recurrent,
               (V // bv, 2, R), dict(DK=K, DV=V, BK=bk, BV=bv, num_warps=4), bytes=R * L * ((3 * K + V) * e + 8 * V))
    yield Case('gate_cumsum' + size, dict(g=g, out=Tensor((R, L, K)), length=L, dim=K), ['out'], lambda t: [t['g'].double().view(R, C, bt, K).cumsum(2)
               .view(R, L, K)], 1e-5, gate_cumsum, (blocks(K, 32), blocks(L, bt), R), dict(BT=bt, BD=32, num_warps=4), bytes=R * L * K * (e + 4))
    sums = Tensor((R, L, K), seed=5, made=lambda g: (-0.06 * torch.rand(R, C, bt, K, generator=g, device=g.device)).cumsum(2))
    cut = lambda x: x.float().view(R, C, bt, -1)

    def states(t):
        k, v, g = (cut(t[n]) for n in ('k', 'v', 'sums'))
        added = torch.einsum('rctk,rctv->rckv', k * torch.exp(g[:, :, -1:] - g), v)
        h, found = torch.zeros_like(added[:, 0]), []
        for c in range(C):
            found.append(h)
            h = h * torch.exp(g[:, c, -1])[:, :, None] + added[:, c]
        return [torch.stack(found, 1)]

    def outputs(t):
        q, k, v, g = (cut(t[n]) for n in ('q', 'k', 'v', 'sums'))
        q = q * torch.exp(g) * scale
        return [(q @ t['states'].float() + torch.tril(q @ (k * torch.exp(-g)).transpose(2, 3)) @ v).view(R, L, V)]
    yield Case('gla_chunk_state' + size, dict(k=k, v=v, sums=sums, states=Tensor((R, C, K, V), s), length=L), ['states'], states, tol, gla_chunk_state,
               (V // bv, R), dict(DK=K, DV=V, BT=bt, BV=bv, num_warps=4), flops=2 * R * L * K * V)
    yield Case('gla_chunk_out' + size, dict(q=q, k=k, v=v, sums=sums, states=Tensor((R, C, K, V), s, 6), out=out, **small_out), ['out'], outputs, tol,
               gla_chunk_out, (V // bv, C, R), dict(DK=K, DV=V, BT=bt, BV=bv, num_warps=4), flops=R * L * (2 * K * V + bt * (K + V)))
    beta = between((R, L), 0.1, 0.9, s, 8)

    def delta(t):
        h, found = torch.zeros(R, K, V, device=t['q'].device), []
        for i in range(L):
            k = t['k'][:, i].float()
            new = (t['v'][:, i].float() - (h * k[:, :, None]).sum(1)) * t['beta'][:, i, None].float()
            h = h + k[:, :, None] * new[:, None]
            found.append((h * t['q'][:, i, :, None].float()).sum(1) * scale)
        return [torch.stack(found, 1)]
    yield Case('delta_rule_recurrent' + size, dict(q=q, k=k, v=v, beta=beta, out=out, **small_out), ['out'], delta, tol, delta_rule_recurrent, (V // 16, R),
               dict(DK=K, DV=V, BV=16, num_warps=2), **moved)

    def prepared(t):
        k, v, b = cut(t['k']), cut(t['v']), cut(t['beta'])
        low = torch.tril((k * b) @ k.transpose(2, 3), -1).double() + torch.eye(bt, device=k.device, dtype=torch.float64)
        return [torch.linalg.solve_triangular(low, (x * b).double(), upper=False).reshape(R, L, -1) for x in (k, v)]
    yield Case('delta_rule_prepare' + size, dict(k=k, v=v, beta=beta, w=Tensor((R, L, K), s), u=Tensor((R, L, V), s), length=L), ['w', 'u'], prepared, tol,
               delta_rule_prepare, (C, R), dict(DK=K, DV=V, BT=bt, num_warps=4), flops=2 * R * L * bt * (2 * K + V))

    def passed(t):
        q, k, w, u = (cut(t[n]) for n in ('q', 'k', 'w', 'u'))
        h, found = torch.zeros(R, K, V, device=q.device), []
        for c in range(C):
            new = u[:, c] - w[:, c] @ h
            found.append((q[:, c] @ h + torch.tril(q[:, c] @ k[:, c].transpose(1, 2)) @ new) * scale)
            h = h + k[:, c].transpose(1, 2) @ new
        return [torch.stack(found, 1).view(R, L, V)]
    of = lambda at: lambda g: prepared(dict(k=k.make(), v=v.make(), beta=beta.make()))[at]
    yield Case('delta_rule_chunk' + size, dict(q=q, k=k, w=Tensor((R, L, K), s, made=of(0)), u=Tensor((R, L, V), s, made=of(1)), out=out, **small_out), ['out'],
               passed, 3 * tol, delta_rule_chunk, (V // bv, R), dict(DK=K, DV=V, BT=bt, BV=bv, num_warps=4), **chunked)
    D = 32 if small else 64
    r = lambda seed: Tensor((R, L, D), s, seed)

    def mixed(t):
        decay = torch.exp(-torch.exp(t['w'].float()))
        h, found, bonus = torch.zeros(R, D, D, device=decay.device), [], t['u'].float().repeat(B, 1)[:, :, None]
        for i in range(L):
            kv = t['k'][:, i, :, None].float() * t['v'][:, i, None].float()
            found.append(((h + kv * bonus) * t['r'][:, i, :, None].float()).sum(1))
            h = kv + h * decay[:, i, :, None]
        return [torch.stack(found, 1)]
    yield Case('time_mix %s B%d H%d L%d D%d' % (s, B, H, L, D), dict(r=r(1), k=r(2), v=r(3), w=between((R, L, D), -4.0, 0.0, s), u=Tensor((H, D), s, 5),
               out=r(9), length=L, heads=H), ['out'], mixed, tol, time_mix, (R,), dict(D=D, num_warps=4), bytes=5 * R * L * D * e)


def cases(small=False):
    for s in ('f16', 'bf16'):
        for family in (mamba, linear_attention):
            yield from family(s, small)
