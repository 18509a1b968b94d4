"""Kernels in the language of Triton 3.8 and 3.9, which the machine that recorded the others did not have."""

import triton
import triton.language as tl
from triton.language.extra import cuda


@triton.jit
def access_atomically(x_ptr, y_ptr, z_ptr, N: tl.constexpr):
    """Loads and stores that are atomic, with and without masks; 8 bits lie in a word that others write, too."""
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.atomic_load(x_ptr + i, mask=i % 3 != 0)
    tl.atomic_store(x_ptr + i, x * 3, mask=i % 3 != 0)
    y = tl.atomic_load(y_ptr + i, sem="relaxed", scope="cta")
    tl.atomic_store(y_ptr + i, y + 1, mask=i % 2 == 0, sem="relaxed", scope="sys")
    z = (z_ptr + i).atomic_load()
    (z_ptr + i).atomic_store(-z)


@triton.jit
def poll_before(flag_ptr, x_ptr, N: tl.constexpr):
    """A program waits for the one before it, then adds to what that one left."""
    pid = tl.program_id(0)
    i = tl.arange(0, N)
    tl.atomic_poll(flag_ptr + pid, 1)
    tl.store(x_ptr + (pid + 1) * N + i, tl.load(x_ptr + pid * N + i) + i)
    tl.atomic_store(flag_ptr + pid + 1, 1)


@triton.jit
def poll_with_time(flag_ptr, y_ptr, N: tl.constexpr):
    """A time that is over, and one that is not needed; of a tile and of a number."""
    i = tl.arange(0, N)
    tl.store(y_ptr + i, tl.atomic_poll(flag_ptr + i, 2, timeout_ns=100).to(tl.int32))
    tl.store(y_ptr + N, tl.atomic_poll(flag_ptr, 0, sem="relaxed", scope="cta", timeout_ns=0).to(tl.int32))


@triton.jit
def hints(x_ptr: tl.const, y_ptr, N: tl.constexpr):
    """Constant memory, cache policies, launches that overlap."""
    i = tl.arange(0, N)
    cuda.gdc_wait()
    a = tl.load(x_ptr + i, cache_modifier=".cg", eviction_policy="evict_first")
    b = tl.load(x_ptr + i, cache_modifier=".cv", volatile=True)
    cuda.gdc_launch_dependents()
    tl.store(y_ptr + i, a + b, cache_modifier=".wt", eviction_policy="evict_last")


@triton.jit
def halves(x_ptr, y_ptr, q_ptr, N: tl.constexpr):
    """16-bit floats into each other; a division that need not be exact; minus zero."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, -x.to(tl.bfloat16))
    tl.store(x_ptr + i, tl.load(y_ptr + i).to(tl.float16))
    f = x.to(tl.float32)
    tl.store(q_ptr + i, tl.fdiv(f, f * f + 1.0, approx=True))


@triton.jit
def rows(x_ptr, y_ptr, n, N: tl.constexpr, B: tl.constexpr):
    """Descriptors, whose rows are gathered and scattered by 16-bit numbers."""
    x = tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [1, B])
    y = tl.make_tensor_descriptor(y_ptr, [n, n], [n, 1], [1, B])
    index = (N - 1 - tl.arange(0, N)).to(tl.int16)
    y.scatter(x.gather(index, 8), index // 2 * 2 + 1 - index % 2, 0)


@triton.aggregate
class Scale:
    """Its fields stand in the name of a function that takes one: a name in quotes."""
    by: tl.tensor
    add: tl.constexpr

    @triton.jit
    def apply(self, x):
        return x * self.by + self.add


@triton.jit(noinline=True)
def scaled(scale, first):
    return scale.apply(first)


@triton.jit
def aggregates(x_ptr, y_ptr, by, N: tl.constexpr):
    i = tl.arange(0, N)
    scale = Scale(by, 42)
    first = scaled(scale, tl.load(x_ptr))
    tl.store(y_ptr + i, scale.apply(tl.load(x_ptr + i)) + first, mask=0 <= i < N - 3)


@triton.jit
def joined(x_ptr, y_ptr, N: tl.constexpr):
    """Tensors put one behind the other in order, the largest of them and a softmax of columns."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + i[None, :])
    both = tl.cat(x, x * 2, dim=1)
    tl.store(y_ptr + i[:, None] * 2 * N + tl.arange(0, 2 * N)[None, :], both)
    tl.store(y_ptr + 2 * N * N + i[:, None] * N + i[None, :], tl.softmax(x, dim=0))
    tl.store(y_ptr + 3 * N * N + tl.arange(0, 4), tl.topk(tl.max(x, 1), 4, descending=False))


@triton.jit
def blocks(x_ptr, y_ptr, n, A: tl.constexpr, B: tl.constexpr):
    """Block pointers, which 3.8 takes apart while it reads Python."""
    x = tl.make_block_ptr(x_ptr, (n, n), (n, 1), (tl.program_id(0) * A, 0), (A, B), (1, 0))
    y = tl.make_block_ptr(y_ptr, (n, n), (1, n), (0, tl.program_id(0) * A), (B, A), (0, 1))
    for _ in range(0, n, B):
        tl.store(y, tl.trans(tl.load(x, boundary_check=(0, 1), padding_option="zero")) + 1, boundary_check=(0, 1))
        x = tl.advance(x, (0, B))
        y = tl.advance(y, (B, 0))
