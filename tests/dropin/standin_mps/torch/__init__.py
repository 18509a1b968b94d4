"""A stand-in for PyTorch on a Mac: tensors whose storage is an MTLBuffer of the stand-in for Metal, and a stream.

What is asked of a tensor waits until the stream is synchronized: a launch that does not wait for it, or that it does
not wait for, gives wrong numbers. Kernels of compile_shader run in the simulator, by tests/python/simulator.py.
"""
import ctypes
import math
import struct

import numpy as np
import simulator

__version__ = "2.10.0"
_stream = []  # functions, in order


class dtype:
    def __init__(self, name, size):
        self.name, self.itemsize = name, size

    def __repr__(self):
        return "torch." + self.name


for _name, _size in (("bool", 1), ("uint8", 1), ("int8", 1), ("int16", 2), ("int32", 4), ("int64", 8),
                     ("float16", 2), ("bfloat16", 2), ("float32", 4)):
    globals()[_name] = dtype(_name, _size)


class device:
    def __init__(self, name):
        self.type = name


class _Buffer:
    """An MTLBuffer; PyTorch's allocator keeps it while the stream may use it, and so does this."""

    def __init__(self, size):
        from triton_metal import backend, library, metal
        self._library, self._metal, self.about = library.load(), backend.active()._metal, metal._Buffer()
        problem = library.Problem()
        if self._library.tmetal_buffer_make(self._metal.pointer, max(size, 1), ctypes.byref(self.about),
                                            ctypes.byref(problem)):
            raise RuntimeError(str(problem))
        self.size = size
        self.bytes = np.frombuffer((ctypes.c_uint8 * size).from_address(self.about.contents), np.uint8)

    def __del__(self):
        self._library.tmetal_buffer_free(self._metal.pointer, ctypes.byref(self.about))

    def data_ptr(self):
        return self.about.object

    def nbytes(self):
        return self.size


class Tensor:
    """Elements of a buffer from an offset on, by shape and strides (in elements)."""

    is_mps, is_cpu = True, False
    device = device("mps")

    def __init__(self, buffer, dtype, shape, strides=None, offset=0):
        self._buffer, self.dtype, self.shape, self._offset = buffer, dtype, tuple(shape), offset
        self._strides = tuple(strides) if strides is not None else tuple(
            math.prod(self.shape[i + 1:]) for i in range(len(self.shape)))

    def stride(self, axis=None):
        return self._strides if axis is None else self._strides[axis]

    def storage_offset(self):
        return self._offset

    def untyped_storage(self):
        return self._buffer

    storage = untyped_storage

    def element_size(self):
        return self.dtype.itemsize

    def numel(self):
        return math.prod(self.shape)

    def data_ptr(self):
        return self._buffer.data_ptr() + self._offset * self.dtype.itemsize

    def __getitem__(self, part):
        start, stop, step = part.indices(self.shape[0])
        return Tensor(self._buffer, self.dtype, (len(range(start, stop, step)), *self.shape[1:]),
                      (step * self._strides[0], *self._strides[1:]), self._offset + start * self._strides[0])

    def _view(self):
        kind = np.dtype("uint16" if self.dtype.name == "bfloat16" else self.dtype.name)
        whole = self._buffer.bytes[:self._buffer.size // kind.itemsize * kind.itemsize].view(kind)
        return np.lib.stride_tricks.as_strided(whole[self._offset:], self.shape,
                                               [s * kind.itemsize for s in self._strides])

    def add_(self, number):
        _stream.append(lambda: self._view().__iadd__(number))
        return self

    def numpy(self):
        mps.synchronize()
        return self._view().copy()


def empty(*shape, dtype=None, device="mps"):
    assert device == "mps"
    dtype = dtype or globals()["float32"]
    t = Tensor(_Buffer(math.prod(shape) * dtype.itemsize), dtype, shape)
    t._buffer.bytes[:] = 0xcd
    return t


def zeros(*shape, dtype=None, device="mps"):
    t = empty(*shape, dtype=dtype, device=device)
    _stream.append(lambda: t._view().fill(0))
    return t


def from_numpy(array, dtype=None):
    """Torch has this for the CPU; here it is followed by .to('mps')."""
    t = empty(*array.shape, dtype=dtype or globals()[array.dtype.name])
    now = array.copy()
    _stream.append(lambda: t._view().__setitem__(..., now))
    return t


class _Kernel:
    def __init__(self, library, name):
        self._library, self._name = library, name

    def __call__(self, *args, threads, group_size):
        data, places, memories = {}, {}, {}
        for index, arg in enumerate(args):
            if isinstance(arg, Tensor):
                memory = memories.setdefault(id(arg._buffer), (simulator.Memory(0, b""), arg._buffer))[0]
                places[index] = (memory, arg._offset * arg.dtype.itemsize, True)
                continue
            numbers = list(arg) if isinstance(arg, (list, tuple)) else [arg]
            if not all(type(n) is int and -2**63 <= n < 2**63 for n in numbers):
                raise RuntimeError(f"Unsupported argument {arg!r}")
            data[index] = struct.pack(f"<{len(numbers)}q", *numbers)
        groups = [t // g for t, g in zip(threads, group_size)]
        assert all(t % g == 0 and t for t, g in zip(threads, group_size)), (threads, group_size)

        def work():
            for memory, buffer in memories.values():
                memory.data = bytearray(buffer.bytes)
            simulator.run(self._library, self._name, groups, group_size, {**data, **places})
            for memory, buffer in memories.values():
                buffer.bytes[:] = memory.data
        _stream.append(work)


class _Library:
    def __init__(self, source):
        self._id, self._names = simulator.compile(source, 400)

    def __getattr__(self, name):
        return _Kernel(self._id, name)


class mps:
    launches = 0  # by compile_shader
    compiled = 0

    @staticmethod
    def compile_shader(source):
        mps.compiled += 1
        return _Library(source)

    @staticmethod
    def synchronize():
        while _stream:
            _stream.pop(0)()

    @staticmethod
    def is_available():
        return True
