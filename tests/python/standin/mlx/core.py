"""A stand-in for MLX: of its arrays and of mx.fast.metal_kernel what generated modules and the tests use. The text of a
kernel is put together as MLX does (mlx/backend/common/metal_kernel.cpp of ml-explore/mlx 846d176: what it writes, not
how) and run in the simulator. Strict: what MLX leaves undefined is an error."""
import math
import os
import re

import simulator

_INT = 2**31


class Dtype:
    def __init__(self, name, metal):
        self.name, self.metal, self.size = name, metal, simulator.FORMATS[name.rstrip("_")][0]

    def __repr__(self):
        return "mlx.core." + self.name


bool_ = Dtype("bool_", "bool")
for _bits in (8, 16, 32, 64):
    globals()[f"int{_bits}"] = Dtype(f"int{_bits}", f"int{_bits}_t")
    globals()[f"uint{_bits}"] = Dtype(f"uint{_bits}", f"uint{_bits}_t")
float16, bfloat16, float32 = Dtype("float16", "float16_t"), Dtype("bfloat16", "bfloat16_t"), Dtype("float32", "float")


class array:
    """Row-contiguous elements; mx.array(values, dtype)."""

    def __init__(self, values, dtype=None, _memory=None, _shape=None):
        shape, flat, values = simulator.flatten(values)
        kind = bool_ if isinstance(flat, bool) else float32 if isinstance(flat, float) else globals()["int32"]
        self.dtype, self.shape = dtype or kind, tuple(shape if _shape is None else _shape)
        if _memory is None:
            values = values if shape else [values]
            if isinstance(flat, int) and not all(-2**63 <= v < 2**63 for v in values):
                raise ValueError("Cannot convert to an int64")
            _memory = simulator.Memory(0, simulator.pack(values, self.dtype.name.rstrip("_")))
        self._memory = _memory

    size = property(lambda self: math.prod(self.shape))
    ndim = property(lambda self: len(self.shape))

    def view(self, dtype):
        if dtype.size != self.dtype.size:
            raise AssertionError("this stand-in views the same number of bytes")
        return array(None, dtype, self._memory, self.shape)

    def reshape(self, *shape):
        shape = shape[0] if shape and isinstance(shape[0], (list, tuple)) else shape
        shape = [self.size if n == -1 else n for n in shape]
        if math.prod(shape) != self.size:
            raise ValueError("[reshape] Cannot reshape array")
        return array(None, self.dtype, self._memory, shape)

    def tolist(self):
        flat = simulator.unpack(self._memory.data, self.dtype.name.rstrip("_"))
        for n in reversed(self.shape[1:]):
            flat = [flat[i:i + n] for i in range(0, len(flat), n)]
        return flat if self.shape else flat[0]


def zeros(shape, dtype=float32):
    return full(shape, 0, dtype)


def full(shape, value, dtype=None):
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    value = float(value) if "float" in dtype.name else value
    return array(None, dtype, simulator.Memory(0, simulator.pack([value] * math.prod(shape), dtype.name.rstrip("_"))), shape)


def arange(stop, dtype=None):
    return array([type(stop)(i) for i in range(math.ceil(stop))], dtype)


def concatenate(arrays, axis=0):
    if any(a.ndim != 1 or a.dtype is not arrays[0].dtype for a in arrays) or axis:
        raise AssertionError("this stand-in joins arrays of one axis and type")
    return array(None, arrays[0].dtype, simulator.Memory(0, b"".join(bytes(a._memory.data) for a in arrays)),
                 [sum(a.size for a in arrays)])


def eval(*arrays):
    pass


_ATTRIBUTES = {name: "uint" for name in (
    "dispatch_quadgroups_per_threadgroup dispatch_simdgroups_per_threadgroup quadgroup_index_in_threadgroup "
    "quadgroups_per_threadgroup simdgroup_index_in_threadgroup simdgroups_per_threadgroup thread_execution_width "
    "thread_index_in_quadgroup thread_index_in_simdgroup thread_index_in_threadgroup threads_per_simdgroup").split()}
_ATTRIBUTES.update({name: "uint3" for name in (
    "dispatch_threads_per_threadgroup grid_origin grid_size thread_position_in_grid thread_position_in_threadgroup "
    "threadgroup_position_in_grid threadgroups_per_grid threads_per_grid threads_per_threadgroup").split()})


def _preamble():
    with open(os.path.join(os.path.dirname(__file__), "../../../mlx/preamble.metal"), encoding="ascii") as f:
        return f.read()


_begin = None


def begin_as(contents):
    """For tests: what new results begin as, one after the other, instead of being undefined; None: as MLX has it."""
    global _begin
    _begin = contents


class _Kernel:
    libraries = {}

    def __init__(self, name, input_names, output_names, source, header, language):
        self.name, self.inputs, self.outputs = name, list(input_names), list(output_names)
        self.source, self.header, self.language = source, header, language
        if not re.fullmatch(r"\w+", name, re.ASCII):
            raise AssertionError("MLX: not a name of Metal: " + name)
        if not self.outputs:
            raise ValueError("[metal_kernel] Must specify at least one output.")

    def text(self, inputs, dtypes):
        """The text that MLX compiles, and its function's name."""
        name, lines, index = "custom_kernel_" + self.name, [], 0
        for a in inputs:
            name += f"_{a.dtype.metal}{'s' if a.ndim == 0 else 'c' if a.size < 8 else ''}"
        name += "".join(f"_{d.metal}" for d in dtypes)
        for n, a in zip(self.inputs, inputs):
            where = "constant" if a.size < 8 else "device"
            lines.append(f"  const {where} {a.dtype.metal}{'*' if a.ndim else '&'} {n} [[buffer({index})]]")
            index += 1
            for what in ("_shape", "_strides", "_ndim") if a.ndim else ():
                if n + what in self.source:
                    raise AssertionError("MLX would pass " + n + what)
        for n, d in zip(self.outputs, dtypes):
            lines.append(f"  device {d.metal}* {n} [[buffer({index})]]")
            index += 1
        lines += [f"  {_ATTRIBUTES[a]} {a} [[{a}]]" for a in sorted(_ATTRIBUTES) if a in self.source]
        return f"{self.header}[[kernel]] void {name}(\n" + ",\n".join(lines) + f") {{\n{self.source}\n}}\n", name

    def __call__(self, *, inputs, output_shapes, output_dtypes, grid, threadgroup, template=None, init_value=None,
                 verbose=False, stream=None):
        # PyCustomKernelFunction makes arrays of Python numbers; generated modules give arrays
        if not all(isinstance(a, array) for a in inputs):
            raise TypeError("[metal_kernel] Inputs must be arrays")
        for got, want, what in ((inputs, self.inputs, "inputs"), (output_shapes, self.outputs, "output_shapes"),
                                (output_dtypes, self.outputs, "output_dtypes")):
            if len(got) != len(want):
                raise ValueError(f"[metal_kernel] Expected `{what}` to have size {len(want)} but got size {len(got)}.")
        for sizes in (grid, threadgroup):
            if not (isinstance(sizes, tuple) and len(sizes) == 3 and all(type(n) is int and abs(n) < _INT for n in sizes)):
                raise TypeError("incompatible function arguments: three int of 32 bits are wanted")
        if any(not isinstance(s, (list, tuple)) for s in output_shapes) or template is not None:
            raise TypeError("incompatible function arguments")
        if math.prod(threadgroup) > 1024:
            raise ValueError("Thread group size is greater than the maximum allowed threads per threadgroup.")
        if min(grid) < 1:
            raise AssertionError("Metal: an empty grid")
        outputs = [full(s, init_value, d) if init_value is not None else array(
            None, d, simulator.Memory(math.prod(s) * d.size, _begin.pop(0) if _begin else None), s)
            for s, d in zip(output_shapes, output_dtypes)]
        groups = [min(t, g) for t, g in zip(threadgroup, grid)]
        if any(g % t for t, g in zip(groups, grid)):
            raise AssertionError("a ragged threadgroup")
        text, name = self.text(inputs, output_dtypes)
        text = _preamble() + text
        if text not in _Kernel.libraries:
            _Kernel.libraries[text] = simulator.compile(text, self.language, math.prod(threadgroup))[0]
        bindings = {i: (a._memory, 0, False) for i, a in enumerate(inputs)}
        bindings.update({len(inputs) + i: (a._memory, 0, True) for i, a in enumerate(outputs)})
        if len(bindings) > 31:
            raise AssertionError("Metal: more than 31 buffers")
        simulator.run(_Kernel.libraries[text], name, [g // t for t, g in zip(groups, grid)], groups, bindings)
        return outputs


class fast:
    language = 400

    @staticmethod
    def metal_kernel(name, input_names, output_names, source, header="", ensure_row_contiguous=True,
                     atomic_outputs=False, compile_options=None):
        if not ensure_row_contiguous or atomic_outputs or compile_options:
            raise AssertionError("generated modules leave these as they are")
        return _Kernel(name, input_names, output_names, source, header, fast.language)
