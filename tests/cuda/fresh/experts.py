"""Mixtures of experts: routing, the order of tokens, grouped products with gathered and scattered rows, and backward."""
import functools
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks, near


@triton.jit
def experts_gemm_gathered(x, w, ids, expert_of, c, N, K, valid, TOP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Blocks of BM places of one expert each; ids says whose row a place has (token * TOP + choice), `valid` that none has it."""
    block = tl.program_id(0)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    row = tl.load(ids + block * BM + tl.arange(0, BM))
    there = row < valid
    expert = tl.load(expert_of + block).to(tl.int64)
    x_at = x + (row // TOP)[:, None] * K + k[None, :]
    w_at = w + expert * N * K + n[None, :] * K + k[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        p = tl.load(x_at, mask=there[:, None] & (k[None, :] < K - first), other=0.0)
        q = tl.load(w_at, mask=k[:, None] < K - first, other=0.0)
        acc += tl.dot(p, q)
        x_at += BK
        w_at += BK
    at = c + row[:, None] * N + n[None, :]
    tl.store(at, acc.to(c.dtype.element_ty), mask=there[:, None] & (n < N)[None, :])


@triton.jit
def experts_gemm_weighted(y, w, ids, expert_of, weights, c, N, K, valid, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                          GROUP: tl.constexpr):
    """The second product: a row for each choice, times the routing weight. Blocks in an order that keeps weights in the cache."""
    pid = tl.program_id(0)
    tiles_n = tl.cdiv(N, BN)
    tiles_m = tl.num_programs(0) // tiles_n
    first = pid // (GROUP * tiles_n) * GROUP
    size = min(tiles_m - first, GROUP)
    block = first + pid % (GROUP * tiles_n) % size
    n = pid % (GROUP * tiles_n) // size * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    row = tl.load(ids + block * BM + tl.arange(0, BM)).to(tl.int64)
    there = row < valid
    expert = tl.load(expert_of + block).to(tl.int64)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        p = tl.load(y + row[:, None] * K + (i * BK + k)[None, :], mask=there[:, None], other=0.0)
        q = tl.load(w + expert * N * K + n[None, :] * K + (i * BK + k)[:, None])
        acc = tl.dot(p, q, acc)
    acc *= tl.load(weights + row, mask=there, other=0.0)[:, None]
    tl.store(c + row[:, None] * N + n[None, :], acc.to(c.dtype.element_ty), mask=there[:, None])


@triton.jit
def experts_gemm_ragged(x, w, offsets, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows of an expert lie together, from offsets[e] to offsets[e + 1]; weights [E, K, N]."""
    e = tl.program_id(2)
    begin = tl.load(offsets + e)
    end = tl.load(offsets + e + 1)
    m = begin + tl.program_id(0) * BM + tl.arange(0, BM)
    if begin + tl.program_id(0) * BM >= end:
        return
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    w += e.to(tl.int64) * K * N
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        p = tl.load(x + m[:, None] * K + (first + k)[None, :], mask=(m < end)[:, None], other=0.0)
        q = tl.load(w + (first + k)[:, None] * N + n[None, :])
        acc += tl.dot(p, q)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty), mask=(m < end)[:, None])


@triton.jit
def experts_gemm_added(y, w, ids, expert_of, weights, out, N, K, valid, TOP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
                       BK: tl.constexpr):
    """The second product, added to each token's row by atomic operations."""
    block = tl.program_id(0)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    row = tl.load(ids + block * BM + tl.arange(0, BM))
    there = row < valid
    w += tl.load(expert_of + block).to(tl.int64) * N * K
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        p = tl.load(y + row[:, None] * K + (first + k)[None, :], mask=there[:, None], other=0.0)
        acc = tl.dot(p, tl.load(w + (first + k)[:, None] + n[None, :] * K), acc)
    scale = tl.load(weights + row, mask=there, other=0.0)
    tl.atomic_add(out + (row // TOP)[:, None] * N + n[None, :], acc * scale[:, None], mask=there[:, None])


@triton.jit
def experts_weight_gradient(x, g, offsets, dw, N, K, BK: tl.constexpr, BN: tl.constexpr, BM: tl.constexpr):
    """dw[e] = x[rows of e]^T g[rows of e]; an expert without rows gets zeros."""
    e = tl.program_id(2)
    k = tl.program_id(0) * BK + tl.arange(0, BK)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    begin = tl.load(offsets + e)
    end = tl.load(offsets + e + 1)
    acc = tl.zeros((BK, BN), tl.float32)
    for first in range(begin, end, BM):
        m = first + tl.arange(0, BM)
        p = tl.load(x + m[None, :] * K + k[:, None], mask=(m < end)[None, :], other=0.0)
        q = tl.load(g + m[:, None] * N + n[None, :], mask=(m < end)[:, None], other=0.0)
        acc = tl.dot(p, q, acc)
    tl.store(dw + e.to(tl.int64) * K * N + k[:, None] * N + n[None, :], acc.to(dw.dtype.element_ty))


@triton.jit
def route_softmax(logits, weights, chosen, E: tl.constexpr, TOP: tl.constexpr):
    """The TOP largest of each token's softmax, scaled to a sum of one."""
    token = tl.program_id(0)
    e = tl.arange(0, E)
    v = tl.load(logits + token * E + e).to(tl.float32)
    p = tl.exp(v - tl.max(v, axis=0))
    left = p / tl.sum(p, axis=0)
    j = tl.arange(0, TOP)
    best = tl.zeros((TOP,), tl.float32)
    place = tl.zeros((TOP,), tl.int32)
    for i in range(TOP):
        top, at = tl.max(left, axis=0, return_indices=True)
        best = tl.where(j == i, top, best)
        place = tl.where(j == i, at, place)
        left = tl.where(e == at, -1.0, left)
    tl.store(weights + token * TOP + j, best / tl.sum(best, axis=0))
    tl.store(chosen + token * TOP + j, place)


@triton.jit
def route_sigmoid_groups(logits, bias, weights, chosen, factor, GROUPS: tl.constexpr, PER: tl.constexpr, KEPT: tl.constexpr,
                         TOP: tl.constexpr):
    """Experts in groups: the KEPT groups with the largest sums of two biased scores, then the TOP experts of these."""
    token = tl.program_id(0)
    g = tl.arange(0, GROUPS)
    i = tl.arange(0, PER)
    e = g[:, None] * PER + i[None, :]
    score = tl.sigmoid(tl.load(logits + token * GROUPS * PER + e).to(tl.float32))
    biased = score + tl.load(bias + e)
    first = tl.max(biased, axis=1)
    at = tl.argmax(biased, axis=1)
    second = tl.max(tl.where(i[None, :] == at[:, None], -float("inf"), biased), axis=1)
    of_group = first + second
    keep = tl.zeros((GROUPS,), tl.int32)
    for _ in range(KEPT):
        best = tl.argmax(of_group, axis=0)
        keep = tl.where(g == best, 1, keep)
        of_group = tl.where(g == best, -float("inf"), of_group)
    left = tl.reshape(tl.where(keep[:, None] > 0, biased, -float("inf")), (GROUPS * PER,))
    flat = tl.reshape(score, (GROUPS * PER,))
    all = tl.arange(0, GROUPS * PER)
    total = 0.0
    for j in range(TOP):
        best = tl.argmax(left, axis=0)
        value = tl.sum(tl.where(all == best, flat, 0.0), axis=0)
        total += value
        tl.store(chosen + token * TOP + j, best)
        tl.store(weights + token * TOP + j, value)
        left = tl.where(all == best, -float("inf"), left)
    tl.debug_barrier()
    j = tl.arange(0, TOP)
    w = tl.load(weights + token * TOP + j)
    tl.store(weights + token * TOP + j, w / total * factor)


@triton.jit
def count_experts(chosen, counts, n, E: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    e = tl.load(chosen + i, mask=i < n, other=0)
    h = tl.histogram(e, E, mask=i < n)
    tl.atomic_add(counts + tl.arange(0, E), h, mask=h > 0)


@triton.jit
def rank_tokens(chosen, before, ranks, n, E: tl.constexpr, BLOCK: tl.constexpr):
    """The place of each choice among its expert's; before[b, e] has what earlier blocks chose."""
    b = tl.program_id(0)
    i = b * BLOCK + tl.arange(0, BLOCK)
    e = tl.arange(0, E)
    own = tl.load(chosen + i, mask=i < n, other=-1)
    hit = (own[:, None] == e[None, :]).to(tl.int32)
    count = tl.cumsum(hit, axis=0) - hit + tl.load(before + b * E + e)[None, :]
    tl.store(ranks + i, tl.sum(tl.where(hit > 0, count, 0), axis=1), mask=i < n)


@triton.jit
def permute_tokens(x, source, out, scales, kept, cols, BLOCK: tl.constexpr):
    """Rows in the order of experts, and their scales."""
    row = tl.program_id(0)
    token = tl.load(source + row).to(tl.int64)
    c = tl.arange(0, BLOCK)
    for first in range(0, cols, BLOCK):
        inside = first + c < cols
        tl.store(out + row.to(tl.int64) * cols + first + c, tl.load(x + token * cols + first + c, mask=inside), mask=inside)
    tl.store(kept + row, tl.load(scales + token))


@triton.jit
def combine_tokens(y, place, weights, out, cols, TOP: tl.constexpr, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for i in range(TOP):
        row = tl.load(place + token * TOP + i).to(tl.int64)
        w = tl.load(weights + token * TOP + i)
        acc += w * tl.load(y + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
    tl.store(out + token * cols + c, acc.to(out.dtype.element_ty), mask=c < cols)


@triton.jit
def combine_backward(g, y, place, weights, dy, dweights, cols, TOP: tl.constexpr, BLOCK: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    i = tl.program_id(1)
    row = tl.load(place + token * TOP + i).to(tl.int64)
    w = tl.load(weights + token * TOP + i)
    acc = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        go = tl.load(g + token * cols + c, mask=c < cols, other=0.0).to(tl.float32)
        acc += go * tl.load(y + row * cols + c, mask=c < cols, other=0.0).to(tl.float32)
        tl.store(dy + row * cols + c, (go * w).to(dy.dtype.element_ty), mask=c < cols)
    tl.store(dweights + token * TOP + i, tl.sum(acc, axis=0))


@triton.jit
def experts_swiglu_clamped(x, out, n, cols, limit, BLOCK: tl.constexpr):
    """Gate and up beside each other: pairs of a row of 2 cols; the sigmoid of 1.702 times the gate."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    pair = tl.program_id(0) * 2 * BLOCK + tl.arange(0, 2 * BLOCK)
    v = tl.load(x + pair, mask=pair < 2 * n, other=0.0).to(tl.float32)
    gate, up = tl.split(tl.reshape(v, (BLOCK, 2)))
    gate = tl.minimum(gate, limit)
    up = tl.clamp(up, -limit, limit)
    y = gate * tl.sigmoid(1.702 * gate) * (up + 1.0)
    tl.store(out + i, y.to(out.dtype.element_ty), mask=i < n)


# -- Cases -------------------------------------------------------------------------------------------------------

@functools.lru_cache(None)
def routing(T, E, top, bm):
    """Choices [T, top]; places in blocks of bm by expert and the blocks' experts; offsets of experts without gaps."""
    g = torch.Generator().manual_seed(11)
    pull = torch.randn(E, generator=g) * 0.5  # some experts are liked better
    chosen = (torch.rand(T, E, generator=g).log().neg().log().neg() + pull).topk(top, 1).indices
    flat = chosen.flatten()
    order = torch.argsort(flat, stable=True)
    counts = torch.bincount(flat, minlength=E)
    ids, experts, at = [], [], 0
    for e, n in enumerate(counts.tolist()):
        gap = -n % bm
        ids += [order[at:at + n], torch.full((gap,), T * top)]
        experts += [e] * ((n + gap) // bm)
        at += n
    return chosen, torch.cat(ids), torch.tensor(experts), torch.nn.functional.pad(counts.cumsum(0), (1, 0))


def fixed(x, s):
    return Tensor(tuple(x.shape), s, made=lambda g: x)


def uniform(shape, seed=7):
    return Tensor(shape, 'f32', seed, made=lambda g: torch.rand(shape, generator=g, device=g.device) + 0.1)


def each_expert(t, chosen, rows, weight):
    """rows [T * top, K] by the weights of their experts, [T * top, N]."""
    flat = chosen.flatten().to(rows.device)
    out = None
    for e in range(t['w'].shape[0]):
        at = (flat == e).nonzero()[:, 0]
        part = rows[at].float() @ weight(t['w'][e]).float()
        out = torch.zeros(len(flat), part.shape[1], device=rows.device) if out is None else out
        out[at] = part
    return out


def products(s, small):
    e = BYTES[s]
    for T, E, top, N, K, bm, bn, bk in ((24, 4, 2, 64, 64, 16, 32, 32),) if small else ((4096, 64, 6, 2816, 2048, 64, 64, 32), (32, 8, 2, 14336, 4096, 16, 64, 64)):
        chosen, ids, experts, _ = routing(T, E, top, bm)
        size = ' %s T%d E%d top %d %dx%d' % (s, T, E, top, N, K)
        valid = T * top
        bound = dict(flops=2 * valid * N * K) if T > 64 else dict(bytes=len(set(experts.tolist())) * N * K * e)
        tile = dict(BM=bm, BN=bn, BK=bk, num_warps=4)
        lists = dict(ids=fixed(ids, 'i32'), expert_of=fixed(experts, 'i32'))
        yield Case('experts_gemm_gathered' + size, dict(x=Tensor((T, K), s), w=Tensor((E, N, K), s, 2, scale=.05), **lists, c=Tensor((valid, N), s), N=N,
                   K=K, valid=valid), ['c'], lambda t, c=chosen, k=top: [each_expert(t, c, t['x'].repeat_interleave(k, 0), torch.t)], near(0, s),
                   experts_gemm_gathered, (len(experts), blocks(N, bn)), dict(tile, TOP=top), **bound)
        down = dict(y=Tensor((valid, N), s), w=Tensor((E, K, N), s, 2, scale=.05), **lists, weights=uniform((valid,)))
        weighted = lambda t, c=chosen: each_expert(t, c, t['y'], torch.t) * t['weights'][:, None]
        yield Case('experts_gemm_weighted' + size, dict(down, c=Tensor((valid, K), s), N=K, K=N, valid=valid), ['c'], lambda t, w=weighted: [w(t)],
                   near(0, s), experts_gemm_weighted, (len(experts) * (K // bn),), dict(tile, GROUP=4), **bound)
        if T != 32:
            yield Case('experts_gemm_added' + size, dict(down, out=Tensor((T, K), made=lambda g, T=T, K=K: torch.zeros(T, K)), N=K, K=N, valid=valid),
                       ['out'], lambda t, w=weighted, T=T: [w(t).view(T, -1, t['out'].shape[1]).sum(1)], 1e-4, experts_gemm_added,
                       (len(experts), K // bn), dict(tile, TOP=top), kept=('out',), **bound)
    T, E, top, N, K, bm, bn, bk = (24, 4, 2, 64, 64, 16, 32, 32) if small else (8192, 16, 2, 2048, 2048, 64, 128, 32)
    chosen, _, _, offsets = routing(T, E, top, bm)
    R, most = T * top, int((offsets[1:] - offsets[:-1]).max())
    size = ' %s T%d E%d top %d %dx%d' % (s, T, E, top, N, K)
    parts = lambda x: torch.split(x, (offsets[1:] - offsets[:-1]).tolist())
    yield Case('experts_gemm_ragged' + size, dict(x=Tensor((R, K), s), w=Tensor((E, K, N), s, 2, scale=.05), offsets=fixed(offsets, 'i32'),
               c=Tensor((R, N), s), N=N, K=K), ['c'], lambda t: [torch.cat([x.float() @ w.float() for x, w in zip(parts(t['x']), t['w'])])], near(0, s),
               experts_gemm_ragged, (blocks(most, bm), N // bn, E), dict(BM=bm, BN=bn, BK=bk, num_warps=4), flops=2 * R * N * K)
    yield Case('experts_weight_gradient' + size, dict(x=Tensor((R, K), s), g=Tensor((R, N), s, 2, scale=.05), offsets=fixed(offsets, 'i32'),
               dw=Tensor((E, K, N), s), N=N, K=K), ['dw'], lambda t: [torch.stack([x.float().t() @ g.float() for x, g in zip(parts(t['x']), parts(t['g']))])],
               near(0, s), experts_weight_gradient, (K // 64, N // 64, E), dict(BK=64, BN=64, BM=32, num_warps=4), flops=2 * R * N * K)


def softmax_top(t, top):
    best, at = torch.softmax(t['logits'].double(), 1).topk(top, 1)
    return [best / best.sum(1, keepdim=True), at]


def group_top(t, groups, kept, top):
    score = torch.sigmoid(t['logits'].float())
    biased = (score + t['bias']).view(score.shape[0], groups, -1)
    keep = biased.topk(2, 2)[0].sum(2).topk(kept, 1).indices
    mask = torch.zeros(biased.shape[:2], device=keep.device).scatter(1, keep, 1)
    at = biased.masked_fill(mask[:, :, None] == 0, -float('inf')).flatten(1).topk(top, 1).indices
    w = score.gather(1, at)
    return [w / w.sum(1, keepdim=True) * 2.5, at]


def distinct(T, E, scale):
    """Values that have no equals in a row, in f16 and bf16 as well."""
    def made(g):
        v = torch.arange(E, device=g.device) - E // 2 + 0.5
        return torch.stack([v[torch.randperm(E, generator=g, device=g.device)] for _ in range(min(T, 64))]).repeat(-(-T // 64), 1)[:T] * scale
    return made


def routes(s, small):
    e = BYTES[s]
    for T, E, top in ((9, 64, 4),) if small else ((32768, 64, 8), (16384, 128, 8)):
        yield Case('route_softmax %s T%d E%d top %d' % (s, T, E, top), dict(logits=Tensor((T, E), s, made=distinct(T, E, 0.125)), weights=Tensor((T, top)),
                   chosen=Tensor((T, top), 'i32')), ['weights', 'chosen'], lambda t, k=top: softmax_top(t, k), 1e-5, route_softmax, (T,),
                   dict(E=E, TOP=top, num_warps=1), bytes=T * E * e + T * top * 8)
    T, G, P, kept, top = (5, 8, 16, 4, 4) if small else (16384, 8, 32, 4, 8)
    yield Case('route_sigmoid_groups %s T%d E%d top %d' % (s, T, G * P, top), dict(logits=Tensor((T, G * P), s, made=distinct(T, G * P, 0.03125)),
               bias=Tensor((G * P,), scale=.01), weights=Tensor((T, top)), chosen=Tensor((T, top), 'i32'), factor=2.5), ['weights', 'chosen'],
               lambda t: group_top(t, G, kept, top), 1e-5, route_sigmoid_groups, (T,), dict(GROUPS=G, PER=P, KEPT=kept, TOP=top, num_warps=1),
               bytes=T * G * P * e + T * top * 8)


def orders(small):
    T, E, top, B = (90, 16, 2, 64) if small else (65536, 64, 8, 128)
    n = T * top
    chosen = routing(T, E, top, 16)[0]
    size = ' i32 T%d E%d top %d' % (T, E, top)
    ids = fixed(chosen.flatten(), 'i32')
    block = 256 if small else 2048
    count = torch.bincount(chosen.flatten(), minlength=E)
    yield Case('count_experts' + size, dict(chosen=ids, counts=Tensor((E,), 'i32', made=lambda g: torch.zeros(E)), n=n), ['counts'],
               lambda t: [count.to(t['chosen'].device)], 1e-9, count_experts, (blocks(n, block),), dict(E=E, BLOCK=block, num_warps=4), bytes=4 * n,
               kept=('counts',))
    hits = torch.nn.functional.one_hot(torch.nn.functional.pad(chosen.flatten(), (0, -n % B), value=E), E + 1)[:, :E]
    before = hits.view(-1, B, E).sum(1).cumsum(0) - hits.view(-1, B, E).sum(1)
    ranks = (hits.cumsum(0) - 1).gather(1, chosen.flatten()[:, None].expand(-1, 1) if n == len(hits) else
                                        torch.nn.functional.pad(chosen.flatten(), (0, len(hits) - n))[:, None])[:n, 0]
    yield Case('rank_tokens' + size, dict(chosen=ids, before=fixed(before, 'i32'), ranks=Tensor((n,), 'i32'), n=n), ['ranks'],
               lambda t: [ranks.to(t['chosen'].device)], 1e-9, rank_tokens, (blocks(n, B),), dict(E=E, BLOCK=B, num_warps=4), bytes=8 * n + before.numel() * 4)


def rows(s, small):
    e = BYTES[s]
    T, E, top, C = (10, 4, 2, 200) if small else (8192, 64, 6, 2048)
    chosen, _, _, _ = routing(T, E, top, 16)
    order = torch.argsort(chosen.flatten(), stable=True)
    place = torch.empty_like(order).scatter_(0, order, torch.arange(T * top))
    R, B = T * top, 128 if small else 1024
    size = ' %s T%d top %d [%d]' % (s, T, top, C)
    yield Case('permute_tokens' + size, dict(x=Tensor((T, C), s), source=fixed(order // top, 'i32'), out=Tensor((R, C), s), scales=uniform((T,)),
               kept=Tensor((R,)), cols=C), ['out', 'kept'], lambda t: [t['x'][t['source'].long()], t['scales'][t['source'].long()]], 1e-6, permute_tokens,
               (R,), dict(BLOCK=B, num_warps=4), bytes=2 * R * C * e)
    args = dict(y=Tensor((R, C), s), place=fixed(place.view(T, top), 'i32'), weights=uniform((T, top)))
    picked = lambda t: t['y'].float()[t['place'].long()]
    yield Case('combine_tokens' + size, dict(args, out=Tensor((T, C), s), cols=C), ['out'], lambda t: [(picked(t) * t['weights'][:, :, None]).sum(1)],
               near(0, s), combine_tokens, (T, blocks(C, B)), dict(TOP=top, BLOCK=B, num_warps=4), bytes=(R + T) * C * e)
    back = lambda t: [(t['g'].float()[:, None] * t['weights'][:, :, None]).view(R, C)[torch.argsort(t['place'].flatten().long())],
                      (t['g'].float()[:, None] * picked(t)).sum(2)]
    yield Case('combine_backward' + size, dict(dict(g=Tensor((T, C), s, 3)), **args, dy=Tensor((R, C), s), dweights=Tensor((T, top)), cols=C),
               ['dy', 'dweights'], back, near(0, s), combine_backward, (T, top), dict(TOP=top, BLOCK=B, num_warps=4), bytes=(2 * R + T) * C * e)
    n, C, B = (3000, 100, 512) if small else (16384 * 2880, 2880, 1024)
    yield Case('experts_swiglu_clamped %s %d' % (s, n), dict(x=Tensor((2 * n,), s, scale=4), out=Tensor((n,), s), n=n, cols=C, limit=7.0), ['out'],
               lambda t: (lambda g, u: [g * torch.sigmoid(1.702 * g) * (u + 1)])(t['x'].float()[::2].clamp(max=7), t['x'].float()[1::2].clamp(-7, 7)),
               near(0, s), experts_swiglu_clamped, (blocks(n, B),), dict(BLOCK=B, num_warps=4), bytes=3 * n * e)


def cases(small=False):
    for s in ('f16', 'bf16'):
        for family in (products, routes, rows):
            yield from family(s, small)
    yield from orders(small)
