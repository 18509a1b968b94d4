"""A backend for machines with an NVIDIA GPU: emitted Metal, mapped to CUDA as tests/cuda does it.

It takes kernels whose arrays are PyTorch's tensors on a cuda device; launches with others run in
the simulator. It needs nvcc and build/cuda-text. Whole suites of other projects finish with it:

    UPSTREAM_CUDA=1 python3 tests/dropin/upstream.py --suite liger

UPSTREAM_CUDA_TEXT names cuda-text, if it is not in build/.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import tempfile
import threading
from typing import Any, Dict, List, Tuple

import torch

from triton_metal import backend, library

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "..", "cuda"))

import gpu  # noqa: E402
import maps  # noqa: E402


class Kernel:
    """A compiled kernel's functions on the GPU."""

    def __init__(self, compiled: library.Compiled, mapper: maps.Mapper) -> None:
        self.compiled = compiled
        self.layout = backend.layout_of(compiled)
        self.pack = self.layout.packer()
        cubin, about, _ = mapper.cubin(compiled.msl)
        self.about = {one["kernel"]: one for one in about}
        loaded = gpu.load(cubin, [one["entry"] for one in about])
        self.functions = {one["kernel"]: loaded[one["entry"]] for one in about}

    def launch(self, x: int, y: int, z: int, values: Tuple[Any, ...], memories: Any) -> None:
        """Run the kernels of the plan in order on PyTorch's stream."""
        data = self.pack(x, y, z, values, [(memories[i].address, 0) for i in sorted(memories)])
        rows = list(struct.iter_unpack("<QQQ", data[16:]))
        plan, programs = self.compiled.plan, x * y * z
        scratch = {s["id"]: torch.zeros(max(1, s["bytes"] + programs * s.get("program_bytes", 0)),
                                        dtype=torch.uint8, device="cuda")
                   for s in plan.get("scratch", [])}
        debug: List[Tuple[int, Any]] = []
        for number, kernel in enumerate(plan["kernels"]):
            places, constants = self._arguments(kernel, rows, (x, y, z), scratch, debug, number)
            self._start(kernel, (x, y, z), places, constants)
        for n, tensor in debug:
            text, failed = self.compiled.debug_text(bytes(tensor.cpu().numpy()), n)
            backend.report(text, bool(failed))

    @staticmethod
    def _arguments(kernel: Any, rows: Any, grid: Any, scratch: Any, debug: Any,
                   number: int) -> Tuple[Dict[int, int], Dict[int, bytearray]]:
        places: Dict[int, int] = {}
        constants: Dict[int, bytearray] = {}
        for a in kernel["args"]:
            kind = a["kind"]
            if kind == "buffer":
                places[a["index"]] = rows[a["param"]][0]
            elif kind == "scratch":
                places[a["index"]] = scratch[a["id"]].data_ptr()
            elif kind == "debug":
                debug.append((number, torch.zeros(a["bytes"], dtype=torch.uint8, device="cuda")))
                places[a["index"]] = debug[-1][1].data_ptr()
            else:
                part = {"bytes": lambda: rows[a["param"]][2].to_bytes(8, "little")[:a["size"]],
                        "programs": lambda: struct.pack("<i", grid[a["param"]]),
                        "padding": lambda: struct.pack("<i", rows[a["param"]][2]),
                        "address": lambda: struct.pack("<Q", rows[a["param"]][0])}[kind]()
                whole = constants.setdefault(a["index"], bytearray())
                at = a.get("offset", 0)
                end = (at + len(part) + 7) // 8 * 8 if at else len(part)
                whole.extend(bytes(max(0, end - len(whole))))
                whole[at:at + len(part)] = part
        return places, constants

    def _start(self, kernel: Any, grid: Any, places: Any, constants: Any) -> None:
        entry = kernel["entry"]
        slots: List[Any] = []
        for a in self.about[entry]["arguments"]:
            if a["kind"] == "buffer":
                slots.append(ctypes.c_uint64(places[a["index"]]))
            elif a["kind"] == "value":
                value = bytes(constants[a["index"]])
                slots.append((ctypes.c_uint8 * max(8, len(value)))(*value))
        pointers = (ctypes.c_void_p * max(1, len(slots)))(
            *[ctypes.cast(ctypes.byref(s), ctypes.c_void_p) for s in slots])
        g = grid if kernel["grid"] == "program" else gpu.triple(kernel["grid"])
        g = (-(-g[0] // kernel.get("programs_per_threadgroup", 1)), *g[1:])
        g = tuple(a * b for a, b in zip(g, gpu.triple(kernel.get("grid_times", [1, 1, 1]))))
        dynamic = sum(d["bytes"] if isinstance(d, dict) else d
                      for d in kernel.get("dynamic_threadgroup_bytes", []))
        threads = gpu.triple(kernel["threads_per_threadgroup"])
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        gpu.call("cuLaunchKernel", self.functions[entry], *map(ctypes.c_uint, g + threads),
                 ctypes.c_uint(dynamic), stream, pointers, None)


def _is_on_gpu(array: Any) -> bool:
    return getattr(getattr(array, "device", None), "type", "") == "cuda"


class CudaBackend(backend.SimulatorBackend):
    """Kernels on cuda tensors run on the GPU, all others in the simulator."""

    name = "cuda"
    has_timer = True

    def __init__(self) -> None:
        super().__init__()
        nvcc = maps.find_nvcc()
        if not nvcc:
            raise RuntimeError("nvcc is not found: set NVCC to its path")
        text = os.environ.get("UPSTREAM_CUDA_TEXT", os.path.join(HERE, "../../build/cuda-text"))
        cache = os.path.join(tempfile.gettempdir(), "triton-metal-cuda")
        self._mapper = maps.Mapper(os.path.dirname(os.path.abspath(text)), nvcc, cache=cache)
        self._time = threading.local()

    def _loaded(self, compiled: library.Compiled) -> Kernel:
        torch.cuda.current_stream()  # makes the context
        return compiled.attached("cuda", lambda one: Kernel(one, self._mapper))

    def prepare(self, kernel: Any) -> backend.Launch:
        simulated = super().prepare(kernel)
        layout = backend.layout_of(kernel.compiled)

        def launch(x: int, y: int, z: int, values: Tuple[Any, ...]) -> None:
            on_gpu = [_is_on_gpu(values[i]) for i in layout.pointers]
            if not any(on_gpu):
                simulated(x, y, z, values)
                return
            if not all(on_gpu):
                raise ValueError(f"Pointer argument (at {on_gpu.index(False)}) cannot be accessed "
                                 "from Triton (cpu tensor?)")
            if not (x and y and z):
                return
            memories = layout.memories(values)
            one = kernel.aliased() if layout.overlaps(memories) else kernel.compiled
            before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            before.record()
            self._loaded(one).launch(x, y, z, values, memories)
            after.record()
            self._time.events = before, after

        return launch

    def synchronize(self) -> None:
        torch.cuda.synchronize()

    def seconds(self, kernel: Any) -> float:
        before, after = self._time.events
        after.synchronize()
        return float(before.elapsed_time(after)) / 1e3


def use() -> None:
    """From here on kernels run by this backend."""
    backend._active = CudaBackend()  # pylint: disable=protected-access
