"""The functions of MLX that the documents' programs call, on NumPy: for machines without MLX."""

from types import SimpleNamespace

import numpy


class array(numpy.ndarray):
    """A NumPy array with PyTorch's stride(), which the documents' product asks for."""

    __module__ = "numpy"

    def stride(self, axis):
        return self.strides[axis] // self.itemsize


_generator = numpy.random.default_rng(0)


def _normal(shape):
    return _generator.standard_normal(shape, dtype=numpy.float32).view(array)


random = SimpleNamespace(normal=_normal)
abs = numpy.abs
matmul = numpy.matmul
float32 = numpy.float32


def zeros(shape, dtype=numpy.float32):
    return numpy.zeros(shape, dtype).view(array)
