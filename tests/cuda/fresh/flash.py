"""Attention: masks, caps, biases and sinks, ragged batches, paged and split caches, the latent kind, backward."""
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice
from kernels import BYTES, Case, Tensor, blocks, near


@triton.jit
def flash_inner(acc, total, top, query, k_at, v_at, m, begin, end, stride, scale, BN: tl.constexpr, MASKED: tl.constexpr):
    for first in range(begin, end, BN):
        n = first + tl.arange(0, BN)
        key = tl.load(k_at + first * stride)
        s = tl.dot(query, key) * scale
        if MASKED:
            s = tl.where(m[:, None] >= n[None, :], s, -1.0e6)
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.math.exp2(s - new[:, None])
        alpha = tl.math.exp2(top - new)
        acc = acc * alpha[:, None]
        value = tl.load(v_at + first * stride)
        acc = tl.dot(p.to(value.dtype), value, acc)
        total = total * alpha + tl.sum(p, 1)
        top = new
    return acc, total, top


@triton.jit
def flash_causal(q, k, v, out, lse, scale, head_stride, row_stride, length, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Whole blocks before the diagonal without a mask, those on it with one; the logarithm of the sums is kept for backward."""
    block = tl.program_id(0)
    head = tl.program_id(1)
    base = head.to(tl.int64) * head_stride
    m = block * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    n = tl.arange(0, BN)
    query = tl.load(q + base + m[:, None] * row_stride + d[None, :])
    k_at = k + base + n[None, :] * row_stride + d[:, None]
    v_at = v + base + n[:, None] * row_stride + d[None, :]
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    scale *= 1.44269504
    acc, total, top = flash_inner(acc, total, top, query, k_at, v_at, m, 0, block * BM, row_stride, scale, BN, False)
    acc, total, top = flash_inner(acc, total, top, query, k_at, v_at, m, block * BM, block * BM + BM, row_stride, scale, BN, True)
    tl.store(lse + head * length + m, top + tl.math.log2(total))
    acc = acc / total[:, None]
    tl.store(out + base + m[:, None] * row_stride + d[None, :], acc.to(out.dtype.element_ty))


@triton.jit
def flash_window(q, k, v, out, scale, q_head, kv_head, row_stride, length, window, GROUP: tl.constexpr, BM: tl.constexpr,
                 BN: tl.constexpr, D: tl.constexpr):
    """Causal, the last `window` keys only; GROUP heads of queries share one of keys."""
    begin = tl.program_id(0) * BM
    head = tl.program_id(1)
    q += head.to(tl.int64) * q_head
    out += head.to(tl.int64) * q_head
    k += (head // GROUP).to(tl.int64) * kv_head
    v += (head // GROUP).to(tl.int64) * kv_head
    m = begin + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + m[:, None] * row_stride + d[None, :], mask=m[:, None] < length, other=0.0)
    top = tl.full((BM,), -1.0e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    start = tl.maximum(begin - window + 1, 0) // BN * BN
    for first in range(start, tl.minimum(begin + BM, length), BN):
        n = first + tl.arange(0, BN)
        key = tl.load(k + n[:, None] * row_stride + d[None, :], mask=n[:, None] < length, other=0.0)
        s = tl.dot(query, tl.trans(key)) * scale
        keep = (m[:, None] >= n[None, :]) & (m[:, None] - n[None, :] < window)
        s = tl.where(keep, s, -1.0e30)
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.where(keep, tl.exp(s - new[:, None]), 0.0)
        alpha = tl.exp(top - new)
        total = total * alpha + tl.sum(p, axis=1)
        value = tl.load(v + n[:, None] * row_stride + d[None, :], mask=n[:, None] < length, other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(value.dtype), value)
        top = new
    tl.store(out + m[:, None] * row_stride + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty), mask=m[:, None] < length)


@triton.jit
def flash_soft_cap(q, k, v, out, scale, cap, head_stride, row_stride, length, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    begin = tl.program_id(0) * BM
    base = tl.program_id(1).to(tl.int64) * head_stride
    m = begin + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + base + m[:, None] * row_stride + d[None, :], mask=m[:, None] < length, other=0.0)
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for first in range(0, begin + BM, BN):
        n = first + tl.arange(0, BN)
        key = tl.load(k + base + n[None, :] * row_stride + d[:, None], mask=n[None, :] < length, other=0.0)
        s = cap * libdevice.tanh(tl.dot(query, key) * (scale / cap))
        s = tl.where((m[:, None] >= n[None, :]) & (n[None, :] < length), s * 1.44269504, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(top - new)
        total = total * alpha + tl.sum(p, axis=1)
        value = tl.load(v + base + n[:, None] * row_stride + d[None, :], mask=n[:, None] < length, other=0.0)
        acc = tl.dot(p.to(value.dtype), value, acc * alpha[:, None])
        top = new
    tl.store(out + base + m[:, None] * row_stride + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty), mask=m[:, None] < length)


@triton.jit
def flash_ragged(q, k, v, starts, out, scale, heads, kv_heads, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Sequences packed behind each other, [tokens, heads, D]; starts says where each begins."""
    sequence = tl.program_id(2)
    head = tl.program_id(1)
    begin = tl.load(starts + sequence)
    length = tl.load(starts + sequence + 1) - begin
    if tl.program_id(0) * BM >= length:
        return
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    kv = head // (heads // kv_heads)
    q_at = q + (begin + m[:, None]) * heads * D + head * D + d[None, :]
    query = tl.load(q_at, mask=m[:, None] < length, other=0.0)
    query = (query * scale).to(query.dtype)
    top = tl.full((BM,), -1.0e20, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for first in range(0, tl.minimum((tl.program_id(0) + 1) * BM, length), BN):
        n = first + tl.arange(0, BN)
        at = (begin + n) * kv_heads * D + kv * D
        key = tl.load(k + at[None, :] + d[:, None], mask=n[None, :] < length, other=0.0)
        s = tl.dot(query, key)
        s = tl.where(m[:, None] >= n[None, :], s, -1.0e20)
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        alpha = tl.exp(top - new)
        total = total * alpha + tl.sum(p, 1)
        acc *= alpha[:, None]
        value = tl.load(v + at[:, None] + d[None, :], mask=n[:, None] < length, other=0.0)
        acc += tl.dot(p.to(value.dtype), value)
        top = new
    acc /= total[:, None]
    tl.store(out + (begin + m[:, None]) * heads * D + head * D + d[None, :], acc.to(out.dtype.element_ty), mask=m[:, None] < length)


@triton.jit
def flash_sinks(q, k, v, sinks, out, scale, heads, head_stride, row_stride, length, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """A learned logit for each head takes part in the sums and has no value."""
    begin = tl.program_id(0) * BM
    head = tl.program_id(1)
    base = head.to(tl.int64) * head_stride
    m = begin + tl.arange(0, BM)
    d = tl.arange(0, D)
    n = tl.arange(0, BN)
    query = tl.load(q + base + m[:, None] * row_stride + d[None, :], mask=m[:, None] < length, other=0.0)
    sink = tl.load(sinks + head % heads).to(tl.float32)
    top = tl.zeros((BM,), tl.float32) + sink
    total = tl.full((BM,), 1.0, tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    k_at = k + base + n[:, None] * row_stride + d[None, :]
    v_at = v + base + n[:, None] * row_stride + d[None, :]
    for first in range(0, begin + BM, BN):
        inside = first + n < length
        key = tl.load(k_at, mask=inside[:, None], other=0.0)
        s = scale * tl.dot(query, key.T)
        s = tl.where(m[:, None] >= first + n[None, :], s, float("-inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        alpha = tl.exp(top - new)
        p = tl.exp(s - new[:, None])
        value = tl.load(v_at, mask=inside[:, None], other=0.0)
        acc = tl.dot(p.to(value.dtype), value, acc * alpha[:, None])
        total = total * alpha + tl.sum(p, axis=1)
        top = new
        k_at += BN * row_stride
        v_at += BN * row_stride
    tl.store(out + base + m[:, None] * row_stride + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty), mask=m[:, None] < length)


@triton.jit
def flash_bias(q, k, v, bias, out, scale, head_stride, row_stride, length, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """An additive bias [heads, length, length] for each pair, no causal mask."""
    head = tl.program_id(1)
    base = head.to(tl.int64) * head_stride
    bias += head.to(tl.int64) * length * length
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + base + m[:, None] * row_stride + d[None, :], mask=m[:, None] < length, other=0.0)
    top = tl.full((BM,), -1.0e30, tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for first in range(0, length, BN):
        n = first + tl.arange(0, BN)
        key = tl.load(k + base + n[None, :] * row_stride + d[:, None], mask=n[None, :] < length, other=0.0)
        inside = (m[:, None] < length) & (n[None, :] < length)
        b = tl.load(bias + m[:, None] * length + n[None, :], mask=inside, other=-1.0e30).to(tl.float32)
        s = tl.dot(query, key) * scale + b
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        alpha = tl.exp(top - new)
        total = total * alpha + tl.sum(p, axis=1)
        value = tl.load(v + base + n[:, None] * row_stride + d[None, :], mask=n[:, None] < length, other=0.0)
        acc = tl.dot(p.to(value.dtype), value, acc * alpha[:, None])
        top = new
    tl.store(out + base + m[:, None] * row_stride + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty), mask=m[:, None] < length)


@triton.jit
def decode_paged(q, cache_k, cache_v, table, lengths, out, k_scale, v_scale, scale, pages, KV: tl.constexpr, GROUP: tl.constexpr,
                 PAD: tl.constexpr, PAGE: tl.constexpr, D: tl.constexpr):
    """One token of each sequence; keys in pages [page, PAGE, KV, D], f16 or fp8 with scales. GROUP queries fill up to PAD rows."""
    sequence = tl.program_id(0)
    kv = tl.program_id(1)
    g = tl.arange(0, PAD)
    d = tl.arange(0, D)
    j = tl.arange(0, PAGE)
    q_at = (sequence * KV + kv) * GROUP * D + g[:, None] * D + d[None, :]
    query = tl.load(q + q_at, mask=g[:, None] < GROUP, other=0.0)
    length = tl.load(lengths + sequence)
    qk_scale = scale * k_scale * 1.44269504
    top = tl.full((PAD,), -float("inf"), tl.float32)
    total = tl.zeros((PAD,), tl.float32)
    acc = tl.zeros((PAD, D), tl.float32)
    for i in range(0, tl.cdiv(length, PAGE)):
        page = tl.load(table + sequence * pages + i).to(tl.int64)
        at = page * PAGE * KV * D + j[:, None] * KV * D + kv * D + d[None, :]
        key = tl.load(cache_k + at).to(query.dtype)
        s = tl.dot(query, tl.trans(key)) * qk_scale
        s = tl.where((i * PAGE + j)[None, :] < length, s, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(top - new)
        total = total * alpha + tl.sum(p, axis=1)
        value = tl.load(cache_v + at).to(query.dtype)
        acc = tl.dot(p.to(value.dtype), value, acc * alpha[:, None])
        top = new
    y = acc * v_scale / total[:, None]
    tl.store(out + q_at, y.to(out.dtype.element_ty), mask=g[:, None] < GROUP)


@triton.jit
def decode_split(q, k, v, part, lse, scale, length, span, KV: tl.constexpr, GROUP: tl.constexpr, PAD: tl.constexpr, SPLITS: tl.constexpr,
                 BN: tl.constexpr, D: tl.constexpr):
    """The first stage: a span of the keys of [batch, length, KV, D] for all queries of one head of keys."""
    batch = tl.program_id(0)
    kv = tl.program_id(1)
    split = tl.program_id(2)
    g = tl.arange(0, PAD)
    d = tl.arange(0, D)
    head = (batch * KV + kv) * GROUP + g
    query = tl.load(q + head[:, None] * D + d[None, :], mask=(g < GROUP)[:, None], other=0.0)
    base = batch.to(tl.int64) * length * KV * D + kv * D
    begin = split * span
    end = tl.minimum(begin + span, length)
    top = tl.full((PAD,), -float("inf"), tl.float32)
    total = tl.zeros((PAD,), tl.float32)
    acc = tl.zeros((PAD, D), tl.float32)
    for first in range(begin, end, BN):
        n = first + tl.arange(0, BN)
        key = tl.load(k + base + n[None, :] * KV * D + d[:, None], mask=(n < end)[None, :], other=0.0)
        s = tl.dot(query, key) * scale
        s = tl.where((n < end)[None, :], s, -float("inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        alpha = tl.exp(top - new)
        value = tl.load(v + base + n[:, None] * KV * D + d[None, :], mask=(n < end)[:, None], other=0.0)
        acc = acc * alpha[:, None] + tl.dot(p.to(value.dtype), value)
        total = total * alpha + tl.sum(p, 1)
        top = new
    tl.store(part + (head[:, None] * SPLITS + split) * D + d[None, :], acc / total[:, None], mask=(g < GROUP)[:, None])
    tl.store(lse + head * SPLITS + split, top + tl.log(total), mask=g < GROUP)


@triton.jit
def decode_merge(part, lse, out, SPLITS: tl.constexpr, D: tl.constexpr):
    """The second stage: parts weighted by their sums."""
    head = tl.program_id(0)
    d = tl.arange(0, D)
    top = -float("inf")
    total = 0.0
    acc = tl.zeros((D,), tl.float32)
    for i in range(0, SPLITS):
        e = tl.load(lse + head * SPLITS + i)
        y = tl.load(part + (head * SPLITS + i) * D + d)
        new = tl.maximum(top, e)
        old = tl.exp(top - new)
        w = tl.exp(e - new)
        acc = acc * old + y * w
        total = total * old + w
        top = new
    tl.store(out + head * D + d, (acc / total).to(out.dtype.element_ty))


@triton.jit
def decode_merge_tile(part, lse, out, heads, SPLITS: tl.constexpr, D: tl.constexpr, HELD: tl.constexpr):
    """The same with all parts of some heads at once."""
    h = tl.program_id(0) * HELD + tl.arange(0, HELD)
    i = tl.arange(0, SPLITS)
    d = tl.arange(0, D)
    inside = h < heads
    e = tl.load(lse + h[:, None] * SPLITS + i[None, :], mask=inside[:, None], other=0.0)
    w = tl.exp(e - tl.max(e, axis=1)[:, None])
    w = w / tl.sum(w, axis=1)[:, None]
    at = (h[:, None, None] * SPLITS + i[None, :, None]) * D + d[None, None, :]
    y = tl.load(part + at, mask=inside[:, None, None], other=0.0)
    y = tl.sum(y * w[:, :, None], axis=1)
    tl.store(out + h[:, None] * D + d[None, :], y.to(out.dtype.element_ty), mask=inside[:, None])


@triton.jit
def decode_latent(q, cache, table, lengths, part, lse, scale, pages, HEADS: tl.constexpr, BH: tl.constexpr, SPLITS: tl.constexpr,
                  PAGE: tl.constexpr, C: tl.constexpr, R: tl.constexpr):
    """Keys are C compressed numbers and R that are rotated, shared by all heads; values are the C. Slots [page, PAGE, C + R]."""
    sequence = tl.program_id(0)
    h = tl.program_id(1) * BH + tl.arange(0, BH)
    split = tl.program_id(2)
    c = tl.arange(0, C)
    r = C + tl.arange(0, R)
    j = tl.arange(0, PAGE)
    q_at = q + (sequence * HEADS + h)[:, None] * (C + R)
    q_c = tl.load(q_at + c[None, :])
    q_r = tl.load(q_at + r[None, :])
    length = tl.load(lengths + sequence)
    span = tl.cdiv(tl.cdiv(length, PAGE), SPLITS)
    begin = split * span
    end = tl.minimum(begin + span, tl.cdiv(length, PAGE))
    top = tl.full((BH,), -1.0e30, tl.float32)
    total = tl.zeros((BH,), tl.float32)
    acc = tl.zeros((BH, C), tl.float32)
    for i in range(begin, end):
        slot = tl.load(table + sequence * pages + i).to(tl.int64) * PAGE + j
        inside = i * PAGE + j < length
        k_c = tl.load(cache + slot[None, :] * (C + R) + c[:, None], mask=inside[None, :], other=0.0)
        k_r = tl.load(cache + slot[None, :] * (C + R) + r[:, None], mask=inside[None, :], other=0.0)
        s = tl.dot(q_c, k_c)
        s += tl.dot(q_r, k_r)
        s = tl.where(inside[None, :], s * scale, -1.0e30)
        new = tl.maximum(top, tl.max(s, 1))
        alpha = tl.exp(top - new)
        p = tl.exp(s - new[:, None])
        acc *= alpha[:, None]
        acc += tl.dot(p.to(k_c.dtype), tl.trans(k_c))
        total = total * alpha + tl.sum(p, 1)
        top = new
    at = (sequence * HEADS + h) * SPLITS + split
    tl.store(part + at[:, None] * C + c[None, :], acc / total[:, None])
    tl.store(lse + at, top + tl.log(total))


@triton.jit
def decode_single(q, k, v, out, scale, length, BN: tl.constexpr, D: tl.constexpr):
    """One query and its own keys [head, length, D], without products of matrices."""
    head = tl.program_id(0)
    d = tl.arange(0, D)
    query = tl.load(q + head * D + d).to(tl.float32) * scale
    base = head.to(tl.int64) * length * D
    top = -float("inf")
    total = 0.0
    acc = tl.zeros((D,), tl.float32)
    for first in range(0, length, BN):
        n = first + tl.arange(0, BN)
        at = base + n[:, None] * D + d[None, :]
        key = tl.load(k + at, mask=n[:, None] < length, other=0.0).to(tl.float32)
        s = tl.sum(key * query[None, :], axis=1)
        s = tl.where(n < length, s, -float("inf"))
        new = tl.maximum(top, tl.max(s, axis=0))
        p = tl.exp(s - new)
        alpha = tl.exp(top - new)
        value = tl.load(v + at, mask=n[:, None] < length, other=0.0).to(tl.float32)
        acc = acc * alpha + tl.sum(p[:, None] * value, axis=0)
        total = total * alpha + tl.sum(p, axis=0)
        top = new
    tl.store(out + head * D + d, (acc / total).to(out.dtype.element_ty))


@triton.jit
def flash_backward_delta(out, g, delta, rows, D: tl.constexpr, BM: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    at = m[:, None] * D + d[None, :]
    o = tl.load(out + at, mask=m[:, None] < rows, other=0.0).to(tl.float32)
    go = tl.load(g + at, mask=m[:, None] < rows, other=0.0).to(tl.float32)
    tl.store(delta + m, tl.sum(o * go, axis=1), mask=m < rows)


@triton.jit
def flash_backward_dkv(q, k, v, g, lse, delta, dk, dv, scale, length, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Causal: a block of keys passes all queries from its diagonal on. lse is in powers of two."""
    begin = tl.program_id(0) * BN
    head = tl.program_id(1).to(tl.int64)
    base = head * length * D
    n = begin + tl.arange(0, BN)
    d = tl.arange(0, D)
    kv_at = base + n[:, None] * D + d[None, :]
    key = tl.load(k + kv_at)
    value = tl.load(v + kv_at)
    acc_k = tl.zeros((BN, D), tl.float32)
    acc_v = tl.zeros((BN, D), tl.float32)
    for first in range(begin, length, BM):
        m = first + tl.arange(0, BM)
        query_t = tl.load(q + base + m[None, :] * D + d[:, None])
        go = tl.load(g + base + m[:, None] * D + d[None, :])
        top = tl.load(lse + head * length + m)
        s_t = tl.dot(key, query_t) * (scale * 1.44269504)
        p_t = tl.math.exp2(s_t - top[None, :])
        p_t = tl.where(m[None, :] >= n[:, None], p_t, 0.0)
        acc_v += tl.dot(p_t.to(go.dtype), go)
        dp_t = tl.dot(value, tl.trans(go))
        ds_t = p_t * (dp_t - tl.load(delta + head * length + m)[None, :])
        acc_k += tl.dot(ds_t.to(query_t.dtype), tl.trans(query_t))
    tl.store(dk + kv_at, (acc_k * scale).to(dk.dtype.element_ty))
    tl.store(dv + kv_at, acc_v.to(dv.dtype.element_ty))


@triton.jit
def flash_backward_dq(q, k, v, g, lse, delta, dq, scale, length, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    begin = tl.program_id(0) * BM
    head = tl.program_id(1).to(tl.int64)
    base = head * length * D
    m = begin + tl.arange(0, BM)
    d = tl.arange(0, D)
    q_at = base + m[:, None] * D + d[None, :]
    query = tl.load(q + q_at)
    go = tl.load(g + q_at)
    top = tl.load(lse + head * length + m)[:, None]
    less = tl.load(delta + head * length + m)[:, None]
    acc = tl.zeros((BM, D), tl.float32)
    for first in range(0, begin + BM, BN):
        n = first + tl.arange(0, BN)
        key_t = tl.load(k + base + n[None, :] * D + d[:, None])
        value_t = tl.load(v + base + n[None, :] * D + d[:, None])
        s = tl.dot(query, key_t)
        p = tl.math.exp2(s * (scale * 1.44269504) - top)
        p = tl.where(m[:, None] >= n[None, :], p, 0.0)
        ds = p * (tl.dot(go, value_t) - less)
        acc = tl.dot(ds.to(key_t.dtype), tl.trans(key_t), acc)
    tl.store(dq + q_at, (acc * scale).to(dq.dtype.element_ty))


# -- Cases -------------------------------------------------------------------------------------------------------

LOG2E = 1.4426950408889634


def scores(t, scale, causal=True, window=0, cap=0, bias=None):
    """[B, H, S, S] in f32, minus infinity where masked; heads of keys repeated."""
    q, k = t['q'].float(), t['k'].float()
    k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
    s = q @ k.transpose(2, 3) * scale
    if cap:
        s = cap * torch.tanh(s / cap)
    if bias is not None:
        s = s + bias.float()
    i = torch.arange(s.shape[2], device=s.device)
    far = i[:, None] - i[None, :]
    if causal:
        s = s.masked_fill(far < 0, -float('inf'))
    return s.masked_fill(far >= window, -float('inf')) if window else s


def attended(t, s):
    v = t['v'].float()
    return torch.softmax(s, 3) @ v.repeat_interleave(s.shape[1] // v.shape[1], 1)


def by_head(function, t, B):
    """A reference that would take too much memory: one batch after the other."""
    parts = [function({n: x[b:b + 1] if hasattr(x, 'shape') and x.dim() == 4 else x for n, x in t.items()}) for b in range(B)]
    return [torch.cat(x) for x in zip(*parts)]


def masks(s, small):
    tol = 3 * near(1e-3, s)
    B, H, KV, S, D, bm, bn = (1, 2, 1, 128, 32, 32, 32) if small else (2, 32, 8, 4096, 128, 64, 64)
    x = lambda h, seed, scale=1: Tensor((B, h, S, D), s, seed, scale=scale)
    scale, grid = D ** -0.5, (blocks(S, bm), B * H)
    full = 4 * B * H * S * S * D
    meta = dict(BM=bm, BN=bn, D=D, num_warps=4)
    size = ' %s B%d H%d S%d D%d' % (s, B, H, S, D)
    qkv = dict(q=x(H, 1), k=x(H, 2), v=x(H, 3))
    strides = dict(head_stride=S * D, row_stride=D, length=S)

    def causal(t):
        a = scores(t, scale)
        return attended(t, a), torch.logsumexp(a, 3)[:, :, :, None] * LOG2E
    yield Case('flash_causal' + size, dict(qkv, out=x(H, 9), lse=Tensor((B, H, S)), scale=scale, **strides), ['out', 'lse'],
               lambda t: by_head(causal, t, B), tol, flash_causal, grid, meta, flops=full // 2)
    S2, w = (100, 40) if small else (8000, 1024)
    y = lambda h, seed: Tensor((1, h, S2, D), s, seed)
    yield Case('flash_window %s H%d/%d S%d D%d window %d' % (s, H, KV, S2, D, w), dict(q=y(H, 1), k=y(KV, 2), v=y(KV, 3), out=y(H, 9), scale=scale,
               q_head=S2 * D, kv_head=S2 * D, row_stride=D, length=S2, window=w), ['out'], lambda t: [torch.cat([attended(u, scores(u, scale, window=w))
               for u in ({n: t[n][:, i:i + 1] if n == 'q' else t[n][:, i * KV // H:i * KV // H + 1] for n in 'qkv'} for i in range(H))], 1)], tol,
               flash_window, (blocks(S2, bm), H), dict(meta, GROUP=H // KV), flops=4 * H * S2 * w * D)
    H, S, D, bn = (2, 100, 32, 32) if small else (16, 4096, 256, 32)
    z = lambda seed, scale=1: Tensor((1, H, S, D), s, seed, scale=scale)
    yield Case('flash_soft_cap %s H%d S%d D%d' % (s, H, S, D), dict(q=z(1, 3), k=z(2, 3), v=z(3), out=z(9), scale=D ** -0.5, cap=5.0, head_stride=S * D,
               row_stride=D, length=S), ['out'], lambda t: [attended(t, scores(t, D ** -0.5, cap=5.0))], tol, flash_soft_cap, (blocks(S, bm), H),
               dict(BM=bm, BN=bn, D=D, num_warps=8), flops=2 * H * S * S * D)
    H, S, D = (2, 100, 32) if small else (64, 4000, 64)
    z = lambda seed: Tensor((1, H, S, D), s, seed)

    def sunk(t):
        a = scores(t, D ** -0.5)
        sink = t['sinks'].float().view(1, H, 1, 1).expand(1, H, S, 1)
        return [torch.softmax(torch.cat((a, sink), 3), 3)[:, :, :, :S] @ t['v'].float()]
    yield Case('flash_sinks %s H%d S%d D%d' % (s, H, S, D), dict(q=z(1), k=z(2), v=z(3), sinks=Tensor((H,), s, 4), out=z(9), scale=D ** -0.5, heads=H,
               head_stride=S * D, row_stride=D, length=S), ['out'], sunk, tol, flash_sinks, (blocks(S, bm), H), dict(BM=bm, BN=32, D=D, num_warps=4),
               flops=2 * H * S * S * D)
    H, S, D = (2, 90, 32) if small else (16, 2048, 64)
    z = lambda seed: Tensor((1, H, S, D), s, seed)
    yield Case('flash_bias %s H%d S%d D%d' % (s, H, S, D), dict(q=z(1), k=z(2), v=z(3), bias=Tensor((H, S, S), s, 4), out=z(9), scale=D ** -0.5,
               head_stride=S * D, row_stride=D, length=S), ['out'], lambda t: [attended(t, scores(t, D ** -0.5, False, bias=t['bias']))], tol,
               flash_bias, (blocks(S, bm), H), dict(BM=bm, BN=32, D=D, num_warps=4), flops=4 * H * S * S * D)


def ragged(s, small):
    lengths = [33, 1, 70] if small else [4096, 513, 2048, 77, 3000, 1024]
    H, KV, D, bm, bn = (2, 1, 32, 32, 32) if small else (32, 8, 128, 128, 64)
    starts = torch.tensor([0] + lengths).cumsum(0)
    T, scale = sum(lengths), D ** -0.5

    def ref(t):
        parts = []
        for a, b in zip(starts.tolist(), starts.tolist()[1:]):
            u = {n: t[n][a:b].transpose(0, 1)[None] for n in 'qkv'}
            parts.append(attended(u, scores(u, scale))[0].transpose(0, 1))
        return [torch.cat(parts)]
    yield Case('flash_ragged %s H%d/%d T%d D%d' % (s, H, KV, T, D), dict(q=Tensor((T, H, D), s), k=Tensor((T, KV, D), s, 2), v=Tensor((T, KV, D), s, 3),
               starts=Tensor((len(starts),), 'i32', made=lambda g: starts), out=Tensor((T, H, D), s, 9), scale=scale, heads=H, kv_heads=KV), ['out'], ref,
               3 * near(1e-3, s), flash_ragged, (blocks(max(lengths), bm), H, len(lengths)), dict(BM=bm, BN=bn, D=D, num_warps=8),
               flops=sum(2 * H * n * n * D for n in lengths))


def pages_of(B, most, page, seed):
    """Lengths and a table of pages in any order."""
    g = torch.Generator().manual_seed(seed)
    lengths = torch.randint(most // 2, most + 1, (B,), generator=g)
    pages = blocks(most, page)
    return lengths, torch.randperm(B * pages, generator=g).view(B, pages)


def fixed(x, s='i32'):
    return Tensor(tuple(x.shape), s, made=lambda g: x)


def of_pages(cache, pages, b, n):
    return cache[pages[b].to(cache.device)].flatten(0, 1)[:n].float()


def caches(s, small):
    e, tol = BYTES[s], 3 * near(1e-3, s)
    B, KV, G, most, page, D = (2, 2, 4, 50, 16, 32) if small else (64, 8, 4, 4096, 16, 128)
    lengths, table = pages_of(B, most, page, 3)
    P, scale, pad = table.numel(), D ** -0.5, 16
    for kind in (s, 'e4m3'):
        def paged(t, kind=kind):
            found = []
            for b, n in enumerate(lengths.tolist()):
                k, v = (of_pages(t[c], table, b, n).transpose(0, 1) for c in ('cache_k', 'cache_v'))
                p = torch.softmax(t['q'][b].float() @ k.transpose(1, 2) * (scale * (1 if kind == s else 0.5)), 2)
                found.append(p @ v * (1 if kind == s else 0.25))
            return [torch.stack(found)]
        c = lambda seed: Tensor((P, page, KV, D), kind, seed)
        one = (1.0, 1.0) if kind == s else (0.5, 0.25)
        yield Case('decode_paged %s of %s B%d H%d/%d S%d D%d' % (s, kind, B, KV * G, KV, most, D), dict(q=Tensor((B, KV, G, D), s), cache_k=c(2), cache_v=c(3),
                   table=fixed(table), lengths=fixed(lengths), out=Tensor((B, KV, G, D), s), k_scale=one[0], v_scale=one[1], scale=scale,
                   pages=table.shape[1]), ['out'], paged, tol, decode_paged, (B, KV), dict(KV=KV, GROUP=G, PAD=pad, PAGE=page, D=D, num_warps=4),
                   bytes=2 * int(lengths.sum()) * KV * D * BYTES[kind])
    B, KV, G, S, D, splits, bn = (1, 2, 4, 150, 32, 3, 32) if small else (4, 8, 8, 32768, 128, 16, 64)
    span = blocks(blocks(S, splits), bn) * bn

    def split(t):
        a = torch.einsum('bhgd,bnhd->bhgn', t['q'].float(), t['k'].float()) * D ** -0.5
        found, sums = [], []
        for i in range(splits):
            cut = slice(i * span, (i + 1) * span)
            found.append(torch.einsum('bhgn,bnhd->bhgd', torch.softmax(a[..., cut], 3), t['v'][:, cut].float()))
            sums.append(torch.logsumexp(a[..., cut], 3))
        return [torch.stack(found, 3), torch.stack(sums, 3)]
    H = KV * G
    part, lse, kv = Tensor((B, H, splits, D)), Tensor((B, H, splits)), lambda seed: Tensor((B, S, KV, D), s, seed)
    yield Case('decode_split %s B%d H%d/%d S%d D%d' % (s, B, H, KV, S, D), dict(q=Tensor((B, KV, G, D), s), k=kv(2), v=kv(3), part=part, lse=lse,
               scale=D ** -0.5, length=S, span=span), ['part', 'lse'], split, tol, decode_split, (B, KV, splits),
               dict(KV=KV, GROUP=G, PAD=16, SPLITS=splits, BN=bn, D=D, num_warps=4), bytes=2 * B * S * KV * D * e)
    B, splits, D = (3, 4, 32) if small else (256 * 64, 16, 128)
    part, lse = Tensor((B, splits, D), seed=2), Tensor((B, splits))
    merge = dict(args=dict(part=part, lse=lse, out=Tensor((B, D), s)), out=['out'], tol=near(0, s), bytes=B * splits * (D + 1) * 4 + B * D * e,
                 ref=lambda t: [(torch.softmax(t['lse'], 1)[:, :, None] * t['part']).sum(1)])
    size = ' %s H%d splits %d D%d' % (s, B, splits, D)
    yield Case('decode_merge' + size, fn=decode_merge, grid=(B,), meta=dict(SPLITS=splits, D=D, num_warps=4), **merge)
    merge['args'] = dict(merge['args'], heads=B)
    yield Case('decode_merge_tile' + size, fn=decode_merge_tile, grid=(blocks(B, 4),), meta=dict(SPLITS=splits, D=D, HELD=4, num_warps=4), **merge)
    H, S, D, bn = (3, 100, 32, 32) if small else (512, 4096, 128, 64)
    kv = lambda seed: Tensor((H, S, D), s, seed)
    yield Case('decode_single %s H%d S%d D%d' % (s, H, S, D), dict(q=Tensor((H, D), s), k=kv(2), v=kv(3), out=Tensor((H, D), s), scale=D ** -0.5, length=S),
               ['out'], lambda t: [torch.einsum('hn,hnd->hd', torch.softmax(torch.einsum('hd,hnd->hn', t['q'].float(), t['k'].float()) * D ** -0.5, 1),
               t['v'].float())], tol, decode_single, (H,), dict(BN=bn, D=D, num_warps=4), bytes=2 * H * S * D * e)


def latent(s, small):
    B, H, most, page, C, R, splits, bh = (2, 16, 70, 16, 64, 32, 2, 16) if small else (32, 128, 4096, 32, 512, 64, 4, 16)
    lengths, table = pages_of(B, most, page, 4)
    scale = (C + R) ** -0.5

    def ref(t):
        found, sums = [], []
        for b, n in enumerate(lengths.tolist()):
            k = of_pages(t['cache'], table, b, n)
            a = t['q'][b].float() @ k.t() * scale
            step = blocks(blocks(n, page), splits) * page
            cuts = [slice(i * step, (i + 1) * step) for i in range(splits)]
            found.append(torch.stack([torch.softmax(a[:, c], 1) @ k[c, :C] for c in cuts], 1))
            sums.append(torch.stack([torch.logsumexp(a[:, c], 1) for c in cuts], 1))
        return [torch.stack(found), torch.stack(sums)]
    yield Case('decode_latent %s B%d H%d S%d' % (s, B, H, most), dict(q=Tensor((B, H, C + R), s), cache=Tensor((table.numel(), page, C + R), s, 2),
               table=fixed(table), lengths=fixed(lengths), part=Tensor((B, H, splits, C)), lse=Tensor((B, H, splits)), scale=scale, pages=table.shape[1]),
               ['part', 'lse'], ref, 3 * near(1e-3, s), decode_latent, (B, H // bh, splits), dict(HEADS=H, BH=bh, SPLITS=splits, PAGE=page, C=C, R=R,
               num_warps=4), flops=2 * int(lengths.sum()) * H * (2 * C + R))


def backward(s, small):
    B, H, S, D, bm, bn = (1, 2, 96, 32, 32, 32) if small else (2, 16, 4096, 64, 64, 64)
    scale, tol = D ** -0.5, 5 * near(1e-3, s)
    x = lambda seed: Tensor((B, H, S, D), s, seed)
    size = ' %s B%d H%d S%d D%d' % (s, B, H, S, D)

    def saved(g, which):
        """What forward leaves: lse in powers of two, or the sums of out times its gradient."""
        t = {n: x(i).make() for n, i in (('q', 1), ('k', 2), ('v', 3), ('g', 4))}
        def one(u):
            a = scores(u, scale)
            return (torch.logsumexp(a, 3, keepdim=True) * LOG2E if which == 'lse' else (attended(u, a) * u['g'].float()).sum(3, keepdim=True),)
        return by_head(one, t, B)[0]

    def gradients(t):
        a = scores(t, scale)
        p = torch.softmax(a, 3)
        g, v = t['g'].float(), t['v'].float()
        dp = g @ v.transpose(2, 3)
        ds = p * (dp - (p * dp).sum(3, keepdim=True)) * scale
        return ds @ t['k'].float(), ds.transpose(2, 3) @ t['q'].float(), p.transpose(2, 3) @ g
    args = dict(q=x(1), k=x(2), v=x(3), g=x(4), lse=Tensor((B, H, S), made=lambda g: saved(g, 'lse')), delta=Tensor((B, H, S), made=lambda g: saved(g, 'delta')))
    R = B * H * S
    yield Case('flash_backward_delta' + size, dict(out=x(1), g=x(4), delta=Tensor((R,)), rows=R), ['delta'],
               lambda t: [(t['out'].double() * t['g'].double()).sum(3)], 1e-5, flash_backward_delta, (blocks(R, 64),), dict(D=D, BM=64, num_warps=4),
               bytes=2 * R * D * BYTES[s] + 4 * R)
    yield Case('flash_backward_dkv' + size, dict(args, dk=x(8), dv=x(9), scale=scale, length=S), ['dk', 'dv'], lambda t: by_head(gradients, t, B)[1:], tol,
               flash_backward_dkv, (S // bn, B * H), dict(BM=bm, BN=bn, D=D, num_warps=4), flops=4 * R * S * D)
    yield Case('flash_backward_dq' + size, dict(args, dq=x(8), scale=scale, length=S), ['dq'], lambda t: by_head(gradients, t, B)[:1], tol,
               flash_backward_dq, (S // bm, B * H), dict(BM=bm, BN=bn, D=D, num_warps=4), flops=3 * R * S * D)


def cases(small=False):
    for s in ('f16', 'bf16'):
        for family in (masks, ragged, caches, latent, backward):
            yield from family(s, small)
