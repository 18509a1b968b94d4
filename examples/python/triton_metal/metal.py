"""Launching on Apple GPUs, by the launcher of tmetal.h and by PyTorch's.

Arguments decide about the way of a launch:

- PyTorch's tensors on mps, none of which share a buffer: torch.mps.compile_shader, on PyTorch's
  stream, if nothing in the kernel goes by address. The call returns at once.
- All else: our launcher. It waits for PyTorch's stream first where a tensor on mps is passed, and
  returns when the launch is complete. Memory of the CPU is used in place where it fills pages of
  its own, and otherwise copied, and copied back if the kernel writes it.

None of this has run on a Mac: the tests run it against stand-ins.
"""
from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import sys
import threading
from typing import Any, Callable, Dict, Iterator, List, Optional, Tuple

from . import library
from .backend import NOT_DIRECT, Backend, Launch, Layout, areas_of, layout_of, report

_ARENA_FULL, _ASSERTION = 901, 715  # TMETAL_E_ARENA, TMETAL_E_ASSERTION
_PAGE = os.sysconf("SC_PAGE_SIZE")
_P, _N, _S = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_char_p


class _Arena(ctypes.Structure):  # tmetal_arena
    _fields_ = library.fields((_P, "base"), (ctypes.c_size_t, "cap used peak need"))


class _Cache(ctypes.Structure):  # tmetal_cache
    _fields_ = library.fields((_S, "dir"), (_N, "max_bytes"))


class _Options(ctypes.Structure):  # tmetal_metal_options
    _fields_ = library.fields(
        (_P, "symbol symbol_user"), (_S, "device"), (ctypes.c_uint32, "family queue_buffers"),
        (ctypes.POINTER(_Cache), "cache"), (_P, "object"))


class _Buffer(ctypes.Structure):  # tmetal_buffer
    _fields_ = library.fields((_P, "object contents"), (_N, "bytes address"))


def _arenas(size: int) -> Iterator[_Arena]:
    """Arenas, each of more memory than the one before."""
    while True:
        memory = (ctypes.c_char * size)()
        arena = _Arena(ctypes.addressof(memory), size, 0, 0, 0)
        arena.memory = memory  # lives as long
        yield arena
        size = max(size * 4, arena.need)


class _Object:
    """An object of the launcher, in an arena that is part of it."""

    def __init__(self, make: Callable[..., int], free: Callable[[int], None]) -> None:
        problem, made = library.Problem(), ctypes.c_void_p()
        for self._arena in _arenas(1 << 16):
            code = make(ctypes.byref(self._arena), ctypes.byref(made), ctypes.byref(problem))
            if code != _ARENA_FULL:
                break
        if code:
            raise RuntimeError(str(problem))
        self.pointer = made.value or 0
        self._free = free

    def __del__(self) -> None:
        if getattr(self, "pointer", 0):
            self._free(self.pointer)


def _text(launch: _Object, kernel: int) -> str:
    """What a kernel of the last launch printed and asserted."""
    read = library.load().tmetal_launch_text
    texts = (read(launch.pointer, kernel, ctypes.byref(arena)) for arena in _arenas(1 << 18))
    found: bytes = next(text for text in texts if text is not None)
    return found.decode(errors="replace")


class _Program:
    """A kernel that Metal has compiled, and what its launches need, each for one at a time."""

    def __init__(self, metal: _Object, compiled: library.Compiled) -> None:
        loaded = library.load()
        self._metal = metal  # stays open as long as this
        self._loaded = _Object(lambda arena, made, problem: int(loaded.tmetal_load(
            metal.pointer, compiled.result, arena, made, None, problem)), loaded.tmetal_unload)
        self.idle: List[_Object] = []

    def launch(self) -> _Object:
        """A launch that nobody else has; it goes back into `idle`."""
        try:
            return self.idle.pop()
        except IndexError:
            loaded = library.load()
            return _Object(functools.partial(loaded.tmetal_launch_make, self._loaded.pointer),
                           loaded.tmetal_launch_free)

    def __del__(self) -> None:
        self.idle.clear()  # before the kernel


def _word(bits: int) -> int:
    """64 bits as PyTorch takes them: with a sign."""
    return bits - (1 << 64) if bits >> 63 else bits


def _shader_bytes(args: List[Dict[str, Any]], layout: Layout) -> str:
    """What the data at one index are made of: a number, or a list of words of 8 bytes."""
    words: Dict[int, List[str]] = {}
    for a in args:
        kind, param = a["kind"], a["param"]
        bits = ("xyz"[param] if kind == "programs" else
                f"p{param}" if kind == "padding" else layout.bits(param))
        shift = a["offset"] % 8 * 8
        words.setdefault(a["offset"] // 8, []).append(f"({bits}) << {shift}" if shift else bits)
    texts = [f"_word({' | '.join(f'({bits})' for bits in words.get(i, ['0']))})"
             for i in range(max(words) + 1)]
    return texts[0] if len(args) == 1 and len(texts) == 1 else f"[{', '.join(texts)}]"


def _shader_call(number: int, kernel: Dict[str, Any], layout: Layout) -> List[str]:
    """Lines that launch one kernel of a plan."""
    args: List[str] = []
    for index in range(max((a["index"] for a in kernel["args"]), default=-1) + 1):
        here = [a for a in kernel["args"] if a["index"] == index]
        kind = here[0]["kind"] if here else ""
        args.append("0" if not here else f"a{here[0]['param']}" if kind == "buffer" else
                    f"s{here[0]['id']}" if kind == "scratch" else _shader_bytes(here, layout))
    fixed, times = kernel["grid"], kernel.get("grid_times", {})
    grid = [axis if fixed == "program" else str(fixed[axis]) for axis in "xyz"]
    per = kernel.get("programs_per_threadgroup", 1)
    grid[0] = f"(({grid[0]} + {per - 1}) // {per})" if per > 1 else grid[0]
    grid = [f"{n} * {times.get(axis, 1)}" for n, axis in zip(grid, "xyz")]
    threads = kernel["threads_per_threadgroup"]
    size = f"({grid[0]} * {threads}, {grid[1]}, {grid[2]})"
    return [f"threads = {size}",
            "if max(threads) >= 1 << 32: raise ValueError('the grid is too large for Metal')",
            f"_kernel{number}({', '.join([*args, ''])}threads=threads,"
            f" group_size=({threads}, 1, 1))"]


def shader_launch(compiled: library.Compiled, layout: Layout) -> Optional[Launch]:
    """A launch by torch.mps.compile_shader; None: the kernel needs what that cannot do."""
    torch = sys.modules["torch"]
    plan = compiled.plan
    kinds = {a["kind"] for kernel in plan["kernels"] for a in kernel["args"]}
    if (not kinds <= {"buffer", "bytes", "scratch", "programs", "padding"}
            or any(float(kernel["msl"]) > 4.0 for kernel in plan["kernels"])
            or os.environ.get("PYTORCH_MPS_FAST_MATH", "0") != "0"
            or not hasattr(torch.mps, "compile_shader")):
        return None
    shaders = torch.mps.compile_shader(compiled.msl)
    space: Dict[str, Any] = {**layout.names_in_code, "_word": _word, "_torch": torch}
    lines = ["def launch(x, y, z, values):", *layout.unpacking]
    for s in plan["scratch"]:
        lines.append(f"s{s['id']} = _torch.empty({s['bytes']} + x * y * z * "
                     f"{s.get('program_bytes', 0)}, dtype=_torch.uint8, device='mps')")
    for number, kernel in enumerate(plan["kernels"]):
        space[f"_kernel{number}"] = getattr(shaders, kernel["entry"])
        lines += _shader_call(number, kernel, layout)
    exec("\n ".join(lines), space)
    launch: Launch = space["launch"]
    return launch


class MetalBackend(Backend):
    """Kernels run on the GPU of a Mac."""

    name = "metal"
    has_timer = True

    def __init__(self) -> None:
        super().__init__()
        loaded, options, folder = library.load(), _Options(), library.cache_folder()
        if hasattr(loaded, "tm_standin_symbol"):  # of the tests
            options.symbol = ctypes.cast(loaded.tm_standin_symbol, ctypes.c_void_p).value
        if folder:
            self._cache = _Cache(os.fsencode(os.path.join(folder, "pipelines")), 0)
            options.cache = ctypes.pointer(self._cache)
        self._metal = _Object(functools.partial(loaded.tmetal_metal_open, ctypes.byref(options)),
                              loaded.tmetal_metal_close)
        device = ctypes.string_at(loaded.tmetal_metal_device(self._metal.pointer))
        known = loaded.tmetal_gpu_find(device, 0)
        name = ctypes.c_char_p.from_address(known).value if known else None
        if name and not os.environ.get("TRITON_METAL_GPU"):
            self.gpu = name.decode()
        self._local = threading.local()
        self._pid = os.getpid()

    # -- Our launcher --------------------------------------------------------------------------

    def _run(self, compiled: library.Compiled, data: bytes) -> None:
        layout, loaded = layout_of(compiled), library.load()
        program: _Program = compiled.attached("metal", functools.partial(_Program, self._metal))
        problem, launch = library.Problem(), program.launch()
        try:
            code = loaded.tm_launch_run(launch.pointer, data, ctypes.byref(problem))
            said = "".join(_text(launch, kernel) for kernel, _ in layout.debug)
            self._local.seconds = loaded.tmetal_launch_seconds(launch.pointer)
        finally:
            program.idle.append(launch)
        report(said, code == _ASSERTION)
        if code:
            raise RuntimeError(str(problem))

    def _buffer(self, base: int, size: int) -> Tuple[_Buffer, int, bool]:
        """Memory of the CPU as a buffer, the offset there, and: is it a copy?"""
        loaded, buffer, problem = library.load(), _Buffer(), library.Problem()
        # Large allocations of macOS begin with a page and have the rest of their last one.
        if not base % _PAGE and size >= 16 * _PAGE and not loaded.tmetal_buffer_wrap(
                self._metal.pointer, base, -(-size // _PAGE) * _PAGE, ctypes.byref(buffer),
                ctypes.byref(problem)):
            return buffer, 0, False
        lead = base % 16
        if loaded.tmetal_buffer_make(self._metal.pointer, max(16, lead + size),
                                     ctypes.byref(buffer), ctypes.byref(problem)):
            raise RuntimeError(str(problem))
        ctypes.memmove(buffer.contents + lead, base, size)
        return buffer, lead, True

    def _slow(self, kernel: Any, grid: Tuple[int, int, int], values: Tuple[Any, ...]) -> None:
        """A launch with arrays of any kind."""
        layout = layout_of(kernel.compiled)
        memories = layout.memories(values, "cpu", "mps")
        compiled = kernel.aliased() if layout.overlaps(memories) else kernel.compiled
        areas, places = areas_of(memories, layout)
        made: List[Tuple[_Buffer, int, bool]] = []
        try:
            for area in areas:
                made.append((_Buffer(object=area.buffer), 0, False) if area.buffer else
                            self._buffer(area.base, area.bytes))
            data = layout_of(compiled).packer()(*grid, values, [
                (made[n][0].object, made[n][1] + at) for n, at in places])
            if any(area.buffer for area in areas):
                sys.modules["torch"].mps.synchronize()
            self._run(compiled, data)
            for area, (buffer, at, is_copy) in zip(areas, made):
                if is_copy and area.written:
                    ctypes.memmove(area.base, buffer.contents + at, area.bytes)
        finally:
            for area, (buffer, _, _) in zip(areas, made):
                if not area.buffer:
                    library.load().tmetal_buffer_free(self._metal.pointer, ctypes.byref(buffer))

    # -- Launches ------------------------------------------------------------------------------

    def prepare(self, kernel: Any) -> Launch:
        layout = layout_of(kernel.compiled)
        direct = layout.packer(direct=True)
        shader: List[Optional[Launch]] = []

        def launch(x: int, y: int, z: int, values: Tuple[Any, ...]) -> None:
            if os.getpid() != self._pid:
                raise RuntimeError("Metal cannot be used after a fork: start processes by 'spawn'")
            if not (x and y and z):
                return
            try:
                data = direct(x, y, z, values)
            except NOT_DIRECT:
                return self._slow(kernel, (x, y, z), values)
            if not layout.pointers:
                return self._run(kernel.compiled, data)
            if not shader:
                shader.append(shader_launch(kernel.compiled, layout))
            if shader[0] is None or getattr(self._local, "times", False):
                sys.modules["torch"].mps.synchronize()
                return self._run(kernel.compiled, data)
            return shader[0](x, y, z, values)

        return launch

    @contextlib.contextmanager
    def timing(self) -> Iterator[None]:
        self._local.times = True
        try:
            yield
        finally:
            self._local.times = False

    def seconds(self, kernel: Any) -> Optional[float]:
        found: Optional[float] = getattr(self._local, "seconds", None)
        return found
