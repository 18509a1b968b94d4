"""What Python knows while a kernel is read: every assertion here holds in Triton, so the kernel must compile.

    tmetal compile tests/triton/known.py --args '*fp32' --const 'N=128, NAME="abc"'
"""

import math
import operator
import os
import sys
from os import getcwd, getenv
from typing import TYPE_CHECKING, NamedTuple

from packaging import version
from packaging.version import Version

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

TWO = tl.constexpr(2)
QUOTES = tl.constexpr("'\"\\\n\t\r\0\x1f\x7f")
ONE_QUOTE = tl.constexpr("it's")
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
    tl.static_assert(math.sqrt(2.877160912324162) == 1.6962195943698333)
    tl.static_assert(math.sqrt(1e-310) == 9.999999999999986e-156)
    tl.static_assert(math.fabs(math.exp(1.0) - math.e) < 1e-15)
    tl.static_assert(math.fabs(math.log(10.0) - 2.302585092994046) < 1e-15)
    tl.static_assert(math.fabs(math.pow(10.0, 0.3) - 1.9952623149688795) < 1e-15)
    tl.static_assert(math.log(9) / math.log(3) == 2.0 and int(math.log(243) / math.log(3)) == 4 and math.log(1000.0) == 6.907755278982137)
    tl.static_assert(math.log10(1000) == 3.0 and math.log10(3) == 0.47712125471966244 and math.log2(3) == 1.584962500721156 and math.log2(2**40) == 40.0)
    tl.static_assert(math.log(10) == 2.302585092994046 and math.log(5e-324) == -744.4400719213812 and math.log(0.9999999999999999) == -1.1102230246251565e-16)
    tl.static_assert(math.exp(1.0) == math.e and math.exp(-3.3) == 0.036883167401240015 and math.exp(700.0) == 1.0142320547350045e304 and math.exp(0.0) == 1.0)
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
    tl.static_assert(not CUDA and not HIP)
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


A, B = tl.constexpr(1), tl.constexpr(2)
NOTED: tl.constexpr = tl.constexpr(3)
SCALED = tl.constexpr(8) * 3
try:
    GUARDED = tl.constexpr(4)
except ImportError:
    GUARDED = tl.constexpr(0)
with torch.no_grad():
    KEPT = tl.constexpr(5)
if triton.__version__ < "3.0" or torch.version.hip is not None:
    OLDER = tl.constexpr(0)
elif tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 2):
    OLDER = tl.constexpr(6)


@triton.constexpr_function
def add_up(a, b, c=0):
    return a + b + c


@triton.constexpr_function
def most(a, b, c):
    return max(a, b, c)


@triton.constexpr_function
def least(a, b, c):
    return min(a, b, c)


@triton.constexpr_function
def limits(f16, bf16, f32, i8, u16, i32, i64):
    if not (torch.finfo(f16).max == 65504.0 and torch.finfo(f16).min == -65504.0 and torch.finfo(f32).eps == 1.1920928955078125e-07):
        return False
    if not (torch.finfo(bf16).bits == 16 and torch.finfo(f32).tiny == 1.1754943508222875e-38):
        return False
    if not (torch.iinfo(i8).max == 127 and torch.iinfo(i8).min == -128 and torch.iinfo(u16).max == 65535 and torch.iinfo(u16).min == 0):
        return False
    if not (torch.iinfo(i64).min == -9223372036854775808 and torch.iinfo(i32).bits == 32):
        return False
    return True


@triton.jit
def folded(p):
    # Python's numbers, strings and tuples
    tl.static_assert(2**100 * 3 == 2**101 + 2**100 and 2**100 * -3 == -(2**101) - 2**100)
    tl.static_assert(2**100 // 7 * 7 + 2 == 2**100 and -(2**100) // 7 == -(2**100 // 7) - 1)
    tl.static_assert(2**100 % 7 == 2 and -(2**100) % 7 == 5 and 2**100 % -7 == -5)
    tl.static_assert((2**100 + 1) >> 64 == 68719476736 and (2**100) >> 3 == 2**97 and -(2**100) >> 200 == -1 and 5 >> 0 == 5)
    tl.static_assert(1 << 100 == 2**100 and 3 << 64 == 3 * 2**64 and 3 << 0 == 3 and 1 << 64 == 2**64)
    tl.static_assert(2**100 - 2**100 == 0 and 2**64 + -1 == 18446744073709551615 and -(2**70) < 2**65 and 2**65 > 2**64)
    tl.static_assert((12 & 10) == 8 and (12 | 3) == 15 and (12 ^ 10) == 6 and ~5 == -6 and (True & False) == False and (True | False))
    tl.static_assert((True ^ True) == 0 and True + True == 2 and -True == -1 and not (True and 0) and (0 or 7) == 7)
    # whole numbers beside floats: rounded once, compared to the last digit
    tl.static_assert(9007199254740993 / 3 == 3002399751580331.0 and (2**64 - 1) / -3 == -6148914691236516864.0 and 2**126 / 2**125 == 2.0)
    tl.static_assert((2**65 + 4097) * 1.0 == 36893488147419111424.0 and (2**65 + 4096) * 1.0 == 36893488147419103232.0 and -(2**100 - 1) * 1.0 == -(2.0**100))
    tl.static_assert(2**53 + 1 != 2.0**53 and 2**53 + 1 > 2.0**53 and 2.0**53 < 2**53 + 1 and not 2**53 + 1 <= 2.0**53)
    tl.static_assert(2**64 - 1 < 18446744073709551616.0 and -(2**64) - 1 < -18446744073709551616.0 and 2**64 == 18446744073709551616.0)
    tl.static_assert(-3 < -2.5 and -2 > -2.5 and 3 > 2.5 and 2 < 2.5 and 2**126 < 1e39 and -(2**126) > -1e39 and 1 > 1e-300 and -1 < -1e-300)
    tl.static_assert(math.floor(2**62 + 1) == 2**62 + 1 and math.ceil(-(2**62) - 1) == -(2**62) - 1)
    tl.static_assert(7 / 2 == 3.5 and 7.0 / 2 == 3.5 and 2**-1 == 0.5 and 4**0.5 == 2.0 and 0**0.5 == 0.0 and 2.0**3 == 8.0 and 2**3.0 == 8.0)
    tl.static_assert(0.25**-0.5 == 2.0 and 9.0**1.5 == 27.0 and 2.0**-2 == 0.25 and 2**0.25 - 1.189207115002721 < 1e-15)
    tl.static_assert(1.5 + 1 == 2.5 and 1 - 0.5 == 0.5 and 1.5 * 2 == 3.0 and 5.5 // 2 == 2.0 and 5.5 % -2 == -0.5 and 1e300 // 1 == 1e300)
    tl.static_assert(1 < 1.5 and 2.5 >= 2 and 1.5 != 1 and 1.0 == 1 and not 0.0 and not 2.5 < 2 and 3 <= 3 and 3 >= 3 and not 3 > 3 and not 3 < 3)
    tl.static_assert((1, 2) + (3,) == (1, 2, 3) and (1, 2) * 2 == (1, 2, 1, 2) and (1, 2) != (1, 3) and (1,) != (1, 2) and (5,) * 0 == ())
    tl.static_assert("a" + "bc" == "abc" and "a" < "b" and "b" >= "a" and "a" != 1 and not "" and "x" and None == None)
    tl.static_assert(f"{1.5} {True} {None} {(1, 2)} {-3}" == "1.5 True None (1, 2) -3")
    tl.static_assert((1, 2, 3)[-1] == 3 and (1, (2, 3))[1][0] == 2 and len(()) == 0)
    tl.static_assert(most(1, 5, 3) == 5 and least(2.5, 1, 3) == 1)
    tl.static_assert(math.exp(800.0 - 1600.0) == 0.0 and math.exp(0.0) == 1.0 and math.exp2(3) == 8.0 and math.exp2(-2000.0) == 0.0)
    tl.static_assert(math.log2(3.0) - 1.584962500721156 < 1e-15 and math.log10(1000.0) - 3 < 1e-15 and math.log(math.inf) == math.inf)
    tl.static_assert(math.sqrt(0.0) == 0.0 and math.sqrt(16) == 4.0 and math.sqrt(1e300) == 1e150 and math.sqrt(5.0) == 2.23606797749979)
    tl.static_assert(math.ceil(2.1) == 3 and math.floor(2.9) == 2 and math.fabs(-2) == 2.0 and math.isnan(float("nan")) and math.isinf(-math.inf))
    tl.static_assert(math.pow(2, 10) == 1024.0 and math.exp(1e-3) - 1.0010005001667084 < 1e-15)
    tl.static_assert(int(2.9) == 2 and int(-2.9) == -2 and int(True) == 1 and float(3) == 3.0 and int("12") == 12 and float("1E-2") == 0.01)
    tl.static_assert((1, 2, 3, 4, 5)[1:3] == (2, 3) and (1, 2, 3, 4, 5)[:-1] == (1, 2, 3, 4) and (1, 2, 3)[-9:9] == (1, 2, 3))
    tl.static_assert((1, 2, 3, 4, 5)[::2] == (1, 3, 5) and (1, 2, 3)[::-1] == (3, 2, 1) and (1, 2, 3, 4)[9:0:-2] == (4, 2) and (1, 2, 3)[::-99] == (3,))
    tl.static_assert((1, 2, 3)[2:1] == () and (1, 2, 3)[::99] == (1,) and (1, 2, 3)[-2:] == (2, 3) and (1, 2, 3)[1:-9:-1] == (2, 1))
    tl.static_assert((None is None) and not (None is not None))
    tl.static_assert(-(-3) == 3 and +5 == 5 and -1.5 == 0 - 1.5 and not None and (not "") and (3 > 2) == True and (2 > 1) != False)
    # Triton's types, torch's limits, what the module holds
    x = tl.load(p + tl.arange(0, 16))
    tl.static_assert(triton.cdiv(-7, 2) == -3 and triton.next_power_of_2(1) == 1 and triton.next_power_of_2(0) == 0 and triton.next_power_of_2(65) == 128)
    tl.static_assert(tl.float16.fp_mantissa_width == 10 and tl.bfloat16.fp_mantissa_width == 7 and tl.float64.fp_mantissa_width == 52)
    tl.static_assert(tl.int1.itemsize == 1 and tl.int16.itemsize == 2 and tl.int32.int_bitwidth == 32 and tl.float32.primitive_bitwidth == 32)
    tl.static_assert(tl.float8e5.is_fp8() and not tl.float16.is_fp8() and tl.float16.is_standard_floating() and not tl.float8e4nv.is_standard_floating())
    tl.static_assert(tl.uint8.is_int_unsigned() and tl.int8.is_int_signed() and tl.int1.is_bool() and tl.int8.is_int() and tl.bfloat16.is_bf16())
    tl.static_assert(p.dtype.is_ptr() and not p.dtype.is_const() and x.type.is_block() and x.type.numel == 16 and p.dtype.element_ty == tl.float32)
    tl.static_assert(tl.float32.name == "fp32" and tl.int32.scalar == tl.int32 and x.type.scalar == tl.float32 and x.type.element_ty == tl.float32)
    tl.static_assert(tl.get_int_dtype(8, False) == tl.uint8 and tl.pi32_t.element_ty == tl.int32)
    tl.static_assert(x.shape == (16,) and x.numel == 16 and x.type.shape[0] == 16 and isinstance(x.shape, tl.tuple))
    tl.static_assert(isinstance(1.5, float) and isinstance(True, int) and not isinstance(None, int) and isinstance(p, tl.tensor))
    tl.static_assert(limits(tl.float16, tl.bfloat16, tl.float32, tl.int8, tl.uint16, tl.int32, tl.int64))
    tl.static_assert([k * 2 for k in (1, 2, 3)] == (2, 4, 6) and most(*[3, 9, 4]) == 9 and add_up(*(1, 2), c=3) == 6)
    tl.static_assert(A == 1 and B == 2 and NOTED == 3 and GUARDED == 4 and KEPT == 5 and OLDER == 6 and x != None and not (x == "x"))
    tl.static_assert(SCALED.value == 24)
    tl.store(p + tl.arange(0, 16), x)


# Ways of a module that hang on the machine, on versions and on the environment, in which nothing is set.
GIVEN = os.environ.get("GIVEN", "1")
EMPTY = os.environ.get("EMPTY", "")
SURE = GIVEN
NOTED_TOO: bool = True
if os.environ.get("TILE", "0") == "1":
    WAY_0 = tl.constexpr(-1)
else:
    WAY_0 = tl.constexpr(0)
if os.getenv("NOTHING"):
    WAY_1 = tl.constexpr(-1)
else:
    WAY_1 = tl.constexpr(1)
if os.environ.get("MODE", "fast").lower() != "slow":
    WAY_2 = tl.constexpr(2)
else:
    WAY_2 = tl.constexpr(-1)
if Version(triton.__version__) >= Version("3.2"):
    WAY_3 = tl.constexpr(3)
else:
    WAY_3 = tl.constexpr(-1)
if version.parse(triton.__version__).release < (3, 2):
    WAY_4 = tl.constexpr(-1)
else:
    WAY_4 = tl.constexpr(4)
if int(triton.__version__[0]) <= 2:
    WAY_5 = tl.constexpr(-1)
else:
    WAY_5 = tl.constexpr(5)
if triton.__version__ > "3.6.1":
    WAY_6 = tl.constexpr(6)
else:
    WAY_6 = tl.constexpr(-1)
if triton.__version__ != "3.6":
    WAY_7 = tl.constexpr(7)
else:
    WAY_7 = tl.constexpr(-1)
if sys.version_info >= (3, 10):
    WAY_8 = tl.constexpr(8)
else:
    WAY_8 = tl.constexpr(-1)
if triton.runtime.driver.active.get_current_target().backend in ("cuda", "hip"):
    WAY_9 = tl.constexpr(-1)
else:
    WAY_9 = tl.constexpr(9)
if triton.runtime.driver.active.get_current_target().backend not in ["hip", "xpu"]:
    WAY_10 = tl.constexpr(10)
else:
    WAY_10 = tl.constexpr(-1)
if triton.runtime.driver.active.get_current_target().backend in {"hip"}:
    WAY_11 = tl.constexpr(-1)
else:
    WAY_11 = tl.constexpr(11)
if torch.version.hip is None:
    WAY_12 = tl.constexpr(12)
else:
    WAY_12 = tl.constexpr(-1)
if torch.version.cuda is not None:
    WAY_13 = tl.constexpr(-1)
else:
    WAY_13 = tl.constexpr(13)
if hasattr(tl, "dot"):
    WAY_14 = tl.constexpr(14)
else:
    WAY_14 = tl.constexpr(-1)
if hasattr(tl, "dot") and not hasattr(tl, "dot") or is_cuda():
    WAY_15 = tl.constexpr(-1)
else:
    WAY_15 = tl.constexpr(15)
if compare_version("triton", operator.ge, "3.2"):
    WAY_16 = tl.constexpr(16)
else:
    WAY_16 = tl.constexpr(-1)
if compare_version("triton", operator.eq, "3.2"):
    WAY_17 = tl.constexpr(-1)
else:
    WAY_17 = tl.constexpr(17)
if bool(int(os.environ.get("DEEP", "0"))):
    WAY_18 = tl.constexpr(-1)
else:
    WAY_18 = tl.constexpr(18)
if torch.cuda.is_available():
    WAY_19 = tl.constexpr(-1)
else:
    WAY_19 = tl.constexpr(19)
if torch.xpu.is_available():
    WAY_20 = tl.constexpr(-1)
else:
    WAY_20 = tl.constexpr(20)
if TYPE_CHECKING:
    WAY_21 = tl.constexpr(-1)
else:
    WAY_21 = tl.constexpr(21)
if IS_NVIDIA:
    WAY_22 = tl.constexpr(-1)
else:
    WAY_22 = tl.constexpr(22)
if USE_HIP:
    WAY_23 = tl.constexpr(-1)
else:
    WAY_23 = tl.constexpr(23)
if GIVEN:
    WAY_24 = tl.constexpr(24)
else:
    WAY_24 = tl.constexpr(-1)
if EMPTY:
    WAY_25 = tl.constexpr(-1)
else:
    WAY_25 = tl.constexpr(25)
if SURE:
    WAY_26 = tl.constexpr(26)
else:
    WAY_26 = tl.constexpr(-1)
if NOTED_TOO:
    WAY_27 = tl.constexpr(27)
else:
    WAY_27 = tl.constexpr(-1)
if not True:
    WAY_28 = tl.constexpr(-1)
else:
    WAY_28 = tl.constexpr(28)
if 1:
    WAY_29 = tl.constexpr(29)
else:
    WAY_29 = tl.constexpr(-1)
if 0:
    WAY_30 = tl.constexpr(-1)
else:
    WAY_30 = tl.constexpr(30)
if None:
    WAY_31 = tl.constexpr(-1)
else:
    WAY_31 = tl.constexpr(31)
if False or 5:
    WAY_32 = tl.constexpr(32)
else:
    WAY_32 = tl.constexpr(-1)


@triton.jit
def ways(p):
    tl.static_assert(WAY_0 == 0)
    tl.static_assert(WAY_1 == 1)
    tl.static_assert(WAY_2 == 2)
    tl.static_assert(WAY_3 == 3)
    tl.static_assert(WAY_4 == 4)
    tl.static_assert(WAY_5 == 5)
    tl.static_assert(WAY_6 == 6)
    tl.static_assert(WAY_7 == 7)
    tl.static_assert(WAY_8 == 8)
    tl.static_assert(WAY_9 == 9)
    tl.static_assert(WAY_10 == 10)
    tl.static_assert(WAY_11 == 11)
    tl.static_assert(WAY_12 == 12)
    tl.static_assert(WAY_13 == 13)
    tl.static_assert(WAY_14 == 14)
    tl.static_assert(WAY_15 == 15)
    tl.static_assert(WAY_16 == 16)
    tl.static_assert(WAY_17 == 17)
    tl.static_assert(WAY_18 == 18)
    tl.static_assert(WAY_19 == 19)
    tl.static_assert(WAY_20 == 20)
    tl.static_assert(WAY_21 == 21)
    tl.static_assert(WAY_22 == 22)
    tl.static_assert(WAY_23 == 23)
    tl.static_assert(WAY_24 == 24)
    tl.static_assert(WAY_25 == 25)
    tl.static_assert(WAY_26 == 26)
    tl.static_assert(WAY_27 == 27)
    tl.static_assert(WAY_28 == 28)
    tl.static_assert(WAY_29 == 29)
    tl.static_assert(WAY_30 == 30)
    tl.static_assert(WAY_31 == 31)
    tl.static_assert(WAY_32 == 32)
    tl.store(p, 1.0)


@triton.jit
def edges(p, u):
    # Python's floats and whole numbers where their ways part
    tl.static_assert(math.exp2(1010) == 2.0**1010 and math.exp2(-1010.0) == 2.0**-1010 and math.exp2(-1074) > 0 and math.exp2(math.inf) == math.inf)
    tl.static_assert(math.exp(math.inf) == math.inf and math.exp(-math.inf) == 0 and math.isnan(math.exp(math.nan)) and math.isnan(math.exp2(math.nan)))
    tl.static_assert(math.sqrt(math.inf) == math.inf and math.isnan(math.sqrt(math.nan)) and not math.isinf(math.nan) and math.log2(0.75) < -0.415)
    tl.static_assert(math.fabs(1.001**1200.5 - 3.3197854251693864) < 1e-9 and math.fabs(1.001**-1200.5 * 3.3197854251693864 - 1) < 1e-9 and 0.0**1.5 == 0.0)
    tl.static_assert(math.floor(-1e16) == -(10**16) and math.ceil(1e16) == 10**16 and -1e16 // 1 == -1e16 and 1e16 % 3 == 1.0 and 4693839476153381.0 // 3.900605387693097 == 1203361788650304.0)
    tl.static_assert(-1.0 // math.inf == -1.0 and -1.0 % math.inf == math.inf and math.isnan(math.inf // 1) and math.isnan(1 % math.nan))
    tl.static_assert(2**100 % 2**101 == 2**100 and 2**100 % -(2**101) == -(2**100) and 2**100 // -(2**101) == -1 and 2**100 * 0 == 0)
    tl.static_assert((True & 3) == 1 and (3 | True) == 3 and (2**100 | 1) - 1 == 2**100 and -1 >> 1000 == -1 and (1 << 126) > 0)
    # numbers of strings, strings of numbers
    tl.static_assert(float("1e5") == 1e5 and float("1e+5") == 1e5 and float(".5") == 0.5 and float("2.") == 2)
    tl.static_assert(float("infinity") == math.inf and float("+inf") == math.inf and math.isnan(float("+nan")) and math.isnan(float("-nan")))
    tl.static_assert(+1.5 == 1.5 and -(+1.5) == -1.5 and int(5) == 5 and int(False) == 0 and int("0") == 0 and float("-0.25") == -0.25)
    tl.static_assert(f"{False} {tl.float32} {0.1} {-0.0} {100000.0}" == "False fp32 0.1 -0.0 100000.0")
    tl.static_assert(f"{1e16} {1e15} {-1.5e-05} {0.0001} {123456789012.0} {5e-324}" == "1e+16 1000000000000000.0 -1.5e-05 0.0001 123456789012.0 5e-324")
    tl.static_assert(f"{2.0**-44} {2.0**-1074} {2.0**1023} {1.7976931348623157e308}" == "5.684341886080802e-14 5e-324 8.98846567431158e+307 1.7976931348623157e+308")
    tl.static_assert(f"{math.inf} {-math.inf} {math.nan} {-math.nan}" == "inf -inf nan nan")
    tl.static_assert(f"{2**100} {-(2**64)} {2**63} {-(2**63)}" == "1267650600228229401496703205376 -18446744073709551616 9223372036854775808 -9223372036854775808")
    tl.static_assert(f"{(1,)} {()} {('a', (1.0, None), True)}" == "(1,) () ('a', (1.0, None), True)")
    tl.static_assert(f"{'a'!r} {'a'!s} {1.5!r} {'é'!s}" == "'a' a 1.5 é")
    tl.static_assert(f"{QUOTES!r}" == "'\\'\"\\\\\\n\\t\\r\\x00\\x1f\\x7f'" and f"{ONE_QUOTE!r}" == "\"it's\"")
    tl.static_assert(f"{QUOTES}." == "'\"\\\n\t\r\0\x1f\x7f." and "a\0" + "b" == "a\0b" and f"{tl.float16!s}" == "fp16")
    tl.static_assert(2.0**-1074 == 5e-324 and 2.0**-1030 == 8.691694759794e-311 and (-2.0) ** -1073 == -1e-323 and 2.0**-1100 == 0 and math.inf**-3 == 0)
    tl.static_assert(((1, 2), 3) + (4,) == ((1, 2), 3, 4) and ((1, 2), 3)[:1] == ((1, 2),) and ((1,),) * 2 == ((1,), (1,)))
    tl.static_assert(f"{3=!s}" == "3=3" and f"{3=:}" == "3=3" and f"{{{3}}}" == "{3}" and fr"\d{3}\"" == "\\d3\\\"" and "\U0001f600" == "😀")
    # truth and likeness
    tl.static_assert(not () and not (not (0,)) and not (not tl.float32) and 1 != "a" and not (1 == (1,)) and (1, (2,)) != (1, 2) and tl.int32 != tl.uint32)
    tl.static_assert((1, 2) * -1 == () and () * 5 == () and (1, 2) * 1 == (1, 2) and triton.next_power_of_2(2**62) == 2**62 and triton.cdiv(7, -2) == -2)
    tl.static_assert(not (u is u.to(tl.int32)) and u is u and u.to(tl.uint32) is u)
    tl.store(p, u)


# What is so on every machine. Where that cannot be followed, no other way gives the name: the test may not be taken for false.
PACK, FAR = 5, "9.9"
D_0 = "1"
D_1 = D_0
D_2 = D_1
D_3 = D_2
D_4 = D_3
D_5 = D_4
D_6 = D_5
D_7 = D_6
D_8 = D_7
D_9 = D_8
if D_9 == "1":
    SO_54 = tl.constexpr(54)
else:
    SO_54 = tl.constexpr(-1)
if D_9:
    SO_55 = tl.constexpr(55)
else:
    SO_55 = tl.constexpr(-1)
if Version(triton.__version__) < Version("20240101.1"):
    SO_0 = tl.constexpr(0)
else:
    SO_0 = tl.constexpr(-1)
if _IS_CUDA:
    SO_1 = tl.constexpr(-1)
else:
    SO_1 = tl.constexpr(1)
if not IS_HIP_TRITON:
    SO_2 = tl.constexpr(2)
else:
    SO_2 = tl.constexpr(-1)
if not USE_TRITON_HIP:
    SO_3 = tl.constexpr(3)
else:
    SO_3 = tl.constexpr(-1)
if PACK is not None:
    SO_4 = tl.constexpr(4)
else:
    SO_4 = tl.constexpr(-1)
if sys.argv[0] is not None:
    SO_5 = tl.constexpr(5)
if getcwd() is not None:
    SO_6 = tl.constexpr(6)
if settings.get("A") is not None:
    SO_7 = tl.constexpr(7)
if getenv("NOTHING") is None:
    SO_8 = tl.constexpr(8)
else:
    SO_8 = tl.constexpr(-1)
if not os.getenv("NOTHING", "   ").strip():
    SO_9 = tl.constexpr(9)
else:
    SO_9 = tl.constexpr(-1)
if os.getenv("NOTHING", "a b").split():
    SO_10 = tl.constexpr(10)
if os.getenv("NOTHING", "FAST-1").lower() == "fast-1":
    SO_11 = tl.constexpr(11)
else:
    SO_11 = tl.constexpr(-1)
if os.getenv("NOTHING", "é").lower() == "é":
    SO_12 = tl.constexpr(12)
if getattr(os, "getcwd")():
    SO_13 = tl.constexpr(13)
if getcwd():
    SO_14 = tl.constexpr(14)
if float("3") > 2.5:
    SO_15 = tl.constexpr(15)
if str(os.getenv("NOTHING", "x")) == "x":
    SO_16 = tl.constexpr(16)
else:
    SO_16 = tl.constexpr(-1)
if (3, 2)[0] == 3:
    SO_17 = tl.constexpr(17)
else:
    SO_17 = tl.constexpr(-1)
if version.parse(triton.__version__).release[0] >= 3:
    SO_18 = tl.constexpr(18)
else:
    SO_18 = tl.constexpr(-1)
if version.parse(triton.__version__).release[:2] >= (3, 2):
    SO_19 = tl.constexpr(19)
else:
    SO_19 = tl.constexpr(-1)
if os.sep[0] == os.sep:
    SO_20 = tl.constexpr(20)
if sys.version_info[1:] > (2,):
    SO_21 = tl.constexpr(21)
if triton.__version__[:1] == "3":
    SO_22 = tl.constexpr(22)
if sys.version_info[-1] >= 0:
    SO_23 = tl.constexpr(23)
if sys.version_info[2] >= 0:
    SO_24 = tl.constexpr(24)
if "a" + "b" == "ab":
    SO_25 = tl.constexpr(25)
else:
    SO_25 = tl.constexpr(-1)
if sys.version_info[1] >= 10:
    SO_26 = tl.constexpr(26)
if torch.__version__ >= "2.0":
    SO_27 = tl.constexpr(27)
if (3, 5000) > sys.version_info:
    SO_28 = tl.constexpr(28)
if (3, "z") != sys.version_info:
    SO_29 = tl.constexpr(29)
if sys.version_info > ():
    SO_30 = tl.constexpr(30)
if os.getenv("NOTHING", "x") is not None:
    SO_31 = tl.constexpr(31)
else:
    SO_31 = tl.constexpr(-1)
if 2 < 3 < 4:
    SO_32 = tl.constexpr(32)
if PACK is PACK:
    SO_33 = tl.constexpr(33)
else:
    SO_33 = tl.constexpr(-1)
if triton.__version__ < "abc":
    SO_34 = tl.constexpr(34)
if "a" < "b":
    SO_35 = tl.constexpr(35)
else:
    SO_35 = tl.constexpr(-1)
if "cuda" in ("cu" + "da", "hip"):
    SO_36 = tl.constexpr(36)
if triton.runtime.driver.active.get_current_target().backend in FAR or True:
    SO_37 = tl.constexpr(37)
else:
    SO_37 = tl.constexpr(-1)
if int(len("a")):
    SO_38 = tl.constexpr(38)
if int(os.getenv("NOTHING", "-1")):
    SO_39 = tl.constexpr(39)
else:
    SO_39 = tl.constexpr(-1)
if compare_version("torch", operator.ge, "2.0"):
    SO_40 = tl.constexpr(40)
if compare_version("triton", operator.contains, "3") or True:
    SO_41 = tl.constexpr(41)
else:
    SO_41 = tl.constexpr(-1)
if compare_version("triton", operator.lt, FAR):
    SO_42 = tl.constexpr(42)
if compare_version("triton", operator.le, "3.9"):
    SO_43 = tl.constexpr(43)
else:
    SO_43 = tl.constexpr(-1)
if not compare_version("triton", operator.gt, "3.9"):
    SO_44 = tl.constexpr(44)
else:
    SO_44 = tl.constexpr(-1)
if compare_version("triton", operator.ne, "3.2"):
    SO_45 = tl.constexpr(45)
else:
    SO_45 = tl.constexpr(-1)
if hasattr(tl, WORD):
    SO_46 = tl.constexpr(46)
if is_available():
    SO_47 = tl.constexpr(47)
if [1]:
    SO_48 = tl.constexpr(48)
if -1:
    SO_49 = tl.constexpr(49)
if len("a") and True:
    SO_50 = tl.constexpr(50)
if not (len("a") and False):
    SO_51 = tl.constexpr(51)
else:
    SO_51 = tl.constexpr(-1)
if triton.runtime.driver.active.get_current_target().backend == "cuda":
    SO_52 = tl.constexpr(-1)
else:
    SO_52 = tl.constexpr(52)
if not triton.__version__ >= "3.10":
    SO_53 = tl.constexpr(-1)
else:
    SO_53 = tl.constexpr(53)
if FAR is FAR:
    SO_56 = tl.constexpr(56)
else:
    SO_56 = tl.constexpr(-1)
if USE_2:
    SO_57 = tl.constexpr(57)
if IS_SOMETHINGVERYVERYVERYLONG:
    SO_58 = tl.constexpr(58)
if sys.version_info[:2:1] > (3,):
    SO_59 = tl.constexpr(59)
if sys.version_info[3] == "final":
    SO_60 = tl.constexpr(60)
if triton.__version__ != "3.6abc":
    SO_61 = tl.constexpr(61)
else:
    SO_61 = tl.constexpr(-1)
if pow("triton", operator.ge, "3.2") or True:
    SO_62 = tl.constexpr(62)
else:
    SO_62 = tl.constexpr(-1)
if compare_version("triton", ops[0], "3.2"):
    SO_63 = tl.constexpr(63)
if torch.cuda.other.__version__ != "2":
    SO_64 = tl.constexpr(64)


@triton.jit
def asked(p):
    tl.static_assert(SO_0 == 0)
    tl.static_assert(SO_1 == 1)
    tl.static_assert(SO_2 == 2)
    tl.static_assert(SO_3 == 3)
    tl.static_assert(SO_4 == 4)
    tl.static_assert(SO_5 == 5)
    tl.static_assert(SO_6 == 6)
    tl.static_assert(SO_7 == 7)
    tl.static_assert(SO_8 == 8)
    tl.static_assert(SO_9 == 9)
    tl.static_assert(SO_10 == 10)
    tl.static_assert(SO_11 == 11)
    tl.static_assert(SO_12 == 12)
    tl.static_assert(SO_13 == 13)
    tl.static_assert(SO_14 == 14)
    tl.static_assert(SO_15 == 15)
    tl.static_assert(SO_16 == 16)
    tl.static_assert(SO_17 == 17)
    tl.static_assert(SO_18 == 18)
    tl.static_assert(SO_19 == 19)
    tl.static_assert(SO_20 == 20)
    tl.static_assert(SO_21 == 21)
    tl.static_assert(SO_22 == 22)
    tl.static_assert(SO_23 == 23)
    tl.static_assert(SO_24 == 24)
    tl.static_assert(SO_25 == 25)
    tl.static_assert(SO_26 == 26)
    tl.static_assert(SO_27 == 27)
    tl.static_assert(SO_28 == 28)
    tl.static_assert(SO_29 == 29)
    tl.static_assert(SO_30 == 30)
    tl.static_assert(SO_31 == 31)
    tl.static_assert(SO_32 == 32)
    tl.static_assert(SO_33 == 33)
    tl.static_assert(SO_34 == 34)
    tl.static_assert(SO_35 == 35)
    tl.static_assert(SO_36 == 36)
    tl.static_assert(SO_37 == 37)
    tl.static_assert(SO_38 == 38)
    tl.static_assert(SO_39 == 39)
    tl.static_assert(SO_40 == 40)
    tl.static_assert(SO_41 == 41)
    tl.static_assert(SO_42 == 42)
    tl.static_assert(SO_43 == 43)
    tl.static_assert(SO_44 == 44)
    tl.static_assert(SO_45 == 45)
    tl.static_assert(SO_46 == 46)
    tl.static_assert(SO_47 == 47)
    tl.static_assert(SO_48 == 48)
    tl.static_assert(SO_49 == 49)
    tl.static_assert(SO_50 == 50)
    tl.static_assert(SO_51 == 51)
    tl.static_assert(SO_52 == 52)
    tl.static_assert(SO_53 == 53)
    tl.static_assert(SO_54 == 54)
    tl.static_assert(SO_55 == 55)
    tl.static_assert(SO_56 == 56)
    tl.static_assert(SO_57 == 57)
    tl.static_assert(SO_58 == 58)
    tl.static_assert(SO_59 == 59)
    tl.static_assert(SO_60 == 60)
    tl.static_assert(SO_61 == 61)
    tl.static_assert(SO_62 == 62)
    tl.static_assert(SO_63 == 63)
    tl.static_assert(SO_64 == 64)
    tl.store(p, 1.0)


@triton.constexpr_function
def on_hopper():
    target = triton.runtime.driver.active.get_current_target()
    return target.backend == "cuda" and target.arch >= 90


@triton.jit
def members(p, c, u, two):
    # what types, descriptors and tuples are asked for, and what they do not have
    tl.static_assert(tl.pointer_type(tl.float32, const=True) == c.dtype and c.dtype != p.dtype and c.dtype.is_const() and c.dtype.element_ty == tl.float32)
    tl.static_assert(tl.block_type(tl.float32, [16]) != tl.block_type(tl.float32, [32]) and tl.block_type(tl.int32, [16]) != tl.block_type(tl.float32, [16]))
    tl.static_assert(not tl.float16.is_int_signed() and not tl.uint8.is_int_signed() and not tl.int8.is_int_unsigned() and not tl.float32.is_int_unsigned())
    tl.static_assert(not tl.int32.is_standard_floating() and not tl.int32.is_floating() and not tl.int32.is_ptr() and not tl.float32.is_block())
    tl.static_assert(tl.core.get_int_dtype(1, True) == tl.int1 and tl.core.get_int_dtype(64, False) == tl.uint64)
    tl.static_assert(not hasattr(tl.float32, "element_ty") and not hasattr(tl.float32, "int_bitwidth") and not hasattr(tl.int32, "fp_mantissa_width"))
    tl.static_assert(hasattr(tl, "extra") and hasattr(tl, "math") and not hasattr(libdevice, "") and not hasattr(None, "dtype") and not hasattr(5, "dtype"))
    d = tl.make_tensor_descriptor(p, (64, 32), (32, 1), (16, 8))
    tl.static_assert(d.block_shape == (16, 8) and d.dtype == tl.float32 and d.block_type == tl.block_type(tl.float32, [16, 8]) and not hasattr(d, "size"))
    tl.static_assert(len(d.shape) == 2 and len(d.strides) == 2 and d.shape[0].dtype == tl.int32 and d.strides[0].dtype == tl.int64)
    b = tl.make_block_ptr(p, (64,), (1,), (0,), (16,), (0,))
    tl.static_assert(b.dtype.is_ptr() and getattr(b, "nothing", 5) == 5 and isinstance(b, tl.tensor) and not isinstance(b, tl.tensor_descriptor))
    tl.static_assert(u.type == tl.uint32 and p.type == p.dtype and not hasattr((1, 2), "first") and hasattr(tl.extra, "libdevice") and not on_hopper())
    tl.static_assert(two.first.dtype == tl.uint32 and two.second.dtype == p.dtype and two[0].dtype == tl.uint32 and not hasattr(two, "third"))
    tl.store(p, two.first)


class Pair(NamedTuple):
    first: tl.tensor
    second: tl.tensor


class Named(NamedTuple):
    type: tl.tensor
    values: tl.tensor


@triton.jit
def sum_and_one(a, b):
    if a > 0:
        return a + b, 1
    else:
        return a - b, 2


@triton.jit
def both(a, b):
    return a, b


@triton.jit
def types(p, n, two, N: tl.constexpr, S: tl.constexpr):
    # `.type` of tuples and of constants
    tl.static_assert((n, p).type == tl.tuple_type([tl.int32, tl.pointer_type(tl.float32)]) and (n, p).type != tl.tuple_type([tl.int32]))
    tl.static_assert((n, p).type == (n, p).type and (n, p).type != (p, n).type and (n, p, n).type != (n, p).type)
    tl.static_assert(both(n, p).type == tl.tuple_type((tl.int32, p.dtype)) and sum_and_one(n, n).type == tl.tuple_type([tl.int32, tl.int32]))
    x = (1, 2.5, True, 1 << 40)
    tl.static_assert(x.type == tl.tuple_type([tl.int32, tl.float32, tl.int1, tl.int64]))
    # names are part of it
    tl.static_assert(two.type[0] == tl.uint32 and two.type[-1] == p.type and two.type[N - 3] == p.dtype and two.type != (two.a, two.b).type)
    tl.static_assert(Pair(two.a, two.b).type != two.type and Pair(n, n).type == Pair(n, n).type and tl.tuple((n, n), Pair(n, n).type).type == Pair(n, n).type)
    tl.static_assert(two.type.fields[0] == "a" and two.type.fields[1] == "b" and (n, p).type.fields is None and tl.tuple((n, p), two.type).b.dtype == p.dtype)
    tl.static_assert(two.type.types[1] == p.type and len(two.type.types) == 2 and two.type.name == "[a:uint32,b:pointer<fp32>]")
    tl.static_assert(Named(n, p).type == Named(n, p).type and Named(n, p).type[1] == p.type and Named(n, p).values[1].type == p.type and len(two.values) == 2)
    # of constants
    tl.static_assert(S.type[0] == tl.constexpr_type(8) and S.type[0].value == 8 and S[0].type == S.type[0] and S.type == ((8, 4).type) and S.type != (8, 5).type)
    tl.static_assert(N.type != tl.int32 and N.type == tl.constexpr_type(4) and N.type.value == 4 and both(n, 3).type == (n, 3).type and both(n, 3).type != (n, 4).type)
    tl.static_assert(((1, n), p).type[0][1] == tl.int32 and ((1, n), p).type[0] == (1, n).type and ((1, n), p).type != ((2, n), p).type)
    tl.static_assert((n, None).type == (n, None).type and (n, both).type != (n, sum_and_one).type and (n, "a").type != (n, "b").type and (n, tl.int8).type != (n, 8).type)
    tl.static_assert((n, (p, None)).type.name == "[int32,[pointer<fp32>,constexpr_type[None]]]" and (n, tl.arange(0, 4)).type[1] == tl.block_type(tl.int32, [4]))
    # what they are, and are not
    tl.static_assert(isinstance(two.type, tl.tuple_type) and isinstance(two.type, tl.core.base_type) and not isinstance(two.type, tl.dtype) and not isinstance(two, tl.tuple_type))
    tl.static_assert(isinstance(N.type, tl.constexpr_type) and not isinstance(N.type, tl.dtype) and isinstance(two.type[0], tl.dtype) and not isinstance(two.type[0], tl.tuple_type))
    tl.static_assert(two.type is not None and two.type != 3 and not (two.type == (tl.uint32, p.type)))
    k: tl.constexpr = N.type
    y: tl.constexpr = two.type
    z: tl.constexpr = N.value
    tl.static_assert(k.value == k and k.value.value == 4 and y == two.type and both(y, 3)[0] == two.type and z.value == 4)
    # which attributes there are, and that constants do not have a tensor's
    tl.static_assert(hasattr(two, "type") and hasattr(two, "values") and hasattr(two, "a") and not hasattr(two, "first_of_all"))
    tl.static_assert(not hasattr(two, "count") and not hasattr(two, "index") and not hasattr(two, "sum") and not hasattr(two, "to") and not hasattr(two, "shape"))
    tl.static_assert(hasattr(two.type, "fields") and not hasattr(two.type, "scalar") and hasattr(N.type, "value") and not hasattr(N.type, "types"))
    tl.static_assert(not hasattr(N, "to") and not hasattr("abc", "sum") and not hasattr(2.5, "abs") and not hasattr(None, "to") and getattr(N, "to", 3) == 3)
    tl.static_assert(not hasattr(N, "type") and hasattr(n, "type") and hasattr(n, "to") and hasattr(n, "sum") and not hasattr(n, "values"))
    tl.store(p, n)
