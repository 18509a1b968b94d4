"""Where kernels run: Metal on a Mac, the project's Metal simulator elsewhere.

Environment, read when the first kernel runs:

    TRITON_METAL_BACKEND    "metal", "simulator" or "null", which packs arguments and launches
                            nothing; default: Metal on a Mac, else the simulator, which needs Linux
    TRITON_METAL_GPU        the GPU that kernels are compiled for, "apple-m3-max"
    TRITON_METAL_CHECK      "0": the simulator does not look for races and uninitialized memory
    TRITON_METAL_SECONDS    a launch in the simulator that takes longer is an error; default: a day
"""
from __future__ import annotations

import atexit
import contextlib
import ctypes
import linecache
import os
import re
import struct
import sys
import tempfile
import threading
from typing import Any, Callable, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from . import arrays, library

Launch = Callable[[int, int, int, Tuple[Any, ...]], None]  # programs along x, y, z; arguments
_Place = Tuple[int, int]  # a buffer, and an offset in it
_HERE = os.path.dirname(os.path.abspath(__file__))


# -- Arguments of a kernel ------------------------------------------------------------------------

class Shared(Exception):
    """Two tensors of one buffer: do they overlap?"""


# What Layout.tensor_packer's functions raise for arguments that are not for them.
NOT_DIRECT = (AttributeError, OverflowError, TypeError, struct.error, Shared)


_LETTERS = {"f16": "e6x", "f32": "f4x", "f64": "d"}  # of struct, filled up to 8 bytes


def _bits(kind: str, value: Any) -> int:
    """The bits of a float, rounded to nearest even; too large is infinite, as a cast in C does."""
    if kind == "bf16":
        word: int = _bits("f32", value)
        return word >> 16 | 0x40 if value != value else (word + 0x7fff + (word >> 16 & 1)) >> 16
    try:
        return int.from_bytes(struct.pack("<" + _LETTERS[kind], value), "little")
    except OverflowError:
        return _bits(kind, float("inf") if value > 0 else float("-inf"))


def _pads(value: Any) -> int:
    return int(getattr(value, "padding", "zero") == "nan")


class Layout:
    """What a kernel takes, from its plan, and functions generated for it that pack arguments.

    Packed arguments are a tm_call of library.c: programs along x, y, z and the number of
    parameters, then 24 bytes for each parameter: an object, an offset in it, and the bits of a
    number (of a pointer that a descriptor begins with: 1, where loads outside give NaN).
    """

    names_in_code: Dict[str, Any] = {"_pads": _pads, "_bits": _bits, "Shared": Shared}

    def __init__(self, compiled: library.Compiled) -> None:
        self.pointers: Dict[int, bool] = {}  # parameter: is it written?
        self.padded: List[int] = []
        self.descriptors: Tuple[int, ...] = ()  # pointers in whose places they stand, once seen
        numbers: Dict[int, str] = {}
        self.debug: List[Tuple[int, int]] = []  # kernel of the plan, bytes
        sizes: Dict[int, int] = {}
        for at, kernel in enumerate(compiled.plan["kernels"]):
            for a in kernel["args"]:
                kind = a["kind"]
                if kind in ("buffer", "address"):
                    before = self.pointers.get(a["param"], False)
                    self.pointers[a["param"]] = before or "write" in a["access"]
                    bits = re.search(r"\d+", a["type"])
                    sizes[a["param"]] = max(1, int(bits.group()) // 8) if bits else 8
                elif kind == "bytes":
                    numbers[a["param"]] = a["type"]
                elif kind == "padding":
                    self.padded.append(a["param"])
                elif kind == "debug":
                    self.debug.append((at, a["bytes"]))
        self.count = len(compiled.params)
        self.names = compiled.params
        self._sizes, self._numbers = sizes, numbers

    def bits(self, i: int) -> str:
        """Python for the bits of number a<i>, with names_in_code."""
        kind = self._numbers[i]
        if kind == "i1":
            return f"(1 if a{i} else 0)"
        if kind[0] in "bf":
            return f"_bits('{kind}', a{i})"
        return f"int(a{i}) & {(1 << int(kind[1:])) - 1}"

    def _function(self, body: Sequence[str], careful: bool) -> Callable[..., bytes]:
        form, packed = ["<IIII"], ["x", "y", "z", str(self.count)]
        for i in range(self.count):
            kind = self._numbers.get(i, "")
            if i in self.pointers:
                form.append("QQQ" if i in self.padded else "QQ8x")
                packed += [f"b{i}", f"o{i}"] + (
                    [self.pads(i, careful)] if i in self.padded else [])
            elif not kind:
                form.append("24x")
            elif careful or kind in ("i1", "bf16"):
                form.append("16xQ")
                packed.append(self.bits(i))
            else:  # of an integer only the low bits count
                form.append("16x" + _LETTERS.get(kind, "q"))
                packed.append(f"a{i}")
        names = ", ".join(f"a{i}" for i in range(self.count))
        lines = ["def pack(x, y, z, values, places=()):", *body,
                 f"return _pack({', '.join(packed)})"]
        if self.count:
            lines.insert(1, f"({names},) = values")
        space = {**self.names_in_code, "_pack": struct.Struct("".join(form)).pack}
        exec("\n ".join(lines), space)
        function: Callable[..., bytes] = space["pack"]
        return function

    def packer(self) -> Callable[..., bytes]:
        """pack(x, y, z, values, places): places of the pointers in the order of the parameters."""
        places = ", ".join(f"(b{i}, o{i})" for i in sorted(self.pointers))
        return self._function([f"({places},) = places"] if places else [], careful=True)

    def tensor_packer(self, device: str) -> Callable[..., bytes]:
        """pack(x, y, z, values) for PyTorch's tensors on a device, if a look suffices.

        AttributeError: something else was passed. Shared: two pointers are of one buffer.
        OverflowError, struct.error: a number needs packer().
        """
        pointers = sorted(self.pointers)
        lines = self.unwrapping()
        if pointers:
            test = " and ".join(f"a{i}.is_{device}" for i in pointers)
            lines.append(f"if not ({test}): raise AttributeError")
        for i in pointers:
            size = self._sizes[i]
            lines.append(f"o{i} = a{i}.storage_offset()" + (f" * {size}" if size > 1 else ""))
            lines.append(f"b{i} = a{i}.data_ptr() - o{i}")
        if len(pointers) > 1 and any(self.pointers.values()):
            buffers = ", ".join(f"b{i}" for i in pointers)
            lines.append(f"if len({{{buffers}}}) < {len(pointers)}: raise Shared")
        return self._function(lines, careful=False)

    def unwrapping(self) -> List[str]:
        """Python that takes the tensors out of the descriptors that were seen."""
        return [f"d{i}, a{i} = a{i}, a{i}.base" for i in self.descriptors]

    def sees_descriptors(self, values: Tuple[Any, ...]) -> bool:
        """Are there descriptors among these arguments that were not seen before?"""
        found = tuple(i for i in self.pointers if hasattr(values[i], "block_shape"))
        is_new = found != self.descriptors
        self.descriptors = found
        return is_new

    def pads(self, i: int, careful: bool) -> str:
        """Python for: does a descriptor pad with NaN?"""
        return f"_pads({'d' if i in self.descriptors and not careful else 'a'}{i})"

    def memories(self, values: Tuple[Any, ...], *devices: str) -> Dict[int, arrays.Memory]:
        """Where the pointers point. ValueError: not to these devices (none: anywhere), or one that
        is written may only be read."""
        found: Dict[int, arrays.Memory] = {}
        for i, written in self.pointers.items():
            array = values[i]
            if hasattr(array, "block_shape"):  # a host descriptor, for its pointer
                array = array.base
            found[i] = arrays.memory(array)
            if devices and found[i].device not in devices:
                raise ValueError(f"Pointer argument (at {i}) cannot be accessed from Triton "
                                 f"({found[i].device} tensor?)")
            if written and not found[i].writable:
                raise ValueError(f"the kernel writes `{self.names[i]}`, but the array is read-only")
        return found

    def overlaps(self, memories: Dict[int, arrays.Memory]) -> bool:
        """Do two arrays share elements, and the kernel writes one of them?"""
        known = sorted(memories.items())
        for k, (i, m) in enumerate(known):
            for j, other in known[k + 1:]:
                if ((self.pointers[i] or self.pointers[j]) and m.buffer == other.buffer
                        and m.span and other.span
                        and m.lowest < other.lowest + other.span
                        and other.lowest < m.lowest + m.span):
                    return True
        return False


def layout_of(compiled: library.Compiled) -> Layout:
    """The layout of a kernel, made once."""
    found: Optional[Layout] = compiled.attached.get("layout")
    if found is None:
        found = compiled.attached["layout"] = Layout(compiled)
    return found


class Area(NamedTuple):
    """Memory that overlapping arrays share."""

    buffer: int
    base: int
    bytes: int
    written: bool


def areas_of(memories: Dict[int, arrays.Memory], layout: Layout) -> Tuple[List[Area], List[_Place]]:
    """Areas without a common byte, and for each pointer its area's number and its offset in it."""
    order = sorted(memories.items(), key=lambda item: (item[1].buffer, item[1].base))
    areas: List[Area] = []
    where: Dict[int, _Place] = {}
    for i, m in order:
        last = areas[-1] if areas else None
        if (last and m.bytes and last.bytes and last.buffer == m.buffer
                and m.base < last.base + last.bytes):
            end = max(last.base + last.bytes, m.base + m.bytes)
            areas[-1] = Area(m.buffer, last.base, end - last.base,
                              last.written or layout.pointers[i])
        else:
            areas.append(Area(m.buffer, m.base if m.bytes else m.address, m.bytes,
                               layout.pointers[i]))
        where[i] = (len(areas) - 1, m.address - areas[-1].base)
    return areas, [where[i] for i in sorted(where)]


def bytes_view(address: int, size: int) -> memoryview:
    """Memory of this process."""
    return memoryview((ctypes.c_char * size).from_address(address)).cast("B")


def _report(compiled: library.Compiled, debug: Sequence[Tuple[int, bytes]]) -> None:
    """Print what a launch printed, and raise what it asserted."""
    for kernel, buffer in debug:
        text, failed = compiled.debug_text(buffer, kernel)
        if failed:
            raise RuntimeError("device-side assert triggered: " + text.rstrip())
        if text:
            sys.stdout.write(text)
            sys.stdout.flush()


# -- Backends -------------------------------------------------------------------------------------

class Backend:
    """Something that runs kernels."""

    name = ""
    gpu = ""
    has_timer = False  # does `seconds` return GPU time?

    def prepare(self, kernel: Any) -> Launch:
        """A function that launches a kernel of the package: it has `compiled` and `aliased()`.

        Its last argument are the arguments in the order of kernel.compiled.params. In place of a
        host descriptor's pointer the descriptor itself may stand, for its padding.
        """
        raise NotImplementedError

    def synchronize(self) -> None:
        """Return when all that was launched is complete."""

    @contextlib.contextmanager
    def timing(self) -> Iterator[None]:
        """Launches of this thread in such a block are timed, and complete when they return."""
        yield

    def seconds(self, kernel: Any) -> Optional[float]:
        """GPU time of this thread's last timed launch; None where there is no such timer."""
        return None


class NullBackend(Backend):
    """Packs arguments as for Metal and launches nothing."""

    name = "null"

    def __init__(self) -> None:
        self.gpu = os.environ.get("TRITON_METAL_GPU", "apple-m1")

    def prepare(self, kernel: Any) -> Launch:
        layout = layout_of(kernel.compiled)
        direct, packer = layout.tensor_packer("cpu"), layout.packer()
        run = library.load().tm_launch_null

        def launch(x: int, y: int, z: int, values: Tuple[Any, ...]) -> None:
            try:
                run(None, direct(x, y, z, values), None)
            except NOT_DIRECT:
                places = [(m.base, m.address - m.base)
                          for _, m in sorted(layout.memories(values).items())]
                run(None, packer(x, y, z, values, places), None)

        return launch


# -- The simulator --------------------------------------------------------------------------------

_ANSWER = 64  # bytes of the line that an answer begins with
_MODULES = 20000  # compiled texts that are kept on disk


class _Ended(Exception):
    """The simulator's process has ended."""


class _Found(Exception):
    """What the simulator says of a text or a launch: line of the Metal, words."""


class _Process:
    """One process of the simulator; for one thread at a time."""

    def __init__(self, environment: Dict[str, str]) -> None:
        import subprocess
        path = os.environ.get("TRITON_METAL_SIMULATOR") or os.path.join(_HERE, "simulator")
        if not os.path.exists(path):
            raise RuntimeError(f"{path} is missing: run 'make python'")
        self._process = subprocess.Popen([path], bufsize=0, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, env=environment,
                                         start_new_session=True)
        assert self._process.stdin and self._process.stdout
        self._to, self._from = self._process.stdin.fileno(), self._process.stdout.fileno()
        self.libraries: Dict[Tuple[str, str], int] = {}

    def write(self, data: Any) -> None:
        view = memoryview(data).cast("B")
        try:
            while view:
                view = view[os.write(self._to, view):]
        except BrokenPipeError:
            raise _Ended from None

    def read_into(self, view: memoryview) -> None:
        while view:
            n = os.readv(self._from, [view])
            if not n:
                raise _Ended
            view = view[n:]

    def read(self, size: int) -> bytes:
        data = bytearray(size)
        self.read_into(memoryview(data))
        return bytes(data)

    def answer(self) -> List[str]:
        """The words behind "ok"; raises _Found for errors."""
        kind, *words = self.read(_ANSWER).decode().split()
        if kind != "ok":
            raise _Found(int(words[0]), self.read(int(words[1])).decode(errors="replace"))
        return words

    def end(self) -> str:
        """End it, and what it has started. How it ended."""
        import signal
        with contextlib.suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        status = self._process.wait()
        self.close()
        return f"signal {-status}" if status < 0 else f"exit status {status}"

    def close(self) -> None:
        """Close the pipes: the process ends when it has nothing more to read."""
        for stream in filter(None, (self._process.stdin, self._process.stdout)):
            stream.close()
        self._process.returncode = self._process.returncode or 0  # nobody waits for it


def _clang() -> str:
    """The compiler of the simulator's kernels: the newest that its tests know."""
    import shutil
    versions = ("-19", "-21", "-20", "-18", "-17", "-16", "")
    found = next(filter(shutil.which, ("clang++" + version for version in versions)), "")
    if not (found or os.environ.get("CLANGXX")):
        raise RuntimeError("kernels in the simulator are compiled by clang++, which is not found: "
                           "install clang (apt-get install clang), or set CLANGXX to its path")
    return found


def _trim(folder: str) -> None:
    """Remove the older half of the files in a folder that has too many."""
    with contextlib.suppress(OSError):
        files = list(os.scandir(folder))
        if len(files) > _MODULES:
            for file in sorted(files, key=lambda f: f.stat().st_mtime)[:len(files) // 2]:
                os.unlink(file.path)


class SimulatorBackend(Backend):
    """Kernels run in the Metal simulator, by processes that start as they are needed."""

    name = "simulator"

    def __init__(self) -> None:
        self.gpu = os.environ.get("TRITON_METAL_GPU", "apple-m1")
        self._checks = int(os.environ.get("TRITON_METAL_CHECK", "1") != "0")
        self._seconds = float(os.environ.get("TRITON_METAL_SECONDS", "86400"))
        self._folder: Optional[str] = None
        self._start_anew()
        os.register_at_fork(after_in_child=self._after_fork)
        atexit.register(self._close)

    def _start_anew(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(max(2, os.cpu_count() or 2))
        self._idle: List[_Process] = []
        self._all: List[_Process] = []

    def _after_fork(self) -> None:
        """The processes are the parent's: this one starts its own."""
        for process in self._all:
            process.close()
        self._start_anew()

    def _close(self) -> None:
        if self._pid == os.getpid():
            for process in self._all:
                process.close()

    def _environment(self) -> Dict[str, str]:
        folder = library.cache_folder()
        folder = folder if library.writable(folder) else self._folder
        if folder is None:
            temporary = tempfile.TemporaryDirectory(prefix="triton-metal-")
            atexit.register(temporary.cleanup)
            folder = self._folder = temporary.name
        folder = os.path.join(folder, "simulator")
        headers = {"SIM_CACHE": folder, "CLANGXX": _clang()}
        if os.path.isdir(os.path.join(_HERE, "include")):
            headers["SIM_INCLUDE"] = os.path.join(_HERE, "include")
        modules = os.path.join(folder, "modules")
        _trim(modules)
        return {**headers, "TRITON_METAL_MODULES": modules, **os.environ}

    @contextlib.contextmanager
    def _process(self) -> Iterator[_Process]:
        """A process for one thread. One whose answer was not read is ended."""
        from . import errors
        with self._room:
            with self._lock:
                if not self._idle:
                    self._idle.append(_Process(self._environment()))
                    self._all.append(self._idle[-1])
                process = self._idle.pop()
            ended = True
            try:
                yield process
                ended = False
            except _Found:
                ended = False
                raise
            except _Ended:
                raise errors.SimulatorError(f"the simulator ended ({process.end()})") from None
            finally:  # KeyboardInterrupt, too
                if ended:
                    process.end()
                with self._lock:
                    (self._all.remove if ended else self._idle.append)(process)

    @staticmethod
    def _error(compiled: library.Compiled, line: int, text: str) -> Exception:
        from . import errors
        text = re.sub(r"^[^:\s]*:(\d+:)* ", "", text)
        place = compiled.place(line) if line else None
        lines = compiled.msl.splitlines()
        if place:
            source = linecache.getline(place[0], place[1]).strip()
            text = f"{place[0]}:{place[1]}: {text}" + (f"\n    {source}" if source else "")
        if 0 < line <= len(lines):
            text += f"\nline {line} of the Metal: {lines[line - 1].strip()}"
        return errors.SimulatorError(text)

    @staticmethod
    def _library(process: _Process, compiled: library.Compiled) -> int:
        key = (compiled.msl, compiled.plan_text)
        if key not in process.libraries:
            msl, plan = compiled.msl.encode(), compiled.plan_text.encode()
            process.write(b"compile %d %d\n" % (len(msl), len(plan)) + msl + plan)
            process.libraries[key] = int(process.answer()[0])
        return process.libraries[key]

    def _run(self, compiled: library.Compiled, grid: Tuple[int, int, int],
             values: Tuple[Any, ...], memories: Dict[int, arrays.Memory], overlaps: bool) -> bool:
        """Launch. False: arrays share elements, and it was not compiled for that (`overlaps`)."""
        layout = layout_of(compiled)
        areas, places = areas_of(memories, layout)
        leads = [area.base % 16 if area.bytes else 0 for area in areas]
        data = layout.packer()(*grid, values, [(i + 1, at + leads[i]) for i, at in places])
        try:
            with self._process() as process:
                head = (f"run {self._library(process, compiled)} {self._checks} {self._seconds} "
                        f"{int(overlaps)} {len(areas)}\n")
                head += "".join(f"{a.bytes} {n} {int(a.written)}\n" for a, n in zip(areas, leads))
                process.write(head.encode() + data)
                for area in areas:
                    process.write(bytes_view(area.base, area.bytes))
                if process.answer()[0] == "0":
                    return False
                debug = [(kernel, process.read(size)) for kernel, size in layout.debug]
                for area in areas:
                    if area.written:
                        process.read_into(bytes_view(area.base, area.bytes))
        except _Found as found:
            raise self._error(compiled, *found.args) from None
        _report(compiled, debug)
        return True

    def prepare(self, kernel: Any) -> Launch:
        layout = layout_of(kernel.compiled)

        def launch(x: int, y: int, z: int, values: Tuple[Any, ...]) -> None:
            if not (x and y and z):
                return
            memories = layout.memories(values, "cpu")
            if (layout.overlaps(memories)
                    or not self._run(kernel.compiled, (x, y, z), values, memories, False)):
                self._run(kernel.aliased(), (x, y, z), values, memories, True)

        return launch


# -- Choice ---------------------------------------------------------------------------------------

_active: Optional[Backend] = None
_choosing = threading.Lock()


def _choose() -> Backend:
    name = os.environ.get("TRITON_METAL_BACKEND") or (
        "metal" if sys.platform == "darwin" else "simulator")
    if name == "metal":
        from .metal import MetalBackend
        return MetalBackend()
    if name not in ("simulator", "null"):
        raise ValueError(f"TRITON_METAL_BACKEND is {name!r}, not one of metal, null, simulator")
    return SimulatorBackend() if name == "simulator" else NullBackend()


def active() -> Backend:
    """The backend of this process, chosen at the first call."""
    global _active
    if _active is None:
        with _choosing:
            if _active is None:
                _active = _choose()
    return _active
