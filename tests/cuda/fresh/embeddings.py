"""Embedding tables: sums of two tables, bags, and the backward passes by atomics and by sorted segments."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks


@triton.jit
def embed_positions(ids_ptr, tok_ptr, pos_ptr, out_ptr, n_tokens, seq_len, dim, scale, ROWS: tl.constexpr, BD: tl.constexpr):
    """Token plus position, several tokens a program."""
    t = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    d = tl.program_id(1) * BD + tl.arange(0, BD)
    inside = t < n_tokens
    ids = tl.load(ids_ptr + t, mask=inside, other=0)
    mask = inside[:, None] & (d < dim)[None, :]
    tok = tl.load(tok_ptr + ids[:, None] * dim + d[None, :], mask=mask, other=0.0).to(tl.float32)
    pos = tl.load(pos_ptr + (t % seq_len)[:, None] * dim + d[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.store(out_ptr + t[:, None] * dim + d[None, :], tok * scale + pos, mask=mask)


@triton.jit
def embed_backward_atomic(ids, dout, dtable, n_tokens, dim, pad_id, TOKENS: tl.constexpr, BLOCK: tl.constexpr):
    t = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(ids + t, mask=t < n_tokens, other=-1).to(tl.int32)
    keep = (t < n_tokens) & (row != pad_id)
    mask = keep[:, None] & (c[None, :] < dim)
    g = tl.load(dout + t[:, None] * dim + c[None, :], mask=mask, other=0.0).to(tl.float32)
    tl.atomic_add(dtable + row[:, None] * dim + c[None, :], g, mask=mask)


@triton.jit
def embed_backward_sorted(order_ptr, start_ptr, unique_ptr, dout_ptr, dtable_ptr, dim, BLOCK: tl.constexpr):
    """A program sums the gradients of one token's occurrences: order[start[i]] to order[start[i + 1]]."""
    i = tl.program_id(0)
    cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    begin = tl.load(start_ptr + i)
    end = tl.load(start_ptr + i + 1)
    acc = tl.zeros((BLOCK,), dtype=tl.float32)
    for j in range(begin, end):
        src = tl.load(order_ptr + j)
        acc += tl.load(dout_ptr + src * dim + cols, mask=cols < dim, other=0.0).to(tl.float32)
    row = tl.load(unique_ptr + i)
    tl.store(dtable_ptr + row * dim + cols, acc.to(dtable_ptr.dtype.element_ty), mask=cols < dim)


@triton.jit
def embedding_bag(table, ids, weights, offsets, out, dim, MEAN: tl.constexpr, CHUNK: tl.constexpr, BLOCK: tl.constexpr):
    """A bag of any length, CHUNK of its rows at a time."""
    bag = tl.program_id(0)
    first = tl.load(offsets + bag)
    last = tl.load(offsets + bag + 1)
    d = tl.arange(0, BLOCK)
    total = tl.zeros((CHUNK, BLOCK), tl.float32)
    for at in range(first, last, CHUNK):
        j = at + tl.arange(0, CHUNK)
        m = j < last
        row = tl.load(ids + j, mask=m, other=0).to(tl.int64)
        w = tl.load(weights + j, mask=m, other=0.0).to(tl.float32)
        v = tl.load(table + row[:, None] * dim + d[None, :], mask=m[:, None] & (d[None, :] < dim), other=0.0)
        total += v.to(tl.float32) * w[:, None]
    result = tl.sum(total, axis=0)
    if MEAN:
        result = result / tl.maximum(last - first, 1).to(tl.float32)
    tl.store(out + bag * dim + d, result, mask=d < dim)


# -- Inputs and references -----------------------------------------------------------------------------------------

def zipf(count, below, seed):
    """Ids of which the small are frequent, as tokens are."""
    def make(g):
        return ((below + 1) ** torch.rand(count, generator=g, device=g.device, dtype=torch.float64) - 1).long().clamp_max(below - 1)
    return Tensor((count,), 'i64', seed, made=make)


def added(rows, ids, source, keep=None):
    out = torch.zeros(rows, source.shape[1], dtype=torch.float32, device=source.device)
    source = source.float() if keep is None else source.float() * keep[:, None]
    return out.index_add_(0, ids, source)


def bag_offsets(bags, longest):
    def make(g):
        sizes = torch.randint(0, longest + 1, (bags,), generator=g, device=g.device)
        return torch.cat([torch.zeros(1, dtype=torch.long, device=g.device), sizes.cumsum(0)])
    return Tensor((bags + 1,), 'i32', 7, made=make)


def bag_ref(t, mean):
    o = t['offsets'].long()
    sizes = o.diff()
    bag = torch.repeat_interleave(torch.arange(len(sizes), device=o.device), sizes)
    rows = t['table'][t['ids'].long()[:o[-1]]].float() * t['weights'].float()[:o[-1], None]
    y = added(len(sizes), bag, rows)
    return [y / sizes.clamp_min(1)[:, None] if mean else y]


# -- Cases ---------------------------------------------------------------------------------------------------------

def cases(small=False):
    for s, V, D, T, S in (('bf16', 50257, 768, 16384, 1024), ('f16', 30522, 1024, 32768, 512)):
        if small:
            V, D, T, S = 50, 100, 45, 16
        yield Case('embed_positions %s [%d,%d]x%d' % (s, V, D, T), dict(ids_ptr=zipf(T, V, 5), tok_ptr=Tensor((V, D), s), pos_ptr=Tensor((S, D), s, 2),
                   out_ptr=Tensor((T, D), s, 9), n_tokens=T, seq_len=S, dim=D, scale=D ** 0.5), ['out_ptr'],
                   lambda t, D=D, S=S, T=T: [t['tok_ptr'].float()[t['ids_ptr']] * D ** 0.5 + t['pos_ptr'].float()[torch.arange(T, device=t['ids_ptr'].device) % S]],
                   8e-3 if s == 'bf16' else 1e-3, embed_positions, (blocks(T, 4), blocks(D, 256)), dict(ROWS=4, BD=256, num_warps=4), bytes=2 * T * D * BYTES[s])
    s, V, D, T = ('f16', 40, 70, 60) if small else ('f16', 50257, 768, 16384)
    ids = zipf(T, V, 5)
    yield Case('embed_backward_atomic %s [%d,%d]x%d' % (s, V, D, T), dict(ids=ids, dout=Tensor((T, D), s), dtable=Tensor((V, D), made=lambda g, V=V, D=D:
               torch.zeros(V, D)), n_tokens=T, dim=D, pad_id=0), ['dtable'],
               lambda t, V=V: [added(V, t['ids'], t['dout'], (t['ids'] != 0).float())], 1e-5, embed_backward_atomic, (blocks(T, 8), blocks(D, 128)),
               dict(TOKENS=8, BLOCK=128, num_warps=4), bytes=T * D * 10, kept=('dtable',))
    s, V, D, T = ('bf16', 40, 70, 60) if small else ('bf16', 32000, 4096, 16384)
    ids = zipf(T, V, 5)
    kinds = lambda g: ids.make().unique(return_counts=True)
    count = T // 2  # only as many of the kinds as every device's generator makes
    yield Case('embed_backward_sorted %s [%d,%d]x%d' % (s, V, D, T), dict(order_ptr=Tensor((T,), 'i64', made=lambda g: ids.make().argsort(stable=True)),
               start_ptr=Tensor((count + 1,), 'i32', made=lambda g: torch.cat([torch.zeros(1, dtype=torch.long, device=g.device),
               padded(kinds(g)[1], count, 0).cumsum(0)])), unique_ptr=Tensor((count,), 'i64', made=lambda g: padded_ids(kinds(g)[0], count, V)),
               dout_ptr=Tensor((T, D), s), dtable_ptr=Tensor((V, D), s, made=lambda g, V=V, D=D: torch.zeros(V, D)), dim=D), ['dtable_ptr'],
               lambda t, V=V, T=T: [sorted_ref(t, V)], 8e-3, embed_backward_sorted, (count, blocks(D, 1024)), dict(BLOCK=1024, num_warps=4),
               bytes=2 * T * D * BYTES[s], kept=('dtable_ptr',))
    s, V, D, B, L = ('f16', 50, 40, 9, 20) if small else ('f16', 1000000, 128, 16384, 80)
    for mean in (True, False):
        yield Case('embedding_bag %s%s [%d,%d]x%d' % (s, ' mean' if mean else '', V, D, B), dict(table=Tensor((V, D), s), ids=Tensor((B * L,), 'i32', 5, V),
                   weights=Tensor((B * L,), s, 6), offsets=bag_offsets(B, L), out=Tensor((B, D), s, 9), dim=D), ['out'],
                   lambda t, mean=mean: bag_ref(t, mean), 2e-3, embedding_bag, (B,),
                   dict(MEAN=mean, CHUNK=16, BLOCK=triton.next_power_of_2(D), num_warps=4), bytes=B * (L // 2 + 1) * D * BYTES[s])


def padded(v, count, by):
    return torch.cat([v[:count], torch.full((max(0, count - len(v)),), by, dtype=v.dtype, device=v.device)])


def padded_ids(v, count, rows):
    """The rest are rows that no token has: empty segments write zeros there."""
    unused = torch.ones(rows, dtype=torch.bool, device=v.device)
    unused[v] = False
    return torch.cat([v[:count], unused.nonzero()[:, 0]])[:count]


def sorted_ref(t, rows):
    start = t['start_ptr'].long()
    order = t['order_ptr'][:start[-1]]
    which = torch.repeat_interleave(t['unique_ptr'], start.diff())
    return added(rows, which, t['dout_ptr'][order])
