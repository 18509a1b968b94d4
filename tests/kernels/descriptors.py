"""Tensor descriptors, made on the device and on the host, and block pointers.

Triton's passes turn block pointers into plain pointers before they keep the TTIR; the cases named raw_* hold the text
of the front end, where they still stand. Gather and scatter need a Blackwell GPU to run: see stand_in in record.py.
"""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from common import blank, case, ints, normal, values


# -- Descriptors ----------------------------------------------------------------------------------------------------

@triton.jit
def copy_2d(x_ptr, y_ptr, rows, cols, x_stride, y_stride, A: tl.constexpr, B: tl.constexpr):
    """Ragged edges: what is outside reads as zero and is not written."""
    source = tl.make_tensor_descriptor(x_ptr, [rows, cols], [x_stride, 1], [A, B])
    target = tl.make_tensor_descriptor(y_ptr, [rows, cols], [y_stride, 1], [A, B])
    at = [tl.program_id(0) * A, tl.program_id(1) * B]
    target.store(at, source.load(at) + 1)


@triton.jit
def load_outside(x_ptr, y_ptr, rows, cols, row, col, A: tl.constexpr, B: tl.constexpr, PADDING: tl.constexpr):
    """A block that begins before the tensor or ends after it, stored whole by pointers: the padding shows."""
    source = tl.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [A, B], padding_option=PADDING)
    x = source.load([row, col])
    tl.store(y_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :], x)


@triton.jit
def copy_1d(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [n], [1], [BLOCK])
    target = tl.make_tensor_descriptor(y_ptr, [n], [1], [BLOCK])
    at = tl.program_id(0) * BLOCK
    target.store([at], source.load([at]) * 2)


@triton.jit
def copy_3d(x_ptr, y_ptr, d0, d1, d2, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [d0, d1, d2], [d1 * d2, d2, 1], [A, B, C])
    x = source.load([tl.program_id(0) * A, 0, tl.program_id(1) * C])
    target = tl.make_tensor_descriptor(y_ptr, [d0, d1, d2], [d1 * d2, d2, 1], [A, B, C])
    target.store([tl.program_id(0) * A, 0, tl.program_id(1) * C], x)


@triton.jit
def copy_5d(x_ptr, y_ptr, d0, d1, d2, d3, d4, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, D: tl.constexpr,
            E: tl.constexpr):
    """The most axes a descriptor can have; some blocks reach outside."""
    s3 = d4
    s2 = d3 * s3
    s1 = d2 * s2
    s0 = d1 * s1
    source = tl.make_tensor_descriptor(x_ptr, [d0, d1, d2, d3, d4], [s0, s1, s2, s3, 1], [A, B, C, D, E])
    target = tl.make_tensor_descriptor(y_ptr, [d0, d1, d2, d3, d4], [s0, s1, s2, s3, 1], [A, B, C, D, E])
    at = [tl.program_id(0) * A, 0, 0, tl.program_id(1) * D, 0]
    target.store(at, source.load(at) * 2)


@triton.jit
def transposed(x_ptr, y_ptr, rows, cols, A: tl.constexpr, B: tl.constexpr):
    source = tl.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [A, B])
    target = tl.make_tensor_descriptor(y_ptr, [cols, rows], [rows, 1], [B, A])
    i = tl.program_id(0) * A
    j = tl.program_id(1) * B
    target.store([j, i], tl.trans(source.load([i, j])))


@triton.jit
def one_page(x_ptr, y_ptr, pages, rows, cols, A: tl.constexpr, B: tl.constexpr):
    """A block of one page is read without its first axis."""
    source = tl.make_tensor_descriptor(x_ptr, [pages, rows, cols], [rows * cols, cols, 1], [1, A, B])
    page = tl.program_id(0)
    x = tl.reshape(source.load([page, 0, 0]), (A, B))
    at = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(y_ptr + page * A * B + at, x)


@triton.jit
def row_sums(source, y_ptr, n_cols, A: tl.constexpr, B: tl.constexpr):
    """A descriptor from the host, walked in a loop."""
    row = tl.program_id(0) * A
    acc = tl.zeros([A], tl.float32)
    for col in range(0, n_cols, B):
        acc += tl.sum(source.load([row, col]).to(tl.float32), axis=1)
    tl.store(y_ptr + row + tl.arange(0, A), acc)


@triton.jit
def add_host(x_desc, y_desc, z_desc, A: tl.constexpr, B: tl.constexpr):
    at = [tl.program_id(0) * A, tl.program_id(1) * B]
    z_desc.store(at, x_desc.load(at) + y_desc.load(at))


@triton.jit
def padded_host(x_desc, y_ptr, row, col, A: tl.constexpr, B: tl.constexpr):
    x = x_desc.load([row, col])
    tl.store(y_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :], x)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    a_desc = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b_desc = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    c_desc = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, BLOCK_N])
    m = tl.program_id(0) * BLOCK_M
    n = tl.program_id(1) * BLOCK_N
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        acc = tl.dot(a_desc.load([m, k]), b_desc.load([n, k]).T, acc)
    c_desc.store([m, n], acc.to(tl.float16))


@triton.jit
def carried(x_ptr, y_ptr, pages, rows, cols, A: tl.constexpr, B: tl.constexpr):
    """Each page has its own descriptor, made anew in the loop and carried."""
    desc = tl.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [A, B])
    acc = tl.zeros([A, B], tl.float32)
    for page in range(1, pages + 1):
        acc = acc * 2.0 + desc.load([0, 0])
        if page < pages:
            desc = tl.make_tensor_descriptor(x_ptr + page * rows * cols, [rows, cols], [cols, 1], [A, B])
    tl.store(y_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :], acc)


@triton.jit
def conditional(x_ptr, y_ptr, out_ptr, rows, cols, A: tl.constexpr, B: tl.constexpr):
    """Which tensor the descriptor is of depends on the program."""
    pid = tl.program_id(0)
    if pid % 2 == 0:
        desc = tl.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [A, B])
    else:
        desc = tl.make_tensor_descriptor(y_ptr, [rows, cols - 4], [cols, 1], [A, B])
    at = tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :]
    tl.store(out_ptr + pid * A * B + at, desc.load([0, 0]))


@triton.jit
def reduce_into(x_ptr, y_ptr, rows, cols, A: tl.constexpr, B: tl.constexpr, KIND: tl.constexpr):
    """Blocks of x meet what y holds; blocks at the edges are cut."""
    source = tl.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [A, B])
    target = tl.make_tensor_descriptor(y_ptr, [rows, cols], [cols, 1], [A, B])
    at = [tl.program_id(0) * A, tl.program_id(1) * B]
    x = source.load(at)
    if KIND == "add":
        target.atomic_add(at, x)
    elif KIND == "min":
        target.atomic_min(at, x)
    elif KIND == "max":
        target.atomic_max(at, x)
    elif KIND == "and":
        target.atomic_and(at, x)
    elif KIND == "or":
        target.atomic_or(at, x)
    elif KIND == "xor":
        target.atomic_xor(at, x)


@triton.jit
def gather_rows(x_ptr, index_ptr, y_ptr, rows, cols, col, A: tl.constexpr, B: tl.constexpr):
    """Any rows of x, some outside, beside each other."""
    desc = tl.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [1, B])
    x = desc.gather(tl.load(index_ptr + tl.arange(0, A)), col)
    tl.store(y_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :], x)


@triton.jit
def scatter_rows(x_ptr, index_ptr, y_ptr, rows, cols, col, A: tl.constexpr, B: tl.constexpr):
    desc = tl.make_tensor_descriptor(y_ptr, [rows, cols], [cols, 1], [1, B])
    x = tl.load(x_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :])
    desc.scatter(x, tl.load(index_ptr + tl.arange(0, A)), col)


def gather_by_torch(x, index, y, rows, cols, col):
    y.zero_()
    for i, row in enumerate(index.tolist()):
        if 0 <= row < rows:
            part = x[row, col:col + y.shape[1]]
            y[i, :part.numel()] = part


def scatter_by_torch(x, index, y, rows, cols, col):
    for i, row in enumerate(index.tolist()):
        if 0 <= row < rows:
            count = min(cols - col, x.shape[1])
            y[row, col:col + count] = x[i, :count]


# -- Block pointers -------------------------------------------------------------------------------------------------

@triton.jit
def block_copy(x_ptr, y_ptr, rows, cols, A: tl.constexpr, B: tl.constexpr):
    source = tl.make_block_ptr(x_ptr, (rows, cols), (cols, 1), (tl.program_id(0) * A, tl.program_id(1) * B), (A, B),
                               (1, 0))
    target = tl.make_block_ptr(y_ptr, (rows, cols), (cols, 1), (tl.program_id(0) * A, tl.program_id(1) * B), (A, B),
                               (1, 0))
    x = tl.load(source, boundary_check=(0, 1), padding_option="zero")
    tl.store(target, x, boundary_check=(0, 1))


@triton.jit
def block_padding(x_ptr, y_ptr, rows, cols, A: tl.constexpr, B: tl.constexpr, PADDING: tl.constexpr):
    """The block begins before the tensor; the padding is stored."""
    source = tl.make_block_ptr(x_ptr, (rows, cols), (cols, 1), (-3, 2), (A, B), (1, 0))
    x = tl.load(source, boundary_check=(0, 1), padding_option=PADDING)
    tl.store(y_ptr + tl.arange(0, A)[:, None] * B + tl.arange(0, B)[None, :], x)


@triton.jit
def block_advance(x_ptr, y_ptr, rows, cols, A: tl.constexpr, B: tl.constexpr):
    """The pointer is carried through a loop and advanced; only the columns are checked."""
    p = tl.make_block_ptr(x_ptr, (rows, cols), (cols, 1), (0, 0), (A, B), (1, 0))
    acc = tl.zeros([A], tl.float32)
    for _ in range(0, cols, B):
        x = tl.load(p, boundary_check=(1,), padding_option="zero")
        acc += tl.sum(x, axis=1)
        p = tl.advance(p, (0, B))
    tl.store(y_ptr + tl.arange(0, A), acc)


@triton.jit
def block_transposed(x_ptr, y_ptr, rows, cols, A: tl.constexpr, B: tl.constexpr):
    """The matrix seen with its axes swapped, by strides and order."""
    source = tl.make_block_ptr(x_ptr, (cols, rows), (1, cols), (0, 0), (B, A), (0, 1))
    target = tl.make_block_ptr(y_ptr, (cols, rows), (rows, 1), (0, 0), (B, A), (1, 0))
    tl.store(target, tl.load(source, boundary_check=(0, 1), padding_option="zero"), boundary_check=(0, 1))


@triton.jit
def block_3d(x_ptr, y_ptr, d0, d1, d2, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    p = tl.make_block_ptr(x_ptr, (d0, d1, d2), (d1 * d2, d2, 1), (tl.program_id(0) * A, 0, 0), (A, B, C), (2, 1, 0))
    q = tl.make_block_ptr(y_ptr, (d0, d1, d2), (d1 * d2, d2, 1), (tl.program_id(0) * A, 0, 0), (A, B, C), (2, 1, 0))
    tl.store(q, tl.load(p, boundary_check=(0, 1, 2), padding_option="zero") * 2, boundary_check=(0, 1, 2))


@triton.jit
def block_matmul(a_ptr, b_ptr, c_ptr, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    m = tl.program_id(0) * BLOCK_M
    n = tl.program_id(1) * BLOCK_N
    a_block = tl.make_block_ptr(a_ptr, (M, K), (K, 1), (m, 0), (BLOCK_M, BLOCK_K), (1, 0))
    b_block = tl.make_block_ptr(b_ptr, (K, N), (N, 1), (0, n), (BLOCK_K, BLOCK_N), (1, 0))
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for _ in range(0, K, BLOCK_K):
        a = tl.load(a_block, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(a, b, acc)
        a_block = tl.advance(a_block, (0, BLOCK_K))
        b_block = tl.advance(b_block, (BLOCK_K, 0))
    c_block = tl.make_block_ptr(c_ptr, (M, N), (N, 1), (m, n), (BLOCK_M, BLOCK_N), (1, 0))
    tl.store(c_block, acc, boundary_check=(0, 1))


def launches():
    i32, u32, f16, bf16 = torch.int32, torch.uint32, torch.float16, torch.bfloat16

    yield case(copy_2d, normal(20, 40), blank(20, 36), 20, 34, 40, 36, grid=(2, 2), A=16, B=32)
    yield case(copy_2d, ints(9, 32, dtype=torch.int8), blank(9, 32, dtype=torch.int8), 9, 23, 32, 32, grid=(2, 2),
               name="copy_2d_i8", A=8, B=16)
    for padding, row, col in ("zero", -3, -4), ("nan", 9, 16):
        yield case(load_outside, normal(13, 24), blank(16, 16), 13, 24, row, col, name=f"load_outside_{padding}",
                   A=16, B=16, PADDING=padding)
    yield case(copy_1d, ints(200), blank(200, dtype=i32), 200, grid=2, BLOCK=128)
    yield case(copy_3d, normal(3, 5, 16, dtype=f16), blank(3, 5, 16, dtype=f16), 3, 5, 16, grid=(2, 2), A=2, B=8, C=8)
    yield case(copy_5d, ints(3, 2, 3, 5, 12), blank(3, 2, 3, 5, 12, dtype=i32), 3, 2, 3, 5, 12, grid=(2, 2), A=2, B=2,
               C=4, D=4, E=16)
    yield case(transposed, normal(20, 28), blank(28, 20), 20, 28, grid=(2, 2), A=16, B=16)
    yield case(one_page, normal(3, 8, 16), blank(3, 8, 16), 3, 8, 16, grid=3, A=8, B=16)
    x = normal(16, 104, dtype=f16)
    yield case(row_sums, TensorDescriptor.from_tensor(x, [8, 32]), blank(16), 104, grid=2, A=8, B=32)
    x, y, z = normal(20, 36), normal(20, 36), blank(20, 36)
    yield case(add_host, *(TensorDescriptor.from_tensor(t, [16, 32]) for t in (x, y, z)), grid=(2, 2), A=16, B=32)
    x = normal(13, 24)
    yield case(padded_host, TensorDescriptor(x, [13, 21], [24, 1], [16, 16], padding="nan"), blank(16, 16), 4, 8,
               A=16, B=16)
    yield case(matmul, normal(40, 56, dtype=f16), normal(24, 56, dtype=f16), blank(40, 24, dtype=f16), 40, 24, 56,
               grid=(2, 1), BLOCK_M=32, BLOCK_N=32, BLOCK_K=32)
    yield case(carried, normal(4, 8, 16), blank(8, 16), 4, 8, 16, A=8, B=16)
    yield case(conditional, normal(7, 16), normal(7, 16), blank(4, 8, 16), 7, 16, grid=4, A=8, B=16)

    def reduced(name, kind, x, y):
        rows, cols = x.shape
        return case(reduce_into, x, y, rows, cols, grid=(2, 2), name=f"reduce_{name}", A=16, B=16, KIND=kind)

    yield reduced("add_f32", "add", normal(20, 28), normal(20, 28))
    yield reduced("add_bf16", "add", normal(20, 24, dtype=bf16), normal(20, 24, dtype=bf16))
    yield reduced("max_i32", "max", ints(20, 28), ints(20, 28))
    yield reduced("max_f16", "max", normal(20, 24, dtype=f16), normal(20, 24, dtype=f16))
    yield reduced("min_u32", "min", ints(20, 28, low=0, high=1 << 32, dtype=u32),
                  ints(20, 28, low=0, high=1 << 32, dtype=u32))
    yield reduced("and_i32", "and", ints(20, 28), ints(20, 28))

    index = values([3, 0, 12, 12, -1, 7, 13, 1], i32)
    yield case(gather_rows, normal(13, 24, dtype=f16), index, blank(8, 16, dtype=f16), 13, 24, 10,
               stand_in=gather_by_torch, A=8, B=16)
    index = values([3, 0, 12, 11, -1, 7, 13, 1], i32)
    yield case(scatter_rows, normal(8, 16, dtype=f16), index, blank(13, 24, dtype=f16), 13, 24, 10,
               stand_in=scatter_by_torch, A=8, B=16)

    yield case(block_copy, normal(20, 37), blank(20, 37), 20, 37, grid=(2, 2), A=16, B=32)
    yield case(block_padding, normal(20, 13), blank(16, 16), 20, 13, A=16, B=16, PADDING="nan")

    def raw(kernel, *args, **options):
        return case(kernel, *args, name=f"raw_{kernel.fn.__name__}", record="source", **options)

    yield raw(block_copy, normal(20, 37), blank(20, 37), 20, 37, grid=(2, 2), A=16, B=32)
    yield raw(block_padding, normal(20, 13), blank(16, 16), 20, 13, A=16, B=16, PADDING="nan")
    yield raw(block_advance, normal(16, 75), blank(16), 16, 75, A=16, B=32)
    yield raw(block_transposed, normal(13, 25), blank(25, 13), 13, 25, A=16, B=32)
    yield raw(block_3d, ints(3, 5, 7), blank(3, 5, 7, dtype=i32), 3, 5, 7, grid=2, A=2, B=8, C=8)
    yield raw(block_matmul, normal(37, 45, dtype=f16), normal(45, 21, dtype=f16), blank(37, 21), 37, 21, 45,
              grid=(2, 1), BLOCK_M=32, BLOCK_N=32, BLOCK_K=32)
