"""Functions that stay functions, tuples, printing, asserting, and hints to the compiler."""

import torch
import triton
import triton.language as tl

from common import blank, case, ints, normal, values


@triton.jit(noinline=True)
def twice_plus(x, y):
    return x * 2 + y


@triton.jit(noinline=True)
def divide(x, y):
    return x // y, x % y


@triton.jit(noinline=True)
def nested(x):
    return twice_plus(x, 1) + twice_plus(3, x)


@triton.jit(noinline=True)
def store_square(x, y_ptr):
    tl.store(y_ptr, x * x)


@triton.jit(noinline=True)
def clipped(x, limit):
    if x > limit:
        return limit
    if x < -limit:
        return -limit
    return x


@triton.jit
def call_scalar(x_ptr, y_ptr):
    pid = tl.program_id(0)
    tl.store(y_ptr + pid, twice_plus(tl.load(x_ptr + pid), pid))


@triton.jit
def call_two_results(x_ptr, y_ptr, n):
    pid = tl.program_id(0)
    quotient, rest = divide(tl.load(x_ptr + pid), n)
    tl.store(y_ptr + 2 * pid, quotient)
    tl.store(y_ptr + 2 * pid + 1, rest)


@triton.jit
def call_nested(x_ptr, y_ptr):
    pid = tl.program_id(0)
    tl.store(y_ptr + pid, nested(tl.load(x_ptr + pid)))


@triton.jit
def call_that_stores(x_ptr, y_ptr, n):
    for i in range(n):
        store_square(tl.load(x_ptr + i), y_ptr + i)


@triton.jit
def call_with_early_returns(x_ptr, y_ptr, n, limit):
    """A callee of several blocks, called in a loop and in a branch."""
    total = 0.0
    for i in range(n):
        x = clipped(tl.load(x_ptr + i), limit)
        if i > 2:
            x = clipped(x + 1.0, limit)
        total += x
        tl.store(y_ptr + i, x)
    tl.store(y_ptr + n, total)


@triton.jit
def call_two_types(x_ptr, y_ptr, z_ptr):
    """The same function for ints and for floats is two functions."""
    pid = tl.program_id(0)
    tl.store(y_ptr + pid, twice_plus(tl.load(x_ptr + pid), 0.5))
    tl.store(z_ptr + pid, twice_plus(pid, 3))


@triton.jit
def factorial(N: tl.constexpr):
    """Recursion that the compiler unrolls, for its argument is a constant."""
    if N <= 1:
        return 1
    else:
        return N * factorial(N - 1)


@triton.jit
def call_recursive(y_ptr, N: tl.constexpr):
    tl.store(y_ptr, factorial(N))


@triton.jit
def inlined_early_return(x):
    if x > 0:
        return x * 2
    return x - 1


@triton.jit
def call_inlined_early_return(x_ptr, y_ptr, n):
    """Several blocks inside a loop cannot be inlined and stay a call."""
    for i in range(n):
        tl.store(y_ptr + i, inlined_early_return(tl.load(x_ptr + i)))


@triton.jit
def swish(x):
    return x * tl.sigmoid(x)


@triton.jit
def square(x):
    return x * x


@triton.jit
def apply(x_ptr, y_ptr, BLOCK: tl.constexpr, FUNCTION: tl.constexpr):
    """The function is an argument."""
    i = tl.arange(0, BLOCK)
    tl.store(y_ptr + i, FUNCTION(tl.load(x_ptr + i)))


@triton.jit
def sin_cos(x):
    return tl.sin(x), tl.cos(x)


@triton.jit
def tuples(x_ptr, y_ptr, BLOCK: tl.constexpr):
    """Tuples of tensors, made, taken apart and indexed."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    pair = sin_cos(x)
    s, c = pair
    three = (s, c, x)
    tl.store(y_ptr + i, s * s + c * c + three[2] + pair[1])


@triton.jit
def raw_calls(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """In the text of the front end every library function is still a call."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    x = x - tl.max(x, axis=0)
    y = tl.sigmoid(swish(x)) + tl.zeros([BLOCK], tl.float32)
    tl.store(y_ptr + i, y / tl.sum(y, axis=0) + tl.cdiv(n, 7), mask=i < n)


@triton.jit
def print_all(x_ptr, y_ptr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + pid * BLOCK + i)
    tl.device_print("here")
    tl.device_print("pid: ", pid)
    tl.device_print("x and i: ", x, i)
    tl.device_print("in hex", i, hex=True)
    tl.device_print("unsigned", i.to(tl.uint8))
    tl.store(y_ptr + pid * BLOCK + i, x + 1.0)


@triton.jit
def assert_true(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Asserts that hold, of a tensor and of a scalar; debug mode adds those against integer overflow."""
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    tl.device_assert(x > 0.0, "x must be positive")
    tl.device_assert(n > 0, "nothing to do")
    tl.store(y_ptr + i, tl.sqrt(x), mask=i < n)


@triton.jit
def hints_only(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK >= 32)
    tl.assume(n > 0)
    i = tl.max_constancy(tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), 1)
    tl.debug_barrier()
    tl.store(y_ptr + i, tl.load(x_ptr + i, mask=i < n), mask=i < n)


def launches():
    i32 = torch.int32
    yield case(call_scalar, ints(5), blank(5, dtype=i32), grid=5)
    yield case(call_two_results, ints(5), blank(5, 2, dtype=i32), 7, grid=5)
    yield case(call_nested, ints(5), blank(5, dtype=i32), grid=5)
    yield case(call_that_stores, ints(6), blank(6, dtype=i32), 6)
    yield case(call_with_early_returns, values([0.5, -7.0, 3.0, 2.5, 9.0, -1.0, -4.0]), blank(8), 7, 2.75)
    yield case(call_two_types, normal(4), blank(4), blank(4, dtype=i32), grid=4)
    yield case(call_recursive, blank(1, dtype=i32), N=6)
    yield case(call_inlined_early_return, ints(6), blank(6, dtype=i32), 6)
    for function in swish, square:
        yield case(apply, normal(64), blank(64), name=f"apply_{function.fn.__name__}", BLOCK=64, FUNCTION=function)
    yield case(tuples, normal(64), blank(64), BLOCK=64)
    yield case(raw_calls, normal(50), blank(50), 50, record="source", BLOCK=64)
    yield case(call_nested, ints(5), blank(5, dtype=i32), grid=5, name="raw_call_nested", record="source")
    yield case(print_all, normal(2, 4), blank(2, 4), grid=2, BLOCK=4)
    yield case(assert_true, normal(100).abs() + 0.1, blank(100), 100, grid=2, BLOCK=64, debug=True)
    yield case(hints_only, normal(100), blank(100), 100, grid=2, BLOCK=64)
