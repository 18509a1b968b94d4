"""Arrays of PyTorch, NumPy, MLX and others: element types, addresses and memory.

No library is imported here. PyTorch's tensors are known by data_ptr(), on `mps` an MTLBuffer and an
offset; NumPy's arrays and others by `__array_interface__`, where zero-dimensional arrays are
pointers. MLX's are evaluated and used in place, and must be row-contiguous: MLX repeats an element
with strides of 0. Other objects stand for an array in `base` or `_base`, or have nbytes.
"""
from __future__ import annotations

import ctypes
import sys
from typing import Any, Callable, Dict, NamedTuple, Optional, Sequence, Tuple

# Triton's short names by the names that libraries use.
_ELEMENTS: Dict[str, str] = {
    "bool": "i1", "bool_": "i1", "int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32",
    "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
    "half": "fp16", "float16": "fp16", "bfloat16": "bf16", "float": "fp32", "float32": "fp32",
    "double": "fp64", "float64": "fp64", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5",
    "float8_e4m3fnuz": "fp8e4b8", "float8_e5m2fnuz": "fp8e5b16", "float8e4nv": "fp8e4nv",
    "float8e5": "fp8e5", "float8e4b8": "fp8e4b8", "float8e5b16": "fp8e5b16",
    "float8e4b15": "fp8e4b15"}
_ELEMENTS.update({short: short for short in list(_ELEMENTS.values())})

_known: Dict[Any, str] = {}


def element(dtype: Any) -> str:
    """Triton's short name of an element type ("fp32"), whichever library it is from."""
    found = _known.get(dtype)
    if found is None:
        name = getattr(dtype, "name", None)  # NumPy's and Triton's own
        if not isinstance(name, str):
            name = getattr(dtype, "__name__", None) or str(dtype)
        found = _ELEMENTS.get(name.rpartition(".")[2])
        if found is None or getattr(dtype, "isnative", True) is False:
            raise TypeError(f"Triton has no element type for {dtype!r}")
        _known[dtype] = found
    return found


class Memory(NamedTuple):
    """Where an array lies. `base` and `bytes` are all memory that a kernel may reach through it."""

    base: int
    bytes: int
    address: int  # of its first element
    span: int  # bytes from the lowest element to the end of the highest; 0: it has no elements
    lowest: int  # address of the lowest element: below `address` where strides are negative
    buffer: int  # id<MTLBuffer> that `base` counts from, for PyTorch's mps; 0: the CPU's memory
    writable: bool
    device: str = "cpu"  # or "mps", "cuda"


_Reader = Callable[[Any], Memory]


def _bounds(shape: Sequence[int], strides: Sequence[int], size: int) -> Tuple[int, int]:
    """Bytes from the first element down to the lowest, and up to the end of the highest."""
    low, high = 0, size
    for extent, stride in zip(shape, strides):
        if extent == 0:
            return 0, 0
        if stride < 0:
            low += (extent - 1) * stride
        else:
            high += (extent - 1) * stride
    return low, high


def _torch_memory(tensor: Any) -> Memory:
    size, kind = tensor.element_size(), tensor.device.type
    if kind not in ("cpu", "mps", "cuda"):
        raise ValueError(f"Pointer argument cannot be accessed from Triton ({kind} tensor?)")
    storage = getattr(tensor, "untyped_storage", tensor.storage)()
    base, total = storage.data_ptr(), storage.nbytes()
    _, high = _bounds(tensor.shape, [s * size for s in tensor.stride()], size)
    if kind == "mps":
        at = tensor.storage_offset() * size
        return Memory(0, total, at, high, at, base, True, kind)
    address = tensor.data_ptr()
    return Memory(base, total, address, high, address, 0, True, kind)


def _interface(array: Any) -> Tuple[int, bool, Tuple[int, ...], Tuple[int, ...], int]:
    about = array.__array_interface__
    if about.get("data") is None:
        raise TypeError(f"{type(array).__name__} does not tell where its memory is")
    address, read_only = about["data"]
    shape, size = tuple(about["shape"]), int(about["typestr"][2:])
    strides = about.get("strides")
    if strides is None:
        strides, step = (), size
        for extent in reversed(shape):
            strides, step = (step, *strides), step * extent
    return address, not read_only, shape, tuple(strides), size


def _numpy_memory(array: Any) -> Memory:
    address, writable, shape, strides, size = _interface(array)
    low, high = _bounds(shape, strides, size)
    root = array
    while hasattr(getattr(root, "base", None), "__array_interface__"):
        root = root.base
    base, end = address + low, address + high
    if root is not array:
        start, _, outer_shape, outer_strides, outer = _interface(root)
        outer_low, outer_high = _bounds(outer_shape, outer_strides, outer)
        base, end = min(base, start + outer_low), max(end, start + outer_high)
    return Memory(base, end - base, address, high - low, address + low, 0, writable)


def _mlx_address(array: Any) -> Tuple[int, int, bool]:
    core = sys.modules["mlx.core"]
    if array.dtype == core.bfloat16:  # the buffer protocol does not know it
        array = array.view(core.uint16)
    core.eval(array)
    view = memoryview(array)
    if not view.c_contiguous:
        raise ValueError("a kernel needs row-contiguous MLX arrays: pass mx.contiguous(x)")
    if not view.nbytes:
        return 0, 0, True
    if view.readonly:
        raise ValueError("MLX gives no writable view of this array")
    flat = view.cast("B") if view.ndim else view
    return ctypes.addressof(ctypes.c_char.from_buffer(flat)), view.nbytes, True


def _mlx_stride(array: Any, axis: int) -> int:
    """Elements from one to the next along an axis."""
    core = sys.modules["mlx.core"]
    view = memoryview(array.view(core.uint16) if array.dtype == core.bfloat16 else array)
    return (view.strides or ())[axis] // view.itemsize


def add_strides() -> None:
    """Give MLX's arrays PyTorch's method stride(axis), if MLX is loaded and has none.

    Programs pass strides to their kernels; MLX does not say them otherwise.
    """
    core = sys.modules.get("mlx.core")
    kind = getattr(core, "array", None)
    if kind is not None and not hasattr(kind, "stride"):
        kind.stride = _mlx_stride


def _mlx_memory(array: Any) -> Memory:
    address, total, writable = _mlx_address(array)
    return Memory(address, total, address, total, address, 0, writable)


def _inner(array: Any) -> Any:
    """The array that an object stands for, as triton_metal.reinterpret makes it, or None."""
    for name in ("base", "_base"):
        inner = getattr(array, name, None)
        if inner is not None and is_array(inner):
            return inner
    return None


def _other_memory(array: Any) -> Memory:
    """Of an object that has data_ptr(): that of its array; otherwise its nbytes, or what its shape,
    stride() and element_size() span."""
    inner, low, high = _inner(array), 0, int(getattr(array, "nbytes", 0))
    try:
        size = array.element_size()
        low, high = _bounds(array.shape, [s * size for s in array.stride()], size)
    except (AttributeError, TypeError):  # one that stands for an array of NumPy has no strides
        if inner is None and not hasattr(array, "nbytes"):
            raise TypeError(f"{type(array).__name__} does not tell how much memory it has: "
                            "it needs an attribute nbytes") from None
    if inner is None:
        address = array.data_ptr()
        return Memory(address + low, high - low, address, high - low, address + low, 0, True)
    found = memory(inner)
    if not high:
        low, high = found.lowest - found.address, found.lowest + found.span - found.address
    address = array.data_ptr()  # on mps counted from the buffer, or from 0
    address -= found.buffer if address >= found.buffer else 0
    return found._replace(address=address, span=high - low, lowest=address + low)


_readers: Dict[type, Optional[_Reader]] = {}


def _find_reader(kind: type) -> Optional[_Reader]:
    names = [(c.__module__, c.__name__) for c in kind.__mro__]
    if ("numpy", "generic") in names:
        return None
    if ("mlx.core", "array") in names:
        return _mlx_memory
    if hasattr(kind, "data_ptr"):
        if hasattr(kind, "storage_offset"):
            return _torch_memory
        return _other_memory
    return _numpy_memory if hasattr(kind, "__array_interface__") else None


def _reader(array: Any) -> Optional[_Reader]:
    kind = type(array)
    try:
        return _readers[kind]
    except KeyError:
        _readers[kind] = found = _find_reader(kind)
        return found


def is_array(value: Any) -> bool:
    """Does a kernel get this as a pointer?"""
    return _reader(value) is not None


def memory(array: Any) -> Memory:
    """Where the elements of an array are, and how much memory is around them."""
    reader = _reader(array)
    if reader is None:
        raise TypeError(f"{type(array).__name__} is not an array")
    return reader(array)


def address(array: Any) -> int:
    """The address that decides about `:16`. On mps: the offset in the buffer, which is aligned."""
    reader = _reader(array)
    if reader is _torch_memory:
        if array.device.type == "mps":
            return int(array.storage_offset() * array.element_size())
        return int(array.data_ptr())
    if reader is _other_memory:
        inner = _inner(array)
        return int(array.data_ptr()) if inner is None else memory(array).address
    if reader is _numpy_memory:
        return int(array.__array_interface__["data"][0])
    return memory(array).address
