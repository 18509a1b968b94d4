"""Attention that is almost, but not quite, the plain one."""

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from common import blank, case, cdiv, normal


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, scale, extra, n_queries, n_keys, offset,
              BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, DIM: tl.constexpr, KIND: tl.constexpr):
    """KIND names what is done to the scores, beside the plain scale."""
    head = tl.program_id(1)
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_N)
    d = tl.arange(0, DIM)
    q_ptr += head * n_queries * DIM
    out_ptr += head * n_queries * DIM
    k_ptr += head * n_keys * DIM
    v_ptr += head * n_keys * DIM
    q = tl.load(q_ptr + m[:, None] * DIM + d[None, :], mask=m[:, None] < n_queries, other=0.0)
    row_max = tl.full([BLOCK_M], -1e30, tl.float32)
    row_sum = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, DIM], tl.float32)
    for start in range(0, n_keys, BLOCK_N):
        cols = start + n
        k = tl.load(k_ptr + cols[:, None] * DIM + d[None, :], mask=cols[:, None] < n_keys, other=0.0)
        v = tl.load(v_ptr + cols[:, None] * DIM + d[None, :], mask=cols[:, None] < n_keys, other=0.0)
        scores = tl.dot(q, tl.trans(k)) * scale
        visible = cols[None, :] < n_keys
        if KIND == "extra_scale":
            scores = scores * extra
        if KIND == "soft_cap":
            scores = extra * libdevice.tanh(scores / extra)
        if KIND == "causal_offset":
            visible = visible & (m[:, None] + offset >= cols[None, :])
        if KIND == "window":
            visible = visible & (m[:, None] >= cols[None, :]) & (m[:, None] - cols[None, :] < offset)
        scores = tl.where(visible, scores, -1e30)
        new_max = tl.maximum(row_max, tl.max(scores, axis=1))
        weights = tl.exp(scores - new_max[:, None])
        if KIND == "window":
            weights = tl.where(visible, weights, 0.0)
        shrink = tl.exp(row_max - new_max)
        row_sum = row_sum * shrink + tl.sum(weights, axis=1)
        acc = acc * shrink[:, None] + tl.dot(weights.to(v.dtype), v)
        row_max = new_max
    out = acc / row_sum[:, None]
    tl.store(out_ptr + m[:, None] * DIM + d[None, :], out.to(out_ptr.dtype.element_ty), mask=m[:, None] < n_queries)


@triton.jit
def attention_no_max(q_ptr, k_ptr, v_ptr, out_ptr, n, scale, BLOCK: tl.constexpr, DIM: tl.constexpr):
    """All keys in one tile, the scores go straight into exp."""
    i = tl.arange(0, BLOCK)
    d = tl.arange(0, DIM)
    tile = i[:, None] * DIM + d[None, :]
    mask = i[:, None] < n
    q = tl.load(q_ptr + tile, mask=mask, other=0.0)
    k = tl.load(k_ptr + tile, mask=mask, other=0.0)
    v = tl.load(v_ptr + tile, mask=mask, other=0.0)
    weights = tl.exp(tl.dot(q, tl.trans(k)) * scale)
    weights = tl.where(i[None, :] < n, weights, 0.0)
    out = tl.dot(weights.to(tl.float16), v) / tl.sum(weights, axis=1)[:, None]
    tl.store(out_ptr + tile, out, mask=mask)


@triton.jit
def attention_linear(q_ptr, k_ptr, v_ptr, out_ptr, n, BLOCK: tl.constexpr, DIM: tl.constexpr):
    """No softmax at all: (Q K^T) V with a causal mask."""
    i = tl.arange(0, BLOCK)
    d = tl.arange(0, DIM)
    tile = i[:, None] * DIM + d[None, :]
    mask = i[:, None] < n
    q = tl.load(q_ptr + tile, mask=mask, other=0.0)
    k = tl.load(k_ptr + tile, mask=mask, other=0.0)
    v = tl.load(v_ptr + tile, mask=mask, other=0.0)
    scores = tl.dot(q, tl.trans(k))
    scores = tl.where(i[:, None] >= i[None, :], scores, 0.0)
    tl.store(out_ptr + tile, tl.dot(scores.to(tl.float16), v), mask=mask)


@triton.jit
def attention_grouped(q_ptr, k_ptr, v_ptr, out_ptr, n, scale, heads_per_key, BLOCK: tl.constexpr, DIM: tl.constexpr):
    """Several heads of queries share one head of keys and values."""
    head = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    d = tl.arange(0, DIM)
    tile = i[:, None] * DIM + d[None, :]
    mask = i[:, None] < n
    shared = (head // heads_per_key) * n * DIM
    q = tl.load(q_ptr + head * n * DIM + tile, mask=mask, other=0.0)
    k = tl.load(k_ptr + shared + tile, mask=mask, other=0.0)
    v = tl.load(v_ptr + shared + tile, mask=mask, other=0.0)
    scores = tl.where(i[None, :] < n, tl.dot(q, tl.trans(k)) * scale, -float("inf"))
    weights = tl.exp(scores - tl.max(scores, axis=1)[:, None])
    weights = weights / tl.sum(weights, axis=1)[:, None]
    tl.store(out_ptr + head * n * DIM + tile, tl.dot(weights.to(tl.float16), v), mask=mask)


@triton.jit
def wide_values(q_ptr, k_ptr, v_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """Scores that stay in registers, and values whose tile alone fills the threadgroup memory of an Apple GPU."""
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    k = tl.load(k_ptr + (n % 8)[None, :] * D + d[:, None])
    v = tl.load(v_ptr + (n % 16)[:, None] * D + d[None, :])
    scores = tl.dot(q, k)
    p = tl.exp(scores - tl.max(scores, 1)[:, None])
    acc = tl.dot(p.to(tl.float16), v) / tl.sum(p, 1)[:, None]
    tl.store(out_ptr + m[:, None] * D + d[None, :], acc.to(tl.float16))


def launches():
    half = torch.float16

    def launch(kind, queries=40, keys=50, heads=2, dim=16, extra=0.5, offset=7, dtype=half):
        q, k, v = (normal(heads, n, dim, dtype=dtype) for n in (queries, keys, keys))
        out = blank(heads, queries, dim, dtype=dtype)
        return case(attention, q, k, v, out, dim**-0.5, extra, queries, keys, offset,
                    grid=(cdiv(queries, 32), heads), name=f"attention_{kind}",
                    BLOCK_M=32, BLOCK_N=32, DIM=dim, KIND=kind)

    yield launch("plain")
    yield launch("extra_scale", extra=1.75)
    yield launch("soft_cap", extra=3.0)
    yield launch("causal_offset", offset=10)
    yield launch("window", keys=40, offset=9)
    q, k, v = (normal(45, 16, dtype=half) for _ in range(3))
    yield case(attention_no_max, q, k, v, blank(45, 16), 45, 0.25, BLOCK=64, DIM=16)
    q, k, v = (normal(45, 16, dtype=half) for _ in range(3))
    yield case(attention_linear, q, k, v, blank(45, 16), 45, BLOCK=64, DIM=16)
    q, k, v = (normal(heads, 30, 16, dtype=half) for heads in (4, 2, 2))
    yield case(attention_grouped, q, k, v, blank(4, 30, 16), 30, 0.25, 2, grid=4, BLOCK=32, DIM=16)
    f16 = torch.float16
    yield case(wide_values, normal(128, 128, dtype=f16, std=0.3), normal(8, 128, dtype=f16, std=0.3), normal(16, 128, dtype=f16),
               blank(128, 128, dtype=f16), M=128, N=128, D=128, warps=8)
