"""Arrays of PyTorch and MLX as arguments; skipped where a library is not installed.

make check-dropin runs it with the Python of build/upstream/venv too, if make upstream has made that.
"""
import importlib.util
import unittest

import numpy as np

import triton_metal
import triton_metal.language as tl
from triton_metal import arrays


def has(module):
    """Whether it can be imported: a stand-in of these tests has no origin in site-packages."""
    return importlib.util.find_spec(module.split(".")[0]) is not None


@triton_metal.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton_metal.jit
def widen(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i).to(tl.float32))


@triton_metal.jit
def copy_block(source, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i[:, None] * B + i[None, :], source.load([0, 0]))


@unittest.skipUnless(has("torch"), "PyTorch is not installed")
class Torch(unittest.TestCase):
    def setUp(self):
        import torch
        self.torch = torch

    def test_element_types(self):
        torch = self.torch
        for name in "float32 float16 bfloat16 float64 int8 uint8 int16 int32 int64".split():
            with self.subTest(name):
                x = torch.arange(100).to(getattr(torch, name))
                out = torch.empty_like(x)
                add[(1,)](x, x, out, 100, BLOCK=128)
                self.assertTrue(torch.equal(out, x + x))

    def test_floats_of_8_bits(self):
        torch = self.torch
        x, out = torch.rand(128).to(torch.float8_e5m2), torch.zeros(128)
        widen[(1,)](x, out, BLOCK=128)
        self.assertTrue(torch.equal(out, x.float()))
        bits = torch.randint(0, 100, (128,), dtype=torch.uint8)
        widen[(1,)](triton_metal.reinterpret(bits, tl.float8e5), out, BLOCK=128)
        self.assertTrue(torch.equal(out, bits.view(torch.float8_e5m2).float()))

    def test_views_parameters_and_tensors_without_dimensions(self):
        torch = self.torch
        x, out = torch.rand(64, 64), torch.zeros(64)
        add[(1,)](x.t()[3], x[5], out, 64, BLOCK=64)
        self.assertTrue(torch.equal(out, x.flatten()[3:67] + x[5]))
        p = torch.nn.Parameter(torch.rand(64))
        add[(1,)](p, p, out, 64, BLOCK=64)
        self.assertTrue(torch.equal(out, (p + p).detach()))
        one = torch.zeros(())
        add[(1,)](torch.tensor(1.0), torch.tensor(2.0).expand(7), one, 1, BLOCK=16)
        self.assertEqual(one, 3)

    def test_overlapping_parts_of_a_tensor(self):
        x = self.torch.rand(2000)
        want = x[:1000] + x[1000:]
        add[(1,)](x[:1000], x[1000:], x[500:1500], 1000, BLOCK=1024)
        self.assertTrue(self.torch.equal(x[500:1500], want))

    def test_memory_shared_with_numpy(self):
        out = self.torch.zeros(10)
        add[(1,)](np.ones(10, np.float32), out, out.numpy(), 10, BLOCK=16)
        self.assertTrue((out == 1).all())

    def test_descriptors(self):
        torch = self.torch
        x, out = torch.rand(10, 12), torch.zeros(16, 16)
        for padding in ("nan", "zero"):
            copy_block[(1,)](triton_metal.TensorDescriptor(x, [10, 12], [12, 1], [16, 16], padding),
                             out, B=16)
            self.assertTrue(torch.equal(out[:10, :12], x))
            edge = torch.cat([out[10:].flatten(), out[:, 12:].flatten()])
            self.assertTrue(edge.isnan().all() if padding == "nan" else (edge == 0).all())

    def test_what_is_rejected(self):
        torch, x = self.torch, self.torch.zeros(10)
        for bad, error in ((torch.empty(10, device="meta"), ValueError),
                           (torch.ones(4, dtype=torch.complex64), TypeError),
                           (torch.eye(4).to_sparse(), RuntimeError)):
            with self.assertRaises(error):
                add[(1,)](bad, x, x, 4, BLOCK=16)


@unittest.skipUnless(has("mlx") and has("mlx.core"), "MLX is not installed")
class Mlx(unittest.TestCase):
    def setUp(self):
        try:
            import mlx.core as mx
        except ImportError as error:
            self.skipTest(str(error))
        self.mx = mx

    def test_results_in_place(self):
        mx = self.mx
        for dtype in (mx.float32, mx.float16, mx.bfloat16, mx.int32, mx.uint8):
            with self.subTest(dtype):
                x = mx.arange(100).astype(dtype)
                out = mx.zeros((100,), dtype=dtype)
                add[(1,)](x, x, out, 100, BLOCK=128)
                self.assertTrue(mx.array_equal(out, x + x).item())

    def test_what_is_not_evaluated_yet(self):
        mx = self.mx
        x = mx.ones((100,)) * 3
        out = mx.zeros((100,))
        add[(1,)](x + 1, x[50:], out, 50, BLOCK=64)
        self.assertTrue((out[:50] == 7).all().item() and (out[50:] == 0).all().item())
        self.assertEqual((out * 2).sum().item(), 700)

    def test_arrays_that_repeat_an_element(self):
        mx = self.mx
        many = mx.broadcast_to(mx.array(1.0), (100,))
        mx.eval(many)
        with self.assertRaisesRegex(ValueError, "mx.contiguous"):
            add[(1,)](many, many, many, 100, BLOCK=128)
        add[(1,)](mx.contiguous(many), mx.array([1.0] * 100), mx.zeros((100,)), 100, BLOCK=128)

    def test_lifetimes(self):
        import gc
        mx = self.mx
        out = mx.zeros((1000,))
        for i in range(20):
            add[(1,)](mx.full((1000,), float(i)), mx.ones((1000,)), out, 1000, BLOCK=1024)
            gc.collect()
            self.assertTrue((out == i + 1).all().item())
        self.assertEqual(arrays.memory(out).bytes, 4000)


if __name__ == "__main__":
    unittest.main()
