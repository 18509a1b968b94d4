"""The GPU that kernels are compiled for, from tmetal's table.

With Metal it is the GPU of this machine. Without Metal it is the one that `TRITON_METAL_GPU` names,
or an M1, for which the simulator's kernels are compiled; `detected` is False then. Nothing is
optimized here: the compiler reads the same table. Figures that no source gives are None.
"""

import enum
import re
from typing import FrozenSet, Optional

from triton_metal import reports


class AppleSiliconGeneration(enum.Enum):
    """Generations of chips in Macs. M4 has the GPU family of M3; `family` tells them apart."""

    UNKNOWN = 0
    M1 = 1
    M2 = 2
    M3 = 3
    M4 = 4
    M5 = 5
    M6 = 6


class HardwareCapabilities:
    """What one GPU can do. Without a name it is the GPU that kernels are compiled for."""

    def __init__(self, name: str = "") -> None:
        self._name = name

    @property
    def _row(self) -> reports.Gpu:
        return reports.gpu(self._name or reports.current_gpu())

    @property
    def detected(self) -> bool:
        """True if this machine has the GPU; False if it was named, or is the simulator's."""
        return not self._name and reports.has_metal()

    @property
    def name(self) -> str:
        """tmetal's name of the GPU, "apple-m3-max"."""
        return self._row.name.decode()

    @property
    def chip_name(self) -> str:
        """The name that Metal has for it, "Apple M3 Max"."""
        return self._row.device.decode()

    @property
    def chip_generation(self) -> AppleSiliconGeneration:
        """The chip's generation, by its name; UNKNOWN for chips of iPhones and families."""
        found = re.match(r"apple-m(\d+)", self.name)
        number = int(found.group(1)) if found else 0
        known = {generation.value for generation in AppleSiliconGeneration}
        return AppleSiliconGeneration(number if number in known else 0)

    @property
    def family(self) -> int:
        """N of MTLGPUFamilyAppleN: 7 for M1, 8 for M2, 9 for M3 and M4, 10 for M5."""
        return self._row.family

    @property
    def gpu_cores(self) -> Optional[int]:
        """GPU cores."""
        return self._row.cores or None

    @property
    def memory_bandwidth(self) -> Optional[int]:
        """Bandwidth of device memory in GB/s."""
        return self._row.gbps or None

    @property
    def shared_memory_size(self) -> int:
        """Threadgroup memory of one threadgroup in bytes: 32768 on every chip, M3 included."""
        return self._row.tg_bytes

    @property
    def max_threads_per_threadgroup(self) -> int:
        """The most threads of a threadgroup; a kernel of many registers may allow fewer."""
        return self._row.threads

    @property
    def simd_width(self) -> int:
        """Lanes of a simdgroup: 32 on every chip."""
        return self._row.simd

    @property
    def clock_mhz(self) -> Optional[int]:
        """Clock of the GPU at full speed in MHz."""
        return self._row.mhz or None

    @property
    def features(self) -> FrozenSet[str]:
        """Names of tmetal's feature bits: "SIMD_MATRIX", "BF16_MATH", "DIRECT_DOT", ..."""
        return self._row.feature_names()

    @property
    def has_tensor_cores(self) -> bool:
        """True if the chip has matrix units: from M5 on. Older ones multiply on shader cores."""
        return "MATRIX_UNIT" in self.features

    @property
    def has_bfloat16_math(self) -> bool:
        """True if arithmetic on bfloat16 pays; if not, it is done in float32."""
        return "BF16_MATH" in self.features

    def __repr__(self) -> str:
        how = "detected" if self.detected else "not detected"
        return f"<{self.chip_name or self.name}: {self.name}, Apple{self.family}, {how}>"


hardware_capabilities = HardwareCapabilities()
