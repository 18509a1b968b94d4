"""The package outside of kernels: tuning, timing, settings, the driver, and `import triton`."""
import contextlib
import importlib.util
import io
import os
import pickle
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import types
import unittest
import unittest.mock

import numpy as np

import triton_metal as triton
import triton_metal.language as tl
from triton_metal import backend
from triton_metal.testing import Benchmark, do_bench, perf_report

Config = triton.Config
ON_GPU = backend.active().name != "simulator"  # configurations are timed, and nothing is checked


@triton.jit
def add_one(x, n, BLOCK: tl.constexpr, FAIL: tl.constexpr = 0):
    tl.static_assert(BLOCK != FAIL)
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@triton.jit
def count(x, total, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total, tl.sum(tl.load(x + i, mask=i < n, other=0), 0))


@triton.jit
def race(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK) * 0, tl.arange(0, BLOCK))


def grid(args):
    return (triton.cdiv(args["n"], args["BLOCK"]),)


def configs(*blocks, **options):
    return [Config({"BLOCK": block}, **options) for block in blocks]


def times(**of_block):
    """A do_bench that runs each configuration and says that it took the given time."""
    log = []

    def bench(kernel_call, quantiles):
        kernel_call()
        log.append(quantiles)
        return list(of_block.values())[len(log) - 1]

    return bench, log


class ConfigTest(unittest.TestCase):
    def test_text_equality_and_keywords(self):
        a, b = Config({"B": 1}, num_warps=8), Config({"B": 1}, 8)
        self.assertEqual(str(a), "B: 1, num_warps: 8, num_ctas: 1, num_stages: 3, maxnreg: None, "
                                 "ir_override: None")
        self.assertEqual((a, hash(a)), (b, hash(b)))
        self.assertNotEqual(a, Config({"B": 1}, 8, pre_hook=print))
        self.assertNotEqual(a, Config({"B": 2}, 8))
        self.assertEqual(Config({}, maxnreg=5).all_kwargs(),
                         {"num_warps": 4, "num_ctas": 1, "num_stages": 3, "maxnreg": 5})
        self.assertEqual(pickle.loads(pickle.dumps(a)), a)


class AutotuneTest(unittest.TestCase):
    def tuned(self, kernel=add_one, blocks=(32, 64), **options):
        return triton.autotune(configs(*blocks), **{"key": ["n"], **options})(kernel)

    def launch(self, kernel, n=100, **options):
        x = np.zeros(n, np.float32)
        kernel[grid](x, n, **options)
        return x

    @unittest.skipIf(ON_GPU, "there is a timer")
    def test_without_a_timer_takes_the_first_that_compiles(self):
        kernel = self.tuned(blocks=(32, 64, 128))
        self.assertTrue((self.launch(kernel, FAIL=32) == 1).all())
        self.assertEqual(kernel.best_config.kwargs, {"BLOCK": 64})
        self.assertEqual(kernel.cache[(100, "float32")], kernel.best_config)
        self.assertIs(kernel.base_fn, add_one.fn)

    def test_all_fail(self):
        with self.assertRaises(triton.CompilationError):
            self.launch(self.tuned(blocks=(3, 5)))

    def test_times_decide_and_are_asked_once_for_a_key(self):
        bench, log = times(a=[2.0] * 3, b=[1.0] * 3, c=[3.0] * 3)
        kernel = self.tuned(blocks=(32, 64, 128), do_bench=bench)
        self.launch(kernel)
        self.launch(kernel)
        self.assertEqual(kernel.best_config.kwargs["BLOCK"], 64)
        self.assertEqual(log, [(0.5, 0.2, 0.8)] * 3)
        self.assertEqual(list(kernel.configs_timings.values()), [[2.0] * 3, [1.0] * 3, [3.0] * 3])

    def test_gpu_time_decides_where_the_backend_has_it(self):
        launched = []

        def seconds(kernel):
            launched.append(kernel)
            return 0.001 if launched.index(kernel) == 51 else 0.002  # the second configuration

        kernel = self.tuned(blocks=(32, 64, 128), restore_value=["x"])
        timer = types.SimpleNamespace(has_timer=True, seconds=seconds,
                                      timing=contextlib.nullcontext)
        with unittest.mock.patch("triton_metal.autotuner._backend", return_value=timer):
            self.assertTrue((self.launch(kernel) == 1).all())
            self.assertEqual(len(launched), 3 * 51)
        self.assertEqual(list(kernel.configs_timings.values()),
                         [[2.0] * 3, [1.0] * 3, [2.0] * 3])
        timer.seconds = lambda kernel: None
        with unittest.mock.patch("triton_metal.autotuner._backend", return_value=timer):
            with self.assertRaisesRegex(triton.errors.AutotunerError, "reports no GPU time"):
                self.launch(kernel, n=101)

    def test_a_failing_configuration_is_skipped_with_do_bench(self):
        kernel = self.tuned(do_bench=lambda call, quantiles: call() or [1.0] * 3)
        self.launch(kernel, FAIL=32)
        self.assertEqual(kernel.best_config.kwargs["BLOCK"], 64)
        self.assertEqual(list(kernel.configs_timings.values())[0], [float("inf")] * 3)

    def test_a_new_key_or_type_tunes_again(self):
        kernel = self.tuned()
        for x, n in ((np.zeros(8, np.float32), 8), (np.zeros(8, np.float32), 7),
                     (np.zeros(8, np.int32), 8)):
            kernel[grid](x, n)
        self.assertEqual(set(kernel.cache), {(8, "float32"), (7, "float32"), (8, "int32")})

    def test_restore_value_and_reset_to_zero(self):
        def bench(call, quantiles):
            call()
            call()
            return [1.0] * 3

        kernel = self.tuned(restore_value=["x"], do_bench=bench)
        self.assertTrue((self.launch(kernel) == 1).all())
        kernel = self.tuned(count, reset_to_zero=["total"], do_bench=bench)
        total = np.full(1, 9, np.int32)
        kernel[grid](np.ones(100, np.int32), total, 100)
        self.assertEqual(total[0], 100)

    def test_hooks(self):
        log = []

        def pre(args, reset_only=False):
            log.append(("pre", args["BLOCK"], args["n"], reset_only))

        def post(args, exception):
            log.append(("post", args["BLOCK"], type(exception).__name__))

        kernel = self.tuned(pre_hook=pre, post_hook=post)
        self.launch(kernel, FAIL=32)
        self.assertEqual(log[:4], [
            ("pre", 32, 100, False), ("post", 32, "CompileTimeAssertionFailure"),
            ("pre", 64, 100, False), ("post", 64, "NoneType")])
        self.assertEqual(log[4:-1:2], [("pre", 64, 100, False)] * (len(log) // 2 - 2))
        self.assertEqual(log[-1], ("pre", 64, 100, True))

    def test_hook_of_a_configuration(self):
        log = []
        hooked = Config({"BLOCK": 32}, pre_hook=lambda args: log.append(args["n"]))
        kernel = triton.autotune([hooked], key=["n"])(add_one)
        self.launch(kernel, 10)
        self.launch(kernel, 11)
        self.assertEqual(log, [10, 11])

    def test_pruning(self):
        def early(found, named, **kwargs):
            self.assertEqual(named["n"], 100)
            return [one for one in found if one.kwargs["BLOCK"] > 16]

        def model(n, BLOCK, num_warps, **_):
            return BLOCK if num_warps == 4 else 1000

        prune = {"early_config_prune": early, "perf_model": model, "top_k": 0.4}
        kernel = self.tuned(blocks=(16, 256, 128, 64), prune_configs_by=prune)
        self.launch(kernel)
        self.assertEqual(kernel.best_config.kwargs["BLOCK"], 64)
        kernel = self.tuned(prune_configs_by={"early_config_prune": lambda *a, **k: []})
        with self.assertRaisesRegex(triton.errors.AutotunerError, "should return at least one"):
            self.launch(kernel)
        kernel = self.tuned(prune_configs_by={"perf_model": model, "top_k": 1.5})
        with self.assertRaisesRegex(TypeError, "top_k must be either"):
            self.launch(kernel)

    def test_wrong_use(self):
        with self.assertRaisesRegex(ValueError, "restore_value contains names that are not kernel"):
            self.tuned(restore_value=["m"])
        self.launch(self.tuned(key=["n", "m"]))
        with self.assertRaisesRegex(ValueError, "Conflicting meta-parameters: BLOCK."):
            self.launch(self.tuned(), BLOCK=32)
        with self.assertWarns(DeprecationWarning):
            self.launch(self.tuned(warmup=1, rep=1, use_cuda_graph=True))

    @unittest.skipIf(ON_GPU, "nothing is checked")
    def test_a_violation_is_an_error_and_no_slow_configuration(self):
        kernel = triton.autotune(configs(32, 64), key=[],
                                 do_bench=lambda call, quantiles: call() or [1.0] * 3)(race)
        with self.assertRaises(triton.errors.SimulatorError):
            kernel[(1,)](np.zeros(4, np.int32))

    def test_heuristics_above_and_below(self):
        block = {"BLOCK": lambda args: triton.next_power_of_2(args["n"])}
        x = np.zeros(60, np.float32)
        triton.heuristics(block)(add_one)[grid](x, 60)
        options = [Config({}, num_warps=warps) for warps in (1, 2)]
        below = triton.heuristics(block)(add_one)
        below = triton.autotune(options, key=["n"], restore_value=["x"])(below)
        below[lambda args: (1,)](x, 60)
        fail = {"FAIL": lambda args: 32 if args["n"] == 60 else 0}
        above = triton.heuristics(fail)(self.tuned(restore_value=["x"]))
        above[grid](x, 60)
        self.assertTrue((x == 3).all())
        self.assertEqual(above.fn.best_config.kwargs["BLOCK"], 64)

    def test_warmup_compiles_all(self):
        kernel = self.tuned(blocks=(32, 64))
        kernels = kernel.warmup(np.zeros(4, np.float32), 4, grid=(1,))
        self.assertEqual([len(kernels), kernels[0].asm["metal"][:2]], [2, "//"])

    def test_printing(self):
        out = io.StringIO()
        with triton.knobs.autotuning.scope(), contextlib.redirect_stdout(out):
            triton.knobs.autotuning.print = True
            self.assertEqual(os.environ["TRITON_PRINT_AUTOTUNING"], "1")
            self.launch(self.tuned())
        self.assertIn("Autotuning kernel add_one with config BLOCK: 32, num_warps: 4, ",
                      out.getvalue())
        self.assertRegex(out.getvalue(), r"Triton autotuning for function add_one,\nwith key as "
                                         r"\(100, 'float32'\),\nfinished after \d")

    def test_threads_tune_a_key_once(self):
        calls = []
        kernel = self.tuned(do_bench=lambda call, quantiles: calls.append(1) or call() or [1.0] * 3)
        threads = [threading.Thread(target=self.launch, args=(kernel,)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(calls), 2)

    @unittest.skipIf(ON_GPU, "Metal cannot be used after a fork")
    def test_a_fork_while_a_thread_tunes(self):
        begun, end = threading.Event(), threading.Event()

        def bench(call, quantiles):
            begun.set()
            end.wait(60)
            return [1.0] * 3

        kernel = self.tuned(do_bench=bench)
        thread = threading.Thread(target=self.launch, args=(kernel,))
        thread.start()
        begun.wait(60)
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                kernel.do_bench = lambda call, quantiles: [1.0] * 3
                status = int(not (self.launch(kernel) == 1).all())
            finally:
                os._exit(status)
        end.set()
        thread.join()
        self.assertEqual(os.waitpid(pid, 0)[1], 0)

    def test_results_on_disk(self):
        with tempfile.TemporaryDirectory() as folder, triton.knobs.cache.scope():
            triton.knobs.cache.dir = folder
            hits = []
            with triton.knobs.autotuning.scope():
                triton.knobs.autotuning.listener = lambda **told: hits.append(told["cache_hit"])
                for expected in (64, 64):
                    bench, log = times(a=[2.0] * 3, b=[1.0] * 3)
                    kernel = self.tuned(do_bench=bench, cache_results=True)
                    self.launch(kernel)
                    self.assertEqual(kernel.best_config.kwargs["BLOCK"], expected)
            self.assertEqual(hits, [False, True])
            files = [os.path.join(root, name) for root, _, names in os.walk(folder)
                     for name in names if name.endswith(".autotune.json")]
            self.assertEqual([os.path.basename(one) for one in files], ["add_one.autotune.json"])
            with open(files[0], "w") as file:
                file.write("{damaged")
            kernel = self.tuned(do_bench=times(a=[1.0] * 3, b=[2.0] * 3)[0], cache_results=True)
            self.launch(kernel)
            self.assertEqual(kernel.best_config.kwargs["BLOCK"], 32)


class TimingTest(unittest.TestCase):
    def test_do_bench(self):
        calls = []

        def work():
            calls.append(1)
            time.sleep(0.002)

        class Tensor:
            grad = 1

        tensor = Tensor()
        low, high = do_bench(work, warmup=2, rep=20, quantiles=[0.1, 0.9], grad_to_none=[tensor])
        self.assertTrue(2 <= low <= high)
        self.assertIsNone(tensor.grad)
        self.assertGreater(len(calls), 4)
        every = do_bench(work, 1, 10, return_mode="all")
        self.assertIsInstance(every, list)
        for mode in ("min", "max", "mean", "median"):
            self.assertGreaterEqual(do_bench(work, 1, 5, return_mode=mode), 2)
        self.assertIsInstance(triton.testing.do_bench_cudagraph(work, rep=5), float)
        calls.clear()
        do_bench(work, warmup=1, rep=1)
        self.assertEqual(len(calls), 2)
        with self.assertRaises(AssertionError):
            do_bench(work, return_mode="sum")

    def test_summaries(self):
        summarize = triton.testing.summarize
        self.assertEqual(summarize([4.0, 1.0, 3.0, 2.0], [0, 0.5, 1], "mean"), [1.0, 2.5, 4.0])
        self.assertEqual(summarize([4.0, 1.0, 3.0, 2.0], [0.25], "mean"), 1.75)
        self.assertEqual([summarize([4.0, 1.0, 4.0], None, mode)
                          for mode in ("min", "max", "mean", "median")], [1.0, 4.0, 3.0, 4.0])
        with self.assertRaisesRegex(ValueError, "Quantiles"):
            summarize([1.0], [1.5], "mean")

    def test_reports(self):
        bench = Benchmark(["m", "n"], [1, (2, 3)], "provider", ["a", "b"], ["A", "B"], "speed",
                          {"k": 10}, ylabel="ms")

        @perf_report(bench)
        def measure(m, n, provider, k, extra=0):
            value = float(m * n * k + extra)
            return value if provider == "a" else (value, value - 1, value + 1)

        out = io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            with contextlib.redirect_stdout(out):
                table = measure.run(print_data=True, save_path=folder, return_df=True, extra=1)
            with open(os.path.join(folder, "speed.csv")) as file:
                self.assertEqual(file.read(), "m,n,A (ms),B (ms)\n1,1,11.000000,11.000000\n"
                                              "2,3,61.000000,61.000000\n")
            self.assertTrue(os.path.exists(os.path.join(folder, "results.html")))
        self.assertEqual(list(table.columns), ["m", "n", "A (ms)", "B (ms)"])
        self.assertTrue(out.getvalue().startswith("speed:\n"))
        self.assertIsNone(measure.run())
        self.assertEqual(len(perf_report([bench])(measure.fn).run(return_df=True)), 1)
        with self.assertRaisesRegex(ValueError, "Expected 2 values"):
            perf_report(Benchmark(["m", "n"], [(1, 2, 3)], "p", [1], ["A"], "x", {}))(None).run()

    def test_assert_close(self):
        triton.testing.assert_close(np.ones(3), [1, 1, 1.005])
        triton.testing.assert_close(1.0, 1.2, rtol=lambda dtype: 0.5 if dtype == np.float64 else 0)
        for x, y, options in ((1.0, 1.2, {}), ([1, 2], [1, 3], {}), ([1.0], [1.001], {"atol": 0})):
            with self.assertRaises(AssertionError):
                triton.testing.assert_close(x, y, **options)


class DriverTest(unittest.TestCase):
    def test_target_and_device(self):
        active = triton.runtime.driver.active
        target = active.get_current_target()
        self.assertEqual((target.backend, target.warp_size), ("mps", 32))
        self.assertTrue(target.arch.startswith("apple-"))
        self.assertEqual((active.get_current_device(), active.get_current_stream(0)), (0, 0))
        active.set_current_device(0)
        with self.assertRaisesRegex(ValueError, "device 0 is the only one"):
            active.set_current_device(1)
        interface = active.get_device_interface()
        start, end = interface.Event(enable_timing=True), interface.Event(enable_timing=True)
        with self.assertRaisesRegex(RuntimeError, "record"):
            start.elapsed_time(end)
        start.record()
        end.record()
        self.assertGreaterEqual(start.elapsed_time(end), 0)
        self.assertIs(active.get_benchmarker(), do_bench)
        active.clear_cache(active.get_empty_cache_for_benchmark())

    def test_properties_are_of_the_table_or_absent(self):
        found = triton.runtime.driver.active.utils.get_device_properties(0)
        self.assertEqual((found["max_shared_mem"], found["warpSize"]), (32768, 32))
        with self.assertRaisesRegex(KeyError, "no source gives this figure"):
            found["mem_bus_width"]
        self.assertEqual(triton.testing.get_dram_gbps(), found["memory_bandwidth"])
        for refused in (triton.testing.get_max_simd_tflops,
                        triton.testing.get_max_tensorcore_tflops, triton.testing.set_gpu_clock):
            with self.assertRaises(RuntimeError):
                refused("fp32", 1000000)

    def test_replacing_the_driver(self):
        driver = triton.runtime.driver
        before, other = driver.active, object()
        driver.set_active(other)
        self.assertIs(driver.active, other)
        driver.reset_active()
        self.assertIs(driver.active, before)

    def test_allocator_is_accepted(self):
        triton.set_allocator(lambda size, alignment, stream: self.fail("called"))


class KnobsTest(unittest.TestCase):
    def test_environment_assignment_and_scope(self):
        knobs = triton.knobs
        with knobs.compilation.scope():
            os.environ["TRITON_ALWAYS_COMPILE"] = "On"
            self.assertIs(knobs.compilation.always_compile, True)
            knobs.compilation.always_compile = False
            self.assertEqual(os.environ["TRITON_ALWAYS_COMPILE"], "0")
            copy = knobs.compilation.copy()
            copy.always_compile = True
            self.assertIs(knobs.compilation.always_compile, False)
            self.assertIs(knobs.compilation.knobs["always_compile"], False)
            knobs.compilation.always_compile = knobs.env
            self.assertIs(knobs.compilation.always_compile, True)
            del knobs.compilation.always_compile
        self.assertNotIn("TRITON_ALWAYS_COMPILE", os.environ)
        self.assertIs(knobs.compilation.reset().always_compile, False)

    def test_no_environment_without_propagation(self):
        knobs = triton.knobs
        knobs.propagate_env = False
        try:
            knobs.cache.home_dir = "/nowhere"
            self.assertNotIn("TRITON_HOME", os.environ)
        finally:
            knobs.propagate_env = True
            knobs.cache.reset()

    def test_class_of_the_cache(self):
        with triton.knobs.cache.scope():
            for wrong in ("nothing", "triton_metal.cache:absent", "triton_metal:Config"):
                os.environ["TRITON_CACHE_MANAGER"] = wrong
                with self.assertRaisesRegex(RuntimeError, "TRITON_CACHE_MANAGER is"):
                    triton.knobs.cache.manager_class
            os.environ["TRITON_CACHE_MANAGER"] = "triton_metal.cache:FileCacheManager"
            self.assertIs(triton.knobs.cache.manager_class, triton.cache.FileCacheManager)

    def test_hook_chains(self):
        log = []
        first, second = (lambda value: log.append(("a", value))), (lambda value: log.append("b"))
        for backward, expected in ((False, [("a", 1), "b"]), (True, ["b", ("a", 1)])):
            chain = triton.knobs.HookChain(reversed=backward)
            for hook in (first, second, first):
                chain.add(hook)
            chain(1)
            self.assertEqual(log, expected)
            log.clear()
            chain.remove(first)
            chain.remove(first)
            self.assertEqual(chain.calls, [second])


class InstallTest(unittest.TestCase):
    def python(self, program, *folders, **variables):
        """What a program prints, in a process of its own with `folders` in front of the path."""
        own = os.path.dirname(os.path.dirname(os.path.abspath(triton.__file__)))
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("TRITON_METAL", "TRITON_BACKEND")}
        environment.update(variables, PYTHONPATH=os.pathsep.join([*folders, own]))
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], env=environment,
                              text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def test_every_module_is_found_after_install(self):
        self.python("""
            import triton_metal
            assert triton_metal.install() is triton_metal is triton_metal.install()
            import triton, triton.language as tl, triton.runtime.driver as driver
            import triton.language.extra.cuda.libdevice, triton.language.core as core
            from triton.runtime.driver import driver as same
            from triton.runtime.jit import JITFunction, KernelInterface
            from triton.runtime.autotuner import Autotuner, OutOfResources
            from triton.compiler import CompiledKernel, ASTSource, CompilationError
            from triton.compiler.errors import CompileTimeAssertionFailure
            from triton.tools.tensor_descriptor import TensorDescriptor
            from triton.backends import backends
            from triton.backends.compiler import GPUTarget
            from triton import knobs, testing, errors
            assert same is driver and tl is triton_metal.language and core.dtype is tl.dtype
            assert triton.Config is triton.runtime.autotuner.Config
            assert JITFunction is triton.JITFunction and backends["metal"].driver.is_active()
            for name in ("triton.library", "triton.ops", "triton.language.extra.mlu.libdevice"):
                try: __import__(name)
                except ModuleNotFoundError as error: assert "triton_metal has none" in str(error)
                else: raise AssertionError(name)
            """)

    def test_the_package_has_the_same_modules(self):
        self.python("""
            import sys
            from triton_metal.runtime.driver import driver
            from triton_metal.runtime.jit import JITFunction
            import triton_metal.tools.tensor_descriptor
            assert "triton" not in sys.modules
            """)

    def test_an_installed_triton_is_left_alone_unless_asked(self):
        program = "import {}, triton; print(triton.__name__, getattr(triton, 'real', 0))"
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "triton"))
            for name, text in (("__init__", "real = 1\nfrom . import inner"), ("inner", "")):
                with open(os.path.join(folder, "triton", name + ".py"), "w") as file:
                    file.write(text)
            for first in ("triton_metal", "os"):
                self.assertEqual(self.python(program.format(first), folder), "triton 1")
            for asked in ({"TRITON_METAL": "1"}, {"TRITON_BACKEND": "metal"}):
                self.assertEqual(self.python(program.format("triton_metal"), folder, **asked),
                                 "triton_metal 0")
            self.assertEqual(self.python("""
                import triton.inner, sys, triton_metal
                triton_metal.install()
                import triton
                assert "triton.inner" not in sys.modules
                print(triton.__name__)""", folder), "triton_metal")

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not installed")
    def test_operators_of_pytorch(self):
        self.python("""
            import triton_metal as triton
            triton.install()
            import torch, test_surface
            if not hasattr(torch.library, "wrap_triton"): raise SystemExit
            tuned = triton.autotune(test_surface.configs(32, 64), key=["n"])(test_surface.add_one)

            @torch.library.triton_op("test::add", mutates_args=())
            def add(x: torch.Tensor, kind: int) -> torch.Tensor:
                y, kernel = x.clone(), torch.library.wrap_triton(tuned)
                if kind:
                    torch.library.wrap_triton(test_surface.add_one)[(2,)](y, len(y), BLOCK=64)
                else:
                    kernel[lambda args: (triton.cdiv(len(y), args["BLOCK"]),)](y, len(y))
                return y

            for kind in (0, 1):
                assert (add(torch.zeros(100), kind) == 1).all()
            target = triton.runtime.driver.active.get_current_target()
            assert getattr(torch, target.backend) is torch.mps
            triton.testing.assert_close(torch.ones(3, dtype=torch.bfloat16), [1, 1, 1])
            """, os.path.dirname(os.path.abspath(__file__)))

    def test_import_is_light(self):
        loaded = self.python("import triton_metal, sys; print(*sys.modules)").split()
        for heavy in ("numpy", "torch", "subprocess", "pandas", "matplotlib", "asyncio"):
            self.assertNotIn(heavy, loaded)

    def test_profiler(self):
        with triton.profiler.scope("a", metrics={"flops": 1}):
            self.assertEqual(triton.profiler.scope("b")(abs)(-3), 3)
        with self.assertRaisesRegex(NotImplementedError, "no sessions"):
            triton.profiler.start("matmul", hook="triton")

    def test_version(self):
        self.assertRegex(triton.__version__, r"^3\.\d+\.\d+$")
        self.assertEqual([triton.cdiv(7, 2), triton.next_power_of_2(5), triton.next_power_of_2(0),
                          triton.cdiv(tl.constexpr(7), 2)], [4, 8, 0, 4])


if __name__ == "__main__":
    unittest.main()
