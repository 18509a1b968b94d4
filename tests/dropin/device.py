#!/usr/bin/env python3
"""The Python section of `make device`: what the package does with every kind of array of a machine.

    PYTHONPATH=build/package python3 tests/dropin/device.py [-q] [REPORT]

Runs the checks below on NumPy arrays, and on PyTorch's CPU and mps tensors and MLX's arrays where
these libraries are installed. Appends the results to REPORT, a file in Markdown; without it prints
them, with -q only if a check failed. Ends with 1 if one failed. make test-dropin runs it in the simulator.
"""

import platform
import sys
import traceback

import numpy as np
import triton_metal
import triton_metal.language as tl
from m3_optimizations import m3_optimizer
from metal_hardware_optimizer import hardware_capabilities
from metal_performance_shaders import MPSOperation, mps_integration
from triton_metal import backend

generator = np.random.default_rng(0)


# -- Kernels --------------------------------------------------------------------------------------

@triton_metal.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x + tl.load(y_ptr + i, mask=i < n), mask=i < n)


@triton_metal.jit
def shift(x_ptr, out_ptr, n, by, BLOCK: tl.constexpr):
    """out[i] = x[i] + by: one program, so that x and out may overlap."""
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) + by, mask=i < n)


@triton_metal.jit
def softmax(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * stride + i, mask=i < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + tl.program_id(0) * n + i, e / tl.sum(e, axis=0), mask=i < n)


@triton_metal.jit
def product(a_ptr, b_ptr, c_ptr, N, K, BLOCK: tl.constexpr):
    m = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    n = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(a_ptr + m[:, None] * K + k[None, :])
        total += tl.dot(a, tl.load(b_ptr + k[:, None] * N + n[None, :]))
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)


@triton_metal.jit
def count(bins_ptr, x_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.atomic_add(bins_ptr + x, 1, mask=i < n)


@triton_metal.jit
def assertion(x_ptr):
    tl.device_assert(tl.load(x_ptr) > 0, "x is not positive")


@triton_metal.autotune([triton_metal.Config({"BLOCK": b}) for b in (64, 256)], key=["n"])
@triton_metal.jit
def tuned(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)


# -- Arrays ---------------------------------------------------------------------------------------

class Numpy:
    """Arrays of a library: `make` takes a NumPy array and `get` returns one."""

    name = "NumPy " + np.__version__

    def make(self, array):
        return array.copy()

    def get(self, array):
        return array

    def close(self):
        """Called after the checks."""


class Torch(Numpy):
    """PyTorch's tensors on a device."""

    def __init__(self, torch, device):
        self.torch, self.device = torch, device
        self.name = f"PyTorch {torch.__version__} {device}"

    def make(self, array):
        return self.torch.from_numpy(array.copy()).to(self.device)

    def get(self, array):
        return array.cpu().numpy()


class Mlx(Numpy):
    """MLX's arrays."""

    def __init__(self, core):
        self.core = core
        self.name = f"MLX {core.__version__} {core.default_device()}"

    def make(self, array):
        return self.core.array(array)

    def get(self, array):
        return np.array(array)


def libraries():
    """Those that this machine has."""
    yield Numpy()
    try:
        import torch
    except ImportError:
        pass
    else:
        has_mps = getattr(torch.backends, "mps", None) and torch.backends.mps.is_available()
        if not (has_mps and backend.active().name == "simulator"):
            yield from (Torch(torch, d) for d in (["mps", "cpu"] if has_mps else ["cpu"]))
    try:
        import mlx.core
    except ImportError:
        return
    yield Mlx(mlx.core)


def normal(*shape):
    return generator.standard_normal(shape, dtype=np.float32)


# -- Checks ---------------------------------------------------------------------------------------

def check_add(lib):
    for n in (1, 255, 256, 1000):
        x, y = normal(n), normal(n)
        out = lib.make(np.full(n, 7, np.float32))
        add[(triton_metal.cdiv(n, 256),)](lib.make(x), lib.make(y), out, n, BLOCK=256)
        np.testing.assert_array_equal(lib.get(out), x + y)


def check_types(lib):
    for kind in (np.float16, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint32):
        x = np.arange(100).astype(kind)
        out = lib.make(np.zeros(100, kind))
        shift[(1,)](lib.make(x), out, 100, 3, BLOCK=128)
        np.testing.assert_array_equal(lib.get(out), x + kind(3))


def check_in_place(lib):
    x = normal(300)
    array = lib.make(x)
    shift[(1,)](array, array, 300, 1.5, BLOCK=512)
    np.testing.assert_array_equal(lib.get(array), x + np.float32(1.5))


def check_slices(lib):
    """Views with an offset, which MLX does not have."""
    if isinstance(lib, Mlx):
        return
    x = normal(100)
    array = lib.make(x)
    shift[(1,)](array[3:40], array[50:87], 37, 1.0, BLOCK=64)
    x[50:87] = x[3:40] + 1
    np.testing.assert_array_equal(lib.get(array), x)
    shift[(1,)](array[3:40], array[5:42], 37, 1.0, BLOCK=64)  # they overlap
    x[5:42] = x[3:40] + 1
    np.testing.assert_array_equal(lib.get(array), x)


def check_softmax(lib):
    x = normal(7, 300)
    out = lib.make(np.zeros_like(x))
    softmax[(7,)](lib.make(x), out, 300, 300, BLOCK=512)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(lib.get(out), e / e.sum(axis=1, keepdims=True), rtol=1e-5)


def check_product(lib):
    a, b = normal(64, 96), normal(96, 128)
    c = lib.make(np.zeros((64, 128), np.float32))
    product[(2, 4)](lib.make(a), lib.make(b), c, 128, 96, BLOCK=32)
    np.testing.assert_allclose(lib.get(c), a @ b, atol=1e-4)


def check_atomics(lib):
    x = generator.integers(0, 8, 1000).astype(np.int32)
    bins = lib.make(np.zeros(8, np.int32))
    count[(4,)](bins, lib.make(x), 1000, BLOCK=256)
    np.testing.assert_array_equal(lib.get(bins), np.bincount(x, minlength=8))


def check_assertion(lib):
    assertion[(1,)](lib.make(np.ones(1, np.float32)), debug=True)
    try:
        assertion[(1,)](lib.make(np.zeros(1, np.float32)), debug=True)
    except RuntimeError as error:
        if "x is not positive" in str(error):
            return
        raise
    raise AssertionError("the assertion did not fail")


def check_tuning(lib):
    x = normal(1000)
    out = lib.make(np.zeros_like(x))
    tuned[lambda meta: (triton_metal.cdiv(1000, meta["BLOCK"]),)](lib.make(x), out, 1000)
    np.testing.assert_array_equal(lib.get(out), x * 2)


def check_order(lib):
    """The library's own kernels before and after ours, without waiting."""
    x = normal(256)
    array, out = lib.make(x), lib.make(np.zeros_like(x))
    for _ in range(20):
        array = array * 2
        shift[(1,)](array, out, 256, 1.0, BLOCK=256)
        array = out * 0.5
        x = (x * 2 + 1) / 2
    np.testing.assert_allclose(lib.get(array), x, rtol=1e-5, atol=1e-5)


def check_operations(lib):
    a, b = normal(40, 30), normal(30, 50)
    np.testing.assert_allclose(lib.get(m3_optimizer.optimize_matmul(lib.make(a), lib.make(b))),
                               a @ b, atol=1e-4)
    total = mps_integration.run_operation(MPSOperation.SUM, lib.make(a), axis=1)
    np.testing.assert_allclose(lib.get(total), a.sum(axis=1), atol=1e-4)


def check_many(lib):
    x = normal(64)
    array, out = lib.make(x), lib.make(np.zeros_like(x))
    for _ in range(2000 if backend.active().name == "metal" else 20):
        shift[(1,)](array, out, 64, 1.0, BLOCK=64)
    np.testing.assert_array_equal(lib.get(out), x + 1)


CHECKS = (check_add, check_types, check_in_place, check_slices, check_softmax, check_product,
          check_atomics, check_assertion, check_tuning, check_order, check_operations, check_many)


def main():
    active, failed = backend.active(), 0
    rows, details = [], []
    for lib in libraries():
        wrong = []
        for check in CHECKS:
            try:
                check(lib)
            except Exception:  # each is a result
                wrong.append(check.__name__[len("check_"):])
                details.append(f"{lib.name}, {wrong[-1]}:\n\n```\n{traceback.format_exc()}```\n")
        failed += len(wrong)
        rows.append(f"| {lib.name} | {len(CHECKS) - len(wrong)} of {len(CHECKS)} | "
                    f"{', '.join(wrong) or '-'} |")
    text = "\n".join([
        "", "## Python", "",
        f"Python {platform.python_version()}, kernels in {active.name} for {active.gpu} "
        f"({hardware_capabilities.chip_name}).", "",
        "| arrays | right | failed |", "|---|---|---|", *rows, "", *details])
    reports = [word for word in sys.argv[1:] if word != "-q"]
    for path in reports:
        with open(path, "a", encoding="utf-8") as report:
            report.write(text)
    if not reports and (failed or "-q" not in sys.argv):
        print(text)
    print(f"Python: {len(CHECKS) * len(rows) - failed} checks right, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
