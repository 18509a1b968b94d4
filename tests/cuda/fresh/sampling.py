"""Sampling of tokens: Gumbel noise, top-p over sorted rows, min-p, penalties, verification of drafts."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks
from fresh.dropout import philox, uniform


@triton.jit
def gumbel_argmax(logits_ptr, best_ptr, token_ptr, vocab, temperature, seed, BLOCK: tl.constexpr):
    """argmax(logits / T + noise) of a row is a sample of its softmax."""
    row = tl.program_id(0)
    inv = 1.0 / temperature
    top = -float("inf")
    token = 0
    for first in range(0, vocab, BLOCK):
        c = first + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + row * vocab + c, mask=c < vocab, other=-float("inf")).to(tl.float32) * inv
        u = tl.maximum(tl.rand(seed, row * vocab + c), 1e-10)
        x += -tl.log(-tl.log(u) + 1e-10)
        m, at = tl.max(x, axis=0, return_indices=True)
        if m > top:
            top = m
            token = first + at
    tl.store(best_ptr + row, top)
    tl.store(token_ptr + row, token)


@triton.jit
def top_p_sample(prob_ptr, id_ptr, u_ptr, kept_ptr, token_ptr, cols, p, BLOCK: tl.constexpr):
    """Of probabilities in falling order: how many make up p, and which of them u picks."""
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    q = tl.load(prob_ptr + row * cols + c, mask=c < cols, other=0.0)
    total = tl.cumsum(q, axis=0)
    keep = (total - q < p) & (c < cols)
    kept = tl.sum(keep.to(tl.int32), axis=0)
    mass = tl.sum(tl.where(keep, q, 0.0), axis=0)
    aim = tl.load(u_ptr + row) * mass
    place = tl.sum((total <= aim).to(tl.int32), axis=0)
    place = tl.minimum(place, kept - 1)
    tl.store(kept_ptr + row, kept)
    tl.store(token_ptr + row, tl.load(id_ptr + row * cols + place))


@triton.jit
def min_p_filter(logits_ptr, out_ptr, n_cols, min_p_ptr, temp_ptr, BLOCK: tl.constexpr):
    """Probabilities at each row's temperature; those below its share of the largest are zero, the rest sum to one."""
    row = tl.program_id(0)
    base = row.to(tl.int64) * n_cols
    temp = tl.load(temp_ptr + row)
    log_min = tl.log(tl.load(min_p_ptr + row))
    top = tl.full((BLOCK,), -float("inf"), tl.float32)
    for i in range(0, n_cols, BLOCK):
        c = i + tl.arange(0, BLOCK)
        top = tl.maximum(top, tl.load(logits_ptr + base + c, mask=c < n_cols, other=-float("inf")).to(tl.float32))
    most = tl.max(top, 0) / temp
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, n_cols, BLOCK):
        c = i + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + base + c, mask=c < n_cols, other=-float("inf")).to(tl.float32) / temp - most
        total += tl.where(x >= log_min, tl.exp(x), 0.0)
    inv = 1.0 / tl.sum(total, 0)
    for i in range(0, n_cols, BLOCK):
        c = i + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + base + c, mask=c < n_cols, other=-float("inf")).to(tl.float32) / temp - most
        tl.store(out_ptr + base + c, tl.where(x >= log_min, tl.exp(x) * inv, 0.0), mask=c < n_cols)


@triton.jit
def penalties(logits_ptr, counts_ptr, out_ptr, repeat_ptr, presence_ptr, frequency_ptr, vocab, BLOCK: tl.constexpr):
    """Repetition, presence and frequency penalties of each request."""
    req = tl.program_id(0)
    c = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    mask = c < vocab
    x = tl.load(logits_ptr + req * vocab + c, mask=mask).to(tl.float32)
    n = tl.load(counts_ptr + req * vocab + c, mask=mask, other=0).to(tl.int32)
    repeat = tl.load(repeat_ptr + req)
    scale = tl.where(n > 0, repeat, 1.0)
    x *= tl.where(x > 0, 1.0 / scale, scale)
    x -= tl.load(frequency_ptr + req) * n
    x -= tl.where(n > 0, tl.load(presence_ptr + req), 0.0)
    tl.store(out_ptr + req * vocab + c, x, mask=mask)


@triton.jit
def draft_accept(target_ptr, draft_ptr, token_ptr, u_ptr, out_ptr, length_ptr, vocab, K: tl.constexpr, BLOCK: tl.constexpr):
    """Speculative decoding: accept drafted tokens while u p(draft) <= p(target), then take the token that the target
    exceeds the draft by most at the first that was rejected."""
    b = tl.program_id(0)
    n = 0
    going = True
    for k in range(K):
        token = tl.load(token_ptr + b * K + k)
        at = (b * K + k).to(tl.int64) * vocab + token
        ok = tl.load(u_ptr + b * K + k) * tl.load(draft_ptr + at) <= tl.load(target_ptr + at)
        going = going & ok
        if going:
            tl.store(out_ptr + b * (K + 1) + k, token)
            n += 1
    best = -1.0
    choice = 0
    if n < K:
        base = (b * K + n).to(tl.int64) * vocab
        for first in range(0, vocab, BLOCK):
            c = first + tl.arange(0, BLOCK)
            gap = tl.load(target_ptr + base + c, mask=c < vocab, other=-1.0) - tl.load(draft_ptr + base + c, mask=c < vocab, other=0.0)
            m = tl.max(gap, axis=0)
            if m > best:
                best = m
                choice = first + tl.argmax(gap, axis=0)
    tl.store(out_ptr + b * (K + 1) + n, choice)
    tl.store(length_ptr + b, n)


# -- Inputs and references -----------------------------------------------------------------------------------------

def gumbel_ref(t, temperature, seed, slack=0.02):
    """Rows whose token's score is as good as the best, as far as fast logarithms go, and all ones."""
    x, token, found = t['logits_ptr'].float() / temperature, t['token_ptr'].long(), []
    for i, row in enumerate(x):  # a row at a time: the words are of 64 bits
        u = uniform(philox(seed, torch.arange(i * len(row), (i + 1) * len(row), device=x.device))[0]).clamp_min(1e-10)
        score = row - torch.log(-torch.log(u) + 1e-10)
        found.append((score[token[i]] > score.max() - slack) & ((t['best_ptr'][i] - score.max()).abs() < slack))
    found = torch.stack(found)
    return [found, torch.ones_like(found)]


def falling(rows, cols):
    return Tensor((rows, cols), 'f32', 2, made=lambda g: torch.softmax(3 * torch.randn(rows, cols, generator=g, device=g.device), 1).sort(1, descending=True)[0])


def top_p_ref(t, p):
    q = t['prob_ptr'].double()
    total = q.cumsum(1)
    keep = total - q < p
    kept = keep.sum(1)
    aim = t['u_ptr'].double() * (q * keep).sum(1)
    place = torch.minimum((total <= aim[:, None]).sum(1), kept - 1)
    return [kept, t['id_ptr'].long().gather(1, place[:, None])[:, 0]]


def min_p_ref(t):
    p = torch.softmax(t['logits_ptr'].double() / t['temp_ptr'].double()[:, None], 1)
    p = torch.where(p >= p.amax(1, keepdim=True) * t['min_p_ptr'].double()[:, None], p, 0.0)
    return [p / p.sum(1, keepdim=True)]


def penalties_ref(t):
    x, n = t['logits_ptr'].double(), t['counts_ptr'].double()
    scale = torch.where(n > 0, t['repeat_ptr'].double()[:, None], 1.0)
    x = torch.where(x > 0, x / scale, x * scale)
    return [x - t['frequency_ptr'].double()[:, None] * n - torch.where(n > 0, t['presence_ptr'].double()[:, None], 0.0)]


def accept_ref(t, K):
    p, q, tokens = t['target_ptr'], t['draft_ptr'], t['token_ptr'].long()
    at = lambda v: v.gather(2, tokens[:, :, None])[:, :, 0]
    n = ((t['u_ptr'] * at(q) <= at(p)).long().cumprod(1)).sum(1)
    gap = (p - q).argmax(2)
    out = torch.zeros(len(p), K + 1, dtype=torch.long, device=p.device)
    for b, k in enumerate(n.tolist()):
        out[b, :k] = tokens[b, :k]
        out[b, k] = gap[b, k] if k < K else 0
    return [out, n]


# -- Cases ---------------------------------------------------------------------------------------------------------

def between(shape, least, most, seed=3):
    return Tensor(shape, 'f32', seed, made=lambda g: least + (most - least) * torch.rand(shape, generator=g, device=g.device))


def cases(small=False):
    for s, R, V in (('f32', 512, 128256), ('bf16', 1024, 32000)):
        if small:
            R, V = 4, V // 100
        yield Case('gumbel_argmax %s [%d,%d]' % (s, R, V), dict(logits_ptr=Tensor((R, V), s, scale=2), best_ptr=Tensor((R,)), token_ptr=Tensor((R,), 'i32'),
                   vocab=V, temperature=0.8, seed=20240229), ['token_ptr', 'best_ptr'], lambda t: gumbel_ref(t, 0.8, 20240229), -1, gumbel_argmax, (R,),
                   dict(BLOCK=128 if small else 2048, num_warps=8), bytes=R * V * BYTES[s])
    for R, C in ((6, 100),) if small else ((4096, 1024), (512, 32000)):
        yield Case('top_p_sample f32 [%d,%d]' % (R, C), dict(prob_ptr=falling(R, C), id_ptr=Tensor((R, C), 'i32', 5, 128256), u_ptr=between((R,), 0, 1),
                   kept_ptr=Tensor((R,), 'i32'), token_ptr=Tensor((R,), 'i32'), cols=C, p=0.9), ['kept_ptr', 'token_ptr'], lambda t: top_p_ref(t, 0.9), 0.02,
                   top_p_sample, (R,), dict(BLOCK=triton.next_power_of_2(C), num_warps=4 if C < 2000 else 16), bytes=4 * R * C)
    R, V = (5, 700) if small else (1024, 151936)
    yield Case('min_p_filter bf16 [%d,%d]' % (R, V), dict(logits_ptr=Tensor((R, V), 'bf16', scale=3), out_ptr=Tensor((R, V)), n_cols=V,
               min_p_ptr=between((R,), 0.02, 0.1), temp_ptr=between((R,), 0.5, 1.5, 4)), ['out_ptr'], min_p_ref, 2e-2, min_p_filter, (R,),
               dict(BLOCK=128 if small else 4096, num_warps=8), bytes=6 * R * V)
    R, V = (3, 500) if small else (512, 128256)
    few = lambda g, R=R, V=V: torch.randint(1, 9, (R, V), generator=g, device=g.device) * (torch.rand(R, V, generator=g, device=g.device) < 0.1)
    yield Case('penalties f32 [%d,%d]' % (R, V), dict(logits_ptr=Tensor((R, V)), counts_ptr=Tensor((R, V), 'i16', 5, made=few), out_ptr=Tensor((R, V), 'f32', 9),
               repeat_ptr=between((R,), 1.0, 1.5), presence_ptr=between((R,), 0, 1, 4), frequency_ptr=between((R,), 0, 0.5, 6), vocab=V), ['out_ptr'],
               penalties_ref, 1e-5, penalties, (R, blocks(V, 1024)), dict(BLOCK=1024, num_warps=4), bytes=10 * R * V)
    B, K, V = (6, 4, 300) if small else (256, 5, 128256)
    soft = lambda seed, B=B, K=K, V=V: Tensor((B, K, V), 'f32', seed, made=lambda g: torch.softmax(torch.randn(B, K, V, generator=g, device=g.device), 2))
    yield Case('draft_accept f32 [%d,%d,%d]' % (B, K, V), dict(target_ptr=soft(1), draft_ptr=soft(2), token_ptr=Tensor((B, K), 'i32', 5, V),
               u_ptr=between((B, K), 0, 1), out_ptr=Tensor((B, K + 1), 'i32', made=lambda g, B=B, K=K: torch.zeros(B, K + 1)), length_ptr=Tensor((B,), 'i32'), vocab=V),
               ['out_ptr', 'length_ptr'], lambda t, K=K: accept_ref(t, K), 0, draft_accept, (B,), dict(K=K, BLOCK=64 if small else 4096, num_warps=8),
               bytes=8 * B * V, kept=('out_ptr',))
