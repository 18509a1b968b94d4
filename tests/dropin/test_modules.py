"""The documents' modules, on NumPy arrays and without the documents: make test-dropin runs it."""

import unittest

import numpy as np
import triton_metal
import triton_metal.language as tl
from advanced_memory_patterns import AccessPattern, memory_pattern_optimizer
from m3_optimizations import m3_optimizer
from metal_hardware_optimizer import AppleSiliconGeneration, capabilities, hardware_capabilities
from metal_ir_transforms import transform_ir
from metal_memory_manager import MemoryLayout, get_metal_memory_manager
from metal_performance_shaders import MPSOperation, mps_integration
from triton_metal import reports

generator = np.random.default_rng(0)


def normal(*shape):
    """Random numbers."""
    return generator.standard_normal(shape, dtype=np.float32)


@triton_metal.jit
def scale_rows(x_ptr, y_ptr, columns, factor, BLOCK: tl.constexpr):
    """Each program scales a row."""
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    tl.store(y_ptr + row * columns + column, x * factor, mask=column < columns)


@triton_metal.jit
def every_other(x_ptr, y_ptr, index_ptr, STRIDE: tl.constexpr, BLOCK: tl.constexpr):
    """A strided load, one by an index that is loaded, and one of a single element."""
    i = tl.arange(0, BLOCK)
    strided = tl.load(x_ptr + i * STRIDE)
    gathered = tl.load(x_ptr + tl.load(index_ptr + i))
    tl.store(y_ptr + i, strided + gathered + tl.load(x_ptr))


@triton_metal.jit
def row_sums(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    """The sum of each row in steps of BLOCK."""
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        column = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * columns + column, mask=column < columns, other=0.0)
    tl.store(y_ptr + row, tl.sum(total, axis=0))


class Hardware(unittest.TestCase):
    """metal_hardware_optimizer"""

    def test_the_table(self):
        m3 = capabilities("Apple M3 Max")
        self.assertEqual((m3.name, m3.gpu_family, m3.simd_width), ("apple-m3-max", 9, 32))
        self.assertEqual(m3.chip_generation, AppleSiliconGeneration.M3)
        self.assertEqual(m3.shared_memory_bytes, 32768)
        self.assertFalse(m3.has_tensor_cores)
        self.assertFalse(m3.detected)
        self.assertTrue(capabilities("apple-m5").has_tensor_cores)
        self.assertEqual(capabilities("apple-m4-max").chip_generation.name, "M4")
        self.assertEqual(capabilities("apple7").chip_generation.name, "UNKNOWN")
        self.assertRaisesRegex(ValueError, "unknown GPU 'apple-m0'", capabilities, "apple-m0")

    def test_this_machine(self):
        self.assertEqual(hardware_capabilities.detected, reports.has_metal())
        self.assertEqual(hardware_capabilities.name, reports.current_gpu())


class Products(unittest.TestCase):
    """m3_optimizations"""

    def test_product(self):
        for m, n, k in ((64, 64, 64), (70, 33, 50), (3, 65, 40)):
            a, b = normal(m, k), normal(k, n)
            c = m3_optimizer.optimize_matmul(a, b)
            np.testing.assert_allclose(c, a @ b, atol=1e-4)
        self.assertRaises(triton_metal.CompilationError, m3_optimizer.optimize_matmul,
                          normal(4, 5), normal(4, 5))

    def test_views(self):
        a, b = normal(40, 32).T, normal(48, 40)[:, ::-1].T
        np.testing.assert_allclose(m3_optimizer.optimize_matmul(a, b), a @ b, atol=1e-4)

    def test_plan(self):
        plan = m3_optimizer.plan_matmul(1024, 512, 256)
        self.assertEqual(len(plan.tile), 2)
        groups = [-(-size // tile) for size, tile in zip((1024, 512), plan.tile)]
        self.assertEqual(plan.threadgroups[0] * plan.threadgroups[1], groups[0] * groups[1])
        self.assertEqual(m3_optimizer.plan_matmul(1, 512, 256).tile, ())


class Accesses(unittest.TestCase):
    """advanced_memory_patterns"""

    def test_classes(self):
        x, y, index = normal(512), normal(128), np.arange(128, dtype=np.int32)
        kernel = every_other.warmup(x, y, index, STRIDE=4, BLOCK=128, grid=(1,))
        found = memory_pattern_optimizer.analyze(kernel)
        patterns = {(a.kind, a.pattern) for a in found}
        self.assertEqual(patterns, {
            ("load", AccessPattern.STRIDED), ("load", AccessPattern.GATHER),
            ("load", AccessPattern.CONTIGUOUS), ("load", AccessPattern.BROADCAST),
            ("store", AccessPattern.CONTIGUOUS)})
        strided = [a for a in found if a.pattern is AccessPattern.STRIDED][0]
        self.assertEqual((strided.buffer, strided.stride), ("x_ptr", 4))
        self.assertGreater(strided.cost, 2)
        self.assertEqual(strided.file, __file__)
        with open(__file__, encoding="utf-8") as file:
            self.assertIn("i * STRIDE", file.read().splitlines()[strided.line - 1])

    def test_what_is_no_program(self):
        self.assertRaisesRegex(TypeError, "not float", memory_pattern_optimizer.analyze, 1.5)


class Operations(unittest.TestCase):
    """metal_performance_shaders"""

    def test_names(self):
        self.assertEqual({o.name.lower() for o in MPSOperation},
                         set(reports.operations().values()))
        self.assertTrue(mps_integration.is_operation_available(MPSOperation.CONV2D))
        self.assertTrue(mps_integration.is_operation_available("linear"))
        self.assertFalse(mps_integration.is_operation_available("lstm"))
        self.assertRaisesRegex(ValueError, "unknown operation 'lstm'",
                               mps_integration.run_operation, "lstm", normal(4))

    def test_what_is_no_array(self):
        for arrays in ((), ([1.0, 2.0],), (normal(4), 2.0)):
            self.assertRaisesRegex(TypeError, "add needs arrays", mps_integration.run_operation,
                                   "add", *arrays)

    def test_small_ones(self):
        x, run = normal(6, 40), mps_integration.run_operation
        e = np.exp(x - x.max(axis=1, keepdims=True))
        np.testing.assert_allclose(run(MPSOperation.SOFTMAX, x), e / e.sum(axis=1, keepdims=True),
                                   rtol=1e-5)
        np.testing.assert_allclose(run(MPSOperation.SUM, x, axis=1), x.sum(axis=1), rtol=1e-4)
        np.testing.assert_array_equal(run(MPSOperation.ARGMAX, x, axis=0), x.argmax(axis=0))
        np.testing.assert_array_equal(run(MPSOperation.GT, x, value=0), x > 0)
        parts = run(MPSOperation.SPLIT, x, axis=1, sizes=[30, 10])
        np.testing.assert_array_equal(np.concatenate(parts, axis=1), x)
        np.testing.assert_array_equal(run(MPSOperation.CONCAT, x, x, axis=0), np.vstack([x, x]))

    def test_convolutions(self):
        for height, stride, dilation, size in ((9, 1, 1, 3), (9, 2, 1, 3), (8, 2, 1, 3),
                                               (8, 1, 2, 3), (8, 3, 1, 2)):
            x, w = normal(2, 3, height, 10), normal(4, 3, size, size)
            y = mps_integration.run_operation(MPSOperation.CONV2D, x, w, padding="same",
                                              stride=(stride, stride), dilation=dilation)
            right = convolve(x, w, stride, dilation)
            np.testing.assert_allclose(y, right, atol=1e-4)
            nhwc = mps_integration.run_operation(
                MPSOperation.CONV2D, x.transpose(0, 2, 3, 1), w.transpose(0, 2, 3, 1),
                padding="SAME", stride=(stride, stride), dilation=dilation, data_layout="NHWC")
            np.testing.assert_allclose(nhwc, right.transpose(0, 2, 3, 1), atol=1e-4)
        self.assertRaisesRegex(ValueError, "expected 'same', 'valid' or numbers",
                               mps_integration.run_operation, MPSOperation.CONV2D, x, w,
                               padding="reflect")
        self.assertRaisesRegex(ValueError, "data_layout", mps_integration.run_operation,
                               MPSOperation.CONV2D, x, w, data_layout="CHWN")

    def test_equals(self):
        x = normal(8, 8)
        self.assertIn("softMaxWithTensor", mps_integration.equivalent("softmax", x))
        self.assertIn("reductionSum", mps_integration.equivalent(MPSOperation.SUM, x, axis=0))
        self.assertIsNone(mps_integration.equivalent(MPSOperation.EXP, x))


def convolve(x, w, stride, dilation):
    """A convolution with padding "same" of NCHW images, element by element."""
    n, _, height, width = x.shape
    outputs, _, size, _ = w.shape
    rows, columns = -(-height // stride), -(-width // stride)
    reach = (size - 1) * dilation + 1
    above = max((rows - 1) * stride + reach - height, 0)
    beside = max((columns - 1) * stride + reach - width, 0)
    padded = np.pad(x, ((0, 0), (0, 0), (above // 2, above - above // 2 + stride),
                        (beside // 2, beside - beside // 2 + stride)))
    y = np.zeros((n, outputs, rows, columns), np.float32)
    for i in range(size):
        for j in range(size):
            part = padded[:, :, i * dilation:, j * dilation:]
            part = part[:, :, :rows * stride:stride, :columns * stride:stride]
            y += np.einsum("nchw,oc->nohw", part, w[:, :, i, j])
    return y


class Transforms(unittest.TestCase):
    """metal_ir_transforms"""

    OPS = [{"type": "tt.softmax", "id": "s", "input_shapes": [[32, 64]]},
           {"type": "tt.relu", "id": "r", "inputs": ["s"]},
           {"type": "tt.sum", "id": "t", "input_shapes": [[32, 64]], "args": {"axis": 1}}]

    def test_op_list(self):
        kernels, summary = transform_ir(self.OPS)
        self.assertEqual(len(kernels), 2)
        self.assertEqual([kernel["ops"] for kernel in kernels], ["softmax s; relu r", "sum t"])
        self.assertIn("tt.func", kernels[0]["ttir"])
        self.assertIn("3 ops in 2 kernels", str(summary))
        self.assertIn("softMaxWithTensor", str(summary))
        self.assertEqual(summary["graph"]["kernels"], 2)
        self.assertEqual(transform_ir({"ops": self.OPS}), (kernels, summary))

    def test_kernel(self):
        x, y = normal(4, 300), normal(4)
        compiled = row_sums[(4,)](x, y, 300, BLOCK=128)
        np.testing.assert_allclose(y, x.sum(axis=1), atol=1e-3)
        text, summary = transform_ir(compiled)
        self.assertIn("tt.func", text)
        self.assertIn("reduction sum", str(summary))
        self.assertIsInstance(transform_ir(text)[0], str)

    def test_what_is_no_program(self):
        self.assertRaisesRegex(TypeError, "operation 0 is Ellipsis", transform_ir, [...])
        self.assertRaisesRegex(TypeError, "not NoneType", transform_ir, None)
        self.assertRaises(triton_metal.CompilationError, transform_ir, "module {")


class Layouts(unittest.TestCase):
    """metal_memory_manager"""

    def test_layouts(self):
        layout_of = get_metal_memory_manager().get_memory_layout_for_op
        self.assertEqual([m.value for m in (MemoryLayout.DEFAULT, MemoryLayout.COALESCED)], [0, 8])
        for name in ("sum", "mean", "max", "min", "argmax", "argmin", "any", "all"):
            for shape, axis in (([1024], 0), ([128, 512], 1), ([64, 96], 0)):
                layout = layout_of({"type": "tt." + name, "input_shapes": [shape],
                                    "args": {"axis": axis}})
                self.assertEqual(layout & MemoryLayout.COALESCED.value, 8, (name, shape, axis))
        self.assertTrue(layout_of("tt.matmul:[256,256],[256,256]") & MemoryLayout.TILED)
        self.assertFalse(layout_of("tt.exp:[256]") & MemoryLayout.COALESCED)


class Kernels(unittest.TestCase):
    """What the documents' kernels do, in ours."""

    def test_rows(self):
        x, y = normal(5, 100), np.zeros((5, 100), np.float32)
        scale_rows[(5,)](x, y, 100, 2.5, BLOCK=128)
        np.testing.assert_array_equal(y, x * np.float32(2.5))


if __name__ == "__main__":
    unittest.main()
