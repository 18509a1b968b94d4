"""Kernels as Python sees them: specialization, names, errors, launches. Nothing runs here.

    PYTHONPATH=build/package python3 tests/dropin/test_jit.py
"""
import collections
import concurrent.futures
import contextlib
import enum
import functools
import gc
import io
import linecache
import math
import os
import pickle
import threading
import time
import types
import typing
import unittest
import warnings

import numpy as np

import triton_metal as triton
import triton_metal.language as tl
from triton_metal import source
from triton_metal.errors import CompilationError, CompileTimeAssertionFailure
from triton_metal.jit import (ASTSource, CompiledKernel, JITFunction, KernelParam, MockTensor,
                              TensorDescriptor, mangle_type, specialize)
from triton_metal.kernel import compile_source

SCALE = tl.constexpr(3)
PLAIN = 3
HALF = tl.float16
SIZES = tl.constexpr((4, "x"))


class Pair(typing.NamedTuple):
    ptr: typing.Any
    n: typing.Any = 4


Point = collections.namedtuple("Point", "x y")


class Mode(enum.Enum):
    UP = 1
    DOWN = 2


class Level(enum.IntEnum):
    LOW = 8


@triton.jit
def twice(x):
    return x + x


def divide(n, by):
    return n // by


@triton.constexpr_function
def half(n):
    return n // 2


@tl.core._aggregate
class Accumulator:
    value: tl.tensor
    step: tl.constexpr

    @triton.constexpr_function
    def __init__(self, value, step):
        self.value = value
        self.step = tl.constexpr(step)

    @triton.jit
    def total(self):
        return self.value + self.step

    @triton.must_use_result("Add it.")
    @triton.jit
    def checked(self):
        return self.value


@triton.jit
def store_n(x, n):
    tl.store(x, n)


@triton.jit
def typed(x, a: tl.int64, b: "tl.int8", c: tl.float32, d: tl.constexpr, e: "tl.constexpr" = 4):
    tl.store(x, a + b + c + d + e)


def array(size=64, dtype=np.float32, offset=0):
    """An array whose address is a multiple of 16 bytes, plus `offset` elements."""
    memory = np.zeros(size + 64, dtype)
    skip = -memory.ctypes.data % 64 // memory.itemsize
    return memory[skip + offset:skip + offset + size]


def parameters(kernel):
    """The parameters in the Triton IR of a kernel, as one text."""
    text = kernel.asm["ttir"]
    start = text.index("@" + kernel.name) + len(kernel.name) + 2
    return text[start:text.index(")", text.index("{", start) if "{" in text else start)]


def from_text(text, name="k", **space):
    """A kernel from a text that exists in linecache only."""
    path = f"<test {abs(hash((text, name)))}>"
    linecache.cache[path] = (len(text), None, text.splitlines(True), path)
    space.update(triton=triton, tl=tl)
    exec(compile(text, path, "exec"), space)
    return space[name]


def in_threads(functions, seconds=60):
    """Call functions in threads; those that have not ended after some seconds."""
    threads = [threading.Thread(target=function, daemon=True) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
    return [thread for thread in threads if thread.is_alive()]


class Launches(unittest.TestCase):
    """Base: launches are recorded in self.calls."""

    def setUp(self):
        self.calls = calls = []
        self._was = CompiledKernel._init_handles

        def prepare(kernel):
            kernel.call = lambda x, y, z, values: calls.append(((x, y, z), values))

        CompiledKernel._init_handles = prepare
        self.store_n = JITFunction(store_n.fn)  # whose kernels were not prepared by other tests

    def tearDown(self):
        CompiledKernel._init_handles = self._was


class Asynchronous(Launches):
    """AsyncCompileMode."""

    def test_an_executor_compiles(self):
        space = {"waiting": []}

        class Later(concurrent.futures.Executor):
            def submit(self, fn, *args):
                future = concurrent.futures.Future()
                space["waiting"].append(lambda: future.set_result(fn(*args)))
                return future

        kernel = self.store_n
        with triton.AsyncCompileMode(Later()):
            with self.assertRaisesRegex(RuntimeError, "already active"):
                with triton.AsyncCompileMode(Later()):
                    pass
            first = kernel.warmup(array(), 4, grid=(1,))
            self.assertIs(kernel.warmup(array(), 4, grid=(1,)), first)
            kernel.warmup(array(), 16, grid=(1,))
            self.assertEqual((len(space["waiting"]), len(kernel.cache)), (2, 2))
            space["waiting"][0]()
            self.assertIs(kernel[(1,)](array(), 4).result(), kernel[(1,)](array(), 4))
            self.assertIn("kernel void", first.asm["metal"])
            space["waiting"][1]()
        self.assertEqual({type(one) for one in kernel.cache.values()}, {CompiledKernel})
        with concurrent.futures.ThreadPoolExecutor(2) as pool, triton.AsyncCompileMode(pool):
            kernel.warmup(array(), 1, grid=(1,))
        self.assertEqual(len(kernel.cache), 3)

    def test_options_that_compile_again(self):
        made = [self.store_n.warmup(array(), 4, grid=(1,), **more)
                for more in ({}, {"extern_libs": None}, {"extern_libs": {}})]
        self.assertEqual([one.metadata.extern_libs for one in made], [None, None, ()])
        self.assertEqual(len(self.store_n.cache), 2)

    def test_a_constant_of_any_kind_that_nothing_reads(self):
        kernel = from_text("@triton.jit\ndef k(p, A: tl.constexpr, B: tl.constexpr):\n"
                           "    tl.store(p, B)\n")
        kernel.warmup(array(), object(), 1, grid=(1,))
        with self.assertRaisesRegex(CompilationError, "cannot be a constant"):
            kernel.warmup(array(), 1, object(), grid=(1,))


class Specialization(unittest.TestCase):
    """What Triton 3.7's native_specialize_impl returns for the same arguments."""

    def test_values(self):
        big = 2 ** 63
        rows = [(1, "constexpr", 1), (2, "i32", ""), (16, "i32", "D"), (0, "i32", "D"),
                (-16, "i32", "D"), (2 ** 31 - 1, "i32", ""), (2 ** 31, "i64", "D"),
                (-2 ** 31, "i32", "D"), (-2 ** 31 - 1, "i64", ""), (big - 1, "i64", ""),
                (big, "u64", "D"), (2 ** 64 - 1, "u64", ""), (-big, "i64", "D"),
                (True, "u1", None), (False, "u1", None), (1.0, "fp32", None),
                (None, "constexpr", None), (Level.LOW, "i32", ""), (np.float64(2), "fp32", None),
                ((1, 2), ("constexpr", "i32"), (1, "")),
                ((1, (None, 2.0)), ("constexpr", ("constexpr", "fp32")), (1, (None, None))),
                (Point(1, 16), Point("constexpr", "i32"), Point(1, "D")), ((), (), ())]
        for value, kind, known in rows:
            with self.subTest(value=value):
                self.assertEqual(specialize(value), (kind, known))
        self.assertIsInstance(specialize(Point(1, 2))[0], Point)

    def test_switches(self):
        for value in (1, 16):
            self.assertEqual(specialize(value, False, False, True), ("i32", None))
        self.assertEqual(specialize(1, False, True, False), ("constexpr", 1))
        self.assertEqual(specialize(16, False, True, False), ("i32", ""))
        self.assertEqual(specialize(array()), ("*fp32", "D"))
        self.assertEqual(specialize(array(offset=1)), ("*fp32", ""))
        self.assertEqual(specialize(array(), True), ("*kfp32", "D"))
        self.assertEqual(specialize(array(), False, False, True), ("*fp32", None))
        self.assertEqual(specialize(array(), False, True, False), ("*fp32", ""))
        self.assertEqual(mangle_type(array(dtype=bool)), "*u1")

    def test_refused(self):
        for value in ("text", [1], object(), np.int32(5), np.float32(1), tl.float32, tl.load):
            with self.subTest(value=value):
                with self.assertRaisesRegex(TypeError, "failed to specialize argument of type"):
                    specialize(value)
        for value in (2 ** 64, -2 ** 63 - 1):
            with self.assertRaisesRegex(OverflowError, "too large"):
                specialize(value)

    def test_annotations(self):
        import inspect
        rows = [(int, "i32", "i32"), (float, "fp32", "fp32"), (bool, "u1", "u1"),
                ("int", "i32", "i32"), (tl.int64, "i64", "i64"), ("tl.int64", "i64", "i64"),
                ("*fp32", "*fp32", "*fp32"), ("const *fp32", "*kfp32", "*kfp32"),
                ("tl.const", "const", ""), ("fp32*", "*fp32", "*fp32"), ("int32_t", "i32", "i32"),
                (tl.pointer_type(tl.float32), "*fp32", "*fp32"), (tl.tensor, "tensor", ""),
                ("Optional[int]", "Optional[int]", ""), (tl.const, "const", "")]
        for note, text, kind in rows:
            with self.subTest(note=note):
                param = KernelParam(0, inspect.Parameter(
                    "x", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=note), False, False)
                self.assertEqual((param.annotation, param.annotation_type), (text, kind))
                self.assertFalse(param.is_constexpr)
                self.assertEqual(param.is_const, "const" in str(note))

    def test_signatures(self):
        kernel = typed.warmup(array(), 16, 1, 2, 3, grid=(1,))
        self.assertEqual(kernel.src.signature, {"x": "*fp32", "a": "i64", "b": "i8", "c": "fp32",
                                                "d": "constexpr", "e": "constexpr"})
        self.assertIn("%a: i64 {tt.divisibility = 16 : i32}", kernel.asm["ttir"])
        self.assertIn("%b: i8", kernel.asm["ttir"])

    def test_kernels_by_key(self):
        @triton.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=["m"])
        def kernel(x, n, m, flag, c: tl.constexpr):
            tl.store(x, n + m + flag)

        def one(*args):
            return kernel.warmup(array(), *args, grid=(1,))

        base = one(2, 2, True, 1)
        self.assertIs(one(1, 2, True, 1), base)
        self.assertIs(one(16, 16, False, 1), base)
        self.assertIsNot(one(2 ** 40, 2, True, 1), base)
        self.assertIsNot(one(2, 1, True, 1), base)
        self.assertIsNot(one(2, 2, 5, 1), base)
        others = [one(2, 2, True, c) for c in (1, True, 1.0, "1", tl.float32, None, 0.0, -0.0,
                                               (1, 2), (1, True), tl.constexpr((1, 2)))]
        self.assertIs(others[0], base)
        self.assertEqual(len({id(k) for k in others}), 10)  # the last is as (1, 2)
        self.assertIs(others[-1], others[-3])
        self.assertIs(one(2, 2, True, float("nan")), one(2, 2, True, float("nan")))

    def test_descriptor_and_tuples(self):
        @triton.jit
        def kernel(desc, t):
            tl.store(t[0] + tl.arange(0, 4), desc.load([0, t[1]]).reshape(4))

        desc = TensorDescriptor.from_tensor(array(64).reshape(8, 8), [1, 4])
        made = kernel.warmup(desc, (array(), 2), grid=(1,))
        self.assertEqual(made.src.signature["desc"], "tensordesc<fp32[1, 4]>")
        self.assertEqual(made.src.signature["t"], ("*fp32", "i32"))
        with self.assertRaisesRegex(AssertionError, "16-byte aligned"):
            TensorDescriptor(array(offset=1), [64], [1], [4])
        with self.assertRaisesRegex(ValueError, "power of 2"):
            TensorDescriptor(array(), [64], [1], [3])


class Names(unittest.TestCase):
    """Names mean what Python says."""

    def ir(self, kernel, *args, **more):
        return kernel.warmup(*args, grid=(1,), **more).asm["ttir"]

    def test_globals(self):
        @triton.jit
        def kernel(x):
            tl.store(x, twice(SCALE) + SIZES[0] + half(SCALE * 4).to(HALF) + math.pi)

        self.assertIn("constant", self.ir(kernel, array()))

    def test_closures_differ(self):
        def make(dtype, offset):
            @triton.jit
            def kernel(x, y):
                tl.store(x, tl.load(y).to(dtype) + offset)
            return kernel

        texts = [self.ir(make(dtype, tl.constexpr(k)), array(), array(dtype=np.int32))
                 for dtype in (tl.float16, tl.float32) for k in (1, 2)]
        self.assertEqual(len(set(texts)), 4)

    def test_functions_as_arguments(self):
        def make(dtype):
            @triton.jit
            def inner(x):
                return x.to(dtype).to(tl.float32)
            return inner

        @triton.jit
        def kernel(x, f: tl.constexpr):
            tl.store(x, f(tl.load(x)))

        first, second = make(tl.float16), make(tl.bfloat16)
        self.assertIn("f16", self.ir(kernel, array(), first))
        self.assertIn("bf16", self.ir(kernel, array(), second))
        self.assertIn("bf16", self.ir(store_f, array(), (second, 2)))

    def test_classes(self):
        kernel = from_text("""
@triton.jit
def k(p, level: tl.constexpr, mode: tl.constexpr):
    total = Accumulator(tl.load(p.ptr), 5).total() + level
    if mode == UP:
        total *= 3
    q = Pair(p.ptr, total)
    tl.store(q.ptr, q.n)
""", Accumulator=Accumulator, Pair=Pair, UP=tl.constexpr(Mode.UP))
        text = self.ir(kernel, Pair(array(), 3), Level.LOW, Mode.UP)
        self.assertIn("mulf", text)
        self.assertIn("5.0", text)
        self.assertIn("8.0", text)
        self.assertIn("%p_0", text)

    def test_tuples_of_constants(self):
        kernel = from_text("""
@triton.jit
def k(x, p, q):
    if p.y is None:
        tl.store(x, p.x + q[1][0])
""")
        made = kernel.warmup(array(), Point(1, None), (None, (1, tl.constexpr(3))), grid=(1,))
        self.assertIn("constant 2", made.asm["ttir"])
        self.assertEqual(made.compiled.params, ("x",))

    def test_modules(self):
        inner = types.ModuleType("inner")
        inner.LIMIT = tl.constexpr(40)
        inner.double = twice
        outer = types.ModuleType("outer")
        outer.inner = inner
        kernel = from_text("""
@triton.jit
def k(x):
    tl.store(x, outer.inner.double(outer.inner.LIMIT))
""", outer=outer)
        self.assertIn("80", self.ir(kernel, array()))
        inner.LIMIT = tl.constexpr(41)
        self.assertIn("82", self.ir(kernel, array()))

    def test_defaults_of_the_definition(self):
        kernels = []
        for n in (5, 6):
            @triton.jit
            def inner(x, k: tl.constexpr = n):
                return x + k

            @triton.jit
            def kernel(x, f: tl.constexpr, k: tl.constexpr = n):
                tl.store(x, f(100) * 1000 + k)
            kernels.append((kernel, inner))
        texts = [self.ir(kernel, array(), inner) for kernel, inner in kernels]
        self.assertIn("105005", texts[0])
        self.assertIn("106006", texts[1])

    def test_large_kernels_with_small_functions(self):
        kernel = from_text("""
@triton.jit
def k(x, n):
    i = tl.program_id(0)
    if i >= n:
        return
    total = 0.0
    for j in tl.static_range(400):
        total += f(tl.load(x + i * 400 + j)) * j
    tl.store(x, total)
""", f=twice)
        self.assertEqual(self.ir(kernel, array(), 5).count("tt.load"), 400)

    def test_replaced_source(self):
        kernel = JITFunction(store_n.fn)
        before = self.ir(kernel, array(), 5)
        kernel._unsafe_update_src(kernel.src.replace("n)", "n * 7)", 2).replace("x, n * 7):",
                                                                               "x, n):"))
        self.assertIn("muli", self.ir(kernel, array(), 5))
        self.assertNotIn("muli", before)

    def test_replaced_source_of_a_callee(self):
        inner = JITFunction(twice.fn)
        kernel = from_text("@triton.jit\ndef k(x):\n    tl.store(x, inner(tl.load(x)))\n",
                           inner=inner)
        self.assertIn("addf", self.ir(kernel, array()))
        inner._unsafe_update_src("def twice(x):\n    return x * x\n")
        self.assertIn("mulf", self.ir(kernel, array()))

    def test_parameters_named_as_builtins(self):
        kernel = from_text("""
@triton.jit
def k(x, type, len, tuple: tl.constexpr, int: tl.constexpr):
    tl.store(x, type + len + int)
""")
        self.assertIn("%type", self.ir(kernel, array(), 3, 4, 5, 6))

    def test_changed_globals(self):
        text = "@triton.jit\ndef k(x, n):\n    tl.store(x, n + VALUE)\n"
        kernel = from_text(text, VALUE=tl.constexpr(7))
        self.ir(kernel, array(), 5)
        kernel.__globals__["VALUE"] = tl.constexpr(8)
        with self.assertRaisesRegex(RuntimeError, "VALUE has changed since we compiled"):
            self.ir(kernel, array(), 5)
        kernel = from_text(text, VALUE=tl.constexpr([1]))
        kernel = from_text(text.replace("VALUE", "VALUE[0]"), VALUE=tl.constexpr([1]))
        self.ir(kernel, array(), 5)
        kernel.__globals__["VALUE"].value[0] = 2
        with self.assertRaisesRegex(RuntimeError, "VALUE has changed"):
            self.ir(kernel, array(), 5)

    def test_conflicting_globals(self):
        inner = from_text("@triton.jit\ndef f(x):\n    return x + VALUE\n", "f",
                          VALUE=tl.constexpr(7))
        text = "@triton.jit\ndef k(x):\n    tl.store(x, f(tl.load(x)))\n"
        self.ir(from_text(text, f=inner), array())
        inner.__globals__["VALUE"] = tl.constexpr(8)
        other = from_text(text + "\n", f=inner)
        with self.assertRaisesRegex(RuntimeError, r"VALUE has value constexpr\[8\] when compiling "
                                                  r".*conflicting value constexpr\[7\]"):
            self.ir(other, array())

    def test_foreign_functions_of_modules(self):
        module = types.ModuleType("module")
        module.divide = divide
        kernel = from_text("@triton.jit\ndef k(x):\n    tl.store(x, module.divide(6, 3))\n",
                           module=module)
        with self.assertRaisesRegex(RuntimeError, "Unsupported function referenced"):
            kernel.cache_key

    def test_noinline_is_read_when_a_kernel_is_compiled(self):
        inner = JITFunction(twice.fn)
        before, inner.noinline, inner.hash = inner.cache_key, True, None
        self.assertNotEqual(inner.cache_key, before)

    def test_changed_functions(self):
        kernel = from_text("@triton.jit\ndef k(x):\n    tl.store(x, f(tl.load(x)))\n", f=twice)
        self.assertIn("addf", self.ir(kernel, array()))
        kernel.__globals__["f"] = from_text("@triton.jit\ndef f(x):\n    return x * x\n", "f")
        self.assertIn("mulf", self.ir(kernel, array()))

    def test_python_functions(self):
        source = "@triton.jit\ndef k(x):\n    tl.store(x, f(6))\n"

        def third(n):
            return divide(n, 3) + SCALE.value

        self.assertIn("constant 5", self.ir(from_text(source, f=tl.constexpr(third)), array()))
        with self.assertRaisesRegex(RuntimeError, "Unsupported function referenced"):
            self.ir(from_text(source, f=third), array())

    def test_plain_globals(self):
        source = "@triton.jit\ndef k(x):\n    tl.store(x, VALUE)\n"
        with triton.knobs.compilation.scope():
            triton.knobs.compilation.allow_non_constexpr_globals = True
            self.assertIn("constant 7", self.ir(from_text(source, VALUE=7), array()))
        for value in (7, object(), {"a": object()}):
            with self.assertRaisesRegex(CompilationError, "Cannot access global variable VALUE"):
                self.ir(from_text(source, VALUE=value), array())

    def test_cache_key(self):
        source = "@triton.jit\ndef k(x):\n    tl.store(x, f(tl.load(x)) + C)\n"
        inner = JITFunction(twice.fn)
        keys = {from_text(source, f=inner, C=tl.constexpr(c)).cache_key for c in (1, 2, 2)}
        self.assertEqual(len(keys), 2)
        changed = JITFunction(twice.fn)
        changed._unsafe_update_src("def twice(x):\n    return x * 3\n")
        keys.add(from_text(source, f=changed, C=tl.constexpr(1)).cache_key)
        self.assertEqual(len(keys), 3)
        with self.assertRaisesRegex(RuntimeError, "Unsupported function referenced"):
            from_text(source, f=os.path.join, C=1).cache_key


@triton.jit
def store_f(x, pair):
    tl.store(x, pair[0](tl.load(x)) * pair[1])


class Errors(unittest.TestCase):
    """Errors have Triton's shape and the user's place."""

    def failure(self, kernel, *args, kind=CompilationError):
        with self.assertRaises(kind) as caught:
            kernel.warmup(*args, grid=(1,))
        return caught.exception

    def test_place(self):
        @triton.jit
        def kernel(x):
            y = tl.load(x)
            tl.store(x, y + missing)  # noqa

        error = self.failure(kernel, array())
        line = kernel.fn.__code__.co_firstlineno + 3
        self.assertTrue(str(error).startswith("at 3:20:\ndef kernel(x):\n"), str(error))
        self.assertIn("\n    tl.store(x, y + missing)  # noqa\n                    ^\n", str(error))
        self.assertIn("missing is not defined", error.error_message)
        self.assertEqual((error.file, error.line), (__file__, line))
        self.assertIsNone(error.__cause__)
        again = pickle.loads(pickle.dumps(error))
        self.assertEqual((str(again), again.line), (str(error), line))

    def test_nested(self):
        @triton.jit
        def kernel(x):
            tl.store(x, between(3))

        error = self.failure(kernel, array())
        self.assertTrue(str(error).startswith("at 2:16:\ndef kernel(x):"), str(error))
        inner = error.__cause__
        self.assertIsInstance(inner, CompilationError)
        self.assertTrue(str(inner).startswith("at 2:11:\ndef between(n"), str(inner))
        inner = inner.__cause__
        self.assertIsInstance(inner, CompilationError)
        self.assertTrue(str(inner).startswith("at 2:11:\ndef bad_range(n"), str(inner))
        self.assertIsInstance(inner.__cause__, ValueError)

    def test_static_assert(self):
        kernel = from_text("@triton.jit\ndef k(x):\n    tl.static_assert(1 == 2, 'one')\n")
        error = self.failure(kernel, array(), kind=CompileTimeAssertionFailure)
        self.assertIsNone(error.__cause__)
        self.assertIn("one", str(error))

    def test_first_lines_of_a_file(self):
        body = "def k(x):\n    tl.store(x, twice(missing))\n"
        for above in ("", "@triton.jit\n", "\n@triton.jit\n"):
            kernel = from_text(above + body, twice=twice)
            kernel = kernel if isinstance(kernel, JITFunction) else triton.jit(kernel)
            error = self.failure(kernel, array())
            self.assertEqual((error.line, error.column), (above.count("\n") + 2, 23))
            self.assertTrue(str(error).startswith("at 2:22:\ndef k(x)"), str(error))

    def test_operators_have_no_cause(self):
        kernel = from_text("@triton.jit\ndef k(x):\n    -(0, 0)\n")
        self.assertIsNone(self.failure(kernel, array()).__cause__)
        kernel = from_text("@triton.jit\ndef k(x):\n    y = tl.program_id(7) + 1\n")
        self.assertIsInstance(self.failure(kernel, array()).__cause__, ValueError)

    def test_static_print(self):
        text = f"hello {time.time_ns()}"  # not in the cache
        kernel = from_text(f"""
@triton.jit
def k(x, n: tl.constexpr):
    tl.static_print("{text}", n + 1)
    tl.store(x, n)
""")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            kernel.warmup(array(), 4, grid=(1,))
            kernel.forget()
            kernel.warmup(array(), 4, grid=(1,))
        self.assertEqual(out.getvalue(), f"{text} 5\n")

    def test_globals_must_be_constexpr(self):
        kernel = from_text("@triton.jit\ndef k(x):\n    tl.store(x, PLAIN)\n", PLAIN=PLAIN)
        self.assertIn("Cannot access global variable PLAIN from within @jit'ed function",
                      str(self.failure(kernel, array())))

    def test_unused_results(self):
        cube = tl.core.must_use_result("Use it.")(JITFunction(twice.fn))
        source = "@triton.jit\ndef k(x):\n    {}cube(tl.load(x))\n"
        error = self.failure(from_text(source.format(""), cube=cube), array())
        self.assertTrue(str(error).endswith("\nThe result of cube is not being used. Use it."))
        from_text(source.format("y = "), cube=cube).warmup(array(), grid=(1,))
        kernel = from_text("@triton.jit\ndef k(x):\n    tl.advance(x, (1,))\n")
        self.assertIn("The result of tl.advance", str(self.failure(kernel, array())))
        source = "@triton.jit\ndef k(x):\n    a = Accumulator(tl.load(x), 1)\n    {}a.checked()\n"
        error = self.failure(from_text(source.format(""), Accumulator=Accumulator), array())
        self.assertTrue(str(error).endswith("\nThe result of a.checked is not being used. Add it."))
        from_text(source.format("y = "), Accumulator=Accumulator).warmup(array(), grid=(1,))

    def test_warnings(self):
        text = f"@triton.jit\ndef k(x):\n    y = {time.time_ns()}\n"  # not in the cache
        kernel = from_text(text + "    tl.store(x, tl.where(tl.program_id(0), 1, 2))\n")
        with self.assertWarnsRegex(UserWarning, "tl.where with a non-boolean .* int32") as caught:
            kernel.warmup(array(), grid=(1,))
        self.assertEqual((caught.filename, caught.lineno), (kernel.fn.__code__.co_filename, 4))
        kernel = from_text(text + "    tl.store(x, tl.where(tl.program_id(0) > 1, 1, 2))\n")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kernel.warmup(array(), grid=(1,))

    def test_constexpr_and_do_not_specialize(self):
        @triton.jit(do_not_specialize=["n"])
        def kernel(n: tl.constexpr):
            pass

        self.assertIn("n marked as constexpr and listed in do_not_specialize",
                      str(self.failure(kernel, 4)))

    def test_failing_kernels_are_not_cached(self):
        kernel = from_text("@triton.jit\ndef k(x):\n    tl.store(x, later)\n")
        self.failure(kernel, array())
        kernel.__globals__["later"] = tl.constexpr(2)
        kernel.hash = None
        kernel.warmup(array(), grid=(1,))

    def test_sources(self):
        space = {}
        exec("def f(x):\n    pass\n", space)
        with self.assertRaisesRegex(ValueError, "defined in a Python file"):
            triton.jit(space["f"])
        with self.assertRaisesRegex(TypeError, "do not support"):
            from_text("@triton.jit\ndef k(x, **more):\n    pass\n")
        with self.assertRaisesRegex(RuntimeError, "Cannot call @triton.jit'd"):
            store_n(1, 2)
        with self.assertRaisesRegex(ValueError, "Did you forget to add @triton.jit"):
            tl.load(1)


@triton.jit
def bad_range(n: tl.constexpr):
    return tl.arange(0, n)


@triton.jit
def between(n: tl.constexpr):
    return bad_range(n)


class Binding(Launches):
    """Arguments, options, grids and hooks."""

    def test_values(self):
        @triton.jit
        def kernel(x, n, one, nothing, pair, flag=True, C: tl.constexpr = 4):
            tl.store(x, n + one + pair[0] + flag + C)

        x = array()
        kernel[(2, 3)](x, 5, 1, None, (7, 1))
        kernel[(2,)](x, one=1, n=5, pair=(7, 1), nothing=None, C=4)
        kernel[lambda meta: (meta["n"], meta["C"])](x, 5, 1, None, (7, 1))
        self.assertEqual([grid for grid, _ in self.calls], [(2, 3, 1), (2, 1, 1), (5, 4, 1)])
        for _, values in self.calls:
            self.assertIs(values[0], x)
            self.assertEqual(values[1:], (5, 7, True))
        self.assertEqual(len(kernel.cache), 1)

    def test_grids(self):
        x = array()
        self.store_n[(0,)](x, 5)
        self.store_n[(4, 0, 2)](x, 5)
        self.assertEqual(self.calls, [])
        self.store_n[[2]](x, 5)
        self.store_n[(np.int64(2), 1, 1)](x, 5)
        self.assertEqual([grid for grid, _ in self.calls], [(2, 1, 1)] * 2)
        for grid in ((2.0,), 3):
            with self.assertRaises(TypeError):
                self.store_n[grid](x, 5)

    def test_wrong_calls(self):
        launch = self.store_n[(1,)]
        with self.assertRaisesRegex(TypeError, r"^store_n\(\) missing 1 required positional "
                                               r"argument: 'n'"):
            launch(array())
        with self.assertRaisesRegex(TypeError, r"^store_n\(\) takes 2 positional arguments but 3"):
            launch(array(), 1, 2)
        with self.assertRaisesRegex(TypeError, "multiple values for argument 'x'"):
            launch(array(), 1, x=2)
        with self.assertRaisesRegex(KeyError, "Keyword argument foo was specified but unrecog"):
            launch(array(), 1, foo=2)
        with self.assertRaisesRegex(AssertionError, "device option is deprecated"):
            launch(array(), 1, device=0)
        self.assertEqual(self.calls, [])

    def test_options(self):
        x = array()
        kernel = self.store_n[(1,)](x, 5, num_warps=8, num_stages=2, maxnreg=64, waves_per_eu=1)
        data = kernel.metadata
        self.assertEqual((data.num_warps, data.num_stages, data.num_ctas), (8, 2, 1))
        self.assertEqual(data.name, "store_n")
        self.assertEqual(data.hash, kernel.hash)
        self.assertEqual((kernel.n_spills, kernel.n_regs > 0, kernel.n_max_threads > 0),
                         (0, True, True))
        for warps in (3, 0, -4):
            with self.assertRaisesRegex(AssertionError, "num_warps must be a power of 2"):
                self.store_n[(1,)](x, 5, num_warps=warps)
        with self.assertRaisesRegex(ValueError, "num_ctas > 1"):
            self.store_n[(1,)](x, 5, num_ctas=2)

    def test_star_and_keywords(self):
        kernel = from_text("""
@triton.jit
def k(x, *rest, n, C: tl.constexpr = 2):
    tl.store(x, rest[0] + rest[1] + n + C)
""")
        kernel[(1,)](array(), 3, 4, n=5)
        self.assertEqual(self.calls[0][1][1:], (3, 4, 5))

    def test_repr(self):
        def name(specialization):
            constants = [k for k, v in specialization.constants.items() if v == 1]
            return f"kernel_{specialization.signature['n']}_{'_'.join(constants)}"

        kernel = triton.jit(repr=name)(store_n.fn)
        made = kernel.warmup(array(), 2 ** 40, grid=(1,))
        self.assertEqual(made.name, "kernel_i64_")
        self.assertIn("@kernel_i64_(", made.asm["ttir"])
        self.assertEqual(kernel.warmup(array(), 1, grid=(1,)).name, "kernel_constexpr_n")

    def test_hooks(self):
        seen = []
        kernel = triton.jit(launch_metadata=lambda grid, data, args: {"n": args["n"]})(store_n.fn)
        kernel.add_pre_run_hook(lambda *args, **kwargs: seen.append(("pre", args[1])))
        enter = lambda data: seen.append(("enter", data.get()["n"], data.get()["name"]))  # noqa
        leave = lambda data: seen.append("leave")  # noqa
        triton.knobs.runtime.launch_enter_hook.add(enter)
        triton.knobs.runtime.launch_exit_hook.add(leave)
        try:
            kernel[(1,)](array(), 5)
        finally:
            triton.knobs.runtime.launch_enter_hook.remove(enter)
            triton.knobs.runtime.launch_exit_hook.remove(leave)
        self.assertEqual(seen, [("pre", 5), ("enter", 5, "store_n"), "leave"])

    def test_compile_hooks_and_preload(self):
        kernel = JITFunction(store_n.fn)
        data = []
        triton.knobs.runtime.jit_cache_hook = lambda **about: data.append(about) and None
        try:
            first = kernel.warmup(array(), 5, grid=(1,))
            self.assertEqual(len(data), 1)
            kernel.device_caches.clear()
            text = data[0]["compile"]["specialization_data"]
            self.assertEqual(kernel.preload(text).hash, first.hash)
            self.assertEqual(len(kernel.device_caches[0][0]), 1)
            kernel.warmup(array(), 5, grid=(1,))
            self.assertEqual(len(data), 2)
            triton.knobs.runtime.jit_cache_hook = lambda **about: True
            self.assertIsNone(kernel.warmup(array(), 2 ** 40, grid=(1,)))
        finally:
            triton.knobs.runtime.jit_cache_hook = None
        with self.assertRaisesRegex(RuntimeError, "trying to preload"):
            typed.preload(text)

    def test_compile_listener(self):
        kernel = from_text(f"@triton.jit\ndef k(x):\n    tl.store(x, {time.time_ns() % 2 ** 31})\n")
        seen = []
        triton.knobs.compilation.listener = lambda **about: seen.append(about)
        try:
            for _ in range(2):
                kernel.device_caches.clear()
                kernel.warmup(array(), grid=(1,))
        finally:
            triton.knobs.compilation.listener = None
        self.assertEqual([about["cache_hit"] for about in seen], [False, True])
        first, again = (about["times"] for about in seen)
        self.assertEqual(first.total,
                         first.ir_initialization + first.total_lowering + first.store_results)
        self.assertTrue(first.ir_initialization and first.total_lowering and first.store_results)
        self.assertEqual((again.total_lowering, again.store_results), (0, 0))
        self.assertEqual(seen[0]["metadata"]["name"], "k")

    def test_compiled_kernels(self):
        x = array()
        kernel = self.store_n.warmup(x, 5, grid=(1,))
        kernel[(2, 1, 1)](x, 6)
        kernel.run(3, 1, 1, None, None, kernel.packed_metadata, None, None, None, x, 7)
        self.assertEqual([(grid, values[1]) for grid, values in self.calls],
                         [((2, 1, 1), 6), ((3, 1, 1), 7)])
        self.assertIn("kernel", kernel.asm["metal"])
        self.assertEqual(kernel.asm["msl"], kernel.asm["metal"])
        self.assertIn("ttir", kernel.asm)
        with self.assertRaises(KeyError):
            kernel.asm["ttgir"]
        source = ASTSource(self.store_n, {"x": "*fp32", "n": "constexpr"}, {"n": 9},
                           {(0,): [["tt.divisibility", 16]]})
        self.assertIn("constant 9 :", compile_source(source).asm["ttir"])

    def test_compiled_kernels_without_constants(self):
        @triton.jit
        def kernel(x, one, C: tl.constexpr, n):
            tl.store(x, n + one + C)

        x = array()
        made = kernel.warmup(x, 1, 5, 6, grid=(1,))
        for args in ((x, 1, 5, 6), (x, 1, 6), (x, 6)):
            made[(1,)](*args)
        self.assertEqual([values[1:] for _, values in self.calls], [(6,)] * 3)
        with self.assertRaisesRegex(TypeError, "4 parameters, 2 of them not compiled in, but 1"):
            made[(1,)](x)

    def test_warmup_with_types(self):
        kernel = self.store_n.warmup(MockTensor(tl.float32), 5, grid=(1,))
        self.assertEqual(kernel.src.signature, {"x": "*fp32", "n": "i32"})
        kernel = self.store_n.warmup(np.dtype(np.int32), 5, grid=(1,))
        self.assertEqual(kernel.src.signature["x"], "*i32")
        self.assertEqual(MockTensor(tl.int8, (2, 3)).stride(), (3, 1))

    def test_threads_compile_once(self):
        kernel = JITFunction(store_n.fn)
        compiled, made = [], []
        triton.knobs.runtime.jit_post_compile_hook = lambda **about: compiled.append(1)
        gate = threading.Barrier(8)

        def work():
            gate.wait()
            made.append(kernel.warmup(array(), 5, grid=(1,)))

        try:
            self.assertFalse(in_threads([work] * 8))
        finally:
            triton.knobs.runtime.jit_post_compile_hook = None
        self.assertEqual((len(compiled), len({id(k) for k in made}), len(made)), (1, 1, 8))

    def test_threads_parse(self):
        text = "def f(x):\n" + "".join(f"    a{i} = x * {i} - [x, ({i}, 'a')][0]\n"
                                        for i in range(60))
        failed, threshold = [], gc.get_threshold()

        class Yields:
            def __del__(self):
                time.sleep(1e-4)

        def work():
            for _ in range(60):
                loop = Yields()
                loop.self = loop  # freed by the collector, in the middle of something
                try:
                    source.parse(text)
                except SystemError as error:
                    failed.append(error)

        gc.set_threshold(50)
        try:
            self.assertFalse(in_threads([work] * 8))
        finally:
            gc.set_threshold(*threshold)
        self.assertFalse(failed)

    def test_threads_hash_functions_that_mention_each_other(self):
        source = "@triton.jit\ndef k(x):\n    tl.store(x, 1)\n    if False:\n        other(x)\n"
        for _ in range(20):
            first, second = from_text(source), from_text(source)
            first.__globals__["other"], second.__globals__["other"] = second, first
            gate = threading.Barrier(2)

            def work(kernel, gate=gate):
                gate.wait()
                kernel.warmup(array(), grid=(1,))

            alive = in_threads([functools.partial(work, kernel) for kernel in (first, second)])
            self.assertFalse(alive)

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_fork_while_compiling(self):
        kernel = JITFunction(store_n.fn)
        with kernel.lock:
            child = os.fork()
            if not child:
                code = 1
                try:
                    thread = threading.Thread(
                        target=lambda: kernel.warmup(array(), 5, grid=(1,)), daemon=True)
                    thread.start()
                    thread.join(20)
                    code = int(thread.is_alive() or len(kernel.cache) != 1)
                finally:
                    os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


if __name__ == "__main__":
    unittest.main()
