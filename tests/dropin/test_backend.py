"""Launching: memory, overlaps, errors, threads, fork, interrupts, growth. Needs NumPy."""
import contextlib
import io
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import unittest

import numpy as np

import triton_metal
import triton_metal.language as tl
from triton_metal import arrays, backend, errors


@triton_metal.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton_metal.jit
def shift(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) + 1)


@triton_metal.jit
def as_float(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i).to(tl.float32))


@triton_metal.jit
def reverse(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x - i))


@triton_metal.jit
def beyond(x, at):
    tl.store(x + at, 1.0)


@triton_metal.jit
def race(x):
    tl.store(x, tl.program_id(0))


@triton_metal.jit
def talk(x):
    value = tl.load(x)
    tl.device_print("value", value)
    tl.device_assert(value < 3, "too large")


@triton_metal.jit
def talk_in_blocks(x, UNUSED: tl.constexpr):
    value = tl.load(x + tl.arange(0, 16)[:, None] + tl.arange(0, 2)[None, :])
    tl.device_print("a b", value, value.to(tl.int16))
    tl.static_print(value)


@triton_metal.jit
def greet():
    tl.device_print("hello")
    tl.device_print("hex", tl.program_id(0) + 0xabc, hex=True)


@triton_metal.jit
def numbers(out, a, b, c, d):
    tl.store(out, a.to(tl.float64))
    tl.store(out + 1, b.to(tl.float64))
    tl.store(out + 2, c.to(tl.float64))
    tl.store(out + 3, d.to(tl.float64))


@triton_metal.jit
def widen(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i).to(tl.float32))


@triton_metal.jit
def forever(x):
    n = 0
    while tl.load(x) == 0.0:
        n += 1
    tl.store(x, n)


IS_SIMULATOR = backend.active().name == "simulator"


def triple(n=4000):
    rng = np.random.default_rng(1)
    return rng.random(n, dtype=np.float32), rng.random(n, dtype=np.float32), np.zeros(n, np.float32)


class Launches(unittest.TestCase):
    def test_every_type_is_read_as_itself(self):
        bits = np.arange(255, 0, -1, dtype=np.uint8).repeat(8)
        for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
                     "uint64", "float16", "float32", "float64"):
            with np.errstate(all="ignore"):
                x = (bits.view(name) if name[0] != "f" and name != "bool" else bits % 3)
                x = x.astype(name)[:64].copy()
                want = x.astype(np.float32)
            out = np.empty(64, np.float32)
            as_float[(1,)](x, out, BLOCK=64)
            np.testing.assert_array_equal(out, want, name)

    def test_results_are_written_in_place(self):
        x, y, out = triple()
        add[(4,)](x, y, out, x.size, BLOCK=1024)
        np.testing.assert_array_equal(out, x + y)

    def test_in_place_and_overlapping_arrays(self):
        x, y, _ = triple()
        want = x + y
        add[(4,)](x, y, x, x.size, BLOCK=1024)
        np.testing.assert_array_equal(x, want)
        a = np.arange(300, dtype=np.float32)
        want = a[:128] + 1
        shift[(1,)](a, a[1:], BLOCK=128)
        np.testing.assert_array_equal(a[1:129], want)

    def test_views_keep_their_places(self):
        a = np.zeros(100, np.float32)
        beyond[(1,)](a[40:50], -7)
        beyond[(1,)](a[40:50], 30)
        self.assertEqual(list(a.nonzero()[0]), [33, 70])
        down = np.arange(8, dtype=np.float32)[::-1]
        beyond[(1,)](down, -2)
        self.assertEqual(down[2], 1.0)

    def test_arrays_at_odd_addresses(self):
        data = np.zeros(4 * 600 + 16, np.uint8)
        x = np.frombuffer(data, np.float32, 500, offset=4)
        shift[(1,)](x, np.frombuffer(data, np.float32, 100, offset=2004), BLOCK=64)
        self.assertEqual(np.frombuffer(data, np.float32, 1, offset=2004)[0], 1.0)

    def test_read_only_arrays(self):
        x, y, out = triple()
        out.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "writes `out`, but the array is read-only"):
            add[(4,)](x, y, out, x.size, BLOCK=1024)
        x.flags.writeable = False
        add[(4,)](x, y, y, x.size, BLOCK=1024)

    def test_empty_grids_and_empty_arrays(self):
        x, y, out = triple()
        add[(0,)](x, y, out, x.size, BLOCK=1024)
        self.assertFalse(out.any())
        none = np.zeros(0, np.float32)
        add[(1,)](none, none.copy(), none.copy(), 0, BLOCK=1024)

    def test_numbers_of_every_type(self):
        out = np.zeros(4)
        numbers[(1,)](out, -5, 1 << 40, 1.5, True)
        self.assertEqual(list(out), [-5, 1 << 40, 1.5, 1])
        numbers[(1,)](out, (1 << 63) + 4096, -1 << 63, 1e300, False)
        self.assertEqual(list(out), [(1 << 63) + 4096, -(1 << 63), np.inf, 0])

    def test_a_view_of_another_kind(self):
        class Tensor:  # with the methods of PyTorch's that count
            def __init__(self, array):
                self.array, self.dtype, self.nbytes = array, array.dtype, array.nbytes

            def data_ptr(self):
                return self.array.ctypes.data

        class Backwards:  # its first element is the last of `_base`
            def __init__(self, base):
                self._base, self.dtype, self.shape = base, base.dtype, base.array.shape

            def data_ptr(self):
                return self._base.data_ptr() + self._base.nbytes - 4

            def stride(self):
                return (-1,)

            def element_size(self):
                return 4

        x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
        reverse[(1,)](Backwards(Tensor(x)), Tensor(out), BLOCK=64)
        np.testing.assert_array_equal(out, x[::-1])
        with self.assertRaises(errors.SimulatorError) if IS_SIMULATOR else contextlib.nullcontext():
            shift[(1,)](Backwards(Tensor(x)), Tensor(out), BLOCK=64)

    def test_an_array_interface(self):
        class Wrapped:
            def __init__(self, array):
                self.__array_interface__, self.dtype = array.__array_interface__, array.dtype
        x, y, out = triple()
        class Late(Wrapped):
            __array_interface__ = property(lambda self: out.__array_interface__)
            def __init__(self): self.dtype = out.dtype
        add[(4,)](x, y, Late(), x.size, BLOCK=1024)
        np.testing.assert_array_equal(out, x + y)


    def test_objects_that_stand_for_arrays(self):
        class Strided:  # as FlagGems has them
            def __init__(self, base, shape, strides):
                self._base, self.dtype, self.shape, self._strides = base, base.dtype, shape, strides
            def data_ptr(self): return self._base.__array_interface__["data"][0]
            def stride(self): return self._strides
            def element_size(self): return self._base.itemsize
        x, y, out = triple()
        add[(4,)](Strided(x, (x.size,), (1,)), y, Strided(out, (out.size,), (1,)), x.size, BLOCK=1024)
        np.testing.assert_array_equal(out, x + y)
        bits = np.array([0x40, 0x3c], np.uint8)
        wide = np.zeros(2, np.float32)
        widen[(1,)](triton_metal.reinterpret(bits, tl.float8e5), wide, BLOCK=2)
        self.assertEqual(list(wide), [2.0, 1.0])


class Errors(unittest.TestCase):
    @unittest.skipUnless(IS_SIMULATOR, "a GPU does not look")
    def test_a_stray_access_names_the_line(self):
        x = np.zeros(10, np.float32)
        with self.assertRaises(errors.SimulatorError) as caught:
            beyond[(1,)](x, 100)
        text = str(caught.exception)
        line = beyond.fn.__code__.co_firstlineno + 2
        self.assertIn(f"test_backend.py:{line}: out of bounds", text)
        self.assertIn("tl.store(x + at, 1.0)", text)
        self.assertFalse(x.any())

    @unittest.skipUnless(IS_SIMULATOR, "a GPU does not look")
    def test_a_race_between_programs(self):
        with self.assertRaisesRegex(errors.SimulatorError, "race between threadgroups"):
            race[(2,)](np.zeros(1, np.int32))

    def test_prints_and_assertions(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            talk[(2,)](np.array([2], np.int32), debug=True)
        self.assertEqual(sorted(said.getvalue().splitlines()),
                         ["pid (0, 0, 0) idx () value: 2", "pid (1, 0, 0) idx () value: 2"])
        with self.assertRaisesRegex(RuntimeError, "device-side assert triggered(.|\n)*too large"):
            talk[(1,)](np.array([5], np.int32), debug=True)

    def test_prints_are_as_of_triton(self):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            talk_in_blocks[(1,)](np.full(17, -0.25, np.float32), object())
        lines = said.getvalue().splitlines()
        self.assertEqual(len(lines), 65)
        self.assertEqual(lines[0], "fp32[constexpr[16], constexpr[2]]")
        self.assertIn("pid (0, 0, 0) idx ( 9, 1) a b: (operand 0) -0.250000", lines)
        self.assertIn("pid (0, 0, 0) idx (15, 0) a b: (operand 1) 0", lines)
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            greet[(1,)]()  # without arguments
        self.assertEqual(sorted(said.getvalue().splitlines()),
                         ["pid (0, 0, 0) hello", "pid (0, 0, 0) idx () hex: 0x00000abc"])

    def test_what_is_no_array(self):
        class Strange:
            dtype = np.dtype(np.float32)
            def data_ptr(self): return 4096
        x, y, _ = triple()
        with self.assertRaisesRegex(TypeError, "needs an attribute nbytes"):
            add[(4,)](x, y, Strange(), 4000, BLOCK=1024)

    def test_element_types(self):
        self.assertEqual(arrays.element(np.dtype("float16")), "fp16")
        self.assertEqual(arrays.element(np.float32), "fp32")
        self.assertEqual(arrays.element(tl.float8e5), "fp8e5")
        self.assertEqual(arrays.element(np.dtype(bool)), "i1")
        for bad in (np.dtype(">f4"), np.dtype("complex64"), "nothing"):
            with self.assertRaises(TypeError):
                arrays.element(bad)


class Processes(unittest.TestCase):
    def test_eight_threads(self):
        failures = []

        def work(seed):
            try:
                rng = np.random.default_rng(seed)
                for _ in range(10):
                    x, y = rng.random((2, 3000), dtype=np.float32)
                    out = np.zeros_like(x)
                    add[(3,)](x, y, out, x.size, BLOCK=1024)
                    np.testing.assert_array_equal(out, x + y)
            except BaseException as error:  # a thread's exception must not be lost
                failures.append(error)
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    @unittest.skipUnless(IS_SIMULATOR, "Metal does not live on after a fork")
    def test_fork(self):
        x, y, out = triple()
        add[(4,)](x, y, out, x.size, BLOCK=1024)
        children = []
        for _ in range(3):
            child = os.fork()
            if child == 0:
                status = 1
                with contextlib.suppress(BaseException):
                    add[(4,)](x, out, y, x.size, BLOCK=1024)
                    status = int(not np.array_equal(y, x + out))
                os._exit(status)
            children.append(child)
        add[(4,)](x, out, out, x.size, BLOCK=1024)
        self.assertEqual([os.waitpid(child, 0)[1] for child in children], [0, 0, 0])

    @unittest.skipUnless(IS_SIMULATOR, "there is no process")
    def test_a_process_that_is_killed(self):
        x, y, out = triple()
        add[(4,)](x, y, out, x.size, BLOCK=1024)
        for process in backend.active()._all:
            os.kill(process._process.pid, signal.SIGKILL)
        killed = len(backend.active()._all)
        for _ in range(killed):
            with self.assertRaisesRegex(errors.SimulatorError, "ended"):
                add[(4,)](x, y, out, x.size, BLOCK=1024)
        add[(4,)](x, y, out, x.size, BLOCK=1024)
        np.testing.assert_array_equal(out, x + y)

    @unittest.skipUnless(IS_SIMULATOR, "a kernel on a GPU cannot be interrupted")
    def test_interrupts(self):
        # a shell that starts a program in the background has it ignore the signal
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        x = np.zeros(1, np.float32)
        timer = threading.Timer(2.0, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        began = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            forever[(1,)](x)
        self.assertLess(time.monotonic() - began, 20)
        x, y, out = triple()
        add[(4,)](x, y, out, x.size, BLOCK=1024)
        np.testing.assert_array_equal(out, x + y)
        self.assertEqual(_children_named("simulator"), len(backend.active()._all))

    @unittest.skipUnless(IS_SIMULATOR, "there is no process")
    def test_a_process_that_ends_at_once_leaves_nothing(self):
        text = ("import os, signal, sys, threading; sys.path.insert(0, %r)\n"
                "import test_backend as t\n"
                "t.add[(4,)](*t.triple(), 4000, BLOCK=1024)\n"
                "threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGKILL)).start()\n"
                "print(t.backend.active()._all[0]._process.pid, flush=True)\n"
                "t.forever[(1,)](t.np.zeros(1, t.np.float32))\n" % os.path.dirname(__file__))
        done = subprocess.run([sys.executable, "-c", text], stdout=subprocess.PIPE, check=False)
        server = int(done.stdout)
        for _ in range(100):
            if not os.path.exists(f"/proc/{server}/status"):
                return
            time.sleep(0.1)
        self.fail("the simulator's process is still there")

    def test_launches_do_not_grow(self):
        count = int(os.environ.get("DROPIN_LAUNCHES", "300"))
        x, y, out = triple(64)
        for _ in range(50):
            add[(1,)](x, y, out, 64, BLOCK=64)
        before, files = _resident(), len(os.listdir("/dev/fd"))
        for _ in range(count):
            add[(1,)](x, y, out, 64, BLOCK=64)
        self.assertLess(max(now - then for now, then in zip(_resident(), before)), 2 << 20)
        self.assertEqual(len(os.listdir("/dev/fd")), files)


def _children_named(name):
    """Processes of this name below this one, at any depth."""
    if not os.path.isdir("/proc/self"):
        return len(backend.active()._all)
    parents, names = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            before, _, after = file.read().rpartition(")")
            names[int(pid)] = before.partition("(")[2]
            parents[int(pid)] = int(after.split()[1])
    count = 0
    for pid in (p for p, n in names.items() if n == name):
        while pid not in (0, 1, os.getpid()):
            pid = parents.get(pid, 0)
        count += pid == os.getpid()
    return count


def _resident():
    """Bytes of memory of this process, and of the simulator's."""
    pids = [os.getpid()]
    if IS_SIMULATOR:
        pids += [process._process.pid for process in backend.active()._all]
    if not os.path.isdir("/proc/self"):
        return [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss]
    sizes = []
    for pid in pids:
        with open(f"/proc/{pid}/statm", encoding="utf-8") as file:
            sizes.append(int(file.read().split()[1]) * 4096)
    return sizes


if __name__ == "__main__":
    unittest.main()
