"""Triton kernels on Apple GPUs through Metal, and on other machines in a Metal simulator.

    import triton_metal
    import triton_metal.language as tl

    @triton_metal.jit
    def add(x, y, out, n, BLOCK: tl.constexpr): ...

    add[(triton_metal.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)

The names are those of the package `triton`. After `install()`, or with TRITON_METAL=1 or
TRITON_BACKEND=metal in the environment, `import triton` means this package.
"""
from __future__ import annotations

from typing import Any

from . import errors, knobs, language, library
from .errors import CompilationError, InterpreterError, OutOfResources, TritonError
from .jit import (ConstexprFunction, JITFunction, KernelInterface, MockTensor, TensorWrapper,
                  constexpr_function, jit, reinterpret)
from .kernel import (AsyncCompileMode, CompiledKernel, FutureKernel, TensorDescriptor,
                     compile_source as compile)
from .autotuner import Autotuner, Config, Heuristics, autotune, heuristics
from .driver import set_allocator
from . import cache, profiler, testing

__version__ = library.LANGUAGE + ".0"  # of the Triton that kernels are read as

must_use_result = language.must_use_result
aggregate = language._aggregate


def cdiv(x: Any, y: Any) -> Any:
    """x divided by y, rounded up."""
    x, y = language._unwrap_if_constexpr(x), language._unwrap_if_constexpr(y)
    return (x + (y - 1)) // y


def next_power_of_2(n: Any) -> Any:
    """The smallest power of 2 that is at least n; 0 for 0."""
    n = language._unwrap_if_constexpr(n) - 1
    for shift in (1, 2, 4, 8, 16, 32):
        n |= n >> shift
    return n + 1


from .install import build as _build, install, is_requested  # noqa: E402

_build()

__all__ = [
    "AsyncCompileMode", "Autotuner", "CompilationError", "CompiledKernel", "Config",
    "ConstexprFunction", "FutureKernel", "Heuristics", "InterpreterError", "JITFunction",
    "KernelInterface", "MockTensor", "OutOfResources", "TensorDescriptor", "TensorWrapper",
    "TritonError", "aggregate", "autotune", "cache", "cdiv", "compile", "constexpr_function",
    "errors", "heuristics", "install", "jit", "knobs", "language", "must_use_result",
    "next_power_of_2", "reinterpret", "set_allocator", "testing"]

if is_requested():
    install()
