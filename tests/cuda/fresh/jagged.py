"""Rows of many lengths one after another: sums, softmax, copies to and from padded tensors."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks


@triton.jit
def segment_sum(x_ptr, offsets_ptr, out_ptr, dim, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """out[s] = sum of x[offsets[s]:offsets[s + 1]]; segments of any length."""
    s = tl.program_id(0)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    begin = tl.load(offsets_ptr + s)
    end = tl.load(offsets_ptr + s + 1)
    acc = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    for r0 in range(begin, end, ROWS):
        r = r0 + tl.arange(0, ROWS)
        mask = (r[:, None] < end) & (d[None, :] < dim)
        acc += tl.load(x_ptr + r[:, None].to(tl.int64) * dim + d[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + s * dim + d, tl.sum(acc, axis=0), mask=d < dim)


@triton.jit
def segment_softmax(x_ptr, offsets_ptr, out_ptr, heads, H: tl.constexpr, BLOCK: tl.constexpr):
    """Attention over the edges of a node, for all heads at once, in three passes over the segment."""
    node = tl.program_id(0)
    begin = tl.load(offsets_ptr + node)
    end = tl.load(offsets_ptr + node + 1)
    h = tl.arange(0, H)
    top = tl.full((H,), -float("inf"), tl.float32)
    for e0 in range(begin, end, BLOCK):
        e = e0 + tl.arange(0, BLOCK)
        m = (e < end)[:, None] & (h < heads)[None, :]
        x = tl.load(x_ptr + e[:, None] * heads + h[None, :], mask=m, other=-float("inf")).to(tl.float32)
        top = tl.maximum(top, tl.max(x, axis=0))
    top = tl.where(h < heads, top, 0.0)
    total = tl.zeros((H,), tl.float32)
    for e0 in range(begin, end, BLOCK):
        e = e0 + tl.arange(0, BLOCK)
        m = (e < end)[:, None] & (h < heads)[None, :]
        x = tl.load(x_ptr + e[:, None] * heads + h[None, :], mask=m, other=-float("inf")).to(tl.float32)
        total += tl.sum(tl.exp(x - top[None, :]), axis=0)
    inv = 1.0 / total
    for e0 in range(begin, end, BLOCK):
        e = e0 + tl.arange(0, BLOCK)
        m = (e < end)[:, None] & (h < heads)[None, :]
        x = tl.load(x_ptr + e[:, None] * heads + h[None, :], mask=m, other=-float("inf")).to(tl.float32)
        tl.store(out_ptr + e[:, None] * heads + h[None, :], tl.exp(x - top[None, :]) * inv[None, :], mask=m)


@triton.jit
def jagged_to_padded(values, offsets, out, max_len, dim, padding, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    b = tl.program_id(0)
    t = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    d = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    begin = tl.load(offsets + b)
    length = tl.load(offsets + b + 1) - begin
    cols = d[None, :] < dim
    v = tl.load(values + (begin + t)[:, None] * dim + d[None, :], mask=(t < length)[:, None] & cols, other=padding)
    tl.store(out + (b * max_len + t)[:, None] * dim + d[None, :], v, mask=(t < max_len)[:, None] & cols)


@triton.jit
def padded_to_jagged(x_ptr, cu_ptr, out_ptr, n_seqs, max_len, dim, BLOCK: tl.constexpr):
    """A program finds its token's sequence by bisection, then copies the row."""
    token = tl.program_id(0)
    low = 0
    high = n_seqs
    while high - low > 1:
        mid = (low + high) // 2
        if tl.load(cu_ptr + mid) <= token:
            low = mid
        else:
            high = mid
    t = token - tl.load(cu_ptr + low)
    src = (low * max_len + t).to(tl.int64) * dim
    for d0 in range(0, dim, BLOCK):
        d = d0 + tl.arange(0, BLOCK)
        v = tl.load(x_ptr + src + d, mask=d < dim)
        tl.store(out_ptr + token.to(tl.int64) * dim + d, v, mask=d < dim)


@triton.jit
def jagged_mean_pool(x, mask_ptr, out, length, dim, BT: tl.constexpr, BD: tl.constexpr):
    """The mean of the tokens that a byte mask keeps, as sentence encoders do."""
    b = tl.program_id(0)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    total = tl.zeros((BD,), tl.float32)
    count = 0.0
    for t0 in range(0, length, BT):
        t = t0 + tl.arange(0, BT)
        keep = tl.load(mask_ptr + b * length + t, mask=t < length, other=0).to(tl.float32)
        v = tl.load(x + (b * length + t)[:, None] * dim + d[None, :], mask=(t < length)[:, None] & (d < dim)[None, :], other=0.0)
        total += tl.sum(v.to(tl.float32) * keep[:, None], axis=0)
        count += tl.sum(keep, axis=0)
    tl.store(out + b * dim + d, total / tl.maximum(count, 1e-9), mask=d < dim)


# -- Inputs and references -----------------------------------------------------------------------------------------

def lengths(count, longest, seed=7, least=0):
    """Lengths of which most are short; the first is the longest, the second the least."""
    def make(g):
        n = (torch.rand(count, generator=g, device=g.device) ** 2 * (longest - least) + least).long()
        n[0], n[1] = longest, least
        return n
    return lambda: make(torch.Generator().manual_seed(seed))


def offsets_of(sizes):
    n = sizes()
    return Tensor((len(n) + 1,), 'i32', made=lambda g: torch.cat([torch.zeros(1, dtype=torch.long), sizes().cumsum(0)]))


def segments(offsets):
    sizes = offsets.long().diff()
    return torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), sizes)


def sum_ref(t):
    o = t['offsets_ptr']
    out = torch.zeros(len(o) - 1, t['x_ptr'].shape[1], dtype=torch.float64, device=o.device)
    return [out.index_add_(0, segments(o), t['x_ptr'].double())]


def softmax_ref(t):
    o, x = t['offsets_ptr'], t['x_ptr'].double()
    s = segments(o)
    top = torch.full((len(o) - 1, x.shape[1]), -float('inf'), dtype=x.dtype, device=x.device)
    top = top.scatter_reduce(0, s[:, None].expand_as(x), x, 'amax')
    e = (x - top[s]).exp()
    return [e / torch.zeros_like(top).index_add_(0, s, e)[s]]


def padded_ref(t, most, padding):
    o, v = t['offsets'].long(), t['values']
    out = torch.full((len(o) - 1, most, v.shape[1]), padding, device=v.device, dtype=v.dtype)
    s = segments(o)
    at = torch.arange(len(s), device=s.device) - o[s]
    out[s[at < most], at[at < most]] = v[at < most]
    return [out]


def jagged_ref(t):
    o = t['cu_ptr'].long()
    s = segments(o)
    return [t['x_ptr'][s, torch.arange(len(s), device=s.device) - o[s]]]


def pool_ref(t):
    m = t['mask_ptr'].double()[:, :, None]
    return [(t['x'].double() * m).sum(1) / m.sum(1).clamp_min(1e-9)]


# -- Cases ---------------------------------------------------------------------------------------------------------

def cases(small=False):
    for s, n, longest, D in (('f16', 4096, 200, 256), ('bf16', 512, 2000, 768)):
        if small:
            n, longest, D = 6, 25, D // 8 + 1
        sizes = lengths(n, longest)
        total = int(sizes().sum())
        block = triton.next_power_of_2(min(D, 256))
        yield Case('segment_sum %s %dx%d %d' % (s, n, longest, D), dict(x_ptr=Tensor((total, D), s), offsets_ptr=offsets_of(sizes),
                   out_ptr=Tensor((n, D)), dim=D), ['out_ptr'], sum_ref, 1e-5, segment_sum, (n, blocks(D, block)),
                   dict(ROWS=8, BLOCK=block, num_warps=4), bytes=total * D * BYTES[s] + 4 * n * D)
    n, longest, H = (6, 40, 8) if small else (1 << 17, 120, 8)
    sizes = lengths(n, longest)
    total = int(sizes().sum())
    yield Case('segment_softmax f16 %dx%d %d' % (n, longest, H), dict(x_ptr=Tensor((total, H), 'f16'), offsets_ptr=offsets_of(sizes),
               out_ptr=Tensor((total, H), 'f16', 9), heads=H), ['out_ptr'], softmax_ref, 2e-3, segment_softmax, (n,), dict(H=8, BLOCK=16, num_warps=1),
               bytes=4 * total * H)
    for s, B, most, D in (('bf16', 256, 1024, 512), ('f32', 1024, 256, 128)):
        if small:
            B, most, D = 4, 20, D // 10
        sizes = lengths(B, most + most // 8)  # some are cut
        total = int(sizes().sum())
        kept = int(sizes().clamp_max(most).sum())
        yield Case('jagged_to_padded %s [%d,%d,%d]' % (s, B, most, D), dict(values=Tensor((total, D), s), offsets=offsets_of(sizes),
                   out=Tensor((B, most, D), s, 9), max_len=most, dim=D, padding=-1.0), ['out'], lambda t, most=most: padded_ref(t, most, -1.0), 0,
                   jagged_to_padded, (B, blocks(most, 16), blocks(D, 128)), dict(ROWS=16, BLOCK=128, num_warps=4), bytes=(kept + B * most) * D * BYTES[s])
    B, most, D = (5, 20, 60) if small else (128, 2048, 2048)
    sizes = lengths(B, most, least=1)
    total = int(sizes().sum())
    yield Case('padded_to_jagged f16 [%d,%d,%d]' % (B, most, D), dict(x_ptr=Tensor((B, most, D), 'f16'), cu_ptr=offsets_of(sizes),
               out_ptr=Tensor((total, D), 'f16', 9), n_seqs=B, max_len=most, dim=D), ['out_ptr'], jagged_ref, 0, padded_to_jagged, (total,),
               dict(BLOCK=32 if small else 1024, num_warps=4), bytes=4 * total * D)
    B, L, D = (3, 40, 70) if small else (512, 512, 1024)
    yield Case('jagged_mean_pool bf16 [%d,%d,%d]' % (B, L, D), dict(x=Tensor((B, L, D), 'bf16'), mask_ptr=Tensor((B, L), 'bool', made=lambda g, B=B, L=L:
               torch.rand(B, L, generator=g, device=g.device) < 0.7), out=Tensor((B, D), 'f32'), length=L, dim=D), ['out'], pool_ref, 1e-5, jagged_mean_pool,
               (B, blocks(D, 128)), dict(BT=32, BD=128, num_warps=4), bytes=2 * B * L * D)
