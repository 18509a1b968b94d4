"""Every program in the documents of the Python prototype runs, from its own text.

The documents are looked for in ../shared/documents, or where TMETAL_DOCUMENTS says; without them
the test is skipped, and test_modules.py tests the same modules. MLX is used if it is installed; if
not, a stand-in for its arrays on NumPy. Run by make test-dropin; alone:

    PYTHONPATH=build/package python3 tests/dropin/test_documents.py
"""

import glob
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
from typing import NamedTuple, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
DOCUMENTS = os.environ.get("TMETAL_DOCUMENTS") or os.path.join(HERE, "../../../shared/documents")
HAS_MLX = importlib.util.find_spec("mlx") is not None

# Put in front of fragments: the documents' own first lines.
FIRST = """
import os
os.environ["TRITON_BACKEND"] = "metal"
from enum import Enum
import numpy as np
import triton_metal
import triton_metal.language as tl
import mlx.core as mx
"""

OPS = """[
    {"type": "tt.reduce", "id": "sum_reduce_1d", "input_shapes": [[1024]], "args": {"axis": 0}},
    {"type": "tt.sum", "id": "sum_reduce_2d", "input_shapes": [[512, 512]], "args": {"axis": 1}},
]"""

STRIDED = """
import numpy as np
x, y = mx.random.normal((4096,)), mx.zeros((4096,))
strided_kernel[(4,)](x, y, 3, 4096, BLOCK_SIZE=256)
right = np.zeros(4096, np.float32)
for i in range(4):
    for j in range(256):
        right[256 * i + 3 * j] = 2 * np.array(x)[256 * i + 3 * j]
assert np.array_equal(np.array(y), right)
compiled = strided_kernel.warmup(x, y, 3, 4096, BLOCK_SIZE=256, grid=(4,))
print([(a.kind, a.buffer, a.line) for a in memory_pattern_optimizer.analyze(compiled)])
"""

CONVOLUTION = """
import numpy as np
x, w = mx.random.normal((2, 9, 8, 3)), mx.random.normal((5, 3, 3, 3))
if type(x).__module__ == "numpy":  # NumPy's arrays are taken as NCHW and OIHW
    nchw, oihw = x.transpose(0, 3, 1, 2), w.transpose(0, 3, 1, 2)
    y = mps_optimized_conv2d(nchw, oihw).transpose(0, 2, 3, 1)
else:
    y = mps_optimized_conv2d(x, w)
padded = np.pad(np.array(x), ((0, 0), (1, 1), (1, 1), (0, 0)))
right = sum(np.einsum("nhwc,oc->nhwo", padded[:, i:i + 9, j:j + 8], np.array(w)[:, i, j])
            for i in range(3) for j in range(3))
print("convolved", bool(np.abs(np.array(y) - right).max() < 1e-4))
"""

REFUSED = """
from triton_metal import errors
x, y = mx.random.normal((4, 100)), mx.zeros((4,))
try:
    sum_reduction_kernel[(4,)](x, y, 4, 100, 100, 1, BLOCK_SIZE=128)
except triton_metal.CompilationError as error:
    print(error)
"""


class Program(NamedTuple):
    """A Python block of the documents: a pattern for its text, and what is put around it."""

    key: str
    prints: str = ".*"
    before: str = ""
    after: str = ""
    placeholder: Tuple[str, str] = ("", "")


PROGRAMS = (
    Program(r"class MemoryLayout\(Enum\)", "8", FIRST, "print(MemoryLayout.COALESCED.value)"),
    # It gives a scalar pointer a mask of 128 elements, which Triton refuses.
    Program("def sum_reduction_kernel", "one address, but its mask or `other` is a block",
            FIRST, REFUSED),
    Program('import triton_metal\nimport triton_metal.language as tl\n\Z'),
    Program("def add_kernel", "Max difference: 0.0"),
    Program("def matmul_kernel", r"Max difference: .*(e-0\d|0\.000\d*|\b0\.0)\b"),
    Program("m3_optimizer.optimize_matmul", "True", "", '''
import numpy as np
print(np.abs(np.array(c) - np.array(a) @ np.array(b)).max() < 1e-3)'''),
    Program("def strided_kernel", r"\[\('load', 'x_ptr', 20\), \('store', 'output_ptr', 23\)\]",
            "", STRIDED),
    Program("def mps_optimized_conv2d", "convolved True", "", CONVOLUTION),
    Program(r'os\.environ\["TRITON_METAL_DEBUG"\] = "1"'),
    Program("metal_ir_transforms.transform_ir", "reduction sum", placeholder=("[...]", OPS)),
    Program(r"get_memory_layout_for_op\(op\)", "True", f"op = {OPS}[1]\n", "print(is_coalesced)"),
)
NOT_PROGRAMS = ("def my_reduction(input_ptr, output_ptr, n, m, ...):",)  # "..." is no parameter


def blocks(language="python"):
    """The blocks of the documents in a language."""
    for path in sorted(glob.glob(os.path.join(DOCUMENTS, "*.txt"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for match in re.finditer(rf"^ *```{language}\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL):
            yield textwrap.dedent(match.group(1))


def run(text, **variables):
    """Run a program as a file, and return what it prints."""
    environment = dict(os.environ, **variables)
    if not HAS_MLX:
        environment["PYTHONPATH"] += os.pathsep + os.path.join(HERE, "standin")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([sys.executable, path], env=environment, text=True, timeout=600,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise AssertionError(f"{text}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def text_of(program, block):
    """A block with what is put around it."""
    old, new = program.placeholder
    assert old in block
    return program.before + (block.replace(old, new) if old else block) + program.after


class Documents(unittest.TestCase):
    """The programs as the documents have them."""

    def setUp(self):
        if not os.path.isdir(DOCUMENTS):
            self.skipTest(f"{DOCUMENTS} is not there")

    def test_every_block_is_known(self):
        for block in blocks():
            if any(key in block for key in NOT_PROGRAMS):
                self.assertRaises(SyntaxError, compile, block, "block", "exec")
            else:
                self.assertEqual(len([p for p in PROGRAMS if re.search(p.key, block)]), 1, block)

    def test_programs(self):
        found = list(blocks())
        for program in PROGRAMS:
            block = [block for block in found if re.search(program.key, block)]
            self.assertEqual(len(block), 1, program.key)
            with self.subTest(program.key):
                self.assertRegex(run(text_of(program, block[0])), program.prints)

    def test_op_lists(self):
        found = list(blocks("json"))
        self.assertEqual(len(found), 1)
        output = run(f"import metal_ir_transforms\nops = {found[0]}\n"
                     "kernels, summary = metal_ir_transforms.transform_ir(ops)\n"
                     "print([kernel['ops'] for kernel in kernels])")
        self.assertEqual(output, "['sum sum_reduce_1d', 'sum sum_reduce_2d']\n")

    def test_product_for_m3(self):
        """The branch of the M3 program that other chips do not take."""
        for block in blocks():
            if "m3_optimizer.optimize_matmul" in block:
                program = [p for p in PROGRAMS if re.search(p.key, block)][0]
                output = run(text_of(program, block), TRITON_METAL_GPU="apple-m3")
                self.assertRegex(output, program.prints)

class Page(unittest.TestCase):
    """The first program of docs/python.md, and the mistake that it tells to make."""

    def setUp(self):
        with open(os.path.join(HERE, "../../docs/python.md"), encoding="utf-8") as file:
            self.page = file.read()
        self.program = re.search(r"```python\n(.*?)```", self.page, re.DOTALL).group(1)

    def test_first_program(self):
        output = run(self.program)
        self.assertIn("right: True", output)
        self.assertIn("kernel void add(", output)

    def test_mistake(self):
        wrong = self.program.replace("y_ptr + offsets, mask=mask", "y_ptr + offsets")
        self.assertNotEqual(wrong, self.program)
        with self.assertRaises(AssertionError) as caught:
            run(wrong)
        quoted = re.search(r"    triton_metal.errors.SimulatorError: add.py:(.*\n)    (.*\n)",
                           self.page)
        self.assertIn(quoted.group(1) + quoted.group(2), str(caught.exception))


if __name__ == "__main__":
    unittest.main()
