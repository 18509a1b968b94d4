"""Operations on whole arrays, under the names that Metal Performance Shaders have for them.

Metal Performance Shaders are not called, since a kernel cannot call them: each operation is an op
list (docs/oplists.md), which tmetal compiles to kernels that run as all of triton_metal do.
`equivalent` names the function of Metal Performance Shaders that computes the same, where known.
"""
import enum
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from triton_metal import reports

MPSOperation = enum.Enum(
    "MPSOperation",
    "SUM MEAN PROD MAX MIN ARGMAX ARGMIN ANY ALL REDUCE CUMSUM SORT TOPK ADD SUB MUL DIV FLOORDIV"
    " MOD POW MAXIMUM MINIMUM EQ NE LT LE GT GE AND OR XOR NOT WHERE CLAMP FMA EXP EXP2 EXPM1 LOG"
    " LOG2 LOG1P SQRT RSQRT SIN COS TANH ERF FLOOR CEIL ROUND SIGMOID GELU SILU HARDSWISH"
    " RECIPROCAL NEG ABS RELU RELU6 SQUARE CAST DROPOUT MATMUL SOFTMAX LOG_SOFTMAX LAYER_NORM"
    " RMS_NORM GROUP_NORM BATCH_NORM ATTENTION ROPE CONV2D MAX_POOL2D AVG_POOL2D UPSAMPLE_NEAREST"
    " TRANSPOSE RESHAPE BROADCAST CONCAT SLICE SPLIT PAD GATHER TAKE EMBEDDING SCATTER_ADD")

_Op = Dict[str, Any]
_Operation = Union[MPSOperation, str]
_IMAGES = ("conv2d", "max_pool2d", "avg_pool2d", "upsample_nearest")


class MPSIntegration:
    """Runs operations of op lists on NumPy, PyTorch and MLX arrays."""

    def is_operation_available(self, operation: _Operation) -> bool:
        """True if op lists have the operation."""
        return _name(operation) in reports.operations()

    def run_operation(self, operation: _Operation, *arrays: Any, **arguments: Any) -> Any:
        """The result as a new array of the first input's library; of a split, a list.

        Arguments are those of the op list's operation. Operations on images have two more forms:
        `padding` may be "valid" or "same" (with the larger half at the end); `data_layout` is
        "NCHW", with weights as OIHW, or "NHWC", with weights as OHWI. Its default is what the
        array's own library has: NHWC for MLX, NCHW for all others.
        """
        results = reports.run(_ops(operation, arrays, arguments), _named(arrays))
        return results if _name(operation) == "split" else results[0]

    def equivalent(self, operation: _Operation, *arrays: Any, **arguments: Any) -> Optional[str]:
        """The MPSGraph methods or the MPS class that compute the same; None: none is known."""
        text = reports.op_list(_ops(operation, arrays, arguments))
        found = [c for c in reports.transform(text)[1]["changes"] if "mps" in c]
        found.sort(key=lambda c: str(c["what"]).startswith("reduction"))  # parts after the whole
        return found[0]["mps"] if found else None


def _name(operation: _Operation) -> str:
    name = (operation if isinstance(operation, str) else operation.name).lower()
    return reports.operations().get(name, name)


def _named(arrays: Sequence[Any]) -> Dict[str, Any]:
    return {f"input{i}": array for i, array in enumerate(arrays)}


def _ops(operation: _Operation, arrays: Sequence[Any], arguments: _Op) -> List[_Op]:
    """The op list of one operation."""
    name = _name(operation)
    if name not in reports.operations():
        raise ValueError(f"unknown operation {name!r}: docs/oplists.md lists them")
    if not arrays or not all(hasattr(array, "dtype") for array in arrays):
        raise TypeError(f"{name} needs arrays, not {arrays!r}")
    op: _Op = {"type": name, "id": "result", "inputs": list(_named(arrays)),
               "input_shapes": [list(array.shape) for array in arrays],
               "input_dtypes": [reports.element(array) for array in arrays],
               "args": dict(arguments)}
    if name in _IMAGES:
        return _image_ops(op, "NHWC" if reports.is_mlx(arrays[0]) else "NCHW")
    if name == "split":
        parts = len(arguments.get("sizes", ())) or int(arguments.get("sections", 2))
        op["outputs"] = [f"part{i}" for i in range(parts)]
        del op["id"]
    return [op]


def _image_ops(op: _Op, layout: str) -> List[_Op]:
    """The same for images as op lists have them: NCHW, and numbers for padding."""
    args, before, shapes = op["args"], [], list(op["input_shapes"])
    layout = args.pop("data_layout", layout)
    if layout not in ("NCHW", "NHWC"):
        raise ValueError(f"data_layout is {layout!r}; expected 'NCHW' or 'NHWC'")
    for i, shape in enumerate(shapes):
        if layout == "NHWC" and len(shape) == 4:
            before.append(_insert(op, i, f"nchw{i}", "transpose", {"perm": [0, 3, 1, 2]}))
            shapes[i] = [shape[0], shape[3], shape[1], shape[2]]
    if isinstance(args.get("padding"), str):
        pads = _padding(op["type"], args, shapes)
        args["padding"] = [low for low, _ in pads]
        if any(low != high for low, high in pads):
            if op["type"] != "conv2d":
                raise ValueError(f"{op['type']} pads both sides alike, but padding 'same' of "
                                 f"{shapes[0][2:]} needs {pads}")
            args["padding"] = 0
            width = [[0, 0], [0, 0], *map(list, pads)]
            before.append(_insert(op, 0, "padded", "pad", {"pad_width": width}))
    if layout == "NCHW":
        return [*before, op]
    op["id"] = "nchw"
    return [*before, op, {"type": "transpose", "id": "result", "inputs": ["nchw"],
                          "args": {"perm": [0, 2, 3, 1]}}]


def _insert(op: _Op, i: int, name: str, kind: str, args: _Op) -> _Op:
    """An operation between an input of `op` and `op`."""
    first: _Op = {"type": kind, "id": name, "args": args}
    for key, now in (("inputs", name), ("input_shapes", None), ("input_dtypes", None)):
        first[key], op[key][i] = [op[key][i]], now
    return first


def _pair(value: Any) -> Tuple[int, int]:
    return (value[0], value[1]) if isinstance(value, (list, tuple)) else (value, value)


def _padding(name: str, args: _Op, shapes: List[List[int]]) -> List[Tuple[int, int]]:
    """Zeros before and after height and width for "valid" and "same"."""
    word = args["padding"].lower()
    if word not in ("same", "valid"):
        raise ValueError(f"padding is {word!r}; expected 'same', 'valid' or numbers")
    sizes = shapes[1][2:] if name == "conv2d" else _pair(args["kernel_size"])
    strides = _pair(args.get("stride", 1 if name == "conv2d" else sizes))
    pads = []
    for length, size, stride, step in zip(shapes[0][2:], sizes, strides,
                                          _pair(args.get("dilation", 1))):
        reach = (-(-length // stride) - 1) * stride + (size - 1) * step + 1
        total = max(reach - length, 0) if word == "same" else 0
        pads.append((total // 2, total - total // 2))
    return pads


mps_integration = MPSIntegration()
