"""Atomics of every kind and width: exclusive and colliding, masked, with the old value used, compare-and-swap, locks.

What the order of the updates would decide is not kept: colliding float sums are of small whole numbers, and old
values are summed or counted.
"""

import torch
import triton
import triton.language as tl

from common import bits, blank, case, ints, normal, zeros


@triton.jit
def apply(p, x, mask, KIND: tl.constexpr):
    """One atomic of the kind, and what memory held before it."""
    if KIND == "add":
        old = tl.atomic_add(p, x, mask=mask)
    elif KIND == "max":
        old = tl.atomic_max(p, x, mask=mask)
    elif KIND == "min":
        old = tl.atomic_min(p, x, mask=mask)
    elif KIND == "and":
        old = tl.atomic_and(p, x, mask=mask)
    elif KIND == "or":
        old = tl.atomic_or(p, x, mask=mask)
    elif KIND == "xor":
        old = tl.atomic_xor(p, x, mask=mask)
    elif KIND == "xchg":
        old = tl.atomic_xchg(p, x, mask=mask)
    return old


@triton.jit
def collide(x_ptr, y_ptr, z_ptr, w_ptr, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    """Every element of x meets element i % 16 of y, so updates collide within a program and between programs.

    Then the same of z and w, which are of another type.
    """
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    apply(y_ptr + i % 16, tl.load(x_ptr + i, mask=mask), mask, KIND)
    apply(w_ptr + i % 16, tl.load(z_ptr + i, mask=mask), mask, KIND)


@triton.jit
def exclusive(x_ptr, y_ptr, old_ptr, n, BLOCK: tl.constexpr, KIND: tl.constexpr):
    """Each element by itself, and what it was before."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    old = apply(y_ptr + i, tl.load(x_ptr + i, mask=mask), mask, KIND)
    tl.store(old_ptr + i, old, mask=mask)


@triton.jit
def one_counter(y_ptr, BLOCK: tl.constexpr):
    """All lanes of all programs add to one number."""
    zero = tl.arange(0, BLOCK) * 0
    tl.atomic_add(y_ptr + zero, tl.full([BLOCK], 1, tl.int32))


@triton.jit
def old_values_summed(y_ptr, sum_ptr, BLOCK: tl.constexpr):
    """A colliding count gives 0, 1, 2, ... in some order: their sum is known."""
    zero = tl.arange(0, BLOCK) * 0
    old = tl.atomic_add(y_ptr + zero, tl.full([BLOCK], 1, tl.int32))
    tl.store(sum_ptr, tl.sum(old, axis=0))
    tl.store(sum_ptr + 1, tl.max(old, axis=0))


@triton.jit
def tickets(counter_ptr, taken_ptr):
    """Each program draws a number; every number is drawn once."""
    ticket = tl.atomic_add(counter_ptr, 1)
    tl.store(taken_ptr + ticket, 1)


@triton.jit
def scalar_updates(x_ptr, y_ptr, low_ptr, high_ptr):
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    tl.atomic_add(y_ptr, x)
    tl.atomic_min(low_ptr, x)
    tl.atomic_max(high_ptr, x, sem="relaxed")
    tl.atomic_add(y_ptr + 1, x, mask=x > 0)


@triton.jit
def orders_and_scopes(y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(y_ptr + i, 1, sem="relaxed")
    tl.atomic_add(y_ptr + i, 2, sem="acquire", scope="cta")
    tl.atomic_add(y_ptr + i, 4, sem="release", scope="sys")
    tl.atomic_or(y_ptr + i, 64, sem="acq_rel", scope="gpu")


@triton.jit
def last_program_sums(x_ptr, partial_ptr, counter_ptr, y_ptr, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    """The program that counts last adds up what the others left in memory."""
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid * BLOCK + tl.arange(0, BLOCK))
    tl.store(partial_ptr + pid, tl.sum(x, axis=0))
    tl.debug_barrier()
    arrived = tl.atomic_add(counter_ptr, 1, sem="acq_rel")
    if arrived == PROGRAMS - 1:
        parts = tl.load(partial_ptr + tl.arange(0, PROGRAMS), volatile=True)
        tl.store(y_ptr, tl.sum(parts, axis=0))


@triton.jit
def compare_and_swap(y_ptr, expected_ptr, new_ptr, old_ptr, BLOCK: tl.constexpr):
    """Only where memory holds what is expected."""
    i = tl.arange(0, BLOCK)
    old = tl.atomic_cas(y_ptr + i, tl.load(expected_ptr + i), tl.load(new_ptr + i))
    tl.store(old_ptr + i, old)


@triton.jit
def first_come(owner_ptr, wins_ptr, BLOCK: tl.constexpr):
    """All lanes try to claim the same places; each place is claimed once."""
    i = tl.arange(0, BLOCK)
    old = tl.atomic_cas(owner_ptr + i % 8, tl.zeros([BLOCK], tl.int32), tl.full([BLOCK], 7, tl.int32))
    tl.atomic_add(wins_ptr, tl.sum((old == 0).to(tl.int32), axis=0))


@triton.jit
def lock(x_ptr, lock_ptr, sum_ptr, BLOCK: tl.constexpr):
    """A spin lock round a plain read and write of a row."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + i)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    total = tl.load(sum_ptr + i)
    tl.store(sum_ptr + i, total + x)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def add_by_cas(x_ptr, y_ptr):
    """A scalar update made of compare-and-swap in a loop."""
    x = tl.load(x_ptr + tl.program_id(0))
    seen = tl.load(y_ptr, volatile=True)
    old = tl.atomic_cas(y_ptr, seen, seen ^ x)
    while old != seen:
        seen = old
        old = tl.atomic_cas(y_ptr, seen, seen ^ x)


@triton.jit
def tile_update(x_ptr, y_ptr, n_cols, A: tl.constexpr, B: tl.constexpr):
    """A matrix added to a row, columns masked."""
    r = tl.program_id(0) * A + tl.arange(0, A)[:, None]
    c = tl.arange(0, B)[None, :]
    x = tl.load(x_ptr + r * n_cols + c, mask=c < n_cols, other=0)
    tl.atomic_add(y_ptr + c + r * 0, x, mask=c < n_cols)


@triton.jit
def sum_then_add(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """A reduction by programs, joined by one atomic each."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    tl.atomic_add(y_ptr, tl.sum(x, axis=0))


@triton.jit
def split_k(a_ptr, b_ptr, c_ptr, K, N: tl.constexpr, BLOCK_K: tl.constexpr):
    """Each program multiplies a slice of K and adds its tile."""
    i = tl.arange(0, N)
    k = tl.program_id(0) * BLOCK_K + tl.arange(0, BLOCK_K)
    a = tl.load(a_ptr + i[:, None] * K + k[None, :], mask=k[None, :] < K, other=0.0)
    b = tl.load(b_ptr + k[:, None] * N + i[None, :], mask=k[:, None] < K, other=0.0)
    tl.atomic_add(c_ptr + i[:, None] * N + i[None, :], tl.dot(a, b), sem="relaxed")


@triton.jit
def histogram_by_atomics(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bin = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.atomic_add(y_ptr + bin, 1, mask=i < n)


def launches():
    i32, i64, u32, u64 = torch.int32, torch.int64, torch.uint32, torch.uint64
    f16, bf16, f32, f64 = torch.float16, torch.bfloat16, torch.float32, torch.float64

    def pair(name, kind, first, second, make=bits):
        x, y, z, w = (make(n, dtype=dtype) for dtype in (first, second) for n in (200, 16))
        return case(collide, x, y, z, w, 200, grid=2, name=name, BLOCK=128, KIND=kind)

    def small(n, dtype):
        return ints(n, low=-4, high=5).to(dtype)

    for kind in "add", "max", "min":
        yield pair(f"{kind}_32", kind, i32, u32)
        yield pair(f"{kind}_64", kind, i64, u64)
    for kind in "and", "or", "xor":
        yield pair(f"{kind}_32", kind, i32, u32)
    yield pair("xor_64", "xor", i64, u64)
    yield pair("add_f32", "add", f32, f32, small)
    yield pair("add_f16_bf16", "add", f16, bf16, small)
    yield pair("add_f64", "add", f64, f64, small)
    for kind in "max", "min":
        yield pair(f"{kind}_f32", kind, f32, f32, normal)
    yield pair("max_f64", "max", f64, f64, normal)

    def old_of(name, kind, x, y):
        return case(exclusive, x, y, blank(200, dtype=x.dtype), 200, grid=2, name=f"old_of_{name}", BLOCK=128,
                    KIND=kind)

    yield old_of("add_i32", "add", bits(200), bits(200))
    yield old_of("add_f16", "add", normal(200, dtype=f16), normal(200, dtype=f16))
    yield old_of("max_f32", "max", normal(200), normal(200))
    yield old_of("min_u32", "min", bits(200, dtype=u32), bits(200, dtype=u32))
    yield old_of("and_i64", "and", bits(200, dtype=i64), bits(200, dtype=i64))
    yield old_of("xchg_f32", "xchg", normal(200), normal(200))
    yield old_of("xchg_i64", "xchg", bits(200, dtype=i64), bits(200, dtype=i64))

    yield case(one_counter, zeros(1, dtype=i32), grid=5, BLOCK=128)
    yield case(old_values_summed, zeros(1, dtype=i32), blank(2, dtype=i32), BLOCK=128)
    yield case(tickets, zeros(1, dtype=i32), zeros(20, dtype=i32), grid=17)
    yield case(scalar_updates, ints(20), zeros(2, dtype=i32), zeros(1, dtype=i32), zeros(1, dtype=i32), grid=20)
    yield case(orders_and_scopes, zeros(64, dtype=i32), BLOCK=64)
    yield case(last_program_sums, ints(8, 64), zeros(8, dtype=i32), zeros(1, dtype=i32), blank(1, dtype=i32), grid=8,
               BLOCK=64, PROGRAMS=8)
    for dtype, name in (i32, "i32"), (i64, "i64"), (torch.int16, "i16"):
        y = bits(64, dtype=dtype)
        expected = y.clone()
        expected[::3] += 1
        yield case(compare_and_swap, y, expected, bits(64, dtype=dtype), blank(64, dtype=dtype), name=f"cas_{name}",
                   BLOCK=64)
    yield case(first_come, zeros(8, dtype=i32), zeros(1, dtype=i32), grid=3, BLOCK=64)
    yield case(lock, ints(10, 64).float(), zeros(1, dtype=i32), zeros(64), grid=10, BLOCK=64)
    yield case(lock, ints(6, 32).float(), zeros(1, dtype=i32), zeros(32), grid=6, name="raw_lock", record="source",
               BLOCK=32)
    yield case(add_by_cas, bits(12), zeros(1, dtype=i32), grid=12)
    yield case(tile_update, ints(24, 25), zeros(25, dtype=i32), 25, grid=3, A=8, B=32)
    yield case(sum_then_add, ints(500, low=-9, high=10).float(), zeros(1), 500, grid=4, BLOCK=128)
    yield case(split_k, ints(16, 60, low=-3, high=4).half(), ints(60, 16, low=-3, high=4).half(), zeros(16, 16), 60,
               grid=2, N=16, BLOCK_K=32)
    yield case(histogram_by_atomics, ints(500, low=0, high=20), zeros(20, dtype=i32), 500, grid=4, BLOCK=128)
