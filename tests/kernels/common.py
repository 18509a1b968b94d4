"""What the kernels of this folder share: data on the GPU, and the shape of a launch.

record.py sets the seeds before it asks for each launch, so a case's bytes do not depend on the other cases.
"""

import torch
import triton


def case(kernel, *args, grid=1, name=None, warps=4, **options):
    """A launch as record.py takes it. Constants of the kernel are options; so is record="source"."""
    grid = grid if isinstance(grid, tuple) else (grid,)
    return name or kernel.fn.__name__, kernel, grid, args, dict(options, num_warps=warps)


def normal(*shape, dtype=torch.float32, mean=0.0, std=1.0):
    return (torch.randn(shape, dtype=torch.float64) * std + mean).to(dtype).cuda()


def uniform(*shape, low=0.0, high=1.0, dtype=torch.float32):
    return (torch.rand(shape, dtype=torch.float64) * (high - low) + low).to(dtype).cuda()


SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


def as_type(data, dtype):
    """int64 data cut to dtype; torch converts to the wide unsigned types only by a view."""
    return data.to(SIGNED[dtype]).view(dtype) if dtype in SIGNED else data.to(dtype)


def ints(*shape, low=-100, high=100, dtype=torch.int32):
    """Whole numbers, low <= x < high."""
    return as_type(torch.randint(low, high, shape, dtype=torch.int64), dtype).cuda()


def bits(*shape, dtype=torch.int32):
    """Every bit random: for integers over their whole range."""
    size = torch.empty(0, dtype=dtype).element_size()
    flat = torch.randint(0, 256, (size * torch.Size(shape).numel(),), dtype=torch.uint8)
    return flat.view(dtype).reshape(shape).cuda()


def values(data, dtype=torch.float32):
    if dtype.is_floating_point:
        return torch.tensor(data, dtype=torch.float64).to(dtype).cuda()
    if dtype == torch.bool:
        return torch.tensor(data, dtype=dtype).cuda()
    return as_type(torch.tensor(data, dtype=torch.int64), dtype).cuda()


def blank(*shape, dtype=torch.float32):
    """An output: NaN, or 0x55 in every byte, so that an element left alone can be told from one written."""
    if dtype.is_floating_point:
        return torch.full(shape, float("nan"), dtype=torch.float32).to(dtype).cuda()
    if dtype == torch.bool:
        return torch.zeros(shape, dtype=dtype).cuda()
    size = torch.empty(0, dtype=dtype).element_size()
    return torch.full((size * torch.Size(shape).numel(),), 0x55, dtype=torch.uint8).view(dtype).reshape(shape).cuda()


def zeros(*shape, dtype=torch.float32):
    return as_type(torch.zeros(shape, dtype=torch.int64), dtype).cuda()


def tail(count, dtype=torch.float32, before=3):
    """A view of `count` elements that starts `before` elements into its storage: not aligned to 16 bytes."""
    return normal(before + count, dtype=dtype)[before:]


cdiv = triton.cdiv
