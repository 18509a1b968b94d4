"""What Python knows while a kernel is read: every assertion here holds in Triton, so the kernel must compile.

    tmetal compile tests/triton/known.py --args '*fp32' --const 'N=128, NAME="abc"'
"""

import math

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

TWO = tl.constexpr(2)
HIP = tl.constexpr(torch.version.hip is not None)
int_of = tl.core.get_int_dtype
if hasattr(triton, "constexpr_function"):
    int_of = triton.runtime.jit.constexpr_function(int_of)


def on_cuda():
    return triton.runtime.driver.active.get_current_target().backend == "cuda"


CUDA = tl.constexpr(on_cuda())


def doubled(x):
    return x + x


doubled = triton.jit(doubled)


@triton.constexpr_function
def scale(d, k=2):
    if d > 64:
        return d**-0.5 * k
    return d * k


@triton.constexpr_function
def log2_of(n):
    k = 0
    while n > 1:
        n >>= 1
        k += 1
    return k


@triton.constexpr_function
def triangle(n):
    total = 0
    for i in range(n):
        total += i
    return total


@triton.jit
def first_even(a: tl.constexpr):
    for i in tl.static_range(a, a + 4):
        if i % 2 == 0:
            return i + 100
    return 0


@triton.jit
def known(y_ptr, N: tl.constexpr, NAME: tl.constexpr):
    i = tl.arange(0, N)
    x = i.to(tl.float32)
    # Python's math, to the last bit where it has one
    tl.static_assert(math.log2(N) == 7.0)
    tl.static_assert(math.ceil(N / 3) == 43)
    tl.static_assert(math.floor(-0.5) == -1)
    tl.static_assert(math.sqrt(2.0) == 1.4142135623730951)
    tl.static_assert(math.sqrt(3.0) == 1.7320508075688772)
    tl.static_assert(math.sqrt(1e-310) == 9.999999999999986e-156)
    tl.static_assert(math.fabs(math.exp(1.0) - math.e) < 1e-15)
    tl.static_assert(math.fabs(math.log(10.0) - 2.302585092994046) < 1e-15)
    tl.static_assert(math.fabs(math.pow(10.0, 0.3) - 1.9952623149688795) < 1e-15)
    tl.static_assert(math.isnan(math.nan) and math.isinf(math.inf) and not math.isinf(1.0))
    tl.static_assert(math.tau == 2 * math.pi)
    tl.static_assert(N**-0.5 == 0.08838834764831845)
    tl.static_assert(64**-0.5 == 0.125)
    tl.static_assert(-7 // 2 == -4 and -7 % 3 == 2)
    tl.static_assert(1.0 // 0.1 == 9.0 and 1.0 % 0.1 == 0.09999999999999995)
    tl.static_assert(-7.5 // 2 == -4.0 and -7.5 % 2 == 0.5 and 5.0 % -3 == -1.0)
    # numbers of strings
    tl.static_assert(float("1.5e3") == 1500.0 and float("-inf") < 0 and int("-7") == -7)
    # functions that Python runs
    tl.static_assert(scale(64) == 128)
    tl.static_assert(scale(256, k=8) == 0.5)
    tl.static_assert(log2_of(N) == 7)
    tl.static_assert(triangle(5) == 10)
    tl.static_assert(triton.next_power_of_2(100) == N and triton.cdiv(N, 3) == 43)
    # classes and members
    tl.static_assert(isinstance(N, int) and not isinstance(N, tl.constexpr))
    tl.static_assert(isinstance(x, tl.tensor) and not isinstance(x, int))
    tl.static_assert(isinstance(x.dtype, (tl.block_type, tl.dtype)))
    tl.static_assert(isinstance(y_ptr.dtype, tl.pointer_type))
    tl.static_assert(hasattr(x, "dtype") and not hasattr(x, "nothing"))
    tl.static_assert(hasattr(tl, "arange") and not hasattr(tl, "nothing"))
    # the machine, types by name, functions made without @
    tl.static_assert(CUDA and not HIP)
    tl.static_assert(int_of(16, signed=True) == tl.int16 and tl.dtype("uint32") == tl.uint32)
    tl.static_assert(x.type.get_block_shapes()[0] == N)
    tl.static_assert(doubled(x).dtype == tl.float32)
    # a scalar has no axis, and its ':' are not counted
    one = tl.program_id(0)
    tl.static_assert(len(one[:, None].shape) == 1 and len(one[None, None].shape) == 2)
    tl.static_assert(getattr(tl, "float32") == x.dtype)
    tl.static_assert(getattr(x, "nothing", 5) == 5)
    tl.static_assert(len(list((1, 2, 3))) == 3)
    tl.static_assert(TWO.value * N == 256 and NAME == "abc" and f"{NAME}{TWO}" == "abc2")
    # the target that kernels are read for
    tl.static_assert(tl.target_info.is_cuda() and not tl.target_info.is_hip())
    tl.static_assert(tl.target_info.cuda_capability_geq(9, 0) and not tl.target_info.cuda_capability_geq(10))
    x += libdevice.pow(x, 2) + tl.extra.cuda.libdevice.tanh(x) + first_even(3)
    tl.store(y_ptr + i, tl.maximum(x, 0.0, propagate_nan=tl.PropagateNan.ALL))


@triton.jit
def steps(y_ptr):
    for i in range(0, 8, step=4):  # Triton takes every number
        tl.store(y_ptr + i, i)


@triton.jit
def clamped(y_ptr, n):
    # the bounds first find a type, fp32, then both with fp64
    tl.store(y_ptr, tl.clamp(tl.load(y_ptr).to(tl.float64), min=n, max=float("inf")))
