"""Matrix products: accumulators, loops, transposed operands, odd sizes and strides, every type and precision."""

import torch
import triton
import triton.language as tl

from common import blank, case, cdiv, ints, normal


@triton.jit
def dot(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr,
        OUT: tl.constexpr):
    """One tile, one dot."""
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + m * K + tl.arange(0, K)[None, :])
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * N + n)
    c = tl.dot(a, b, input_precision=PRECISION, out_dtype=OUT)
    tl.store(c_ptr + m * N + n, c)


@triton.jit
def dot_accumulator(a_ptr, b_ptr, c_ptr, d_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
                    OUT: tl.constexpr):
    """The accumulator starts as what C holds."""
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    a = tl.load(a_ptr + m * K + tl.arange(0, K)[None, :])
    b = tl.load(b_ptr + tl.arange(0, K)[:, None] * N + n)
    c = tl.load(c_ptr + m * N + n)
    tl.store(d_ptr + m * N + n, tl.dot(a, b, c, out_dtype=OUT))


@triton.jit
def dot_transposed(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Both operands lie transposed in memory and are turned in registers."""
    k = tl.arange(0, K)
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    a = tl.load(a_ptr + k[:, None] * M + m[None, :])
    b = tl.load(b_ptr + n[:, None] * K + k[None, :])
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.dot(tl.trans(a), tl.trans(b)))


@triton.jit
def gram(a_ptr, c_ptr, M: tl.constexpr, K: tl.constexpr):
    """One tile as both operands: A A^T."""
    m = tl.arange(0, M)
    a = tl.load(a_ptr + m[:, None] * K + tl.arange(0, K)[None, :])
    tl.store(c_ptr + m[:, None] * M + m[None, :], tl.dot(a, tl.trans(a)))


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_ptr + m[:, None] * stride_am + (start + k)[None, :] * stride_ak,
                    mask=(m[:, None] < M) & ((start + k)[None, :] < K), other=0.0)
        b = tl.load(b_ptr + (start + k)[:, None] * stride_bk + n[None, :] * stride_bn,
                    mask=((start + k)[:, None] < K) & (n[None, :] < N), other=0.0)
        acc += tl.dot(a, b)
    c = acc.to(c_ptr.dtype.element_ty)
    tl.store(c_ptr + m[:, None] * stride_cm + n[None, :] * stride_cn, c, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def product(inner, columns, out_row, right, out, rows, left_col, left, right_row,
            TK: tl.constexpr, TN: tl.constexpr, TM: tl.constexpr):
    """The same matrix product with other names in another order; walks pointers; contiguous strides left out."""
    i = tl.program_id(1) * TM + tl.arange(0, TM)
    j = tl.program_id(0) * TN + tl.arange(0, TN)
    t = tl.arange(0, TK)
    p = left + (i[:, None] + t[None, :] * left_col)
    q = right + (t[:, None] * right_row + j[None, :])
    total = tl.zeros((TM, TN), dtype=tl.float32)
    left_over = inner
    while left_over > 0:
        x = tl.load(p, mask=(i < rows)[:, None] & (t < left_over)[None, :], other=0.0)
        y = tl.load(q, mask=(t < left_over)[:, None] & (j < columns)[None, :], other=0.0)
        total = tl.dot(x, y, total)
        p += TK * left_col
        q += TK * right_row
        left_over -= TK
    tl.store(out + i[:, None] * out_row + j[None, :], total, mask=(i < rows)[:, None] & (j < columns)[None, :])


@triton.jit
def two_dots_in_loop(x_ptr, gate_ptr, up_ptr, y_ptr, K, M: tl.constexpr, N: tl.constexpr, BLOCK_K: tl.constexpr):
    """A gated layer: two products share an operand."""
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    gate = tl.zeros((M, N), dtype=tl.float32)
    up = tl.zeros((M, N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        x = tl.load(x_ptr + m * K + k[None, :], mask=k[None, :] < K, other=0.0)
        gate = tl.dot(x, tl.load(gate_ptr + k[:, None] * N + n, mask=k[:, None] < K, other=0.0), gate)
        up = tl.dot(x, tl.load(up_ptr + k[:, None] * N + n, mask=k[:, None] < K, other=0.0), up)
    tl.store(y_ptr + m * N + n, gate * tl.sigmoid(gate) * up)


@triton.jit
def chained_dots_in_loop(a_ptr, b_ptr, c_ptr, y_ptr, steps, N: tl.constexpr):
    """The second product reads the first one's result, in a loop."""
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    b = tl.load(b_ptr + at)
    acc = tl.load(c_ptr + at)
    for step in range(steps):
        a = tl.load(a_ptr + step * N * N + at)
        inner = tl.dot(a, b)
        acc = tl.dot(inner.to(tl.float16), b, acc)
    tl.store(y_ptr + at, acc)


@triton.jit
def scaled_accumulator(a_ptr, b_ptr, scale_ptr, y_ptr, steps, N: tl.constexpr):
    """The accumulator is scaled by row between the dots."""
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    acc = tl.zeros((N, N), dtype=tl.float32)
    for step in range(steps):
        scale = tl.load(scale_ptr + step * N + i)
        acc = acc * scale[:, None]
        acc = tl.dot(tl.load(a_ptr + step * N * N + at), tl.load(b_ptr + at), acc)
    tl.store(y_ptr + at, acc)


@triton.jit
def dot_of_exp_of_dot(q_ptr, k_ptr, v_ptr, y_ptr, N: tl.constexpr, D: tl.constexpr):
    n = tl.arange(0, N)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + n[:, None] * D + d[None, :])
    k = tl.load(k_ptr + n[:, None] * D + d[None, :])
    v = tl.load(v_ptr + n[:, None] * D + d[None, :])
    weights = tl.exp(tl.dot(q, tl.trans(k)) * 0.25)
    tl.store(y_ptr + n[:, None] * D + d[None, :], tl.dot(weights.to(tl.float16), v))


@triton.jit
def computed_operand(a_ptr, b_ptr, c_ptr, limit, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """The left operand is made from what was loaded: scaled, masked, cast."""
    m = tl.arange(0, M)[:, None]
    k = tl.arange(0, K)
    a = tl.load(a_ptr + m * K + k[None, :])
    a = tl.where(m >= k[None, :], tl.minimum(a * 2.0, limit), 0.0).to(tl.float16)
    b = tl.load(b_ptr + k[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(c_ptr + m * N + tl.arange(0, N)[None, :], tl.dot(a, b))


@triton.jit
def weights_in_int8(x_ptr, w_ptr, scale_ptr, y_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Mixed types: f16 times i8 weights with one scale a column, result bf16."""
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    x = tl.load(x_ptr + m * K + k[None, :])
    w = tl.load(w_ptr + k[:, None] * N + n[None, :]).to(tl.float16)
    y = tl.dot(x, w) * tl.load(scale_ptr + n)[None, :]
    tl.store(y_ptr + m * N + n[None, :], y.to(tl.bfloat16))


@triton.jit
def epilogue(a_ptr, b_ptr, bias_ptr, y_ptr, sum_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Bias, ReLU, and the sum of each row of the result."""
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    y = tl.maximum(tl.dot(a, b) + tl.load(bias_ptr + n)[None, :], 0.0)
    tl.store(y_ptr + m[:, None] * N + n[None, :], y.to(tl.float16))
    tl.store(sum_ptr + m, tl.sum(y, axis=1))


@triton.jit
def batched(a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, B)[:, None, None]
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + (i * M + m[None, :, None]) * K + k[None, None, :])
    b = tl.load(b_ptr + (i * K + k[None, :, None]) * N + n[None, None, :])
    c = tl.load(c_ptr + (i * M + m[None, :, None]) * N + n[None, None, :])
    tl.store(c_ptr + (i * M + m[None, :, None]) * N + n[None, None, :], tl.dot(a, b, c))


@triton.jit
def outer_product_sum(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """A product by broadcast, multiply and sum; Triton's combine pass may make a dot of it."""
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.sum(a[:, :, None] * b[None, :, :], axis=1))


@triton.jit
def matrix_vector(a_ptr, x_ptr, y_ptr, n_cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    """Not a dot: a product by rows."""
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    acc = tl.zeros([ROWS], tl.float32)
    for start in range(0, n_cols, COLS):
        cols = start + tl.arange(0, COLS)
        a = tl.load(a_ptr + rows[:, None] * n_cols + cols[None, :], mask=cols[None, :] < n_cols, other=0.0)
        x = tl.load(x_ptr + cols, mask=cols < n_cols, other=0.0)
        acc += tl.sum(a * x[None, :], axis=1)
    tl.store(y_ptr + rows, acc)


def launches():
    f16, bf16, f32, f64 = torch.float16, torch.bfloat16, torch.float32, torch.float64

    def one(name, dtype, out, M=32, N=32, K=32, precision=None, result=tl.float32, **options):
        if dtype == torch.int8:
            a, b = ints(M, K, dtype=dtype), ints(K, N, dtype=dtype)
        else:
            a, b = normal(M, K, dtype=dtype), normal(K, N, dtype=dtype)
        return case(dot, a, b, blank(M, N, dtype=out), name=name, M=M, N=N, K=K, PRECISION=precision, OUT=result,
                    **options)

    yield one("f16_accumulate_f16", f16, f16, result=tl.float16)
    yield one("f32_ieee", f32, f32, precision="ieee")
    yield one("f32_tf32", f32, f32, precision="tf32")
    yield one("f32_tf32x3", f32, f32, precision="tf32x3")
    yield one("f32_bf16x6", f32, f32, precision="bf16x6")
    yield one("f64", f64, f64, M=16, N=16, K=16, precision="ieee", result=tl.float64)
    yield one("i8", torch.int8, torch.int32, result=tl.int32)
    yield one("m1", f16, f32, M=1)
    yield one("n1", f16, f32, N=1)
    yield one("k16_f32", f32, f32, M=16, N=64, K=16, precision="ieee")
    yield one("one_warp", f16, f32, M=64, N=16, K=32, warps=1)
    yield one("sixteen_warps", f16, f32, M=64, N=64, K=32, warps=16)
    yield case(dot_accumulator, normal(32, 16, dtype=f16), normal(16, 64, dtype=f16), normal(32, 64), blank(32, 64),
               M=32, N=64, K=16, OUT=tl.float32)
    yield case(dot_accumulator, ints(16, 32, dtype=torch.int8), ints(32, 16, dtype=torch.int8), ints(16, 16),
               blank(16, 16, dtype=torch.int32), name="dot_accumulator_i32", M=16, N=16, K=32,
               OUT=tl.int32)
    yield case(dot_transposed, normal(16, 32, dtype=f16), normal(64, 16, dtype=f16), blank(32, 64), M=32, N=64, K=16)
    yield case(gram, normal(32, 16, dtype=f16), blank(32, 32), M=32, K=16)

    def product_of(name, M, N, K, dtype=f16, out=f32, turned=False, pad=0, block=32, **options):
        a = normal(K if turned else M, (M if turned else K) + pad, dtype=dtype)
        a = (a.t() if turned else a)[:M, :K]
        b = normal(K, N + pad, dtype=dtype)[:, :N]
        c = blank(M, N + pad, dtype=out)
        return case(matmul, a, b, c, M, N, K, *a.stride(), *b.stride(), *c.stride(), name=name,
                    grid=(cdiv(M, 32), cdiv(N, 32)), BLOCK_M=32, BLOCK_N=32, BLOCK_K=block, **options)

    yield product_of("odd_strides", 45, 37, 53, pad=5)
    yield product_of("odd_strides_f32", 37, 33, 29, dtype=f32, pad=3, block=16)
    yield product_of("left_column_major", 40, 33, 50, dtype=bf16, out=bf16, turned=True)
    yield product_of("raw_matmul", 30, 20, 40, record="source")
    yield product_of("one_row", 1, 50, 40)
    right = normal(45, 39, dtype=f16)
    left = normal(45, 61, dtype=f16)  # columns of the left matrix stand in rows
    yield case(product, 45, 39, 39, right, blank(61, 39), 61, 61, left, 39, grid=(2, 2), name="renamed_reordered",
               TK=16, TN=32, TM=32)

    yield case(two_dots_in_loop, normal(16, 70, dtype=f16), normal(70, 32, dtype=f16), normal(70, 32, dtype=f16),
               blank(16, 32), 70, M=16, N=32, BLOCK_K=32)
    yield case(chained_dots_in_loop, normal(3, 16, 16, dtype=f16), normal(16, 16, dtype=f16, std=0.3), normal(16, 16),
               blank(16, 16), 3, N=16)
    yield case(scaled_accumulator, normal(3, 32, 32, dtype=f16), normal(32, 32, dtype=f16), normal(3, 32),
               blank(32, 32), 3, N=32)
    q, k, v = (normal(32, 16, dtype=f16) for _ in range(3))
    yield case(dot_of_exp_of_dot, q, k, v, blank(32, 16), N=32, D=16)
    yield case(computed_operand, normal(32, 32), normal(32, 16, dtype=f16), blank(32, 16), 1.5, M=32, N=16, K=32)
    yield case(weights_in_int8, normal(16, 32, dtype=f16), ints(32, 32, dtype=torch.int8), normal(32, std=0.01),
               blank(16, 32, dtype=bf16), M=16, N=32, K=32)
    yield case(epilogue, normal(32, 16, dtype=f16), normal(16, 32, dtype=f16), normal(32), blank(32, 32, dtype=f16),
               blank(32), M=32, N=32, K=16)
    yield case(batched, normal(4, 16, 16, dtype=f16), normal(4, 16, 32, dtype=f16), normal(4, 16, 32),
               B=4, M=16, N=32, K=16)
    yield case(batched, normal(2, 16, 16), normal(2, 16, 16), normal(2, 16, 16), name="batched_f32",
               B=2, M=16, N=16, K=16)
    yield case(outer_product_sum, normal(16, 8), normal(8, 32), blank(16, 32), name="k8_by_broadcast",
               M=16, N=32, K=8)
    yield case(outer_product_sum, ints(8, 4), ints(4, 16), blank(8, 16, dtype=torch.int32), name="k4_i32_by_broadcast",
               M=8, N=16, K=4)
    yield case(matrix_vector, normal(32, 75), normal(75), blank(32), 75, grid=2, ROWS=16, COLS=32)
