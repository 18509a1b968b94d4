"""Sorting rows, pairs of keys and values, and what is read off sorted rows; counting keys and values."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks


@triton.jit
def sort_rows(x_ptr, out_ptr, n_cols, DESCENDING: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    fill = -float("inf") if DESCENDING else float("inf")
    x = tl.load(x_ptr + row * n_cols + c, mask=c < n_cols, other=fill)
    tl.store(out_ptr + row * n_cols + c, tl.sort(x, descending=DESCENDING), mask=c < n_cols)


@triton.jit
def sort_key_value(key_ptr, value_ptr, key_out_ptr, value_out_ptr, n, BLOCK: tl.constexpr):
    """Keys below 2^31 over values of 32 bits in one number of 64, as a block of a larger sort."""
    at = tl.program_id(0) * n + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < n
    key = tl.load(key_ptr + at, mask=inside, other=0x7FFFFFFF).to(tl.int64)
    value = tl.load(value_ptr + at, mask=inside, other=0).to(tl.int64)
    pair = tl.sort((key << 32) | (value & 0xFFFFFFFF))
    tl.store(key_out_ptr + at, (pair >> 32).to(tl.int32), mask=inside)
    tl.store(value_out_ptr + at, pair.to(tl.int32), mask=inside)


@triton.jit
def argsort_half(x, order, cols, BLOCK: tl.constexpr, ROWS: tl.constexpr):
    """ROWS rows of f16 at once: 16 bits that order as the numbers do, above a place of 16 bits."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r[:, None] * cols + c[None, :], mask=c[None, :] < cols, other=float("inf"))
    bits = v.to(tl.int16, bitcast=True).to(tl.int32)
    key = tl.where(bits < 0, bits ^ 0x7FFF, bits)
    packed = tl.sort(key * 65536 + c[None, :], dim=1)
    tl.store(order + r[:, None] * cols + c[None, :], packed & 0xFFFF, mask=c[None, :] < cols)


@triton.jit
def trimmed_mean(x_ptr, mean_ptr, median_ptr, N: tl.constexpr, TRIM: tl.constexpr, ROWS: tl.constexpr):
    """Of the N votes of each row, without the TRIM least and most; their median too."""
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, N)
    s = tl.sort(tl.load(x_ptr + r[:, None] * N + c[None, :]).to(tl.float32))
    inner = (c >= TRIM) & (c < N - TRIM)
    tl.store(mean_ptr + r, tl.sum(tl.where(inner[None, :], s, 0.0), axis=1) / (N - 2 * TRIM))
    middle = (c == N // 2 - 1) | (c == N // 2)
    tl.store(median_ptr + r, tl.sum(tl.where(middle[None, :], s, 0.0), axis=1) * 0.5)


@triton.jit
def histogram_image(x_ptr, count_ptr, n, BLOCK: tl.constexpr):
    """256 bins of an image's bytes; programs stride over it and add once."""
    counts = tl.zeros([256], tl.int32)
    for first in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = first + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0).to(tl.int32)
        counts += tl.histogram(x, 256, mask=i < n)
    tl.atomic_add(count_ptr + tl.arange(0, 256), counts)


@triton.jit
def histogram_rows(x, counts, cols, low, inv_width, BINS: tl.constexpr, BLOCK: tl.constexpr):
    """Equal bins from low on, of each row; what is outside counts in the outer bins."""
    row = tl.program_id(0)
    total = tl.zeros([BINS], tl.int32)
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * cols + c, mask=c < cols, other=low).to(tl.float32)
        b = tl.floor((v - low) * inv_width).to(tl.int32)
        b = tl.minimum(tl.maximum(b, 0), BINS - 1)
        total += tl.histogram(b, BINS, mask=c < cols)
    tl.store(counts + row * BINS + tl.arange(0, BINS), total)


@triton.jit
def weighted_bincount(ids_ptr, weights_ptr, out_ptr, n, bins, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    b = tl.load(ids_ptr + i, mask=mask, other=0)
    w = tl.load(weights_ptr + i, mask=mask, other=0.0).to(tl.float32)
    tl.atomic_add(out_ptr + b, w, mask=mask & (b >= 0) & (b < bins))


@triton.jit
def radix_count(keys_ptr, counts_ptr, n, shift, BITS: tl.constexpr, BLOCK: tl.constexpr):
    """The first pass of a radix sort: each block's count of each digit, digits first."""
    DIGITS: tl.constexpr = 1 << BITS
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(keys_ptr + i, mask=i < n, other=0).to(tl.uint32, bitcast=True)
    digit = ((key >> shift) & (DIGITS - 1)).to(tl.int32)
    h = tl.histogram(digit, DIGITS, mask=i < n)
    tl.store(counts_ptr + tl.arange(0, DIGITS) * tl.num_programs(0) + pid, h)


# -- Inputs and references -----------------------------------------------------------------------------------------

def pairs_ref(t, n):
    key, order = t['key_ptr'].view(-1, n).sort(1)
    return [key, t['value_ptr'].view(-1, n).gather(1, order)]


def shuffled(rows, cols, step, s):
    """Multiples of step in an order of its own in each row: no two are equal."""
    return Tensor((rows, cols), s, 3, made=lambda g: (torch.rand(rows, cols, generator=g, device=g.device).argsort(1) - cols // 2) * step)


def trimmed_ref(t, n, trim):
    s = t['x_ptr'].double().sort(1)[0]
    return [s[:, trim:n - trim].mean(1), s[:, n // 2 - 1:n // 2 + 1].mean(1)]


def rows_ref(t, low, inv, bins):
    x = t['x'].float()
    b = ((x - low) * inv).floor().long().clamp(0, bins - 1)
    return [torch.zeros(len(x), bins, dtype=torch.long, device=x.device).scatter_add_(1, b, torch.ones_like(b))]


def bincount_ref(t, bins):
    b = t['ids_ptr'].long()
    keep = (b >= 0) & (b < bins)
    return [torch.zeros(bins, dtype=torch.float64, device=b.device).index_add_(0, b[keep], t['weights_ptr'].double()[keep])]


def digits_ref(t, shift, bits, block):
    digit = (t['keys_ptr'].long() & 0xFFFFFFFF) >> shift & (1 << bits) - 1
    return [torch.stack([torch.bincount(d, minlength=1 << bits) for d in digit.split(block)], 1)]


# -- Cases ---------------------------------------------------------------------------------------------------------

def cases(small=False):
    for s, R, C, down in (('f16', 16384, 1024, False), ('bf16', 8192, 2000, True), ('f32', 65536, 128, False)):
        if small:
            R, C = 5, {1024: 64, 2000: 100, 128: 128}[C]
        yield Case('sort_rows %s [%d,%d]' % (s, R, C), dict(x_ptr=Tensor((R, C), s), out_ptr=Tensor((R, C), s, 9), n_cols=C), ['out_ptr'],
                   lambda t, down=down: [t['x_ptr'].float().sort(1, descending=down)[0]], 0, sort_rows, (R,),
                   dict(DESCENDING=down, BLOCK=triton.next_power_of_2(C), num_warps=4), bytes=2 * R * C * BYTES[s])
    R, n = (3, 100) if small else (4096, 2048)
    yield Case('sort_key_value i32 %dx%d' % (R, n), dict(key_ptr=Tensor((R * n,), 'i32', 3, made=lambda g, R=R, n=n:
               torch.rand(R, n, generator=g, device=g.device).argsort(1) * 1000), value_ptr=Tensor((R * n,), 'i32', 4, 1 << 30, -(1 << 30)),
               key_out_ptr=Tensor((R * n,), 'i32'), value_out_ptr=Tensor((R * n,), 'i32'), n=n), ['key_out_ptr', 'value_out_ptr'],
               lambda t, n=n: pairs_ref(t, n), 0, sort_key_value, (R,), dict(BLOCK=triton.next_power_of_2(n), num_warps=4), bytes=16 * R * n)
    R, C = (8, 50) if small else (65536, 256)
    yield Case('argsort_half f16 [%d,%d]' % (R, C), dict(x=shuffled(R, C, 0.5, 'f16'), order=Tensor((R, C), 'i32'), cols=C), ['order'],
               lambda t: [t['x'].float().argsort(1)], 0, argsort_half, (R // 4,), dict(BLOCK=triton.next_power_of_2(C), ROWS=4, num_warps=4), bytes=6 * R * C)
    R, N = (64, 16) if small else (1 << 20, 32)
    yield Case('trimmed_mean bf16 [%d,%d]' % (R, N), dict(x_ptr=Tensor((R, N), 'bf16'), mean_ptr=Tensor((R,)), median_ptr=Tensor((R,))),
               ['mean_ptr', 'median_ptr'], lambda t, N=N: trimmed_ref(t, N, 4), 1e-5, trimmed_mean, (R // 32,), dict(N=N, TRIM=4, ROWS=32, num_warps=4),
               bytes=2 * R * N + 8 * R)
    n = 5000 if small else 3840 * 2160 * 12
    yield Case('histogram_image u8 %d' % n, dict(x_ptr=Tensor((n,), 'u8', made=lambda g, n=n: (torch.randn(n, generator=g, device=g.device) * 40 + 120).clamp(0, 255)),
               count_ptr=Tensor((256,), 'i32', made=lambda g: torch.zeros(256)), n=n), ['count_ptr'],
               lambda t: [torch.bincount(t['x_ptr'].int(), minlength=256)], 0, histogram_image, (3 if small else 1056,),
               dict(BLOCK=512 if small else 4096, num_warps=8), bytes=n, kept=('count_ptr',))
    R, C = (4, 900) if small else (4096, 16384)
    yield Case('histogram_rows f16 [%d,%d]' % (R, C), dict(x=Tensor((R, C), 'f16'), counts=Tensor((R, 64), 'i32'), cols=C, low=-2.0, inv_width=16.0),
               ['counts'], lambda t: [rows_ref(t, -2.0, 16.0, 64)[0]], 0, histogram_rows, (R,), dict(BINS=64, BLOCK=256 if small else 2048, num_warps=4),
               bytes=2 * R * C)
    n, bins = (2000, 40) if small else (1 << 25, 50000)
    yield Case('weighted_bincount f16 %d' % n, dict(ids_ptr=Tensor((n,), 'i32', 5, bins + 3, -2), weights_ptr=Tensor((n,), 'f16'),
               out_ptr=Tensor((bins,), made=lambda g, b=bins: torch.zeros(b)), n=n, bins=bins), ['out_ptr'], lambda t, b=bins: bincount_ref(t, b), 1e-4,
               weighted_bincount, (blocks(n, 1024),), dict(BLOCK=1024, num_warps=4), bytes=6 * n, kept=('out_ptr',))
    n, block = (3000, 512) if small else (1 << 26, 4096)
    yield Case('radix_count i32 %d' % n, dict(keys_ptr=Tensor((n,), 'i32', 5, (1 << 31) - 1, -(1 << 31)), counts_ptr=Tensor((16, blocks(n, block)), 'i32'), n=n,
               shift=8), ['counts_ptr'], lambda t, b=block: digits_ref(t, 8, 4, b), 0, radix_count, (blocks(n, block),),
               dict(BITS=4, BLOCK=block, num_warps=8), bytes=4 * n)
