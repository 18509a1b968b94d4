"""Host Python around kernels: what it computes on a Mac with Triton 3.9 (no CUDA, no HIP, no variable of the environment
set). Every assertion here holds in Python and Triton there, so each kernel must compile.

    tmetal compile tests/triton/host.py --kernel names --args '*fp32'
"""

import functools
import math
import operator
import os
import platform
import sys
from enum import Enum, IntEnum, auto
from typing import NamedTuple

import numpy as np
import torch
import triton
import triton.language as tl
from packaging import version
from packaging.version import Version
from triton import jit as J
from triton.language import constexpr as ce
from triton.language import core
from triton.language.extra import libdevice

ALLOC = tl.constexpr(hasattr(triton, "set_allocator"))
OLD = tl.constexpr(hasattr(tl, "libdevice") or hasattr(tl, "_experimental_descriptor_load") or hasattr(triton, "ops"))
NEW = tl.constexpr(hasattr(tl, "atomic_poll") and hasattr(tl.core, "CONSTEXPR_0") and not hasattr(tl, "advance"))
FP8 = tl.constexpr(getattr(torch, "float8_e4m3fn", None) is not None and getattr(torch, "float8_e8m0fnu", None) is not None)
NPU = tl.constexpr(hasattr(torch, "npu"))
TANH = tl.constexpr(hasattr(tl.math, "tanh") or not hasattr(libdevice, "tanh"))
if hasattr(tl, "frobnicate"):
    WAY = tl.constexpr(1)
else:
    WAY = tl.constexpr(2)


@triton.jit
def names(p):
    # which names modules have, in kernels and around them
    tl.static_assert(ALLOC and not OLD and NEW and FP8 and not NPU and not TANH and WAY == 2)
    tl.static_assert(hasattr(math, "gcd") and hasattr(math, "isqrt") and not hasattr(math, "sigmoid"))
    tl.static_assert(hasattr(triton, "cdiv") and hasattr(triton, "__version__") and not hasattr(triton, "nothing"))
    tl.static_assert(hasattr(tl, "topk") and hasattr(tl.math, "rsqrt") and not hasattr(tl.math, "pow") and hasattr(tl.extra, "hip"))
    tl.static_assert(getattr(tl, "nothing", 5) == 5 and getattr(tl, "float32", None) == tl.float32)
    tl.static_assert(hasattr(torch, "bfloat16") and getattr(torch, "uint16", None) is not None and getattr(torch, "npu", None) is None)
    tl.static_assert(torch.float32 != tl.float32 and core.float32 == tl.float32)
    x = tl.load(p)
    tl.static_assert(hasattr(x, "cdiv") and hasattr(x, "dtype") and not hasattr(x, "data_ptr") and not hasattr(x, "value"))
    tl.static_assert(hasattr(4, "bit_length") and hasattr("a", "startswith") and not hasattr("a", "bit_length") and hasattr(1.5, "hex"))
    tl.store(p, x)


# -- The machine, versions, the environment ------------------------------------------------------------------


def is_cuda():
    return triton.runtime.driver.active.get_current_target().backend == "cuda"


def is_hip():
    target = triton.runtime.driver.active.get_current_target()
    return target is not None and target.backend == "hip"


@functools.lru_cache(maxsize=None)
def get_arch():
    if torch.cuda.is_available():
        major, minor = torch.cuda.get_device_capability()
        return major * 10 + minor
    return 0


def num_stages():
    try:
        return torch.cuda.get_device_capability()[0]
    except (AssertionError, RuntimeError):
        return 2


FLAGS = tl.constexpr((is_cuda(), is_hip(), get_arch(), num_stages()))
HOPPER = tl.constexpr(torch.cuda.is_available() and torch.cuda.get_device_capability()[0] >= 9)
MACHINE = tl.constexpr((sys.platform, platform.system(), platform.machine(), os.name, torch.cuda.device_count()) == ("darwin", "Darwin", "arm64", "posix", 0))
VERSIONS = tl.constexpr((
    Version(triton.__version__) >= Version("3.0.0"),
    version.parse(triton.__version__) < version.parse("3.10"),
    Version("3.2") == Version("3.2.0"),
    Version(triton.__version__).release[:2] >= (3, 2),
    Version("3.10").minor,
    (int(triton.__version__.split(".")[0]), 1) > (3, 0),
    sys.version_info >= (3, 9),
    sys.version_info.major,
    operator.ge(Version(triton.__version__), Version("2.1")),
))
DEBUG = tl.constexpr(os.environ.get("MY_DEBUG", "0") == "1")
ASKED = (os.getenv("MY_MODE"), "MY_MODE" in os.environ, os.environ.get("MY_TILE", default="64"), int(os.getenv("MY_N", "3")))
UNSET = tl.constexpr(ASKED == (None, False, "64", 3))
SET = tl.constexpr(ASKED == ("fast", True, "1, 2", 3))
try:
    MODE = tl.constexpr(os.environ["MY_MODE"])
except KeyError:
    MODE = tl.constexpr("none")


@triton.jit
def machine(p):
    tl.static_assert(FLAGS == (False, False, 0, 2) and not HOPPER)
    tl.static_assert(MACHINE and VERSIONS == (True, True, True, True, 10, True, True, 3, True))
    tl.static_assert(not DEBUG and UNSET and not SET and MODE == "none")
    tl.store(p, 0.0)


@triton.jit
def set_by_env(p):  # --env MY_DEBUG=1 --env MY_MODE=fast --env 'MY_TILE="1, 2"'
    tl.static_assert(DEBUG and SET and not UNSET and MODE == "fast")
    tl.store(p, 0.0)


# -- try -----------------------------------------------------------------------------------------------------

try:
    root = tl.math.rsqrt
except AttributeError:
    root = None
try:
    FIRST = tl.constexpr(1)
    missing = tl.math.frobnicate
    SECOND = tl.constexpr(2)
except AttributeError:
    SECOND = tl.constexpr(3)
try:
    import torch_npu
    HAS_NPU = tl.constexpr(True)
except ImportError:
    HAS_NPU = tl.constexpr(False)
try:
    from triton.language.extra.libdevice import tanh
except ModuleNotFoundError:
    from triton.language.math import tanh
try:
    from triton.language.extra.intel import libdevice as other
    INTEL = tl.constexpr(1)
except (ImportError, ModuleNotFoundError):
    INTEL = tl.constexpr(0)
try:
    if not torch.cuda.is_available():
        raise RuntimeError("no GPU")
    GPU = tl.constexpr(1)
except ValueError:
    GPU = tl.constexpr(2)
except Exception:
    GPU = tl.constexpr(3)
else:
    GPU = tl.constexpr(4)
try:
    X = tl.constexpr(1)
except ImportError:
    X = tl.constexpr(2)
else:
    X = tl.constexpr(3)
finally:
    Y = tl.constexpr(4)


@triton.jit
def tries(p):
    tl.static_assert(FIRST == 1 and SECOND == 3 and not HAS_NPU and INTEL == 0 and GPU == 3 and X == 3 and Y == 4)
    tl.store(p, tanh(root(tl.load(p))))


# -- Numbers and texts ---------------------------------------------------------------------------------------


@triton.constexpr_function
def texts_of(s):
    if (n := len(s)) != 7:
        return n
    a = s.startswith("fp") and s.endswith(("32", "16")) and not s.startswith(("x", "y")) and "p16" in s and "q" not in s
    b = s.upper() == "FP16_16" and " x ".strip() == "x" and "xxaxx".strip("x") == "a" and "a ".rstrip() == "a" and " a".lstrip() == "a"
    c = s.split("_") == ["fp16", "16"] and "a  b ".split() == ["a", "b"] and "a,b,c".split(",", 1) == ["a", "b,c"] and "a,".split(",") == ["a", ""]
    d = s.replace("16", "8") == "fp8_8" and "-".join(["a", "b"]) == "a-b" and s.find("16") == 2 and s.count("16") == 2 and s.find("z") == -1
    e = "12".isdigit() and not "".isdigit() and s.removeprefix("fp") == "16_16" and s.removesuffix("_16") == "fp16" and s[0] == "f" and s[-2:] == "16"
    f = str(12) + str(1.5) == "121.5" and "FP".lower() == "fp" and s[::-1] == "61_61pf" and not "".split() and "".split(",") == [""]
    return a and b and c and d and e and f


NAMES = {"a", "b", "a"}
LISTS = tl.constexpr(
    sum([1, 2, 3]) == 6
    and sorted({3, 1, 2}) == [1, 2, 3]
    and list(reversed((1, 2))) == [2, 1]
    and (round(2.5), round(3.5), round(-2.6), divmod(-7, 2)) == (2, 4, -3, (-4, 1))
    and "a" in NAMES
    and len(NAMES) == 2
    and {1, 2} == {2, 1}
    and [1, 2] != (1, 2)
    and [1] + [2] == [1, 2]
    and "{}-{}".format(4, "x") == "4-x"
    and "abc".index("c") == 2
    and 1.1**20 == 6.727499949325611
    and ",".join(str(i) for i in range(3)) == "0,1,2"
)
NUMPY = tl.constexpr(bool(np.log2(8) == 3.0 and np.sqrt(2) == math.sqrt(2)))
TUPLES = tl.constexpr((1, 2, 2).count(2) == 2 and (1, 2).index(2) == 1 and (1, 2, 3) < (1, 3) and (1, 2) <= (1, 2) and (1,) < (1, 0))
LIMIT = tl.constexpr(torch.finfo(torch.float16).max)


@triton.jit
def values(p, DT: tl.constexpr = "fp16_16"):
    tl.static_assert(LISTS and TUPLES and texts_of(DT) and texts_of("abc") == 3 and len(DT) == 7 and DT.startswith("fp16") and DT[0] == "f")
    tl.static_assert((1000).bit_length() == 10 and (0).bit_length() == 0 and (-8).bit_length() == 4 and (7).bit_count() == 3)
    tl.static_assert((1.0).is_integer() and not (1.5).is_integer())
    tl.static_assert(math.gcd(12, 18) == 6 and math.lcm(4, 6) == 12 and math.isqrt(17) == 4 and math.comb(5, 2) == 10 and math.factorial(5) == 120 and math.perm(5, 2) == 20)
    tl.static_assert(math.log(16, 2) == 4.0 and math.sin(1.0) == 0.8414709848078965 and math.cos(0.5) == 0.8775825618903728 and math.tan(0.5) == 0.5463024898437905)
    tl.static_assert(math.atan(1.0) == 0.7853981633974483 and math.asin(0.5) == 0.5235987755982989 and math.acos(0.5) == 1.0471975511965979 and math.atan2(-1.0, -1.0) == -2.356194490192345)
    tl.static_assert(math.tanh(0.5) == 0.46211715726000973 and math.sinh(1.0) == 1.1752011936438014 and math.cosh(1.0) == 1.5430806348152437 and math.expm1(1e-10) == 1.00000000005e-10)
    tl.static_assert(math.erf(0.5) == 0.5204998778130465 and math.fabs(math.erfc(2.0) - 0.004677734981047266) < 1e-17 and math.hypot(3, 4) == 5.0 and math.fmod(-7, 3) == -1.0 and math.copysign(2, -0.0) == -2.0)
    tl.static_assert(math.trunc(-2.5) == -2 and math.isfinite(1.0) and not math.isfinite(math.inf) and math.degrees(math.pi) == 180.0 and 2.5**1.3 == 3.2909555108355937)
    tl.static_assert(np.pi == math.pi and np.e == math.e and NUMPY)
    tl.static_assert(torch.finfo(torch.float32).max == 3.4028234663852886e38 and torch.finfo(torch.bfloat16).eps == 0.0078125 and torch.iinfo(torch.int8).min == -128 and LIMIT == 65504.0)
    tl.static_assert(torch.finfo(torch.float16).tiny == 6.103515625e-05 and torch.finfo(torch.float64).bits == 64 and torch.finfo(torch.float8_e4m3fn).max == 448.0 and torch.finfo(torch.float8_e5m2).min == -57344.0)
    tl.static_assert(np.finfo(np.float32).eps == 1.1920928955078125e-07 and np.iinfo(np.int32).max == 2147483647)
    tl.static_assert(core.CONSTEXPR_0 == 0)
    tl.store(p, 0.0)


# -- Classes, other names, ways that fail --------------------------------------------------------------------


class Activation(IntEnum):
    NONE = 0
    RELU = auto()
    GELU = auto()


class Mode(Enum):
    FAST = "fast"
    SLOW = "slow"


class Limits:
    """Not of the kernel, but of its launch."""

    BLOCK = 64
    WIDE = BLOCK * 2
    SCALE: float = 0.5

    def unread(self):
        return self.BLOCK


CLASSES = tl.constexpr((Activation.RELU.value, int(Activation.GELU), Mode.FAST.value, Mode.SLOW.name, Limits.WIDE, Limits.SCALE))
SAME = tl.constexpr(Mode.FAST == Mode.FAST and Mode.FAST != Mode.SLOW and Activation.RELU == 1)
HALF: ce = ce(0.5)
sqrt_of = tl.math.sqrt
if len(sys.argv) > 100:
    sine = tl.math.frobnicate
else:
    sine = tl.sin


class Pair(NamedTuple):
    x: tl.tensor
    n: tl.tensor


@J
def half_of(x, s: ce):
    return sqrt_of(x) * s


@J
def classes(p, two: Pair):
    tl.static_assert(CLASSES[0] == 1 and CLASSES[1] == 2 and CLASSES[2] == "fast" and CLASSES[3] == "SLOW" and CLASSES[4] == 128)
    tl.static_assert(CLASSES[5] == HALF and SAME and isinstance(CLASSES[4], int) and not isinstance(HALF, int))
    tl.store(p, half_of(sine(tl.load(two.x + two.n)), HALF))
