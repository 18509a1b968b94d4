"""Routing of tokens to experts, and top-k."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks


@triton.jit
def topk_gate(logits_ptr, weight_ptr, index_ptr, n_tokens, E: tl.constexpr, K: tl.constexpr, K_PAD: tl.constexpr, RENORM: tl.constexpr,
              ROWS: tl.constexpr):
    """Softmax over the experts, then the K largest one after another."""
    t = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    e = tl.arange(0, E)
    inside = t < n_tokens
    x = tl.load(logits_ptr + t[:, None] * E + e[None, :], mask=inside[:, None], other=0.0).to(tl.float32)
    x = tl.exp(x - tl.max(x, axis=1)[:, None])
    p = x / tl.sum(x, axis=1)[:, None]
    slots = tl.arange(0, K_PAD)
    weights = tl.zeros([ROWS, K_PAD], tl.float32)
    indices = tl.zeros([ROWS, K_PAD], tl.int32)
    for k in tl.static_range(K):
        best = tl.max(p, axis=1)
        at = tl.argmax(p, axis=1)
        weights = tl.where(slots[None, :] == k, best[:, None], weights)
        indices = tl.where(slots[None, :] == k, at[:, None], indices)
        p = tl.where(e[None, :] == at[:, None], -1.0, p)
    if RENORM:
        weights = weights / tl.sum(weights, axis=1)[:, None]
    keep = inside[:, None] & (slots[None, :] < K)
    tl.store(weight_ptr + t[:, None] * K + slots[None, :], weights, mask=keep)
    tl.store(index_ptr + t[:, None] * K + slots[None, :], indices, mask=keep)


@triton.jit
def grouped_gate(logits_ptr, bias_ptr, weight_ptr, index_ptr, scale, GROUPS: tl.constexpr, SIZE: tl.constexpr, KEEP: tl.constexpr,
                 K: tl.constexpr):
    """A token a program: the best groups by the sum of their two best experts, then the best experts in those groups."""
    E: tl.constexpr = GROUPS * SIZE
    t = tl.program_id(0)
    g = tl.arange(0, GROUPS)
    j = tl.arange(0, SIZE)
    expert = g[:, None] * SIZE + j[None, :]
    score = tl.sigmoid(tl.load(logits_ptr + t * E + expert).to(tl.float32))
    choice = score + tl.load(bias_ptr + expert)
    first = tl.max(choice, axis=1)
    at = tl.argmax(choice, axis=1)
    second = tl.max(tl.where(j[None, :] == at[:, None], -float("inf"), choice), axis=1)
    rank = first + second
    kept = tl.zeros([GROUPS], tl.int32)
    for _ in tl.static_range(KEEP):
        best = tl.argmax(rank, axis=0)
        kept = tl.where(g == best, 1, kept)
        rank = tl.where(g == best, -float("inf"), rank)
    choice = tl.where(kept[:, None] != 0, choice, -float("inf"))
    flat = tl.reshape(choice, [E])
    probability = tl.reshape(score, [E])
    ids = tl.arange(0, E)
    total = 0.0
    for k in tl.static_range(K):
        best = tl.argmax(flat, axis=0)
        w = tl.sum(tl.where(ids == best, probability, 0.0), axis=0)
        total += w
        tl.store(index_ptr + t * K + k, best)
        tl.store(weight_ptr + t * K + k, w)
        flat = tl.where(ids == best, -float("inf"), flat)
    tl.debug_barrier()
    k = tl.arange(0, K)
    tl.store(weight_ptr + t * K + k, tl.load(weight_ptr + t * K + k) / (total + 1e-20) * scale)


@triton.jit
def topk_rows(x_ptr, value_ptr, index_ptr, n_cols, K: tl.constexpr, BLOCK: tl.constexpr):
    """The K largest of a row with their places: bits that order as the numbers do, the place below them, and tl.topk."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n_cols + c, mask=c < n_cols, other=-float("inf")).to(tl.float32)
    bits = x.to(tl.int32, bitcast=True)
    key = tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits).to(tl.int64)
    packed = (key << 32) | (0x7FFFFFFF - c).to(tl.int64)
    best = tl.topk(packed, K)
    k = tl.arange(0, K)
    at = 0x7FFFFFFF - (best & 0x7FFFFFFF).to(tl.int32)
    key = (best >> 32).to(tl.int32)
    value = tl.where(key < 0, key ^ 0x7FFFFFFF, key).to(tl.float32, bitcast=True)
    tl.store(value_ptr + row * K + k, value)
    tl.store(index_ptr + row * K + k, at)


@triton.jit
def expert_counts(index_ptr, count_ptr, n, EXPERTS: tl.constexpr, BLOCK: tl.constexpr):
    """Tokens of each expert, counted by comparison in a block, then added."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    e = tl.load(index_ptr + i, mask=i < n, other=EXPERTS)
    experts = tl.arange(0, EXPERTS)
    hits = (e[:, None] == experts[None, :]).to(tl.int32)
    tl.atomic_add(count_ptr + experts, tl.sum(hits, axis=0))


@triton.jit
def expert_places(index_ptr, place_ptr, count_ptr, n, capacity, EXPERTS: tl.constexpr, BLOCK: tl.constexpr):
    """One program: the place of each choice among those of its expert, in order; -1 beyond the capacity."""
    experts = tl.arange(0, EXPERTS)
    taken = tl.zeros([EXPERTS], tl.int32)
    for first in range(0, n, BLOCK):
        i = first + tl.arange(0, BLOCK)
        e = tl.load(index_ptr + i, mask=i < n, other=-1)
        hot = (e[:, None] == experts[None, :]).to(tl.int32)
        before = tl.cumsum(hot, axis=0) - hot + taken[None, :]
        place = tl.sum(hot * before, axis=1)
        tl.store(place_ptr + i, tl.where(place < capacity, place, -1), mask=i < n)
        taken += tl.sum(hot, axis=0)
    tl.store(count_ptr + experts, taken)


@triton.jit
def unpermute(y_ptr, place_ptr, weight_ptr, out_ptr, dim, K: tl.constexpr, BLOCK: tl.constexpr):
    """A token is the weighted sum of its K rows, wherever they were sorted to; dropped rows have place -1."""
    t = tl.program_id(0).to(tl.int64)
    d = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for k in tl.static_range(K):
        at = tl.load(place_ptr + t * K + k)
        w = tl.load(weight_ptr + t * K + k)
        if at >= 0:
            acc += tl.load(y_ptr + at.to(tl.int64) * dim + d, mask=d < dim, other=0.0).to(tl.float32) * w
    tl.store(out_ptr + t * dim + d, acc, mask=d < dim)


# -- Inputs and references -----------------------------------------------------------------------------------------

def gate_ref(t, K, renorm):
    p, at = torch.softmax(t['logits_ptr'].double(), 1).topk(K, 1)
    return [p / p.sum(1, keepdim=True) if renorm else p, at]


def grouped_ref(t, G, keep, K, scale):
    score = torch.sigmoid(t['logits_ptr'].double())
    choice = score + t['bias_ptr'].double()
    groups = choice.view(len(choice), G, -1)
    best = groups.topk(2, 2)[0].sum(2).topk(keep, 1)[1]
    mask = torch.zeros(len(choice), G, dtype=torch.bool, device=best.device).scatter_(1, best, True)
    at = groups.masked_fill(~mask[:, :, None], -float('inf')).flatten(1).topk(K, 1)[1]
    w = score.gather(1, at)
    return [w / w.sum(1, keepdim=True) * scale, at]


def places_ref(t, E, capacity):
    hot = torch.nn.functional.one_hot(t['index_ptr'].long(), E)
    place = ((hot.cumsum(0) - hot) * hot).sum(1)
    return [torch.where(place < capacity, place, -1), hot.sum(0)]


def unpermute_ref(t):
    at = t['place_ptr'].long()
    rows = t['y_ptr'].float()[at.clamp_min(0)] * (t['weight_ptr'] * (at >= 0))[:, :, None]
    return [rows.sum(1)]


def distinct(rows, cols, s, seed=1):
    """Rows of numbers of which no two are equal, so that there is one order."""
    def make(g):
        order = torch.rand(rows, cols, generator=g, device=g.device).argsort(1)
        return (order - cols // 2).float() * (8.0 / cols)
    return Tensor((rows, cols), s, seed, made=make)


# -- Cases ---------------------------------------------------------------------------------------------------------

def cases(small=False):
    for s, E, K in (('bf16', 64, 6), ('f16', 8, 2), ('f32', 128, 8)):
        T = 37 if small else 131072
        rows = 16 if E < 100 else 8
        yield Case('topk_gate %s [%d,%d] %d' % (s, T, E, K), dict(logits_ptr=distinct(T, E, s), weight_ptr=Tensor((T, K)), index_ptr=Tensor((T, K), 'i32'),
                   n_tokens=T), ['weight_ptr', 'index_ptr'], lambda t, K=K, E=E: gate_ref(t, K, E > 8), 1e-4, topk_gate, (blocks(T, rows),),
                   dict(E=E, K=K, K_PAD=triton.next_power_of_2(K), RENORM=E > 8, ROWS=rows, num_warps=4), bytes=T * (E * BYTES[s] + 8 * K))
    T = 20 if small else 32768
    yield Case('grouped_gate f32 [%d,256] 8' % T, dict(logits_ptr=distinct(T, 256, 'f32'), bias_ptr=Tensor((256,), scale=0.01),
               weight_ptr=Tensor((T, 8)), index_ptr=Tensor((T, 8), 'i32'), scale=2.5), ['weight_ptr', 'index_ptr'],
               lambda t: grouped_ref(t, 8, 4, 8, 2.5), 5e-3, grouped_gate, (T,), dict(GROUPS=8, SIZE=32, KEEP=4, K=8, num_warps=1), bytes=T * 1088)
    for R, C, K in ((7, 50, 8), (5, 128, 16)) if small else ((16384, 1000, 8), (8192, 2048, 64)):
        yield Case('topk_rows f32 [%d,%d] %d' % (R, C, K), dict(x_ptr=distinct(R, C, 'f32'), value_ptr=Tensor((R, K)), index_ptr=Tensor((R, K), 'i32'),
                   n_cols=C), ['value_ptr', 'index_ptr'], lambda t, K=K: list(t['x_ptr'].double().topk(K, 1)), 1e-6, topk_rows, (R,),
                   dict(K=K, BLOCK=triton.next_power_of_2(C), num_warps=4), bytes=4 * R * C + 8 * R * K)
    n = 700 if small else 1 << 20
    choices = Tensor((n,), 'i32', 5, 64)
    yield Case('expert_counts i32 %d' % n, dict(index_ptr=choices, count_ptr=Tensor((64,), 'i32', made=lambda g: torch.zeros(64)), n=n), ['count_ptr'],
               lambda t: [torch.bincount(t['index_ptr'].long(), minlength=64)], 0, expert_counts, (blocks(n, 256),),
               dict(EXPERTS=64, BLOCK=256, num_warps=4), bytes=4 * n, kept=('count_ptr',))
    n, cap = (300, 4) if small else (32768, 500)
    choices = Tensor((n,), 'i32', 5, 64)
    yield Case('expert_places i32 %d' % n, dict(index_ptr=choices, place_ptr=Tensor((n,), 'i32'), count_ptr=Tensor((64,), 'i32'), n=n, capacity=cap),
               ['place_ptr', 'count_ptr'], lambda t, cap=cap: places_ref(t, 64, cap), 0, expert_places, (1,), dict(EXPERTS=64, BLOCK=128, num_warps=4),
               bytes=8 * n)
    for s, T, D, K in (('bf16', 16384, 2048, 8), ('f16', 16384, 4096, 2)):
        if small:
            T, D = 15, 150
        places = lambda g, n=T * K, K=K: torch.where(torch.rand(n, generator=g, device=g.device) < 0.1, -1, torch.randperm(n, generator=g, device=g.device))
        yield Case('unpermute %s [%d,%d] %d' % (s, T, D, K), dict(y_ptr=Tensor((T * K, D), s), place_ptr=Tensor((T, K), 'i32', 2, made=places),
                   weight_ptr=Tensor((T, K), 'f32', 3), out_ptr=Tensor((T, D), s, 9), dim=D), ['out_ptr'], unpermute_ref, 8e-3 if s == 'bf16' else 2e-3,
                   unpermute, (T, blocks(D, 1024)), dict(K=K, BLOCK=1024, num_warps=4), bytes=T * (K + 1) * D * BYTES[s])
