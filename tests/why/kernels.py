"""Kernels as people write them. tests/why/cases.txt spoils each in one way, by its text or by how it is launched."""
import triton
import triton.language as tl


@triton.jit
def softmax(out_ptr, x_ptr, x_stride, out_stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * x_stride + cols, mask=cols < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * out_stride + cols, e / tl.sum(e, 0), mask=cols < n)


@triton.jit
def layer_norm(x_ptr, w_ptr, b_ptr, out_ptr, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n
    x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0)
    mean = tl.sum(x, 0) / n
    d = tl.where(mask, x - mean, 0.0)
    rstd = tl.rsqrt(tl.sum(d * d, 0) / n + eps)
    w = tl.load(w_ptr + cols, mask=mask)
    b = tl.load(b_ptr + cols, mask=mask)
    tl.store(out_ptr + row * stride + cols, d * rstd * w + b, mask=mask)


@triton.jit
def layer_norm_loop(x_ptr, w_ptr, b_ptr, out_ptr, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for at in range(0, n, BLOCK):
        cols = at + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + cols, mask=cols < n, other=0.0)
        total += x
        squares += x * x
    mean = tl.sum(total, 0) / n
    rstd = tl.rsqrt(tl.sum(squares, 0) / n - mean * mean + eps)
    for at in range(0, n, BLOCK):
        cols = at + tl.arange(0, BLOCK)
        mask = cols < n
        x = tl.load(x_ptr + row * stride + cols, mask=mask)
        w = tl.load(w_ptr + cols, mask=mask)
        b = tl.load(b_ptr + cols, mask=mask)
        tl.store(out_ptr + row * stride + cols, (x - mean) * rstd * w + b, mask=mask)


@triton.jit
def silu_in_double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n).to(tl.float64)
    tl.store(out_ptr + at, x / (1.0 + tl.exp(-x.to(tl.float32))), mask=at < n)


@triton.jit
def scale_tile(x_ptr, out_ptr, stride, M: tl.constexpr, N: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    cols = tl.program_id(1) * N + tl.arange(0, N)
    at = rows[:, None] * stride + cols[None, :]
    tl.store(out_ptr + at, tl.load(x_ptr + at) * 2.0)


@triton.jit
def row_sum(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + cols, mask=cols < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, 0))


@triton.jit
def row_sum_of_turned(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    """The same of a matrix that is kept column after column."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row + cols * stride, mask=cols < n, other=0.0)
    tl.store(out_ptr + row, tl.sum(x, 0))


@triton.jit
def rows_sum(x_ptr, out_ptr, stride, M: tl.constexpr, N: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    cols = tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * stride + cols[None, :])
    tl.store(out_ptr + rows, tl.sum(x, 1))


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask)
    y = tl.load(y_ptr + at, mask=mask)
    tl.store(out_ptr + at, x + y, mask=mask)


@triton.jit
def add_tripled(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at * 3 < n * 3
    x = tl.load(x_ptr + at, mask=mask)
    y = tl.load(y_ptr + at, mask=mask)
    tl.store(out_ptr + at, x + y, mask=mask)


@triton.jit
def silu(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, x / (1.0 + tl.exp(-x)), mask=at < n)


@triton.jit
def silu_but_one(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at != n, other=0.0).to(tl.float32)
    tl.store(out_ptr + at, x / (1.0 + tl.exp(-x)), mask=at != n)


@triton.jit
def dropped(x_ptr, keep_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.load(keep_ptr + at) != 0
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, tl.where(keep, x, 0.0) * 2.0)


@triton.jit
def dropped_by_mask(x_ptr, keep_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.load(keep_ptr + at) != 0
    x = tl.load(x_ptr + at, mask=keep, other=0.0)
    tl.store(out_ptr + at, x * 2.0)


@triton.jit
def totals(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.atomic_add(out_ptr + tl.program_id(0), tl.sum(x, 0))


@triton.jit
def total_one_by_one(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    tl.atomic_add(out_ptr + tl.zeros([BLOCK], tl.int32), x, mask=at < n)


@triton.jit
def largest_of_rows(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * stride + tl.arange(0, BLOCK))
    tl.atomic_max(out_ptr + row, tl.max(x, 0))


@triton.jit
def largest_one_by_one(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x = tl.load(x_ptr + row * stride + tl.arange(0, BLOCK))
    tl.atomic_max(out_ptr + tl.zeros([BLOCK], tl.int32), x)


@triton.jit
def rotated(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + at)
    y = tl.gather(x, (at + 1) % BLOCK, 0)
    for i in range(8):
        y = tl.gather(y, (at + 1) % BLOCK, 0) + x
    tl.store(out_ptr + tl.program_id(0) * BLOCK + at, y)


@triton.jit
def rotated_by_columns(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + at)
    y = tl.gather(x, (at * 32) % BLOCK + at // (BLOCK // 32), 0)
    for i in range(8):
        y = tl.gather(y, (at * 32) % BLOCK + at // (BLOCK // 32), 0) + x
    tl.store(out_ptr + tl.program_id(0) * BLOCK + at, y)


@triton.jit
def reversed_rows(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + tl.program_id(0) * N + at)
    for i in range(8):
        x = tl.gather(x, N - 1 - at, 0) * 0.5
    tl.store(out_ptr + tl.program_id(0) * N + at, x)


@triton.jit
def bits_reversed(x_ptr, out_ptr, N: tl.constexpr):
    """As a Fourier transform begins: the low five bits of an index and those above change places."""
    at = tl.arange(0, N)
    x = tl.load(x_ptr + tl.program_id(0) * N + at)
    for i in range(8):
        x = tl.gather(x, ((at & 31) * (N // 32)) | (at >> 5), 0) * 0.5
    tl.store(out_ptr + tl.program_id(0) * N + at, x)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, K, stride_a, stride_b, stride_c, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    cols = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    acc = tl.zeros([BM, BN], tl.float32)
    for k in range(0, K, BK):
        a = tl.load(a_ptr + rows[:, None] * stride_a + (k + ks)[None, :])
        b = tl.load(b_ptr + (k + ks)[:, None] * stride_b + cols[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * stride_c + cols[None, :], acc)


@triton.jit
def scale_wrapped(x_ptr, w_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Columns beyond the last one begin anew, as those of tiles of matrix products do."""
    row = tl.program_id(0)
    cols = (tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)) % n
    x = tl.load(x_ptr + row * n + cols)
    tl.store(out_ptr + row * n + cols, x * tl.load(w_ptr + cols))


@triton.jit
def softmax_of_columns(out_ptr, x_ptr, x_stride, out_stride, n, BLOCK: tl.constexpr):
    """Neighbouring lanes lie a row apart."""
    col = tl.program_id(0)
    rows = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + col + rows * x_stride, mask=rows < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + col + rows * out_stride, e / tl.sum(e, 0), mask=rows < n)
