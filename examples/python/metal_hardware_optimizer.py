"""The GPU that kernels are compiled for, from tmetal's table (docs/hardware.md).

With Metal it is this machine's GPU. Without Metal it is the one that TRITON_METAL_GPU names, or else
an M1, as for kernels in the simulator; then `detected` is False. The environment is read when this
module is imported. Nothing is optimized here: the compiler reads the same table.
"""
import enum
import re
from typing import NamedTuple

from triton_metal import reports


class AppleSiliconGeneration(enum.Enum):
    """Chips of Macs. M4 has the GPU family of M3."""

    UNKNOWN, M1, M2, M3, M4, M5, M6 = range(7)


class Feature(enum.IntFlag):
    """What a GPU can do: tmetal_gpu_feature."""

    SIMD_REDUCE = 1  # simd_sum and its kin
    SIMD_MATRIX = 2  # simdgroup_matrix, 8 by 8
    FLOAT_ATOMICS = 4  # in device memory
    SHUFFLE_FILL = 8
    ATOMIC_64 = 16  # unsigned minimum and maximum without a result
    BF16_MATH = 32  # bfloat16 arithmetic pays; else it is done in float32
    DIRECT_DOT = 64  # operands of products straight from device memory pay
    TENSOR_API = 128  # matmul2d compiles
    MATRIX_UNIT = 256  # and has hardware: tensor cores
    TENSOR_OPS = 512  # products are printed as matmul2d


class HardwareCapabilities(NamedTuple):
    """One GPU. A number of 0 is unknown."""

    detected: bool  # False: named, or the simulator's
    name: str  # tmetal's, "apple-m3-max"
    chip_name: str  # Metal's, "Apple M3 Max"
    chip_generation: AppleSiliconGeneration  # UNKNOWN: a chip of an iPhone, or a family
    gpu_family: int  # N of MTLGPUFamilyAppleN: M1 7, M2 8, M3 and M4 9, M5 10
    gpu_cores: int
    clock_mhz: int
    memory_bandwidth_gbps: int  # of device memory, GB/s
    shared_memory_bytes: int  # per threadgroup: 32768 on every chip, M3 too
    max_threads: int  # per threadgroup; a kernel of many registers may allow fewer
    simd_width: int  # lanes of a simdgroup: 32 on every chip
    features: Feature

    @property
    def has_tensor_cores(self) -> bool:
        """From M5 on; older chips multiply matrices on the shader cores."""
        return bool(self.features & Feature.MATRIX_UNIT)


def capabilities(name: str = "") -> HardwareCapabilities:
    """The GPU of that name, tmetal's or Metal's; without one the GPU of the current backend."""
    row = reports.gpu(name or reports.current_gpu())
    number = re.match(rb"apple-m([1-6])\b", row.name)
    return HardwareCapabilities(
        not name and reports.has_metal(), row.name.decode(), row.device.decode(),
        AppleSiliconGeneration(int(number.group(1)) if number else 0), row.family, row.cores,
        row.mhz, row.gbps, row.tg_bytes, row.threads, row.simd, Feature(row.features))


hardware_capabilities = capabilities()
