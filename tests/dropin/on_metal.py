"""The way of a Mac on a machine without Metal: the library is linked with the strict stand-in for Metal, which runs
kernels in the simulator, and tensors on mps are those of standin_mps. Run by make check-dropin:

    on_metal.py LIBRARY [-v]
"""
import ctypes
import gc
import mmap
import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = sys.argv.pop(1)
os.environ.update(TRITON_METAL_LIBRARY=LIBRARY, TRITON_METAL_BACKEND="metal")
# kernels find the simulator's functions in it
standin = ctypes.CDLL(LIBRARY, mode=ctypes.RTLD_GLOBAL)
standin.tm_standin_complaints.restype = ctypes.c_char_p
standin.tm_standin_alive.restype = standin.tm_standin_committed.restype = ctypes.c_ulong
sys.path[1:1] = [HERE, os.path.join(HERE, "standin_mps"), os.path.join(HERE, "../python")]

import numpy as np
import torch

import triton_metal
import triton_metal.language as tl
from test_backend import *  # the same tests, by Metal
from test_backend import add, beyond, shift


@triton_metal.jit
def mixed(out, a, b, c: tl.float16, d: tl.bfloat16, e: tl.int64, flag: tl.int1):
    tl.store(out + 0, a * 1.0)
    tl.store(out + 1, b)
    tl.store(out + 2, c.to(tl.float32))
    tl.store(out + 3, d.to(tl.float32))
    tl.store(out + 4, (e >> 32).to(tl.float32))
    tl.store(out + 5, flag.to(tl.float32))
    tl.store(out + 6, tl.num_programs(1) * 1.0)


@triton_metal.jit
def copy_block(source, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i[:, None] * B + i[None, :], source.load([0, 0]))


@triton_metal.jit
def say(x):
    tl.device_print("x", tl.load(x))


class Tensors(unittest.TestCase):
    def setUp(self):
        standin.tm_standin_complaints()
        standin.tm_standin_committed()
        self.addCleanup(lambda: self.assertEqual(standin.tm_standin_complaints(), b""))

    def tensors(self, n=3000):
        rng = np.random.default_rng(7)
        a, b = rng.random((2, n), dtype=np.float32)
        return a, b, torch.from_numpy(a), torch.from_numpy(b), torch.zeros(n)

    def test_on_the_stream_of_pytorch(self):
        a, b, x, y, out = self.tensors()
        add[(3,)](x.add_(1), y, out, 3000, BLOCK=1024)
        out.add_(5)
        np.testing.assert_allclose(out.numpy(), a + 1 + b + 5, rtol=1e-6)
        self.assertEqual(standin.tm_standin_committed(), 0)

    def test_compiled_once(self):
        _, _, x, y, out = self.tensors()
        add[(3,)](x, y, out, 3000, BLOCK=1024)
        before = torch.mps.compiled
        for _ in range(3):
            add[(3,)](x, y, out, 3000, BLOCK=1024)
        self.assertEqual(torch.mps.compiled, before)

    def test_slices(self):
        a, b, x, y, out = self.tensors()
        add[(1,)](x[100:], y[3:], out[7:], 500, BLOCK=512)
        want = np.zeros(3000, np.float32)
        want[7:507] = a[100:600] + b[3:503]
        np.testing.assert_array_equal(out.numpy(), want)

    def test_in_place_waits_for_the_stream(self):
        a, b, x, y, _ = self.tensors()
        add[(3,)](x.add_(1), y, x, 3000, BLOCK=1024)
        x.add_(2)
        np.testing.assert_allclose(x.numpy(), a + 1 + b + 2, rtol=1e-6)
        self.assertEqual(standin.tm_standin_committed(), 1)

    def test_parts_of_one_buffer(self):
        a, _, x, _, _ = self.tensors()
        shift[(1,)](x[:128], x[1000:], BLOCK=128)
        shift[(1,)](x[5:133], x[6:134], BLOCK=128)
        want = a.copy()
        want[1000:1128] = a[:128] + 1
        want[6:134] = a[5:133] + 1
        np.testing.assert_array_equal(x.numpy(), want)

    def test_tensors_and_arrays_of_the_cpu(self):
        a, b, x, _, _ = self.tensors()
        out = np.zeros_like(a)
        add[(3,)](x.add_(1), b, out, 3000, BLOCK=1024)
        np.testing.assert_allclose(out, a + 1 + b, rtol=1e-6)

    def test_memory_that_fills_pages_is_not_copied(self):
        n = 50000
        a, b, out = [np.frombuffer(mmap.mmap(-1, 4 * n), np.float32) for _ in range(3)]
        a[:] = b[:] = np.arange(n)
        add[(49,)](a, b, out, n, BLOCK=1024)
        np.testing.assert_array_equal(out, a + b)
        add[(49,)](a[3:], b[:-3], a[3:], n - 3, BLOCK=1024)
        np.testing.assert_array_equal(a[3:], np.arange(3, n, dtype=np.float32) + b[:-3])

    def test_numbers_of_every_type(self):
        out = torch.zeros(7)
        mixed[(1, 3)](out, -7, 2.5, 1.5, 3.0, 5 << 32, True)
        self.assertEqual(list(out.numpy()), [-7, 2.5, 1.5, 3, 5, 1, 3])
        mixed[(1, 3)](out, 1 << 20, 1e300, 1e9, -0.1, -(1 << 62), False)
        self.assertEqual(list(out.numpy()),
                         [1 << 20, np.inf, np.inf, np.float32(-0.10009765625), -(1 << 30), 0, 3])

    def test_descriptors(self):
        x, out = torch.from_numpy(np.arange(120, dtype=np.float32)), torch.zeros(256)
        torch.mps.synchronize()
        x.shape, x._strides = (10, 12), (12, 1)
        for padding, edge in (("nan", np.nan), ("zero", 0.0), ("nan", np.nan)):
            copy_block[(1,)](triton_metal.TensorDescriptor(x, [10, 12], [12, 1], [16, 16], padding), out, B=16)
            want = np.full((16, 16), edge, np.float32)
            want[:10, :12] = np.arange(120).reshape(10, 12)
            np.testing.assert_array_equal(out.numpy().reshape(16, 16), want)
        self.assertEqual(standin.tm_standin_committed(), 0)

    def test_prints(self):
        import contextlib
        import io
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            say[(1,)](torch.from_numpy(np.array([41], np.int32)).add_(1))
        self.assertEqual(said.getvalue(), "pid (0, 0, 0) idx () x: 42\n")

    def test_gpu_time(self):
        used = triton_metal.testing and __import__("triton_metal.backend").backend.active()
        _, _, x, y, out = self.tensors()
        with used.timing():
            add[(3,)](x, y, out, 3000, BLOCK=1024)
        self.assertGreater(used.seconds(None), 0)
        self.assertEqual(standin.tm_standin_committed(), 1)

    def test_nothing_is_left(self):
        def work():
            _, b, x, y, out = self.tensors()
            add[(3,)](x, y, out, 3000, BLOCK=1024)
            add[(3,)](x, y, x, 3000, BLOCK=1024)
            add[(3,)](b, y, out, 3000, BLOCK=1024)
            out.numpy()
        work()
        gc.collect()
        before = standin.tm_standin_alive()
        for _ in range(3):
            work()
        gc.collect()
        self.assertEqual(standin.tm_standin_alive(), before)


if __name__ == "__main__":
    unittest.main()
