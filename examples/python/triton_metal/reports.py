"""Triton IR and op lists: what the compiler reports of them, and running op lists. The GPU table.

The modules beside this package that the documents name are thin layers over it.
"""
from __future__ import annotations

import ctypes
import functools
import json
import sys
import types
from typing import Any, Dict, List, Mapping, Sequence, Tuple

from . import arrays, backend, library


# -- The GPU table --------------------------------------------------------------------------------

class Gpu(ctypes.Structure):
    """A row of the GPU table: tmetal_gpu. A figure of 0 is unknown."""

    _fields_ = [("name", ctypes.c_char_p), ("device", ctypes.c_char_p)] + [
        (field, ctypes.c_char_p if field == "arch" else ctypes.c_uint32) for field in (
            "family", "cores", "gbps", "tg_bytes", "threads", "simd", "registers", "bf16", "arch",
            "mhz", "mac", "features", "tg_align", "buffers", "inline_bytes")]
    name: bytes
    device: bytes
    family: int
    cores: int
    gbps: int
    tg_bytes: int
    threads: int
    simd: int
    mhz: int
    features: int


def gpu(name: str) -> Gpu:
    """The row that a name means: tmetal's own, or one that Metal has for a device or a chip."""
    row = library.load().tmetal_gpu_find(name.encode(), 0)
    if not row:
        raise ValueError(f"unknown GPU {name!r}: 'tmetal gpus' lists the names")
    return Gpu.from_address(row)


def current_gpu() -> str:
    """The GPU that kernels are compiled for."""
    return backend.active().gpu


def has_metal() -> bool:
    """True if kernels run on this machine's GPU."""
    return backend.active().name == "metal"


# -- Programs and reports -------------------------------------------------------------------------

def op_list(ops: Sequence[Mapping[str, Any]]) -> str:
    """Operations as the JSON of an op list."""
    for i, op in enumerate(ops):
        if not isinstance(op, Mapping):
            raise TypeError(f"operation {i} is {op!r}, not a dict with 'type' and 'input_shapes'")
    return json.dumps({"ops": [dict(op) for op in ops]})


def program_text(program: Any) -> str:
    """The text of a program: Triton IR or an op list, a compiled kernel, operations as dicts."""
    if isinstance(program, str):
        return program
    if isinstance(program, Mapping) and "ops" in program:
        return op_list(program["ops"])
    if isinstance(program, (list, tuple)):
        return op_list(program)
    asm = getattr(program, "asm", None)
    if asm is None:
        raise TypeError("expected Triton IR, an op list, or what a launch or warmup of a kernel "
                        f"returns, not {type(program).__name__}")
    text: str = asm["ttir"]
    return text


def explain(text: str) -> Dict[str, Any]:
    """Layouts, accesses, barriers and reductions of a program, as tmetal_explain_json has them."""
    source = library.Source(text, current_gpu())
    report: Dict[str, Any] = json.loads(library.texts(library.EXPLAIN, source)[0])
    return report


def transform(text: str) -> Tuple[str, Dict[str, Any]]:
    """The changed Triton IR of a program, and the changes as tmetal_transform_json has them."""
    changed, summary = library.texts(library.TRANSFORM, library.Source(text, current_gpu()))
    return changed, json.loads(summary)


def plan(text: str) -> Dict[str, Any]:
    """The launch plan of a program, as docs/plan.md describes it."""
    return library.Compiled(library.Source(text, current_gpu()), library.PROGRAM).plan


# -- Running op lists -----------------------------------------------------------------------------

class _ListOp(ctypes.Structure):  # tmetal_list_op_info
    _fields_ = [(field, ctypes.c_char_p) for field in ("name", "takes", "means")]


@functools.lru_cache(maxsize=None)
def operations() -> Dict[str, str]:
    """Names of the operations of op lists, and what each means: itself, or a different name."""
    at = library.load().tmetal_list_op_at
    at.restype, at.argtypes = _ListOp, [ctypes.c_size_t]
    names: Dict[str, str] = {}
    while at(len(names)).name:
        row = at(len(names))
        names[row.name.decode()] = (row.means or row.name).decode()
    return names


_NAMES = {"fp16": "f16", "fp32": "f32", "i1": "bool"}  # where op lists have a different one
_LETTERS = {"f": "float", "b": "bfloat", "i": "int", "u": "uint"}


def element(array: Any) -> str:
    """The element type of an array, as op lists name it."""
    name = arrays.element(array.dtype)
    return _NAMES.get(name, name)


def is_mlx(array: Any) -> bool:
    """True for an array of MLX."""
    return type(array).__module__ == "mlx.core"


def _package(array: Any) -> Any:
    return sys.modules["mlx.core" if is_mlx(array) else type(array).__module__.split(".")[0]]


def _row_major(array: Any) -> Any:
    """The array, or a copy if its elements are not row after row."""
    if hasattr(array, "contiguous"):
        return array.contiguous()
    package = _package(array)
    return package.contiguous(array) if is_mlx(array) else package.ascontiguousarray(array)


def _new(like: Any, shape: Sequence[int], kind: str) -> Any:
    """An array of the same library, and on the same device, for a kernel to write."""
    package, is_torch = _package(like), hasattr(like, "new_empty")
    if element(like) == kind:
        dtype = like.dtype
    elif kind == "bool":
        dtype = package.bool if is_torch else package.bool_
    else:
        dtype = getattr(package, _LETTERS[kind[0]] + kind.lstrip("bfiu"))
    if is_torch:
        return like.new_empty(tuple(shape), dtype=dtype)
    return (package.zeros if is_mlx(like) else package.empty)(tuple(shape), dtype=dtype)


@functools.lru_cache(maxsize=256)
def _program(text: str, aligned: bool) -> Tuple[library.Compiled, backend.Launch]:
    """An op list, and a function that launches it. Results are new arrays, so none overlap."""
    source = library.Source(text, current_gpu(), aligned=aligned)
    compiled = library.Compiled(source, library.PROGRAM)
    kernel = types.SimpleNamespace(compiled=compiled, aliased=lambda: compiled)
    return compiled, backend.active().prepare(kernel)


def run(ops: Sequence[Mapping[str, Any]], inputs: Mapping[str, Any]) -> List[Any]:
    """Run an op list on arrays. Results are new arrays, of the library of the first input.

    `inputs` has an array for each input of the list, whose shapes and types are the list's.
    """
    text, first = op_list(ops), next(iter(inputs.values()))
    params = _program(text, True)[0].plan["params"]
    results = [_new(first, p["shape"], p["type"]) for p in params if p["kind"] == "result"]
    values = [_row_major(inputs[p["name"]]) for p in params if p["kind"] == "input"]
    values += results
    aligned = all(arrays.address(value) % 16 == 0 for value in values)
    _program(text, aligned)[1](1, 1, 1, tuple(values))  # the grids are the list's own
    return results
