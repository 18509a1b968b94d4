"""A stand-in for PyTorch on an Apple GPU: of its tensors and of torch.mps.compile_shader what generated modules and the
tests use, with kernels run in the simulator. After torch/csrc/mps/Module.cpp and OperationUtils.mm of pytorch/pytorch
(docs/hosts-python.md says which), what they do and refuse, not how. Strict: what they leave undefined is an error."""
import math
import struct

import simulator

__version__ = "2.10.0"


class dtype:
    def __init__(self, name):
        self.name, self.itemsize = name, simulator.FORMATS[name][0]

    def __repr__(self):
        return "torch." + self.name


for _name in simulator.FORMATS:
    globals()[_name] = dtype(_name)


class device:
    def __init__(self, name):
        self.type = name.split(":")[0]

    def __repr__(self):
        return f"device(type='{self.type}', index=0)"


class _Storage:
    def __init__(self, memory):
        self.memory = memory

    def data_ptr(self):
        return id(self.memory)


class Tensor:
    """Elements of a memory from an offset on, by shape and strides (in elements)."""

    def __init__(self, memory, dtype, shape, strides=None, offset=0, where="mps"):
        self._memory, self.dtype, self.shape, self._offset = memory, dtype, tuple(shape), offset
        self.device = device(where)
        self._strides = tuple(strides) if strides is not None else tuple(
            math.prod(self.shape[i + 1:]) for i in range(len(self.shape)))

    def stride(self, axis=None):
        return self._strides if axis is None else self._strides[axis]

    def storage_offset(self):
        return self._offset

    def untyped_storage(self):
        return _Storage(self._memory)

    def element_size(self):
        return self.dtype.itemsize

    def numel(self):
        return math.prod(self.shape)

    def is_contiguous(self):
        return self._strides == Tensor(None, self.dtype, self.shape)._strides

    def view(self, *shape):
        assert self.is_contiguous() and math.prod(shape) == self.numel()
        return Tensor(self._memory, self.dtype, shape, None, self._offset)

    def __getitem__(self, part):
        assert isinstance(part, slice) and len(self.shape) == 1
        start, stop, step = part.indices(self.shape[0])
        return Tensor(self._memory, self.dtype, [len(range(start, stop, step))], [step * self._strides[0]],
                      self._offset + start * self._strides[0])

    def tolist(self):
        assert self.is_contiguous()
        at = self._offset * self.dtype.itemsize
        flat = simulator.unpack(self._memory.data[at:at + self.numel() * self.dtype.itemsize], self.dtype.name)
        for n in reversed(self.shape[1:]):
            flat = [flat[i:i + n] for i in range(0, len(flat), n)]
        return flat if self.shape else flat[0]


def empty(*shape, dtype=None, device="cpu"):
    shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    dtype = dtype or globals()["float32"]
    return Tensor(simulator.Memory(math.prod(shape) * dtype.itemsize), dtype, shape, where=str(device))


def empty_like(other):
    return empty(*other.shape, dtype=other.dtype, device=other.device.type)


def zeros(*shape, dtype=None, device="cpu"):
    t = empty(*shape, dtype=dtype, device=device)
    t._memory = simulator.Memory(0, bytes(len(t._memory.data)))
    return t


def tensor(values, dtype=None, device="cpu"):
    shape, flat, values = simulator.flatten(values)
    dtype = dtype or globals()["float32" if isinstance(flat, float) else "int64"]
    return Tensor(simulator.Memory(0, simulator.pack(values if shape else [values], dtype.name)), dtype, shape,
                  where=str(device))


class SyntaxError(SyntaxError):
    """What compile_shader raises for a text that Metal does not take (c10::SyntaxError)."""


class _Kernel:
    def __init__(self, library, name, most):
        self._library, self._name, self.max_threads_per_threadgroup = library, name, most or 1024
        self.thread_execution_width = 32

    @staticmethod
    def _bytes(arg, cast):
        numbers = list(arg) if isinstance(arg, (list, tuple)) else [arg]
        if not numbers:
            raise RuntimeError("Empty list/tuple can not be an argument to metal kernel")
        if cast is not None:
            raise AssertionError("this stand-in knows no arg_casts")
        if isinstance(numbers[0], float):
            return b"".join(struct.pack("<f", x) for x in numbers)
        if isinstance(numbers[0], int):
            if not all(-2**63 <= x < 2**63 for x in numbers):
                raise RuntimeError("Unable to cast Python instance of type <class 'int'> to C++ type 'long'")
            return struct.pack(f"<{len(numbers)}q", *numbers)
        raise RuntimeError("Unsupported argument type")

    def __call__(self, *args, threads=None, group_size=None, arg_casts=None, error_buf_idx=None):
        bindings = {}
        for index, arg in enumerate(args):
            if not isinstance(arg, Tensor):
                bindings[index] = self._bytes(arg, arg_casts)
                if len(bindings[index]) > 4096:
                    raise AssertionError("Metal: more than 4096 inline bytes")
                continue
            if arg.device.type != "mps":
                raise RuntimeError("Passed CPU tensor to MPS op")
            bindings[index] = (arg._memory, arg._offset * arg.dtype.itemsize, True)
        threads, groups = [tuple(map(int, x)) for x in (threads, group_size)]
        if len(threads) != 3 or len(groups) != 3:
            raise AssertionError("this stand-in wants three dimensions")
        if math.prod(groups) > self.max_threads_per_threadgroup:
            raise ValueError(f"Threadgroup size exceeds {self.max_threads_per_threadgroup} limit")
        if min(threads) < 1 or any(t % g for t, g in zip(threads, groups)):
            raise AssertionError(f"Metal: a grid of {threads} threads in threadgroups of {groups}")
        if len(args) > 31:
            raise AssertionError("Metal: more than 31 buffers")
        simulator.run(self._library, self._name, [t // g for t, g in zip(threads, groups)], groups, bindings)


class _Library:
    def __init__(self, source):
        # PyTorch hands the text to Metal as ASCII, in the newest language of the system
        try:
            self._id, self._names = simulator.compile(source, mps.language)
        except simulator.Refused as e:
            raise SyntaxError(str(e)) from None

    def __getattr__(self, name):
        if name not in self._names:
            raise RuntimeError("Failed to create function state object for: " + name)
        return _Kernel(self._id, name, self._names[name])


class mps:
    language = 400

    @staticmethod
    def compile_shader(source):
        return _Library(source)

    @staticmethod
    def synchronize():
        pass

    @staticmethod
    def is_available():
        return True
