"""Operations on whole arrays, under the names that the documents take from Metal Performance Shaders.

Metal Performance Shaders are not called, because no kernel can call them: each operation is an op
list that tmetal compiles to kernels of its own, which run as all kernels of triton_metal do. The op
list page, docs/oplists.md, describes the operations and their arguments. `equivalent` names the
function of Metal Performance Shaders that computes the same, where there is one.
"""

import enum
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from triton_metal import reports

MPSOperation = enum.Enum(
    "MPSOperation",
    "SUM MEAN PROD MAX MIN ARGMAX ARGMIN ANY ALL REDUCE CUMSUM SORT TOPK"
    " ADD SUB MUL DIV FLOORDIV MOD POW MAXIMUM MINIMUM EQ NE LT LE GT GE AND OR XOR NOT WHERE CLAMP"
    " FMA EXP EXP2 EXPM1 LOG LOG2 LOG1P SQRT RSQRT SIN COS TANH ERF FLOOR CEIL ROUND SIGMOID GELU"
    " SILU HARDSWISH RECIPROCAL NEG ABS RELU RELU6 SQUARE CAST DROPOUT MATMUL SOFTMAX LOG_SOFTMAX"
    " LAYER_NORM RMS_NORM GROUP_NORM BATCH_NORM ATTENTION CONV2D MAX_POOL2D AVG_POOL2D"
    " UPSAMPLE_NEAREST ROPE TRANSPOSE RESHAPE BROADCAST CONCAT SLICE SPLIT PAD GATHER TAKE EMBEDDING"
    " SCATTER_ADD",
)

_Op = Dict[str, Any]
_Operation = Union[MPSOperation, str]
_IMAGES = ("conv2d", "max_pool2d", "avg_pool2d", "upsample_nearest")  # with channels as axis 1


class MPSIntegration:
    """Runs operations of op lists on NumPy, PyTorch and MLX arrays."""

    def is_operation_available(self, operation: _Operation) -> bool:
        """True if op lists have the operation."""
        return _name(operation) in reports.operations()

    def run_operation(self, operation: _Operation, *arrays: Any, **arguments: Any) -> Any:
        """The operation's result as a new array of the first input's library; of a split a list.

        Arguments are those of the op list's operation. Two more hold for operations on images:
        `padding` may be "valid" or "same" (the larger half goes behind), and `data_layout` is
        "NCHW", with weights as OIHW, or "NHWC", with weights as OHWI. Without it MLX arrays are
        NHWC and all others NCHW, as the libraries' own convolutions have it.
        """
        results = reports.run(_ops(operation, arrays, arguments), _named(arrays))
        return results if _name(operation) == "split" else results[0]

    def equivalent(self, operation: _Operation, *arrays: Any, **arguments: Any) -> Optional[str]:
        """The MPSGraph methods or MPS class that compute the same; None if none is known."""
        text = reports.op_list(_ops(operation, arrays, arguments))
        found = [c for c in reports.transform(text)[1]["changes"] if "mps" in c]
        found.sort(key=lambda change: str(change["what"]).startswith("reduction"))  # patterns first
        return found[0]["mps"] if found else None


def _name(operation: _Operation) -> str:
    name = operation if isinstance(operation, str) else operation.name
    return reports.operations().get(name.lower(), name.lower())


def _named(arrays: Sequence[Any]) -> Dict[str, Any]:
    return {f"input{i}": array for i, array in enumerate(arrays)}


def _ops(operation: _Operation, arrays: Sequence[Any], arguments: _Op) -> List[_Op]:
    """The op list of one operation."""
    name = _name(operation)
    if name not in reports.operations():
        raise ValueError(f"unknown operation {name!r}; see docs/oplists.md for those there are")
    if not arrays:
        raise TypeError(f"{name} needs an array")
    inputs = _named(arrays)
    op: _Op = {
        "type": name,
        "id": "result",
        "inputs": list(inputs),
        "input_shapes": [list(array.shape) for array in arrays],
        "input_dtypes": [reports.element(array) for array in arrays],
        "args": dict(arguments),
    }
    if name == "split":
        parts = op["args"].get("sizes") or range(op["args"].get("sections", 2))
        op["outputs"] = [f"part{i}" for i in range(len(parts))]
        del op["id"]
    return _image_ops(op, arrays[0]) if name in _IMAGES else [op]


def _image_ops(op: _Op, first: Any) -> List[_Op]:
    """The same for NCHW images without words for padding, which is what op lists have."""
    arguments = op["args"]
    is_mlx = type(first).__module__.split(".")[0] == "mlx"
    layout = arguments.pop("data_layout", "NHWC" if is_mlx else "NCHW")
    if layout not in ("NCHW", "NHWC"):
        raise ValueError(f"data_layout is {layout!r}; expected 'NCHW' or 'NHWC'")
    before: List[_Op] = []
    shapes = [list(shape) for shape in op["input_shapes"]]
    if layout == "NHWC":
        for i, shape in enumerate(shapes):
            if len(shape) == 4:
                before.append(_move(op, i, f"nchw{i}", "transpose", {"perm": [0, 3, 1, 2]}))
                shapes[i] = [shape[0], shape[3], shape[1], shape[2]]
    if isinstance(arguments.get("padding"), str):
        pads = _padding(op["type"], arguments, shapes)
        arguments["padding"] = [low for low, _ in pads]
        if any(low != high for low, high in pads):
            if op["type"] != "conv2d":
                raise ValueError(
                    f"padding 'same' of {op['type']} is not the same on both sides for an input of"
                    f" {shapes[0]}; pad with MPSOperation.PAD"
                )
            arguments["padding"] = 0
            width = [[0, 0], [0, 0]] + [list(pair) for pair in pads]
            before.append(_move(op, 0, "padded", "pad", {"pad_width": width}))
    if layout == "NCHW":
        return before + [op]
    op["id"] = "nchw"
    back = {"type": "transpose", "id": "result", "inputs": ["nchw"], "args": {"perm": [0, 2, 3, 1]}}
    return before + [op, back]


def _move(op: _Op, i: int, name: str, kind: str, arguments: _Op) -> _Op:
    """An operation in front of input `i` of `op`, which reads its result from then on."""
    moved = {"type": kind, "id": name, "inputs": [op["inputs"][i]], "args": arguments}
    if op["input_shapes"][i] is not None:
        moved["input_shapes"] = [op["input_shapes"][i]]
        moved["input_dtypes"] = [op["input_dtypes"][i]]
    op["inputs"][i] = name
    op["input_shapes"][i] = op["input_dtypes"][i] = None
    return moved


def _pair(value: Any) -> Tuple[int, int]:
    return (value[0], value[1]) if isinstance(value, (list, tuple)) else (value, value)


def _padding(name: str, arguments: _Op, shapes: List[List[int]]) -> List[Tuple[int, int]]:
    """Zeros before and behind height and width for "valid" or "same"."""
    word = arguments["padding"].lower()
    if word == "valid":
        return [(0, 0), (0, 0)]
    if word != "same":
        raise ValueError(f"padding is {word!r}; expected 'same', 'valid' or numbers")
    sizes = shapes[1][2:] if name == "conv2d" else _pair(arguments["kernel_size"])
    strides = _pair(arguments.get("stride", 1 if name == "conv2d" else sizes))
    dilations = _pair(arguments.get("dilation", 1))
    pads = []
    for length, size, stride, dilation in zip(shapes[0][2:], sizes, strides, dilations):
        covered = (-(-length // stride) - 1) * stride + (size - 1) * dilation + 1
        total = max(covered - length, 0)
        pads.append((total // 2, total - total // 2))
    return pads


mps_integration = MPSIntegration()
