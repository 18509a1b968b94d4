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

type_canonicalisation_dict: Dict[str, str] = {  # in signatures
    "bool": "u1", "int1": "u1", "uint1": "u1", "i1": "u1", "float8e4nv": "fp8e4nv",
    "float8e5": "fp8e5", "float8e4b15": "fp8e4b15", "float8_e4m3fn": "fp8e4nv",
    "float8e4b8": "fp8e4b8", "float8_e4m3fnuz": "fp8e4b8", "float8_e5m2": "fp8e5",
    "float8e5b16": "fp8e5b16", "float8_e5m2fnuz": "fp8e5b16", "half": "fp16", "float16": "fp16",
    "bfloat16": "bf16", "float": "fp32", "float32": "fp32", "double": "fp64", "float64": "fp64",
    "int8": "i8", "int16": "i16", "int": "i32", "int32": "i32", "int64": "i64", "uint8": "u8",
    "uint16": "u16", "uint32": "u32", "uint64": "u64", "void": "void"}
type_canonicalisation_dict.update({name: name for name in
                                   list(type_canonicalisation_dict.values())})
_ELEMENTS = {**type_canonicalisation_dict, **dict.fromkeys(("bool", "bool_", "int1", "i1"), "i1")}
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


def _memory(address: int, shape: Sequence[int], strides: Sequence[int], size: int,
            writable: bool = True) -> Memory:
    """The memory of elements of `size` bytes; `strides` are in bytes."""
    steps = [(extent - 1) * stride for extent, stride in zip(shape, strides)]
    if 0 in shape:
        return Memory(address, 0, address, 0, address, 0, writable)
    lowest, span = address + sum(step for step in steps if step < 0), size + sum(map(abs, steps))
    return Memory(lowest, span, address, span, lowest, 0, writable)


def _torch_memory(tensor: Any) -> Memory:
    size, kind = tensor.element_size(), tensor.device.type
    if kind not in ("cpu", "mps", "cuda"):
        raise ValueError(f"Pointer argument cannot be accessed from Triton ({kind} tensor?)")
    storage = getattr(tensor, "untyped_storage", tensor.storage)()
    base, total, on_mps = storage.data_ptr(), storage.nbytes(), kind == "mps"
    found = _memory(tensor.storage_offset() * size if on_mps else tensor.data_ptr(), tensor.shape,
                    [stride * size for stride in tensor.stride()], size)
    return found._replace(base=0 if on_mps else base, bytes=total, buffer=base if on_mps else 0,
                          device=kind)


def _interface_memory(array: Any) -> Memory:
    about = array.__array_interface__
    if about.get("data") is None:
        raise TypeError(f"{type(array).__name__} does not tell where its memory is")
    address, read_only = about["data"]
    shape, size = tuple(about["shape"]), int(about["typestr"][2:])
    strides = about.get("strides")
    if strides is None:
        strides, step = [], size
        for extent in reversed(shape):
            strides.insert(0, step)
            step *= extent
    return _memory(address, shape, strides, size, not read_only)


def _numpy_memory(array: Any) -> Memory:
    """With that of the array that it is a view of."""
    found, root = _interface_memory(array), array
    while hasattr(getattr(root, "base", None), "__array_interface__"):
        root = root.base
    outer = _interface_memory(root)
    base = min(found.base, outer.base)
    end = max(found.base + found.bytes, outer.base + outer.bytes)
    return found._replace(base=base, bytes=end - base)


def _mlx_memory(array: Any) -> Memory:
    core = sys.modules["mlx.core"]
    if array.dtype == core.bfloat16:  # the buffer protocol does not know it
        array = array.view(core.uint16)
    core.eval(array)
    view = memoryview(array)
    if not view.c_contiguous:
        raise ValueError("a kernel needs row-contiguous MLX arrays: pass mx.contiguous(x)")
    if view.nbytes and view.readonly:
        raise ValueError("MLX gives no writable view of this array")
    flat = view.cast("B") if view.ndim and view.nbytes else view
    address = ctypes.addressof(ctypes.c_char.from_buffer(flat)) if view.nbytes else 0
    return _memory(address, [view.nbytes], [1], 1)


def _mlx_stride(array: Any, axis: int) -> int:
    """Elements from one to the next along an axis."""
    core = sys.modules["mlx.core"]
    view = memoryview(array.view(core.uint16) if array.dtype == core.bfloat16 else array)
    return (view.strides or ())[axis] // view.itemsize


def add_strides() -> None:
    """Give MLX's arrays PyTorch's method stride(axis), if MLX is loaded and has none.

    Programs pass strides to their kernels; MLX does not say them otherwise.
    """
    kind = getattr(sys.modules.get("mlx.core"), "array", None)
    if kind is not None and not hasattr(kind, "stride"):
        kind.stride = _mlx_stride


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
    inner, start = _inner(array), array.data_ptr()
    around = memory(inner) if inner is not None else None
    if around and start >= around.buffer:  # on mps counted from the buffer, or from 0
        start -= around.buffer
    try:
        size = array.element_size()
        found = _memory(start, array.shape, [s * size for s in array.stride()], size)
    except (AttributeError, TypeError):  # one that stands for an array of NumPy has no strides
        if hasattr(array, "nbytes"):
            found = _memory(start, [int(array.nbytes)], [1], 1)
        elif around:
            found = around._replace(address=start, lowest=start + around.lowest - around.address)
        else:
            raise TypeError(f"{type(array).__name__} does not tell how much memory it has: "
                            "it needs an attribute nbytes") from None
    if around is None:
        return found
    return around._replace(address=start, span=found.span, lowest=found.lowest)


_readers: Dict[type, Optional[_Reader]] = {}


def _find_reader(kind: type) -> Optional[_Reader]:
    names = [(c.__module__, c.__name__) for c in kind.__mro__]
    if ("numpy", "generic") in names:
        return None
    if ("mlx.core", "array") in names:
        return _mlx_memory
    if hasattr(kind, "data_ptr"):
        return _torch_memory if hasattr(kind, "storage_offset") else _other_memory
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
    if reader is _numpy_memory:
        return int(array.__array_interface__["data"][0])
    if reader is _torch_memory and array.device.type != "mps" or (
            reader is _other_memory and _inner(array) is None):
        return int(array.data_ptr())
    return memory(array).address
