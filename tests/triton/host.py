"""Host Python around kernels: what it computes on a Mac with Triton 3.9 (no CUDA, no HIP, no variable of the environment
set). Every assertion here holds in Python and Triton there, so each kernel must compile.

    tmetal compile tests/triton/host.py --kernel names --args '*fp32'
"""

import math
import os

import torch
import triton
import triton.language as tl
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
