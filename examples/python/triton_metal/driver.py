"""triton.runtime.driver: what programs ask the active driver for. There is one device, number 0."""
from __future__ import annotations

import os
import sys
import time
from typing import Any, Callable, Dict, NamedTuple, Optional


class GPUTarget(NamedTuple):
    """What kernels are compiled for.

    `backend` is what PyTorch calls the device, so that `getattr(torch, target.backend)` works.
    """

    backend: str
    arch: Any
    warp_size: int


def _torch() -> Any:
    """PyTorch if the program has imported it, otherwise None."""
    return sys.modules.get("torch")


def _has_mps(torch: Any) -> bool:
    return bool(getattr(torch.backends, "mps", None) and torch.backends.mps.is_available())


def synchronize() -> None:
    """Wait until all kernels that were launched have ended, and PyTorch's on `mps` too."""
    from . import backend
    backend.active().synchronize()
    torch = _torch()
    if torch is not None and _has_mps(torch):
        torch.mps.synchronize()


class Event:
    """A point in time after all work so far: `record` waits for that work."""

    def __init__(self, enable_timing: bool = False, **_: Any) -> None:
        self._time: Optional[float] = None

    def record(self, stream: Any = None) -> None:
        """Wait for all work, then note the time."""
        synchronize()
        self._time = time.perf_counter()

    def query(self) -> bool:
        """True: recording has waited."""
        return True

    def wait(self, stream: Any = None) -> None:
        """Returns at once, because recording has waited."""

    def synchronize(self) -> None:
        """Returns at once, because recording has waited."""

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to a later one."""
        if self._time is None or end._time is None:
            raise RuntimeError("record() both events before asking for the time between them")
        return (end._time - self._time) * 1e3


class DeviceInterface:
    """The part of a module such as torch.mps that timing and launching code uses."""

    Event = Event

    @staticmethod
    def synchronize(device: Any = None) -> None:
        """Wait until all work has ended."""
        synchronize()

    @staticmethod
    def current_device() -> int:
        """0"""
        return 0

    @staticmethod
    def device_count() -> int:
        """1"""
        return 1

    @staticmethod
    def is_available() -> bool:
        """True: without Metal it is the simulator."""
        return True

    @staticmethod
    def set_device(device: Any) -> None:
        """Accepts device 0 only."""
        driver.active.set_current_device(device)

    @staticmethod
    def get_device_properties(device: Any = 0) -> Dict[str, Any]:
        """As driver.active.utils.get_device_properties."""
        return driver.active.utils.get_device_properties(device)


REGISTERS_PER_CORE = 52 * 1024  # with more than 52 each, fewer than 1024 threads fit


class Properties(Dict[str, Any]):
    """Figures of a GPU; the error for an absent one says why it is absent."""

    def __missing__(self, key: str) -> Any:
        raise KeyError(f"{key}: no source gives this figure of {self['name']}")


class Utils:
    """driver.active.utils"""

    @staticmethod
    def get_device_properties(device: Any = 0) -> Dict[str, Any]:
        """Figures of the GPU by the names that Triton has for NVIDIA's.

        They come from tmetal's hardware table (docs/hardware.md has the sources). Absent keys raise
        KeyError: figures that no source gives, and clock and width of the memory, of which Apple
        publishes the product: `memory_bandwidth` in GB/s. `max_num_regs` is read from M1 and M2;
        later chips are assumed to have as many.
        """
        from . import reports
        row = reports.gpu(reports.current_gpu())
        name = row.device.decode() or row.name.decode()
        found = {"name": name, "max_shared_mem": row.tg_bytes, "warpSize": row.simd,
                 "max_num_regs": REGISTERS_PER_CORE, "max_threads_per_block": row.threads,
                 "multiprocessor_count": row.cores, "sm_clock_rate": row.mhz * 1000,
                 "memory_bandwidth": row.gbps}
        return Properties({key: value for key, value in found.items() if value})


class MetalDriver:
    """Metal or, on machines without it, the simulator."""

    def __init__(self) -> None:
        self.utils = Utils()

    @staticmethod
    def is_active() -> bool:
        """True: without Metal it is the simulator."""
        return True

    @staticmethod
    def get_current_target() -> GPUTarget:
        """The GPU that kernels are compiled for.

        The backend is "mps" unless TRITON_METAL_DEVICE has a different name, such as "cpu" for
        programs that take from it where to put their tensors.
        """
        from . import backend
        return GPUTarget(os.environ.get("TRITON_METAL_DEVICE", "mps"), backend.active().gpu, 32)

    @staticmethod
    def get_current_device() -> int:
        """0: Macs with Apple silicon have one GPU."""
        return 0

    @staticmethod
    def set_current_device(device: Any) -> None:
        """Accepts device 0 only."""
        index = getattr(device, "index", device)
        if index not in (0, None):
            raise ValueError(f"there is no device {index}; device 0 is the only one")

    @staticmethod
    def get_current_stream(device: Any = None) -> int:
        """0: launches run in the order in which they are made."""
        return 0

    @staticmethod
    def get_device_capability(device: Any = None) -> Any:
        """Raises: a compute capability is NVIDIA's."""
        raise RuntimeError("Apple GPUs have no CUDA compute capability; "
                           "use driver.active.get_current_target().arch")

    @staticmethod
    def get_device_interface() -> DeviceInterface:
        """Events, waiting and the number of devices."""
        return DeviceInterface()

    @staticmethod
    def get_active_torch_device() -> Any:
        """torch.device("mps") if PyTorch has it, otherwise that of the CPU."""
        import torch
        named = os.environ.get("TRITON_METAL_DEVICE")
        return torch.device(named or ("mps" if _has_mps(torch) else "cpu"))

    @staticmethod
    def get_benchmarker() -> Callable[..., Any]:
        """What times a function: testing.do_bench."""
        from .testing import do_bench
        return do_bench

    @staticmethod
    def get_empty_cache_for_benchmark() -> bytearray:
        """Memory whose rewriting displaces the GPU's caches: 64 MiB, more than any chip has."""
        return bytearray(64 << 20) if _backend_is_gpu() else bytearray()

    @staticmethod
    def clear_cache(cache: Any) -> None:
        """Displace what caches hold, by writing all of `cache`. The memory is shared."""
        if cache:
            cache[:] = bytes(len(cache))

    @staticmethod
    def map_python_to_cpp_type(ty: str) -> str:
        """The C type of a Triton type: "*fp32" is a pointer, "i32" is int32_t."""
        if ty.startswith("*"):
            return "uint64_t"
        names = {"i1": "int8_t", "u1": "uint8_t", "fp16": "double", "bf16": "double",
                 "fp32": "double", "f32": "double", "fp64": "double"}
        if ty in names:
            return names[ty]
        if ty in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"):
            return ("u" if ty[0] == "u" else "") + f"int{ty[1:]}_t"
        raise KeyError(ty)


def _backend_is_gpu() -> bool:
    from . import backend
    return backend.active().name == "metal"


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
    """Triton's allocator before set_allocator is called. Nothing here calls it."""

    def __call__(self, size: int, alignment: int, stream: Optional[int]) -> Any:
        raise RuntimeError("no allocator was set; kernels on Metal need none")


def set_allocator(allocator: Callable[..., Any]) -> None:
    """Accepted and ignored.

    Triton calls the allocator for memory that kernels need beside their arguments, such as for
    descriptors made in a kernel. Here the launch plan lists such memory and the launcher makes it.
    """
