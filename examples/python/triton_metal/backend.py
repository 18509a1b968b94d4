"""Where kernels run: Metal on a Mac, the project's Metal simulator elsewhere.

Environment, read when the first kernel runs:

    TRITON_METAL_BACKEND    "metal" or "simulator"; default: Metal on a Mac, else the simulator,
                            which needs Linux
    TRITON_METAL_GPU        the GPU that kernels are compiled for, "apple-m3-max"
    TRITON_METAL_CHECK      "0": the simulator does not look for races and uninitialized memory
    TRITON_METAL_SECONDS    a launch in the simulator that takes longer is an error; default: a day
"""
from __future__ import annotations

import atexit
import contextlib
import ctypes
import itertools
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


# What Layout.packer's functions raise for arguments that they cannot place by themselves.
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


class Layout:
    """What a kernel takes, from its plan, and functions generated for it that pack arguments.

    Packed arguments are a tm_call of library.c: programs along x, y, z and the number of
    parameters, then 24 bytes for each parameter: an object, an offset in it, and the bits of a
    number (of a pointer that a descriptor begins with: 1, where loads outside give NaN).
    """

    names_in_code: Dict[str, Any] = {"_bits": _bits, "Shared": Shared}

    def __init__(self, compiled: library.Compiled) -> None:
        pointers: Dict[int, bool] = {}
        self._numbers: Dict[int, str] = {}
        self._sizes: Dict[int, int] = {}
        self._padded: List[int] = []
        self.debug: List[Tuple[int, int]] = []  # kernel of the plan, bytes
        for at, kernel in enumerate(compiled.plan["kernels"]):
            for a in kernel["args"]:
                kind = a["kind"]
                if kind in ("buffer", "address"):
                    pointers[a["param"]] = pointers.get(a["param"]) or "write" in a["access"]
                    bits = re.search(r"\d+", a["type"])
                    self._sizes[a["param"]] = max(1, int(bits.group()) // 8) if bits else 8
                elif kind == "bytes":
                    self._numbers[a["param"]] = a["type"]
                elif kind == "padding":
                    self._padded.append(a["param"])
                elif kind == "debug":
                    self.debug.append((at, a["bytes"]))
        self.pointers = dict(sorted(pointers.items()))  # parameter: is it written?
        self.names = compiled.params
        arguments = [f"a{i}" for i in range(len(self.names))]
        arguments += [f"p{i}" for i in compiled.descriptors]
        # Takes `values` apart: the parameters, then for each descriptor: does it pad with NaN?
        self.unpacking = [f"({', '.join(arguments)},) = values"] if arguments else []

    def bits(self, i: int) -> str:
        """Python for the bits of number a<i>, with names_in_code."""
        kind = self._numbers[i]
        if kind == "i1":
            return f"(1 if a{i} else 0)"
        if kind[0] in "bf":
            return f"_bits('{kind}', a{i})"
        return f"int(a{i}) & {(1 << int(kind[1:])) - 1}"

    def packer(self, direct: bool = False) -> Callable[..., bytes]:
        """pack(x, y, z, values, places): places of the pointers in the order of the parameters.

        With `direct`, pack(x, y, z, values) for PyTorch's tensors on mps, if a look suffices.
        AttributeError: something else was passed. Shared: two pointers are of one buffer.
        OverflowError, struct.error: a number needs the other packer.
        """
        form, packed, lines = ["<IIII"], ["x", "y", "z", str(len(self.names))], [*self.unpacking]
        if direct:
            lines += self._look()
        elif self.pointers:
            lines.append("(" + "".join(f"(b{i}, o{i}), " for i in self.pointers) + ") = places")
        for i in range(len(self.names)):
            kind = self._numbers.get(i, "")
            if i in self.pointers:
                form.append("QQQ" if i in self._padded else "QQ8x")
                packed += [f"b{i}", f"o{i}"] + ([f"p{i}"] if i in self._padded else [])
            elif not kind:
                form.append("24x")
            elif direct and kind not in ("i1", "bf16"):  # of an integer only the low bits count
                form.append("16x" + _LETTERS.get(kind, "q"))
                packed.append(f"a{i}")
            else:
                form.append("16xQ")
                packed.append(self.bits(i))
        lines = ["def pack(x, y, z, values, places=()):", *lines]
        space = {**self.names_in_code, "_pack": struct.Struct("".join(form)).pack}
        exec("\n ".join([*lines, f"return _pack({', '.join(packed)})"]), space)
        function: Callable[..., bytes] = space["pack"]
        return function

    def _look(self) -> List[str]:
        """Lines that find the buffers and offsets of tensors on mps."""
        if not self.pointers:
            return []
        test = " and ".join(f"a{i}.is_mps" for i in self.pointers)
        lines = [f"if not ({test}): raise AttributeError"]
        for i in self.pointers:
            size = f" * {self._sizes[i]}" if self._sizes[i] > 1 else ""
            lines += [f"o{i} = a{i}.storage_offset(){size}", f"b{i} = a{i}.data_ptr() - o{i}"]
        if len(self.pointers) > 1 and any(self.pointers.values()):
            buffers = ", ".join(f"b{i}" for i in self.pointers)
            lines.append(f"if len({{{buffers}}}) < {len(self.pointers)}: raise Shared")
        return lines

    def memories(self, values: Tuple[Any, ...], *devices: str) -> Dict[int, arrays.Memory]:
        """Where the pointers point. ValueError: not to these devices (none: anywhere), or one that
        is written may only be read."""
        found = {i: arrays.memory(values[i]) for i in self.pointers}
        for i, memory in found.items():
            if devices and memory.device not in devices:
                raise ValueError(f"Pointer argument (at {i}) cannot be accessed from Triton "
                                 f"({memory.device} tensor?)")
            if self.pointers[i] and not memory.writable:
                raise ValueError(f"the kernel writes `{self.names[i]}`, but the array is read-only")
        return found

    def overlaps(self, memories: Dict[int, arrays.Memory]) -> bool:
        """Do two arrays share elements, and the kernel writes one of them?"""
        return any((self.pointers[i] or self.pointers[j]) and a.buffer == b.buffer
                   and a.span and b.span
                   and a.lowest < b.lowest + b.span and b.lowest < a.lowest + a.span
                   for (i, a), (j, b) in itertools.combinations(memories.items(), 2))


def layout_of(compiled: library.Compiled) -> Layout:
    """The layout of a kernel, made once."""
    layout: Layout = compiled.attached("layout", Layout)
    return layout


class Area(NamedTuple):
    """Memory that overlapping arrays share."""

    buffer: int
    base: int
    bytes: int
    written: bool


def areas_of(memories: Dict[int, arrays.Memory], layout: Layout) -> Tuple[List[Area], List[_Place]]:
    """Areas without a common byte, and for each pointer its area's number and its offset in it."""
    areas: List[Area] = []
    where: Dict[int, _Place] = {}
    for i, m in sorted(memories.items(), key=lambda item: (item[1].buffer, item[1].base)):
        area = Area(m.buffer, m.base if m.bytes else m.address, m.bytes, layout.pointers[i])
        last = areas[-1] if areas else Area(-1, 0, 0, False)
        end = last.base + last.bytes
        if last.buffer == area.buffer and area.bytes and last.bytes and area.base < end:
            end = max(end, area.base + area.bytes)
            areas[-1] = Area(last.buffer, last.base, end - last.base, last.written or area.written)
        else:
            areas.append(area)
        where[i] = (len(areas) - 1, m.address - areas[-1].base)
    return areas, [where[i] for i in memories]


def bytes_view(address: int, size: int) -> memoryview:
    """Memory of this process."""
    return memoryview((ctypes.c_char * size).from_address(address)).cast("B")


def report(text: str, failed: bool) -> None:
    """Print what a launch printed, or raise what it asserted."""
    if failed:
        raise RuntimeError("device-side assert triggered: " + text.rstrip())
    if text:
        sys.stdout.write(text)
        sys.stdout.flush()


# -- Backends -------------------------------------------------------------------------------------

class Backend:
    """Something that runs kernels."""

    name = ""
    has_timer = False  # does `seconds` return GPU time?

    def __init__(self) -> None:
        self.gpu = os.environ.get("TRITON_METAL_GPU", "apple-m1")

    def prepare(self, kernel: Any) -> Launch:
        """A function that launches a kernel of the package: it has `compiled` and `aliased()`.

        Its last argument are the arguments in the order of kernel.compiled.params, then for each
        of compiled.descriptors: does it pad with NaN?
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


# -- The simulator --------------------------------------------------------------------------------

_ANSWER = 64  # bytes of the line that an answer begins with


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

    def read(self, view: memoryview) -> memoryview:
        rest = view
        while rest:
            n = os.readv(self._from, [rest])
            if not n:
                raise _Ended
            rest = rest[n:]
        return view

    def read_bytes(self, size: int) -> bytes:
        return bytes(self.read(memoryview(bytearray(size))))

    def answer(self) -> List[str]:
        """The words behind "ok"; raises _Found for errors."""
        kind, *words = self.read_bytes(_ANSWER).decode().split()
        if kind != "ok":
            raise _Found(int(words[0]), self.read_bytes(int(words[1])).decode(errors="replace"))
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


class SimulatorBackend(Backend):
    """Kernels run in the Metal simulator, by processes that start as they are needed."""

    name = "simulator"

    def __init__(self) -> None:
        super().__init__()
        self._checks = int(os.environ.get("TRITON_METAL_CHECK", "1") != "0")
        self._seconds = float(os.environ.get("TRITON_METAL_SECONDS", "86400"))
        self._folder: Optional[str] = None
        self._start_anew()
        os.register_at_fork(after_in_child=self._after_fork)
        atexit.register(self._close)

    def _start_anew(self) -> None:
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(max(2, os.cpu_count() or 2))
        self._idle: List[_Process] = []
        self._all: List[_Process] = []

    def _after_fork(self) -> None:
        """The processes are the parent's: this one starts its own."""
        self._close()
        self._start_anew()

    def _close(self) -> None:
        for process in self._all:
            process.close()

    def _environment(self) -> Dict[str, str]:
        folder = library.cache_folder() or self._folder
        if folder is None:
            temporary = tempfile.TemporaryDirectory(prefix="triton-metal-")
            atexit.register(temporary.cleanup)
            folder = self._folder = temporary.name
        folder = os.path.join(folder, "simulator")
        found = {"SIM_CACHE": folder, "TRITON_METAL_MODULES": os.path.join(folder, "modules")}
        if os.path.isdir(os.path.join(_HERE, "include")):
            found["SIM_INCLUDE"] = os.path.join(_HERE, "include")
        return {**found, **os.environ}

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
                debug = [(process.read_bytes(size), kernel) for kernel, size in layout.debug]
                for area in areas:
                    if area.written:
                        process.read(bytes_view(area.base, area.bytes))
        except _Found as found:
            raise self._error(compiled, *found.args) from None
        for said in debug:
            text, failed = compiled.debug_text(*said)
            report(text, bool(failed))
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


def active() -> Backend:
    """The backend of this process, chosen at the first call."""
    global _active
    with _choosing if _active is None else contextlib.nullcontext():
        if _active is None:
            name = os.environ.get("TRITON_METAL_BACKEND") or (
                "metal" if sys.platform == "darwin" else "simulator")
            if name == "metal":
                from .metal import MetalBackend
                _active = MetalBackend()
            elif name == "simulator":
                _active = SimulatorBackend()
            else:
                raise ValueError(f"TRITON_METAL_BACKEND is {name!r}, not one of metal, simulator")
        return _active
