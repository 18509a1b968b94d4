"""A Triton softmax on an Apple GPU by MLX, from a module that tmetal writes.

    build/tmetal compile examples/kernels/softmax.ttir --emit mlx-py -o build/softmax_mlx.py
    PYTHONPATH=build python3 examples/launch_mlx.py

docs/hosts-python.md says what such a module takes. Nothing of this has run on an Apple GPU."""
import math

import mlx.core as mx
from softmax_mlx import softmax

rows, cols = 6, 200  # the kernel was made for rows of up to 256 elements
x = mx.array([[math.sin(r + 3.0 * c) for c in range(cols)] for r in range(rows)])

# Where the Triton kernel takes the tensor that it writes, this one takes a shape, and returns a new array.
y = softmax(x.shape, x, cols, cols, cols, grid=rows)

for r, row in enumerate(y.tolist()):  # reading makes MLX run the kernel
    whole = sum(math.exp(v) for v in x.tolist()[r])
    assert all(abs(got - math.exp(v) / whole) < 1e-6 for got, v in zip(row, x.tolist()[r])), f"row {r} is wrong"
print(f"softmax of {rows} rows of {cols} by MLX: right")
