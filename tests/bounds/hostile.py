"""Kernels that leave their buffers on purpose: each in its own way. tests/bounds/run.py says with what they are launched."""
import triton
import triton.language as tl


@triton.jit
def load_by_data(x, index, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + tl.load(index + i)))


@triton.jit
def load_by_data_other(x, index, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + tl.load(index + i), mask=i != 3, other=7))


@triton.jit
def store_by_data(x, index, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + tl.load(index + i), tl.load(x + i))


@triton.jit
def before_the_start(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + i - N // 2))


@triton.jit
def lying_mask(x, y, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def no_mask(x, y, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(y + i, tl.load(x + i) + 1)


@triton.jit
def big_strides(x, y, stride, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    tl.store(y + i * N + j, tl.load(x + i * stride + j))


@triton.jit
def far_away(x, y, far: tl.int64, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + (far + i)))


@triton.jit
def there_and_back(x, y, far: tl.int64, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(x + far + i - far))


@triton.jit
def loop_past_the_end(x, y, rounds, N: tl.constexpr):
    i = tl.arange(0, N)
    p = x + i
    total = tl.zeros((N,), tl.int32)
    for k in range(rounds):
        total += tl.load(p)
        p += N
    tl.store(y + i, total)


@triton.jit
def uneven_steps(x, y, rounds, N: tl.constexpr):
    i = tl.arange(0, N)
    p = x + i
    total = tl.zeros((N,), tl.int32)
    for k in range(rounds):
        total += tl.load(p)
        p += i * 3 + 1
    tl.store(y + i, total)


@triton.jit
def until_zero(x, y):
    p = x
    n = 0
    v = tl.load(p)
    while v != 0:
        n += v
        p += 1
        v = tl.load(p)
    tl.store(y, n)


@triton.jit
def from_a_branch(x, y, far, N: tl.constexpr):
    i = tl.arange(0, N)
    p = x
    if far > 100:
        p = x + far
    tl.store(y + i, tl.load(p + i))


@triton.jit
def one_of_two_places(x, y, far, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(tl.where(i % 2 == 0, x + i, x + i + far)))


@triton.jit
def long_chain(x, y, by, N: tl.constexpr):
    i = tl.arange(0, N)
    p = x + i
    for k in tl.static_range(40):
        p = p + by * i
    tl.store(y + i, tl.load(p))


@triton.jit
def scalar_far(x, y, far):
    tl.store(y, tl.load(x + far))
    tl.store(y + far, 5)


@triton.jit
def wider(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    p = (x + 4).to(tl.pointer_type(tl.int32))
    tl.store(y + i, tl.load(p + i))


@triton.jit
def add_by_data(x, index, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.atomic_add(x + tl.load(index + i), 1))


@triton.jit
def add_long_by_data(x, index, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.atomic_add(x + tl.load(index + i), i.to(tl.int64) + 1))


@triton.jit
def scalar_atomics(x, y, far):
    tl.store(y, tl.atomic_add(x + far, 1))
    tl.store(y + 1, tl.atomic_cas(x + far, 0, 1))
    tl.store(y + 2, tl.atomic_xchg(x + 1, 9))


@triton.jit
def swap_by_data(x, index, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.atomic_cas(x + tl.load(index + i), i, i + 100))


@triton.jit
def block_pointer(x, y, rows, cols, M: tl.constexpr, N: tl.constexpr):
    p = tl.make_block_ptr(x, (rows, cols), (cols, 1), (0, 0), (M, N), (1, 0))
    q = tl.make_block_ptr(y, (rows, cols), (cols, 1), (0, 0), (M, N), (1, 0))
    for k in range(4):
        tl.store(q, tl.load(p, boundary_check=(0, 1)) + 1, boundary_check=(0, 1))
        p = tl.advance(p, (M, 0))
        q = tl.advance(q, (M, 0))


@triton.jit
def unchecked_block(x, y, rows, cols, M: tl.constexpr, N: tl.constexpr):
    p = tl.make_block_ptr(x, (rows, cols), (cols, 1), (M, 0), (M, N), (1, 0))
    q = tl.make_block_ptr(y, (rows, cols), (cols, 1), (M, 0), (M, N), (1, 0))
    tl.store(q, tl.load(p) + 1)


@triton.jit
def descriptor(x, y, rows, cols, M: tl.constexpr, N: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [rows, cols], [cols, 1], [M, N])
    e = tl.make_tensor_descriptor(y, [rows, cols], [cols, 1], [M, N])
    e.store([M, 0], d.load([M, 0]) + 1)
    e.store([0, 0], d.load([-M, 0]) + 2)


@triton.jit
def descriptor_rows(x, index, y, rows, cols, M: tl.constexpr, N: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [rows, cols], [cols, 1], [1, N])
    e = tl.make_tensor_descriptor(y, [rows, cols], [cols, 1], [1, N])
    i = tl.load(index + tl.arange(0, M))
    e.scatter(d.gather(i, 0), i, 0)


@triton.jit
def descriptor_add(x, y, rows, cols, M: tl.constexpr, N: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [rows, cols], [cols, 1], [M, N])
    e = tl.make_tensor_descriptor(y, [rows, cols], [cols, 1], [M, N])
    e.atomic_add([M // 2, 0], d.load([0, 0]))


@triton.jit
def product(x, w, y, k, M: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, M)[None, :]
    a = tl.arange(0, K)
    acc = tl.zeros((M, M), tl.float32)
    for s in range(0, k, K):
        acc += tl.dot(tl.load(x + i * k + s + a[None, :]), tl.load(w + (s + a)[:, None] * M + j))
    tl.store(y + i * M + j, acc)


@triton.jit
def still_step(x, y, step, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros((N,), tl.int32)
    for k in range(0, N, step):
        total += tl.load(x + k + i)
    tl.store(y + i, total)


@triton.jit
def gather_wild(x, index, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.gather(tl.load(x + i), tl.load(index + i), 0) * 0)


@triton.jit
def histogram_wild(index, y, N: tl.constexpr, B: tl.constexpr):
    tl.store(y + tl.arange(0, B), tl.histogram(tl.load(index + tl.arange(0, N)), B))


@triton.jit
def of_a_table(t, y, N: tl.constexpr):
    p = tl.load(t).to(tl.pointer_type(tl.int32))
    tl.store(y + tl.arange(0, N), tl.load(p + tl.arange(0, N)))


@triton.jit
def of_two(x, w, y, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.load(tl.where(i < n, x + i, w + i)))


@triton.jit
def by_assembly(x, y, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(y + i, tl.inline_asm_elementwise("ld.global.b32 $0, [$1];", "=r,l", [x + i], dtype=tl.int32,
                                              is_pure=False, pack=1))


@triton.jit
def endless(x, y, n):
    while n != 0:
        n = n * 3
    tl.store(y, tl.load(x))


@triton.jit
def polls(x, y):
    n = 0
    while tl.atomic_add(x, 1) < 5:
        n += 1
    tl.store(y, n)


@triton.jit
def half_of_a_word(x, y):
    tl.store(y, tl.atomic_add(x + 2, 1.0))
