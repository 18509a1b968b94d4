"""triton.runtime.driver: what programs ask the active driver for. There is one device, number 0."""
from __future__ import annotations

import importlib
import os
import sys
import time
import types
from typing import Any, Callable, Dict, NamedTuple, Optional

from .testing import do_bench

REGISTERS_PER_CORE = 52 * 1024  # with more than 52 each, fewer than 1024 threads fit


class GPUTarget(NamedTuple):
    """What kernels are compiled for. `backend` is a module of torch: torch.mps."""

    backend: str
    arch: Any
    warp_size: int


def _has_mps(torch: Any) -> bool:
    return hasattr(torch.backends, "mps") and bool(torch.backends.mps.is_available())


def synchronize(device: Any = None) -> None:
    """Wait until all kernels have ended, and PyTorch's on `mps` too if the program uses it."""
    from . import backend
    backend.active().synchronize()
    torch: Any = sys.modules.get("torch")
    if torch is not None and _has_mps(torch):
        torch.mps.synchronize()


class Event:
    """A point in time after all work so far: `record` waits for that work."""

    def __init__(self, enable_timing: bool = False) -> None:
        self._time: Optional[float] = None

    def record(self, stream: Any = None) -> None:
        """Wait for all work, then note the time."""
        synchronize()
        self._time = time.perf_counter()

    def synchronize(self) -> None:
        """Returns at once, because `record` has waited."""

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to a later one."""
        if self._time is None or end._time is None:
            raise RuntimeError("call record() on both events before elapsed_time()")
        return (end._time - self._time) * 1e3


class Properties(Dict[str, Any]):
    """Figures of a GPU; the error for an absent one says why it is absent."""

    def __missing__(self, key: str) -> Any:
        raise KeyError(f"{key}: no source gives this figure of {self['name']}")


def get_device_properties(device: Any = 0) -> Properties:
    """Figures of the GPU from tmetal's hardware table, by the names that Triton has for NVIDIA's.

    Figures that no source gives are absent, and so are clock and width of the memory: Apple gives
    their product, `memory_bandwidth` in GB/s. `max_num_regs` was measured on M1; later chips are
    assumed to have as many.
    """
    from . import reports
    row = reports.gpu(reports.current_gpu())
    found = {"name": (row.device or row.name).decode(), "max_shared_mem": row.tg_bytes,
             "warpSize": row.simd, "max_threads_per_block": row.threads,
             "max_num_regs": REGISTERS_PER_CORE, "multiprocessor_count": row.cores,
             "sm_clock_rate": row.mhz * 1000, "memory_bandwidth": row.gbps}
    return Properties({key: value for key, value in found.items() if value})


class MetalDriver:
    """Metal or, on machines without it, the simulator."""

    utils = types.SimpleNamespace(get_device_properties=get_device_properties)

    is_active = staticmethod(lambda: True)  # without Metal it is the simulator
    get_current_device = staticmethod(lambda: 0)  # Apple silicon has one GPU
    get_current_stream = staticmethod(lambda device=None: 0)  # launches run one after the other
    get_benchmarker = staticmethod(lambda: do_bench)

    @staticmethod
    def get_current_target() -> GPUTarget:
        """The GPU that kernels are compiled for.

        The backend is "mps", or what TRITON_METAL_DEVICE says: "cpu" for programs that take from
        it where to put their tensors, on a machine without Metal.
        """
        from . import backend
        return GPUTarget(os.environ.get("TRITON_METAL_DEVICE", "mps"), backend.active().gpu, 32)

    @staticmethod
    def get_active_torch_device() -> Any:
        """torch.device("mps") if PyTorch has it, otherwise the CPU, or TRITON_METAL_DEVICE."""
        torch: Any = importlib.import_module("torch")
        default = "mps" if _has_mps(torch) else "cpu"
        return torch.device(os.environ.get("TRITON_METAL_DEVICE", default))

    @staticmethod
    def set_current_device(device: Any) -> None:
        """Accepts device 0 only."""
        if getattr(device, "index", device) not in (0, None):
            raise ValueError(f"there is no device {device}; device 0 is the only one")

    def get_device_interface(self) -> Any:
        """The part of a module such as torch.mps that timing and launching code uses."""
        return types.SimpleNamespace(
            Event=Event, synchronize=synchronize, current_device=self.get_current_device,
            set_device=self.set_current_device, device_count=lambda: 1, is_available=lambda: True,
            get_device_properties=get_device_properties)

    @staticmethod
    def get_empty_cache_for_benchmark() -> bytearray:
        """Memory that displaces a GPU's caches when it is written: 64 MiB, more than they hold."""
        from . import backend
        return bytearray(64 << 20 if backend.active().name == "metal" else 0)

    @staticmethod
    def clear_cache(cache: Any) -> None:
        """Write all of `cache`. CPU and GPU share the last level of caches."""
        cache[:] = bytes(len(cache))


class Drivers:
    """triton.runtime.driver: the active driver, which programs may replace."""

    def __init__(self) -> None:
        self.default: Any = MetalDriver()
        self.active: Any = self.default

    def set_active(self, driver: Any) -> None:
        """Answer with a different driver. Launches do not ask it: they use Metal."""
        self.active = driver

    def reset_active(self) -> None:
        """Undo set_active."""
        self.active = self.default


driver = Drivers()


class NullAllocator:
    """Triton's allocator before set_allocator is called; here nothing calls an allocator."""


def set_allocator(allocator: Callable[..., Any]) -> None:
    """Accepted and ignored.

    Triton calls the allocator for memory that kernels need beside their arguments, such as for
    descriptors made in a kernel. Here the launch plan lists such memory and the launcher makes it.
    """
