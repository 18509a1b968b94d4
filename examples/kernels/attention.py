"""Flash attention, forward and causal: the scores of a block of queries are never stored; a running maximum and a
running sum let each block of keys be folded in as it comes."""

import torch
import triton
import triton.language as tl


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, scale, n_ctx, stride_head, stride_row,
              BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, HEAD_DIM: tl.constexpr):
    head = tl.program_id(1) * stride_head
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_N)
    d = tl.arange(0, HEAD_DIM)
    q = tl.load(q_ptr + head + m[:, None] * stride_row + d[None, :], mask=m[:, None] < n_ctx, other=0.0)

    row_max = tl.full([BLOCK_M], -float("inf"), dtype=tl.float32)
    row_sum = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, HEAD_DIM], dtype=tl.float32)
    scale_log2 = scale * 1.44269504  # so that exp2 can stand for exp
    for start in range(0, (tl.program_id(0) + 1) * BLOCK_M, BLOCK_N):
        cols = start + n
        inside = cols < n_ctx
        k = tl.load(k_ptr + head + cols[None, :] * stride_row + d[:, None], mask=inside[None, :], other=0.0)
        v = tl.load(v_ptr + head + cols[:, None] * stride_row + d[None, :], mask=inside[:, None], other=0.0)
        scores = tl.dot(q, k) * scale_log2
        scores = tl.where((m[:, None] >= cols[None, :]) & inside[None, :], scores, -float("inf"))
        new_max = tl.maximum(row_max, tl.max(scores, axis=1))
        weights = tl.exp2(scores - new_max[:, None])
        shrink = tl.exp2(row_max - new_max)
        row_sum = row_sum * shrink + tl.sum(weights, axis=1)
        acc = tl.dot(weights.to(tl.float16), v, acc * shrink[:, None])
        row_max = new_max

    out = acc / row_sum[:, None]
    tl.store(out_ptr + head + m[:, None] * stride_row + d[None, :], out.to(tl.float16), mask=m[:, None] < n_ctx)


def launches():
    heads, n_ctx, head_dim = 2, 75, 32
    q, k, v = (torch.randn(heads, n_ctx, head_dim).half().cuda() for _ in range(3))
    out = torch.full_like(q, float("nan"))
    yield ("attention", attention, (triton.cdiv(n_ctx, 32), heads),
           (q, k, v, out, head_dim**-0.5, n_ctx, q.stride(0), q.stride(1)),
           dict(BLOCK_M=32, BLOCK_N=32, HEAD_DIM=head_dim))
