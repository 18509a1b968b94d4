"""A Triton softmax on an Apple GPU by PyTorch, from a module that tmetal writes.

    build/tmetal compile examples/kernels/softmax.ttir --emit torch-py -o build/softmax_torch.py
    PYTHONPATH=build python3 examples/launch_torch.py

docs/hosts-python.md says what such a module takes. Nothing of this has run on an Apple GPU."""
import math

import torch
from softmax_torch import softmax

rows, cols = 6, 200  # the kernel was made for rows of up to 256 elements
x = torch.tensor([[math.sin(r + 3.0 * c) for c in range(cols)] for r in range(rows)], device="mps")
y = torch.empty_like(x)

softmax(y, x, x.stride(0), y.stride(0), cols, grid=rows)  # in Triton: softmax[(rows,)](y, x, ...)

for r, row in enumerate(y.tolist()):  # reading waits for the GPU
    whole = sum(math.exp(v) for v in x.tolist()[r])
    assert all(abs(got - math.exp(v) / whole) < 1e-6 for got, v in zip(row, x.tolist()[r])), f"row {r} is wrong"
print(f"softmax of {rows} rows of {cols} by PyTorch: right")
