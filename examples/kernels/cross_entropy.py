"""Cross entropy of logits against labels, one program a row, in one walk; rows labelled -100 are left out."""

import torch
import triton
import triton.language as tl


@triton.jit
def cross_entropy(logits_ptr, labels_ptr, loss_ptr, n_cols, ignore_index, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    label = tl.load(labels_ptr + row)
    row_max = -float("inf")
    row_sum = 0.0
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * n_cols + cols, mask=cols < n_cols, other=-float("inf")).to(tl.float32)
        new_max = tl.maximum(row_max, tl.max(x, axis=0))
        row_sum = row_sum * tl.exp(row_max - new_max) + tl.sum(tl.exp(x - new_max), axis=0)
        row_max = new_max
    loss = 0.0
    if label != ignore_index:
        picked = tl.load(logits_ptr + row * n_cols + label).to(tl.float32)
        loss = tl.log(row_sum) + row_max - picked
    tl.store(loss_ptr + row, loss)


def launches():
    n_rows, n_cols = 11, 300
    logits = (torch.randn(n_rows, n_cols) * 3).cuda()
    labels = torch.randint(0, n_cols, (n_rows,))
    labels[4] = -100
    loss = torch.full((n_rows,), float("nan")).cuda()
    yield "cross_entropy", cross_entropy, (n_rows,), (logits, labels.cuda(), loss, n_cols, -100), dict(BLOCK=128)
