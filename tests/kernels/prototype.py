"""The kernels of the Python prototype's documents, as they stand there but for the package's name (make test-triton compiles
them by that name too). The row sum is the one that the messages of its two faults lead to: tests/triton/wrong.txt."""

import torch
import triton
import triton.language as tl

from common import blank, case, normal


@triton.jit
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    # Grid-stride loop
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements

    # Load data
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)

    # Perform operation
    output = x + y

    # Store result
    tl.store(output_ptr + offsets, output, mask=mask)


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr,
    M, N, K,
    stride_am, stride_ak,
    stride_bk, stride_bn,
    stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    # Program ID
    pid_m = tl.program_id(0)
    pid_n = tl.program_id(1)

    # Block start indices
    m_start = pid_m * BLOCK_M
    n_start = pid_n * BLOCK_N

    # Create offset arrays
    offs_m = m_start + tl.arange(0, BLOCK_M)
    offs_n = n_start + tl.arange(0, BLOCK_N)

    # Initialize accumulator
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)

    # Iterate over K dimension
    for k in range(0, tl.cdiv(K, BLOCK_K) * BLOCK_K, BLOCK_K):
        # Create mask for bounds checking
        k_offsets = k + tl.arange(0, BLOCK_K)

        # Check bounds
        a_mask = (offs_m[:, None] < M) & (k_offsets[None, :] < K)
        b_mask = (k_offsets[:, None] < K) & (offs_n[None, :] < N)

        # Compute pointers for A and B
        a_ptrs = a_ptr + offs_m[:, None] * stride_am + k_offsets[None, :] * stride_ak
        b_ptrs = b_ptr + k_offsets[:, None] * stride_bk + offs_n[None, :] * stride_bn

        # Load data
        a = tl.load(a_ptrs, mask=a_mask, other=0.0)
        b = tl.load(b_ptrs, mask=b_mask, other=0.0)

        # Compute matrix multiply
        acc += tl.dot(a, b)

    # Store output
    offs_cm = offs_m[:, None] * stride_cm
    offs_cn = offs_n[None, :] * stride_cn
    c_ptrs = c_ptr + offs_cm + offs_cn
    c_mask = (offs_m[:, None] < M) & (offs_n[None, :] < N)

    tl.store(c_ptrs, acc, mask=c_mask)


@triton.jit
def strided_kernel(x_ptr, output_ptr, stride, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    block_start = pid * BLOCK_SIZE

    # Create strided indices
    indices = block_start + tl.arange(0, BLOCK_SIZE) * stride
    mask = indices < n_elements

    # Load with strided pattern
    x = tl.load(x_ptr + indices, mask=mask)

    # Store result
    tl.store(output_ptr + indices, x * 2.0, mask=mask)


@triton.jit
def sum_reduction_kernel(
    input_ptr, output_ptr,
    M, N,
    stride_m, stride_n,
    BLOCK_SIZE: tl.constexpr
):
    # Program ID
    pid = tl.program_id(0)

    # Offset the input pointer to the current row
    row_start_ptr = input_ptr + pid * stride_m

    # Initialize accumulator
    acc = 0.0

    # Load and reduce values along the row (N dimension)
    for i in range(0, N, BLOCK_SIZE):
        cols = i + tl.arange(0, BLOCK_SIZE)
        values = tl.load(row_start_ptr + cols * stride_n, mask=cols < N, other=0.0)
        acc += tl.sum(values, axis=0)

    # Store the result
    tl.store(output_ptr + pid, acc)


def launches():
    x, y = normal(1000), normal(1000)
    yield case(add_kernel, x, y, blank(1000), 1000, BLOCK_SIZE=256, grid=4)

    a, b = normal(70, 50), normal(50, 60)
    yield case(matmul_kernel, a, b, blank(70, 60), 70, 60, 50, 50, 1, 60, 1, 60, 1, BLOCK_M=32, BLOCK_N=32, BLOCK_K=16, grid=(3, 2))
    a, b = normal(64, 64, dtype=torch.float16), normal(64, 64, dtype=torch.float16)
    yield case(matmul_kernel, a, b, blank(64, 64), 64, 64, 64, 64, 1, 64, 1, 64, 1, BLOCK_M=64, BLOCK_N=64, BLOCK_K=32, grid=(1, 1),
               name="matmul_kernel_f16")

    # one program: the next would write some of its elements again
    yield case(strided_kernel, x, blank(1000), 3, 1000, BLOCK_SIZE=64, grid=1)

    yield case(sum_reduction_kernel, normal(5, 300), blank(5), 5, 300, 300, 1, BLOCK_SIZE=128, grid=5)
