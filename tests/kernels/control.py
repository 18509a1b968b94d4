"""Loops, branches and what they carry: zero trips, 64-bit bounds, swaps, early returns, tensors through nested ifs."""

import torch
import triton
import triton.language as tl

from common import blank, case, ints, normal, uniform, values


@triton.jit
def while_until_small(x_ptr, y_ptr, steps_ptr, BLOCK: tl.constexpr):
    """Halve the tile until its largest element is small: the data decide when to stop."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    steps = 0
    while tl.max(tl.abs(x), axis=0) > 0.1:
        x = x * 0.5
        steps += 1
    tl.store(y_ptr + i, x)
    tl.store(steps_ptr + pid, steps)


@triton.jit
def collatz(x_ptr, steps_ptr, peak_ptr):
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    steps = 0
    peak = x
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        peak = tl.maximum(peak, x)
        steps += 1
    tl.store(steps_ptr + pid, steps)
    tl.store(peak_ptr + pid, peak)


@triton.jit
def gcd(x_ptr, y_ptr, z_ptr):
    pid = tl.program_id(0)
    a = tl.load(x_ptr + pid)
    b = tl.load(y_ptr + pid)
    while b != 0:
        a, b = b, a % b
    tl.store(z_ptr + pid, a)


@triton.jit
def while_reads_memory(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """The condition loads: walk until a zero, like strlen."""
    pid = tl.program_id(0)
    length = 0
    while tl.load(x_ptr + pid * BLOCK + length) != 0:
        length += 1
    tl.store(y_ptr + pid, length)


@triton.jit
def while_never(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    k = n
    while k < 0:
        x += 1.0
        k += 1
    tl.store(y_ptr + i, x)


@triton.jit
def nested_while(x_ptr, y_ptr, n):
    total = 0
    i = 0
    while i < n:
        j = tl.load(x_ptr + i)
        while j > 0:
            total += j * (i + 1)
            j -= 2
        i += 1
    tl.store(y_ptr, total)


@triton.jit
def while_lanes_masked(x_ptr, y_ptr, limit, BLOCK: tl.constexpr):
    """Each lane stops by itself, the loop when all have: Newton's square root."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    root = x
    active = x > 0
    rounds = 0
    while (tl.max(active.to(tl.int32), axis=0) != 0) & (rounds < limit):
        better = 0.5 * (root + x / root)
        close = tl.abs(better - root) <= 1e-6 * root
        root = tl.where(active, better, root)
        active = active & ~close
        rounds += 1
    tl.store(y_ptr + i, root)


@triton.jit
def nested_ifs(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """Tensors come out of nested branches."""
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + pid * BLOCK + i)
    extra = tl.zeros([BLOCK], tl.float32)
    if pid % 2 == 0:
        if pid > 2:
            x = x * 2.0
            extra += 1.0
        else:
            x = x + i
    else:
        extra = x
        if tl.sum(x, axis=0) > 0:
            x = -x
    tl.store(y_ptr + pid * BLOCK + i, x + extra)


@triton.jit
def if_without_else(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + pid * BLOCK + i)
    if pid == n:
        x = tl.sqrt(tl.abs(x))
    if n > 100:
        tl.store(y_ptr + i, x)
    if pid != 0:
        tl.store(y_ptr + pid * BLOCK + i, x)


@triton.jit
def scalar_conditions(x_ptr, y_ptr, low, high):
    """and, or, not and ternaries on scalars."""
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    inside = x > low and x < high
    y = 1.0 if inside else -1.0
    if not inside and (pid == 0 or x > 5.0):
        y = x if x > 0.0 else 0.0
    tl.store(y_ptr + pid, y)


@triton.jit
def early_return(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    if pid >= n:
        return
    i = pid * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(x_ptr + i) + 1.0)


@triton.jit
def early_returns_in_a_row(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    if pid == 0:
        tl.store(y_ptr + i, x)
        return
    if pid >= n:
        tl.store(y_ptr + i, -x)
        return
    x = x * x
    if tl.max(x, axis=0) > 4.0:
        tl.store(y_ptr + i, x)
        return
    tl.store(y_ptr + i, x - 100.0)


@triton.jit
def early_return_nested(x_ptr, y_ptr, n):
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid)
    if x > 0:
        if pid < n:
            tl.store(y_ptr + pid, 1)
            return
        else:
            tl.store(y_ptr + pid, 2)
    else:
        tl.store(y_ptr + pid, 3)
        return
    tl.store(y_ptr + 5 + pid, 4)


@triton.jit
def zero_trips(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for k in range(0, n):
        x += k
    for k in range(5, n):
        x *= 2.0
    for k in range(n, -3):
        x = -x
    tl.store(y_ptr + i, x)


@triton.jit
def bounds_i64(y_ptr, start: tl.int64, end: tl.int64, step):
    """The counter is beyond 32 bits."""
    count = 0
    last = start
    for k in range(start, end, step):
        count += 1
        last = k
    tl.store(y_ptr, last)
    tl.store(y_ptr + 1, count.to(tl.int64))


@triton.jit
def negative_step(x_ptr, y_ptr, n):
    """Counts down; the order shows in the result."""
    acc = 0
    for k in range(n, 0, -3):
        acc = acc * 10 + k
    tl.store(y_ptr, acc)
    acc = 0
    for k in range(4, -5, -2):
        acc = acc * 3 + tl.load(x_ptr + k + 4)
    tl.store(y_ptr + 1, acc)


@triton.jit
def step_from_memory(x_ptr, y_ptr):
    start = tl.load(x_ptr)
    end = tl.load(x_ptr + 1)
    step = tl.load(x_ptr + 2)
    acc = 0
    for k in range(start, end, step):
        acc += k * k
    tl.store(y_ptr, acc)


@triton.jit
def swap_tensors(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    y = tl.load(x_ptr + BLOCK + i)
    for _ in range(n):
        x, y = y, x
    tl.store(y_ptr + i, x)
    tl.store(y_ptr + BLOCK + i, y)


@triton.jit
def rotate_three(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i)
    b = a * 2
    c = a * 3
    for k in range(n):
        a, b, c = b + k, c, a
    tl.store(y_ptr + i, a * 10000 + b * 100 + c)


@triton.jit
def fibonacci(y_ptr, n):
    a = 0
    b = 1
    for k in range(n):
        tl.store(y_ptr + k, a)
        a, b = b, a + b


@triton.jit
def value_after_loop(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """What the last round made is read after the loop; so is a value that the loop only passes on."""
    i = tl.arange(0, BLOCK)
    last = tl.zeros([BLOCK], tl.float32)
    kept = tl.load(x_ptr + i)
    before_last = last
    for k in range(n):
        before_last = last
        last = tl.load(x_ptr + k * BLOCK + i)
    tl.store(y_ptr + i, last)
    tl.store(y_ptr + BLOCK + i, before_last)
    tl.store(y_ptr + 2 * BLOCK + i, kept)


@triton.jit
def best_with_index(x_ptr, value_ptr, index_ptr, n_rows, BLOCK: tl.constexpr):
    """A tensor and the index of the round it came from."""
    cols = tl.arange(0, BLOCK)
    best = tl.full([BLOCK], -float("inf"), tl.float32)
    index = tl.full([BLOCK], -1, tl.int32)
    for row in range(n_rows):
        x = tl.load(x_ptr + row * BLOCK + cols)
        better = x > best
        best = tl.where(better, x, best)
        index = tl.where(better, row, index)
    tl.store(value_ptr + cols, best)
    tl.store(index_ptr + cols, index)


@triton.jit
def carried_pointers(x_ptr, y_ptr, n_rows, row_stride, BLOCK: tl.constexpr):
    """Tensors of pointers, one for reading and one for writing, and the running maximum."""
    cols = tl.arange(0, BLOCK)
    source = x_ptr + cols
    target = y_ptr + cols
    running = tl.load(source)
    for _ in range(n_rows):
        running = tl.maximum(running, tl.load(source))
        tl.store(target, running)
        source += row_stride
        target += BLOCK


@triton.jit
def nested_loops(x_ptr, y_ptr, n, m, BLOCK: tl.constexpr):
    """The inner bound depends on the outer counter, the inner result on both."""
    i = tl.arange(0, BLOCK)
    acc = tl.load(x_ptr + i)
    for a in range(n):
        inner = tl.zeros([BLOCK], tl.float32)
        for b in range(a, m):
            inner += tl.load(x_ptr + (i + a + b) % BLOCK) * (b + 1)
        acc = acc * 0.5 + inner
    tl.store(y_ptr + i, acc)


@triton.jit
def if_in_loop(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    odd = 0
    for k in range(n):
        x = tl.load(x_ptr + k * BLOCK + i)
        if k % 2 == 1:
            acc += x
            odd += 1
        else:
            acc = acc - x * 0.5
            if k == 4:
                tl.store(y_ptr + BLOCK + i, acc)
    tl.store(y_ptr + i, acc * odd)


@triton.jit
def loop_in_if(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    acc = tl.load(x_ptr + pid * BLOCK + i)
    if pid < 2:
        for k in range(n):
            acc += k * pid
    else:
        left = pid
        while left > 0:
            acc = acc * 0.5
            left -= 1
    tl.store(y_ptr + pid * BLOCK + i, acc)


@triton.jit
def grid_stride(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Fewer programs than blocks: each takes every so many."""
    for block in range(tl.program_id(0), tl.cdiv(n, BLOCK), tl.num_programs(0)):
        i = block * BLOCK + tl.arange(0, BLOCK)
        tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2.0, mask=i < n)


@triton.jit
def grid_3d(y_ptr):
    x = tl.program_id(0)
    y = tl.program_id(1)
    z = tl.program_id(2)
    at = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    tl.store(y_ptr + at, x + 10 * y + 100 * z + 1000 * tl.num_programs(2))


@triton.jit
def static_loop(x_ptr, y_ptr, BLOCK: tl.constexpr, TAPS: tl.constexpr):
    """Unrolled by the front end: a short convolution."""
    i = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for tap in tl.static_range(TAPS):
        acc += tl.load(x_ptr + i + tap) * (tap + 1.0)
    tl.store(y_ptr + i, acc)


@triton.jit
def loop_hints(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Unrolled by a pass, with a rest; pipelined; flattened."""
    i = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for k in tl.range(0, n, loop_unroll_factor=4):
        acc += tl.load(x_ptr + k * BLOCK + i)
    for k in tl.range(0, n, num_stages=3):
        acc = acc * 0.5 + tl.load(x_ptr + k * BLOCK + i)
    for a in tl.range(0, 2, flatten=True):
        for b in tl.range(0, n):
            acc += a * b
    tl.store(y_ptr + i, acc)


@triton.jit
def binary_search(sorted_ptr, x_ptr, y_ptr, n, rounds, BLOCK: tl.constexpr):
    """Two tensors narrow in a loop, with loads at computed places."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    low = tl.zeros([BLOCK], tl.int32)
    high = tl.full([BLOCK], 0, tl.int32) + n
    for _ in range(rounds):
        middle = (low + high) // 2
        value = tl.load(sorted_ptr + middle, mask=low < high, other=0.0)
        right = (value < x) & (low < high)
        low = tl.where(right, middle + 1, low)
        high = tl.where(right | (low >= high), high, middle)
    tl.store(y_ptr + i, low)


def launches():
    i32, i64 = torch.int32, torch.int64
    yield case(while_until_small, normal(3, 64, std=5.0), blank(3, 64), blank(3, dtype=i32), grid=3, BLOCK=64)
    yield case(collatz, values([1, 6, 7, 27, 97], i64), blank(5, dtype=i32), blank(5, dtype=i64), grid=5)
    yield case(gcd, values([48, 17, 0, 1071], i32), values([36, 5, 9, 462], i32), blank(4, dtype=i32), grid=4)
    x = ints(3, 16, low=1, high=9)
    x[0, 5] = x[1, 0] = x[2, 15] = 0
    yield case(while_reads_memory, x, blank(3, dtype=i32), grid=3, BLOCK=16)
    yield case(while_never, normal(64), blank(64), 3, BLOCK=64)
    yield case(nested_while, values([3, 0, 8, 1, 5], i32), blank(1, dtype=i32), 5)
    yield case(while_lanes_masked, uniform(64, low=0.0, high=100.0), blank(64), 30, BLOCK=64)
    yield case(nested_ifs, normal(6, 64), blank(6, 64), grid=6, BLOCK=64)
    yield case(nested_ifs, normal(6, 32), blank(6, 32), grid=6, name="raw_nested_ifs", record="source", BLOCK=32)
    yield case(if_without_else, normal(3, 64), blank(3, 64), 2, grid=3, BLOCK=64)
    yield case(scalar_conditions, values([-2.0, 0.5, 7.0, 3.0, 5.5]), blank(5), 0.0, 4.0, grid=5)
    yield case(early_return, normal(4, 64), blank(4, 64), 3, grid=4, BLOCK=64)
    x = torch.stack([normal(32), uniform(32), normal(32, std=4.0), uniform(32), normal(32)])
    yield case(early_returns_in_a_row, x, blank(5, 32), 4, grid=5, BLOCK=32)
    yield case(early_returns_in_a_row, x, blank(5, 32), 4, grid=5, name="raw_early_returns", record="source", BLOCK=32)
    yield case(early_return_nested, values([1, -1, 1, 0, 1], i32), blank(10, dtype=i32), 3, grid=5)
    yield case(zero_trips, normal(32), blank(32), 0, BLOCK=32)
    yield case(zero_trips, normal(32), blank(32), 7, name="some_trips", BLOCK=32)
    yield case(bounds_i64, blank(2, dtype=i64), (1 << 33) + 1, (1 << 33) + 12, 4)
    yield case(negative_step, ints(16, low=0, high=9), blank(2, dtype=i32), 14)
    yield case(step_from_memory, values([3, 40, 7], i32), blank(1, dtype=i32))
    yield case(swap_tensors, normal(2, 32), blank(2, 32), 3, BLOCK=32)
    yield case(rotate_three, ints(32, low=0, high=9), blank(32, dtype=i32), 5, BLOCK=32)
    yield case(fibonacci, blank(20, dtype=i32), 20)
    yield case(value_after_loop, normal(4, 32), blank(3, 32), 4, BLOCK=32)
    yield case(best_with_index, ints(9, 32, low=0, high=20).float(), blank(32), blank(32, dtype=i32), 9, BLOCK=32)
    yield case(carried_pointers, normal(6, 37), blank(6, 32), 6, 37, BLOCK=32)
    yield case(nested_loops, normal(32), blank(32), 3, 5, BLOCK=32)
    yield case(if_in_loop, normal(7, 32), blank(2, 32), 7, BLOCK=32)
    yield case(loop_in_if, normal(4, 32), blank(4, 32), 3, grid=4, BLOCK=32)
    yield case(grid_stride, normal(500), blank(500), 500, grid=3, BLOCK=64)
    yield case(grid_3d, blank(2, 3, 5, dtype=i32), grid=(5, 3, 2))
    yield case(static_loop, normal(68), blank(64), BLOCK=64, TAPS=5)
    yield case(loop_hints, normal(7, 32), blank(32), 7, BLOCK=32)
    yield case(binary_search, normal(100).sort().values, normal(64), blank(64, dtype=i32), 100, 8, BLOCK=64)
