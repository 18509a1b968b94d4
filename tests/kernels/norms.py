"""Normalisation, softmax and activations: what a pattern matcher may take for one another."""

import torch
import triton
import triton.language as tl
from triton.language.extra.cuda import libdevice

from common import blank, case, normal, uniform, values


# -- Layer norm and its relatives: one program a row ----------------------------------------------------------------

@triton.jit
def layer_norm(x_ptr, y_ptr, weight_ptr, bias_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n_cols
    centered = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centered * centered, axis=0) / n_cols
    y = centered / tl.sqrt(variance + eps)
    weight = tl.load(weight_ptr + cols, mask=mask)
    bias = tl.load(bias_ptr + cols, mask=mask)
    tl.store(y_ptr + row * n_cols + cols, y * weight + bias, mask=mask)


@triton.jit
def layer_norm_unbiased(x_ptr, y_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n_cols
    centered = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centered * centered, axis=0) / (n_cols - 1)
    tl.store(y_ptr + row * n_cols + cols, centered * tl.rsqrt(variance + eps), mask=mask)


@triton.jit
def layer_norm_eps_outside(x_ptr, y_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n_cols
    centered = tl.where(mask, x - mean, 0.0)
    std = tl.sqrt(tl.sum(centered * centered, axis=0) / n_cols)
    tl.store(y_ptr + row * n_cols + cols, centered / (std + eps), mask=mask)


@triton.jit
def layer_norm_one_pass(x_ptr, y_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    mean = tl.sum(x, axis=0) / n_cols
    variance = tl.sum(x * x, axis=0) / n_cols - mean * mean
    tl.store(y_ptr + row * n_cols + cols, (x - mean) / tl.sqrt(variance + eps), mask=mask)


@triton.jit
def layer_norm_shifted(x_ptr, y_ptr, n_cols, eps, BLOCK: tl.constexpr):
    """The row's first value is taken away before anything is summed."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    first = tl.load(x_ptr + row * n_cols)
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    x = tl.where(mask, x - first, 0.0)
    mean = tl.sum(x, axis=0) / n_cols
    centered = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centered * centered, axis=0) / n_cols
    tl.store(y_ptr + row * n_cols + cols, centered * tl.rsqrt(variance + eps), mask=mask)


@triton.jit
def layer_norm_in_double(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0).to(tl.float64)
    mean = tl.sum(x, axis=0) / n_cols
    centered = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centered * centered, axis=0) / n_cols
    tl.store(y_ptr + row * n_cols + cols, (centered / tl.sqrt(variance)).to(tl.float32), mask=mask)


@triton.jit
def rms_norm_eps_outside(x_ptr, y_ptr, n_cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    rms = tl.sqrt(tl.sum(x * x, axis=0) / n_cols)
    tl.store(y_ptr + row * n_cols + cols, x / (rms + eps), mask=mask)


@triton.jit
def l2_norm(x_ptr, y_ptr, n_cols, eps, BLOCK: tl.constexpr):
    """Looks like an RMS norm, but does not divide by the number of columns."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0)
    scale = tl.rsqrt(tl.sum(x * x, axis=0) + eps)
    tl.store(y_ptr + row * n_cols + cols, x * scale, mask=mask)


@triton.jit
def group_norm(x_ptr, y_ptr, n_channels, n_pixels, eps, CHANNELS: tl.constexpr, PIXELS: tl.constexpr):
    group = tl.program_id(0)
    c = tl.arange(0, CHANNELS)[:, None]
    p = tl.arange(0, PIXELS)[None, :]
    mask = (c < n_channels) & (p < n_pixels)
    offsets = (group * n_channels + c) * n_pixels + p
    x = tl.load(x_ptr + offsets, mask=mask, other=0.0)
    count = n_channels * n_pixels
    mean = tl.sum(tl.sum(x, axis=1), axis=0) / count
    centered = tl.where(mask, x - mean, 0.0)
    variance = tl.sum(centered * centered) / count
    tl.store(y_ptr + offsets, centered * tl.rsqrt(variance + eps), mask=mask)


# -- Softmax --------------------------------------------------------------------------------------------------------

@triton.jit
def softmax_axis0(x_ptr, y_ptr, n_rows, n_cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    r = tl.arange(0, ROWS)[:, None]
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)[None, :]
    mask = (r < n_rows) & (c < n_cols)
    x = tl.load(x_ptr + r * n_cols + c, mask=mask, other=-float("inf"))
    x = x - tl.max(x, axis=0)[None, :]
    e = tl.exp(x)
    y = e / tl.sum(e, axis=0)[None, :]
    tl.store(y_ptr + r * n_cols + c, y, mask=mask)


@triton.jit
def softmax_no_max(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    e = tl.exp(tl.load(x_ptr + row * n_cols + cols, mask=mask, other=-float("inf")))
    tl.store(y_ptr + row * n_cols + cols, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def softmax_base2(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=-float("inf"))
    e = tl.exp2(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n_cols + cols, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def softmax_scaled(x_ptr, y_ptr, n_cols, temperature, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=0.0) * temperature
    x = tl.where(mask, x, -float("inf"))
    e = tl.exp(x - tl.max(x, axis=0))
    tl.store(y_ptr + row * n_cols + cols, e / tl.sum(e, axis=0), mask=mask)


@triton.jit
def log_softmax(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask, other=-float("inf"))
    x = x - tl.max(x, axis=0)
    tl.store(y_ptr + row * n_cols + cols, x - tl.log(tl.sum(tl.exp(x), axis=0)), mask=mask)


@triton.jit
def softmax_online(x_ptr, y_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    running_max = tl.full([BLOCK], -float("inf"), tl.float32)
    running_sum = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols, other=-1e30)
        new_max = tl.maximum(running_max, x)
        running_sum = running_sum * tl.exp(running_max - new_max) + tl.exp(x - new_max)
        running_max = new_max
    row_max = tl.max(running_max, axis=0)
    row_sum = tl.sum(running_sum * tl.exp(running_max - row_max), axis=0)
    for start in range(0, n_cols, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n_cols + cols, mask=cols < n_cols)
        tl.store(y_ptr + row * n_cols + cols, tl.exp(x - row_max) / row_sum, mask=cols < n_cols)


@triton.jit
def softmax_backward(y_ptr, dy_ptr, dx_ptr, n_cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    y = tl.load(y_ptr + row * n_cols + cols, mask=mask, other=0.0)
    dy = tl.load(dy_ptr + row * n_cols + cols, mask=mask, other=0.0)
    dx = y * (dy - tl.sum(y * dy, axis=0))
    tl.store(dx_ptr + row * n_cols + cols, dx, mask=mask)


# -- Activations and small chains -----------------------------------------------------------------------------------

@triton.jit
def gelu_by_exp(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """The tanh form, with tanh written by exp as Triton users do."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    inner = 0.79788456 * x * (1 + 0.044715 * x * x)
    tanh = 1 - 2 / (tl.exp(2 * inner) + 1)
    tl.store(y_ptr + i, 0.5 * x * (1 + tanh), mask=i < n)


@triton.jit
def gelu_like_wrong_factor(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    """Not GELU: the error function of x itself."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, 0.5 * x * (1.0 + tl.erf(x)), mask=i < n)


@triton.jit
def gelu_quick(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, x * tl.sigmoid(1.702 * x), mask=i < n)


@triton.jit
def silu_gate(gate_ptr, up_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    gate = tl.load(gate_ptr + i, mask=i < n).to(tl.float32)
    up = tl.load(up_ptr + i, mask=i < n)
    silu = gate * tl.sigmoid(gate)
    tl.store(y_ptr + i, silu.to(up.dtype) * up, mask=i < n)


@triton.jit
def mul_add_both_stored(a_ptr, b_ptr, c_ptr, product_ptr, sum_ptr, n, BLOCK: tl.constexpr):
    """The product feeds an add and is stored too."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    product = tl.load(a_ptr + i, mask=mask) * tl.load(b_ptr + i, mask=mask)
    tl.store(product_ptr + i, product, mask=mask)
    tl.store(sum_ptr + i, product + tl.load(c_ptr + i, mask=mask), mask=mask)


@triton.jit
def mul_add_two_readers(a_ptr, b_ptr, c_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    c = tl.load(c_ptr + i, mask=mask)
    product = tl.load(a_ptr + i, mask=mask) * tl.load(b_ptr + i, mask=mask)
    tl.store(y_ptr + i, (product + c) * (c - product), mask=mask)


@triton.jit
def bias_gelu_scale_residual(x_ptr, bias_ptr, residual_ptr, y_ptr, n_cols, scale, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    mask = cols < n_cols
    x = tl.load(x_ptr + row * n_cols + cols, mask=mask).to(tl.float32)
    x += tl.load(bias_ptr + cols, mask=mask).to(tl.float32)
    x = 0.5 * x * (1.0 + libdevice.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
    x = x * scale + tl.load(residual_ptr + row * n_cols + cols, mask=mask).to(tl.float32)
    tl.store(y_ptr + row * n_cols + cols, x.to(tl.bfloat16), mask=mask)


def launches():
    def rows(kernel, *args, m=5, n=100, mean=0.0, std=1.0, name=None, x=None, **options):
        x = normal(m, n, mean=mean, std=std) if x is None else x
        return case(kernel, x, blank(*x.shape), *args, grid=x.shape[0], name=name, BLOCK=128, **options)

    yield case(layer_norm, normal(5, 100, std=0.05), blank(5, 100), uniform(100), uniform(100), 100, 1e-3, grid=5,
               name="layer_norm_eps_1e-3", BLOCK=128)
    yield case(layer_norm, normal(3, 50), blank(3, 50), uniform(50), uniform(50), 50, 1e-5, grid=3,
               name="raw_layer_norm", record="source", BLOCK=64)
    yield rows(layer_norm_unbiased, 100, 1e-5)
    yield rows(layer_norm_eps_outside, 100, 1e-2)
    yield rows(layer_norm_one_pass, 100, 1e-5)
    yield rows(layer_norm_shifted, 100, 0.0, mean=1000.0, std=0.01)
    # sums of these are exact in float32 in any order: the right answer is one, and E[x^2] - E[x]^2 is far from it
    exact = 1000 + torch.randint(-4, 5, (6, 64)).double() / 256
    exact = torch.where(torch.arange(64) % 2 == 0, exact, 2000 - exact.roll(1, 1))
    x = values(exact.tolist())
    yield case(layer_norm_unbiased, x, blank(6, 64), 64, 0.0, grid=6, BLOCK=64, name="layer_norm_far_mean")
    yield rows(layer_norm_in_double, 100, mean=1000.0, std=0.01)
    yield rows(rms_norm_eps_outside, 100, 1e-2)
    yield rows(l2_norm, 100, 1e-6)
    yield case(group_norm, normal(3, 6, 30), blank(3, 6, 30), 6, 30, 1e-5, grid=3, CHANNELS=8, PIXELS=32)

    yield case(softmax_axis0, normal(50, 20), blank(50, 20), 50, 20, grid=2, ROWS=64, COLS=16)
    yield rows(softmax_no_max, 100)
    yield rows(softmax_base2, 100)
    yield rows(softmax_scaled, 100, -0.7)
    yield rows(log_softmax, 100)
    yield rows(softmax_online, 300, n=300)
    y = torch.softmax(normal(5, 100), 1)
    yield case(softmax_backward, y, normal(5, 100), blank(5, 100), 100, grid=5, BLOCK=128)

    for kernel in gelu_by_exp, gelu_like_wrong_factor, gelu_quick:
        yield case(kernel, normal(333, std=2.0), blank(333), 333, grid=2, BLOCK=256)
    half = torch.float16
    yield case(silu_gate, normal(333, dtype=half), normal(333, dtype=half), blank(333, dtype=half), 333, grid=2,
               BLOCK=256)
    yield case(mul_add_both_stored, normal(300), normal(300), normal(300), blank(300), blank(300), 300, grid=3,
               BLOCK=128)
    yield case(mul_add_two_readers, normal(300), normal(300), normal(300), blank(300), 300, grid=3, BLOCK=128)
    b16 = torch.bfloat16
    yield case(bias_gelu_scale_residual, normal(7, 90, dtype=b16), normal(90, dtype=b16), normal(7, 90, dtype=b16),
               blank(7, 90, dtype=b16), 90, 0.125, grid=7, BLOCK=128)
