"""Loads, stores and pointers: masks, odd offsets, pointers that are chosen, carried, computed and kept in memory."""

import torch
import triton
import triton.language as tl

from common import bits, blank, case, ints, normal, tail, values, zeros


@triton.jit
def masked_other(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n, other=-7.5))


@triton.jit
def masked_every_third(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    keep = (i % 3 == 0) & (i < n)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=keep), mask=keep)


@triton.jit
def masked_garbage_pointers(x_ptr, y_ptr, n, far, BLOCK: tl.constexpr):
    """Where the mask is false the address is far outside every buffer."""
    i = tl.arange(0, BLOCK)
    inside = i < n
    offset = tl.where(inside, i, far)
    x = tl.load(x_ptr + offset.to(tl.int64) * 4096, mask=inside & (i < 1), other=1.0)
    x += tl.load(x_ptr + offset, mask=inside, other=0.0)
    tl.store(y_ptr + offset, x, mask=inside)


@triton.jit
def masked_scalars(x_ptr, y_ptr, n):
    for i in range(6):
        tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n, other=9.0), mask=i != 2)


@triton.jit
def nothing_stored(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i), mask=i < n)


@triton.jit
def scalars(x_ptr, y_ptr):
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    tl.store(y_ptr + pid, x * x + 1.0)


@triton.jit
def reversed_copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Negative offsets from the last element."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    last = x_ptr + (n - 1)
    tl.store(y_ptr + i, tl.load(last - i, mask=i < n), mask=i < n)


@triton.jit
def offsets_i64(x_ptr, y_ptr, start, stride, n, BLOCK: tl.constexpr):
    """An offset past 32 bits that is taken back again."""
    i = tl.arange(0, BLOCK).to(tl.int64)
    far = x_ptr + start
    back = -start + i * stride
    tl.store(y_ptr + i, tl.load(far + back, mask=i < n), mask=i < n)


@triton.jit
def offsets_wrap_i32(x_ptr, y_ptr, big, BLOCK: tl.constexpr):
    """The sum of the offsets wraps at 32 bits before it is widened."""
    i = tl.arange(0, BLOCK)
    offset = i + big
    offset = offset + big + 2
    tl.store(y_ptr + i, tl.load(x_ptr + offset))


@triton.jit
def offsets_u32(x_ptr, index_ptr, y_ptr, BLOCK: tl.constexpr):
    """Unsigned offsets are widened with zeros; the start lies in the middle."""
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + tl.load(index_ptr + i)))


@triton.jit
def volatile(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, volatile=True)
    again = tl.load(x_ptr + i, volatile=True)
    tl.store(y_ptr + i, x + again)


@triton.jit
def cache_hints(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, cache_modifier=".cg")
    y = tl.load(x_ptr + n - 1 - i, mask=mask, other=0.0, eviction_policy="evict_last")
    tl.store(y_ptr + i, x - y, mask=mask, cache_modifier=".cs")
    z = tl.load(x_ptr + i, mask=mask, other=0.0, eviction_policy="evict_first")
    tl.store(y_ptr + n + i, z, mask=mask, eviction_policy="evict_first")


@triton.jit
def in_place(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2 + 1, mask=i < n)


@triton.jit
def same_buffer_twice(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Both pointers are the same buffer."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) - 3.0, mask=i < n)


@triton.jit
def shift_in_place(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """y is x, one element further on; all is read before anything is written."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.debug_barrier()
    tl.store(y_ptr + i, x)


@triton.jit
def reverse_in_place(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.debug_barrier()
    tl.store(x_ptr + (n - 1 - i), x, mask=i < n)


@triton.jit
def write_then_read(x_ptr, scratch_ptr, y_ptr, BLOCK: tl.constexpr):
    """A permutation through memory, with a barrier."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(scratch_ptr + i, tl.load(x_ptr + i))
    tl.debug_barrier()
    turned = tl.program_id(0) * BLOCK + (tl.arange(0, BLOCK) * 5 + 3) % BLOCK
    tl.store(y_ptr + i, tl.load(scratch_ptr + turned))


@triton.jit
def chosen_pointers(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    """Each element reads one of two buffers and writes one of two places."""
    i = tl.arange(0, BLOCK)
    even = i % 2 == 0
    source = tl.where(even, x_ptr + i, y_ptr + i)
    target = tl.where(even, out_ptr + i // 2, out_ptr + BLOCK - 1 - i // 2)
    tl.store(target, tl.load(source))


@triton.jit
def chosen_base(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    """Odd programs read the other buffer."""
    pid = tl.program_id(0)
    if pid % 2 == 0:
        base = x_ptr
    else:
        base = y_ptr + 7
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + pid * BLOCK + i, tl.load(base + pid * BLOCK + i))


@triton.jit
def growing_steps(x_ptr, y_ptr, steps, BLOCK: tl.constexpr):
    """Pointers advance in a loop, each lane by its own step, which grows."""
    i = tl.arange(0, BLOCK)
    p = x_ptr + i
    step = i % 4
    acc = tl.zeros([BLOCK], tl.float32)
    for _ in range(steps):
        acc += tl.load(p)
        p += step
        step += 1
    tl.store(y_ptr + i, acc)


@triton.jit
def bouncing_pointers(x_ptr, y_ptr, steps, BLOCK: tl.constexpr):
    """The pointer tensor moves forth and back by a step that comes from memory."""
    i = tl.arange(0, BLOCK)
    p = x_ptr + i
    acc = tl.zeros([BLOCK], tl.int32)
    for k in range(steps):
        x = tl.load(p)
        acc = acc * 3 + x
        p = x_ptr + (i * 7 + x * 13 + k) % 128
    tl.store(y_ptr + i, acc)


@triton.jit
def carried_scalar_pointers(x_ptr, y_ptr, n):
    p = x_ptr + tl.program_id(0)
    q = y_ptr + tl.program_id(0)
    for _ in range(n):
        tl.store(q, tl.load(p) + 0.5)
        p += 4
        q += 3


@triton.jit
def indirect(index_ptr, x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    index = tl.load(index_ptr + i, mask=i < n, other=0)
    tl.store(y_ptr + i, tl.load(x_ptr + index, mask=i < n), mask=i < n)


@triton.jit
def linked_list(next_ptr, value_ptr, y_ptr, steps, BLOCK: tl.constexpr):
    """Each lane follows its own chain."""
    at = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.int32)
    for _ in range(steps):
        total += tl.load(value_ptr + at)
        at = tl.load(next_ptr + at)
    tl.store(y_ptr + tl.arange(0, BLOCK), total)


@triton.jit
def strided_2d(x_ptr, y_ptr, rows, cols, row_stride, col_stride, A: tl.constexpr, B: tl.constexpr):
    r = tl.program_id(0) * A + tl.arange(0, A)[:, None]
    c = tl.program_id(1) * B + tl.arange(0, B)[None, :]
    mask = (r < rows) & (c < cols)
    tl.store(y_ptr + r * cols + c, tl.load(x_ptr + r * row_stride + c * col_stride, mask=mask), mask=mask)


@triton.jit
def box_3d(x_ptr, y_ptr, d0, d1, d2, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, A)[:, None, None]
    j = tl.arange(0, B)[None, :, None]
    k = tl.arange(0, C)[None, None, :]
    mask = (i < d0) & (j < d1) & (k < d2)
    x = tl.load(x_ptr + (i * d1 + j) * d2 + k, mask=mask, other=0)
    tl.store(y_ptr + (k * d1 + j) * d0 + i, x, mask=mask)


@triton.jit
def one_address(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """All lanes read the same element."""
    i = tl.arange(0, BLOCK)
    zero = i - i
    tl.store(y_ptr + i, tl.load(x_ptr + 5 + zero) + i)


@triton.jit
def booleans(x_ptr, mask_ptr, y_ptr, flipped_ptr, n, BLOCK: tl.constexpr):
    """Booleans in memory are bytes; they are read, turned and written."""
    i = tl.arange(0, BLOCK)
    inside = i < n
    flag = tl.load(mask_ptr + i, mask=inside, other=False)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=flag & inside, other=-1.0), mask=inside)
    tl.store(flipped_ptr + i, ~flag, mask=inside)


@triton.jit
def boolean_bytes(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """Any byte but zero is true."""
    i = tl.arange(0, BLOCK)
    flag = tl.load(x_ptr.to(tl.pointer_type(tl.int1), bitcast=True) + i)
    tl.store(y_ptr + i, flag.to(tl.int32) + 10)


@triton.jit
def copy_as_bytes(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """A float buffer read as bytes, from an odd place."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr.to(tl.pointer_type(tl.uint8), bitcast=True) + 1 + i, mask=i < n)
    tl.store(y_ptr + i, x, mask=i < n)


@triton.jit
def copy(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def hints(x_ptr, y_ptr, stride, n, BLOCK: tl.constexpr):
    i = tl.max_contiguous(tl.multiple_of(tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), BLOCK), BLOCK)
    stride = tl.multiple_of(stride, 4)
    tl.assume(stride > 0)
    tl.store(y_ptr + i, tl.load(x_ptr + i * stride, mask=i < n), mask=i < n)


@triton.jit
def pointer_differences(x_ptr, y_ptr, index_ptr, BLOCK: tl.constexpr):
    """Addresses as integers; only what lies between them is kept."""
    i = tl.arange(0, BLOCK)
    p = x_ptr + tl.load(index_ptr + i)
    tl.store(y_ptr + i, p.to(tl.int64) - x_ptr.to(tl.int64))


@triton.jit
def pointer_from_integer(x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    address = x_ptr.to(tl.int64) + 8 * i
    tl.store(y_ptr + i, tl.load(address.to(tl.pointer_type(tl.float32))))


@triton.jit
def pointer_table(x_ptr, y_ptr, table_ptr, out_ptr, BLOCK: tl.constexpr):
    """Two addresses are written to memory, read back and followed; then the table is cleared."""
    tl.store(table_ptr, x_ptr.to(tl.int64))
    tl.store(table_ptr + 1, y_ptr.to(tl.int64))
    tl.debug_barrier()
    i = tl.arange(0, BLOCK)
    base = tl.load(table_ptr + i % 2, volatile=True).to(tl.pointer_type(tl.float32))
    tl.store(out_ptr + i, tl.load(base + i))
    tl.debug_barrier()
    tl.store(table_ptr + tl.arange(0, 2), tl.zeros([2], tl.int64))


@triton.jit
def pointer_compare(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """The mask comes from comparing addresses."""
    i = tl.arange(0, BLOCK)
    p = x_ptr + i
    end = x_ptr + n
    tl.store(y_ptr + i, tl.load(p, mask=p.to(tl.int64) < end.to(tl.int64), other=0.0))


@triton.jit
def in_place_narrow(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    """Rows of fewer elements than a simdgroup has lanes, launched with one buffer as both parameters."""
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + i, mask=i < n_cols, other=0.0)
    tl.store(y_ptr + row * n_cols + i, x - tl.sum(x) / n_cols, mask=i < n_cols)


@triton.jit
def in_place_scalars(step_ptr, x_ptr, new_step_ptr, y_ptr, BLOCK: tl.constexpr):
    """A number that every thread reads and one replaces, through another parameter and by two ways of naming it."""
    i = tl.arange(0, BLOCK)
    step = tl.load(step_ptr)
    tl.store(y_ptr + i, tl.load(x_ptr + i) * step)
    tl.store(new_step_ptr + tl.zeros([BLOCK], tl.int32), tl.full([BLOCK], 1.0, tl.float32) + step, mask=i < 1)
    count = tl.load(step_ptr + 1)
    tl.store(new_step_ptr + 1, count + 1.0)


def launches():
    i32, i64, f16 = torch.int32, torch.int64, torch.float16
    yield case(masked_other, normal(100), blank(128), 100, grid=2, BLOCK=64)
    yield case(masked_every_third, normal(100), blank(128), 100, BLOCK=128)
    yield case(masked_garbage_pointers, normal(100), blank(100), 100, 1 << 30, BLOCK=128)
    yield case(masked_scalars, normal(4), blank(6), 4)
    yield case(nothing_stored, normal(64), blank(64), 0, BLOCK=64)
    yield case(scalars, normal(7), blank(7), grid=7)
    yield case(reversed_copy, normal(200), blank(200), 200, grid=2, BLOCK=128)
    yield case(offsets_i64, normal(200), blank(64), (1 << 33) + 5, 3, 60, BLOCK=64)
    yield case(offsets_wrap_i32, ints(64), blank(64, dtype=i32), 2147483647, BLOCK=64)
    yield case(offsets_u32, normal(200), ints(64, low=0, high=200, dtype=torch.uint32), blank(64), BLOCK=64)
    yield case(volatile, normal(64), blank(64), BLOCK=64)
    yield case(cache_hints, normal(200), blank(2, 200), 200, grid=2, BLOCK=128)
    yield case(in_place, normal(200), 200, grid=2, BLOCK=128)
    x = normal(200)
    yield case(same_buffer_twice, x, x, 200, grid=2, BLOCK=128)
    x = normal(129)
    yield case(shift_in_place, x, x[1:], BLOCK=128)
    yield case(reverse_in_place, normal(100), 100, BLOCK=128)
    yield case(write_then_read, normal(2, 64), blank(2, 64), blank(2, 64), grid=2, BLOCK=64)
    yield case(chosen_pointers, normal(64), normal(64), blank(64), BLOCK=64)
    yield case(chosen_base, normal(4 * 32), normal(4 * 32 + 7), blank(4, 32), grid=4, BLOCK=32)
    yield case(growing_steps, normal(200), blank(64), 6, BLOCK=64)
    yield case(bouncing_pointers, ints(128, low=0, high=50), blank(64, dtype=i32), 5, BLOCK=64)
    yield case(carried_scalar_pointers, normal(40), blank(30), 10, grid=3)
    yield case(indirect, ints(100, low=0, high=77, dtype=i64), normal(77), blank(100), 100, BLOCK=128)
    chain = torch.randperm(64).int().cuda()
    yield case(linked_list, chain, ints(64), blank(64, dtype=i32), 9, BLOCK=64)
    yield case(strided_2d, normal(30, 71), blank(30, 23), 30, 23, 71, 3, grid=(2, 2), A=16, B=16)
    yield case(strided_2d, normal(40, 30)[:, :25], blank(25, 40), 25, 40, 1, 30, grid=(2, 3), name="strided_2d_columns",
               A=16, B=16)
    x = normal(20, 30)
    yield case(strided_2d, x[19:, 29:], blank(20, 30), 20, 30, -30, -1, grid=(2, 2), name="strided_2d_backward",
               A=16, B=16)
    yield case(box_3d, ints(3, 5, 7), blank(7, 5, 3, dtype=i32), 3, 5, 7, A=4, B=8, C=8)
    yield case(one_address, normal(10), blank(64), BLOCK=64)
    yield case(booleans, normal(100), values([k % 3 == 0 for k in range(100)], torch.bool), blank(100),
               blank(100, dtype=torch.bool), 100, BLOCK=128)
    yield case(boolean_bytes, values([0, 1, 2, 3, 127, 128, 255, 0], torch.uint8), blank(8, dtype=i32), BLOCK=8)
    yield case(copy_as_bytes, normal(26), blank(100, dtype=torch.uint8), 100, BLOCK=128)
    yield case(copy, tail(200), blank(200), 200, grid=2, name="copy_unaligned", BLOCK=128)
    yield case(copy, normal(256), blank(256, dtype=f16), 256, grid=2, name="copy_narrows", BLOCK=128)
    yield case(hints, normal(400), blank(100), 4, 100, grid=2, BLOCK=64)
    yield case(pointer_differences, normal(100), blank(64, dtype=i64), ints(64, low=-50), BLOCK=64)
    yield case(pointer_from_integer, normal(128), blank(64), BLOCK=64)
    yield case(pointer_table, normal(64), normal(64), zeros(2, dtype=i64), blank(64), BLOCK=64)
    yield case(pointer_compare, normal(100), blank(128), 100, BLOCK=128)
    x = normal(5, 7)
    yield case(in_place_narrow, x, x, 7, grid=5, BLOCK=8)
    steps = values([3.0, 8.0])
    yield case(in_place_scalars, steps, normal(128), steps, blank(128), BLOCK=128)
