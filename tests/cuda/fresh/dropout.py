"""Dropout from a seed, and kernels that it is fused into; noise that samples tokens."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks, near


@triton.jit
def dropout_seeded(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask)
    keep = tl.rand(seed, i) > p
    tl.store(out_ptr + i, tl.where(keep, x / (1 - p), 0.0), mask=mask)


@triton.jit
def dropout_four(x_ptr, out_ptr, n, p, seed, BLOCK: tl.constexpr):
    """One call of the generator for four blocks of elements."""
    j = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    r0, r1, r2, r3 = tl.rand4x(seed, j)
    scale = 1.0 / (1.0 - p)
    base = tl.program_id(0) * BLOCK * 4 + tl.arange(0, BLOCK)
    for k in tl.static_range(4):
        r = r0 if k == 0 else (r1 if k == 1 else (r2 if k == 2 else r3))
        i = base + k * BLOCK
        x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
        tl.store(out_ptr + i, tl.where(r > p, x * scale, 0.0), mask=i < n)


@triton.jit
def bias_dropout_residual(x_ptr, bias_ptr, res_ptr, out_ptr, mask_ptr, rows, cols, p, seed_ptr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """The seed is in memory; the mask is kept in bytes for the backward pass."""
    seed = tl.load(seed_ptr)
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, BLOCK)
    ok = (r < rows)[:, None] & (c < cols)[None, :]
    at = r[:, None] * cols + c[None, :]
    x = tl.load(x_ptr + at, mask=ok, other=0.0).to(tl.float32) + tl.load(bias_ptr + c, mask=c < cols, other=0.0).to(tl.float32)[None, :]
    res = tl.load(res_ptr + at, mask=ok, other=0.0).to(tl.float32)
    keep = tl.rand(seed, at) >= p
    tl.store(out_ptr + at, res + tl.where(keep, x / (1.0 - p), 0.0), mask=ok)
    tl.store(mask_ptr + at, keep.to(tl.int8), mask=ok)


@triton.jit
def dropout_backward(dy_ptr, dx_ptr, n, p, seed, BLOCK: tl.constexpr):
    """The mask is made again from the seed."""
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    bits = tl.randint(seed, i)
    keep = (bits >> 8).to(tl.int32) >= (p * 16777216.0).to(tl.int32)
    dy = tl.load(dy_ptr + i, mask=i < n, other=0.0).to(tl.float32)
    tl.store(dx_ptr + i, tl.where(keep, dy * (1.0 / (1.0 - p)), 0.0), mask=i < n)


# -- Inputs and references -----------------------------------------------------------------------------------------

def philox(seed, counter, high=None):
    """Philox 4x32-10 as Triton has it: words of 32 bits in tensors of i64."""
    low = 0xFFFFFFFF
    c0, c1 = counter & low, torch.zeros_like(counter) if high is None else high
    c2, c3 = torch.zeros_like(counter), torch.zeros_like(counter)
    k0, k1 = seed & low, seed >> 32 & low
    def product(a, b):  # of 32 bits each: high and low words
        a0, a1 = a & 0xFFFF, a >> 16
        x, y = a0 * b, a1 * b
        return y + (x >> 16) >> 16 & low, (y << 16) + x & low
    for _ in range(10):
        h0, l0 = product(c0, 0xD2511F53)
        h2, l2 = product(c2, 0xCD9E8D57)
        c0, c1, c2, c3 = h2 ^ c1 ^ k0, l2, h0 ^ c3 ^ k1, l0
        k0, k1 = k0 + 0x9E3779B9 & low, k1 + 0xBB67AE85 & low
    return c0, c1, c2, c3


def uniform(bits):
    signed = torch.where(bits >= 1 << 31, bits - (1 << 32), bits)
    return torch.where(signed < 0, -signed - 1, signed).float() * 4.6566127342e-10


def uniforms(seed, n, device):
    return uniform(philox(seed, torch.arange(n, device=device))[0])


def seeded_ref(t, p, seed):
    x = t['x_ptr'].double()
    return [torch.where(uniforms(seed, x.numel(), x.device) > p, x / (1 - p), 0.0)]


def four_ref(t, p, seed, block):
    x = t['x_ptr'].double()
    groups = -(-x.numel() // (4 * block))
    words = [uniform(w).view(groups, block) for w in philox(seed, torch.arange(groups * block, device=x.device))]
    r = torch.stack(words, 1).flatten()[:x.numel()]
    return [torch.where(r > p, x / (1 - p), 0.0)]


def residual_ref(t, p):
    x = t['x_ptr'].double() + t['bias_ptr'].double()
    keep = uniforms(t['seed_ptr'].item(), x.numel(), x.device).view(x.shape) >= p
    return [t['res_ptr'].double() + torch.where(keep, x / (1 - p), 0.0), keep]


def backward_ref(t, p, seed):
    dy = t['dy_ptr'].double()
    bits = philox(seed, torch.arange(dy.numel(), device=dy.device))[0]
    return [torch.where((bits >> 8) >= int(p * 16777216), dy / (1 - p), 0.0)]


# -- Cases ---------------------------------------------------------------------------------------------------------

def cases(small=False):
    for s, p in (('f16', 0.1), ('bf16', 0.5)):
        n = 3001 if small else 1 << 26
        x, y = Tensor((n,), s), Tensor((n,), s, 9)
        yield Case('dropout_seeded %s %d' % (s, n), dict(x_ptr=x, out_ptr=y, n=n, p=p, seed=1234567), ['out_ptr'],
                   lambda t, p=p: seeded_ref(t, p, 1234567), near(0, s), dropout_seeded, (blocks(n, 1024),), dict(BLOCK=1024, num_warps=4),
                   bytes=2 * n * BYTES[s])
        if s == 'f16':
            block = 256 if small else 1024
            yield Case('dropout_four %s %d' % (s, n), dict(x_ptr=x, out_ptr=y, n=n, p=p, seed=77), ['out_ptr'],
                       lambda t, p=p, b=block: four_ref(t, p, 77, b), near(0, s), dropout_four, (blocks(n, 4 * block),),
                       dict(BLOCK=block, num_warps=4), bytes=2 * n * BYTES[s])
        else:
            yield Case('dropout_backward %s %d' % (s, n), dict(dy_ptr=x, dx_ptr=y, n=n, p=p, seed=5), ['dx_ptr'], lambda t, p=p: backward_ref(t, p, 5),
                       near(0, s), dropout_backward, (blocks(n, 1024),), dict(BLOCK=1024, num_warps=4), bytes=2 * n * BYTES[s])
    s, R, C = ('bf16', 11, 200) if small else ('bf16', 16384, 4096)
    yield Case('bias_dropout_residual %s [%d,%d]' % (s, R, C), dict(x_ptr=Tensor((R, C), s), bias_ptr=Tensor((C,), s, 3), res_ptr=Tensor((R, C), s, 2),
               out_ptr=Tensor((R, C), s, 9), mask_ptr=Tensor((R, C), 'i8'), rows=R, cols=C, p=0.1,
               seed_ptr=Tensor((1,), 'i64', made=lambda g: torch.tensor([987654321]))), ['out_ptr', 'mask_ptr'], lambda t: residual_ref(t, 0.1), 8e-3,
               bias_dropout_residual, (blocks(R, 2),), dict(ROWS=2, BLOCK=triton.next_power_of_2(C), num_warps=8), bytes=7 * R * C)
