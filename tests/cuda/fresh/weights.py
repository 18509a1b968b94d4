"""Products with weights of 8, 4 and 2 bits: whole batches and single tokens, in the packings that checkpoints have."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks, near


@triton.jit
def gemm_w8a8(a, b, a_scale, b_scale, c, M, N, K, a_row, b_row, c_row, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """int8 by int8, summed in i32; a scale for each token and each column. Weights are [N, K]."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_at = a + m[:, None] * a_row + k[None, :]
    b_at = b + n[None, :] * b_row + k[:, None]
    acc = tl.zeros((BM, BN), tl.int32)
    for _ in range(0, K, BK):
        p = tl.load(a_at, mask=m[:, None] < M, other=0)
        q = tl.load(b_at, mask=n[None, :] < N, other=0)
        acc += tl.dot(p, q)
        a_at += BK
        b_at += BK
    sa = tl.load(a_scale + m, mask=m < M, other=0.0)
    sb = tl.load(b_scale + n, mask=n < N, other=0.0)
    y = acc.to(tl.float32) * sa[:, None] * sb[None, :]
    tl.store(c + m[:, None] * c_row + n[None, :], y.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def gemm_w8a16(a, b, scale, bias, c, M, N, K, a_row, b_row, c_row, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
               GROUP: tl.constexpr):
    """Weights int8 [K, N], converted on the way; a scale for each column behind the sums."""
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    width = GROUP * tiles_n
    first = pid // width * GROUP
    size = min(tiles_m - first, GROUP)
    m = (first + pid % width % size) * BM + tl.arange(0, BM)
    n = pid % width // size * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_at = a + (m % M)[:, None] * a_row + k[None, :]
    b_at = b + k[:, None] * b_row + n[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        p = tl.load(a_at, mask=k[None, :] < K - i * BK, other=0.0)
        q = tl.load(b_at, mask=k[:, None] < K - i * BK, other=0)
        acc = tl.dot(p, q.to(p.dtype), acc)
        a_at += BK
        b_at += BK * b_row
    y = acc * tl.load(scale + n)[None, :] + tl.load(bias + n).to(tl.float32)[None, :]
    tl.store(c + m[:, None] * c_row + n[None, :], y.to(c.dtype.element_ty), mask=m[:, None] < M)


@triton.jit
def gemm_gptq(a, q, scales, zeros, c, M, N, K, a_row, c_row, PER: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Eight int4 along K in an i32 [K / 8, N]; scales [K / PER, N]; zero points packed along N."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a_at = a + m[:, None] * a_row + k[None, :]
    q_at = q + (k // 8)[:, None] * N + n[None, :]
    k_shift = (k % 8) * 4
    n_shift = (n % 8) * 4
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        group = first // PER
        p = tl.load(a_at, mask=m[:, None] < M, other=0.0)
        packed = tl.load(q_at)
        scale = tl.load(scales + group * N + n)
        zero = (tl.load(zeros + group * (N // 8) + n // 8) >> n_shift) & 0xF
        w = (packed >> k_shift[:, None]) & 0xF
        w = (w - (zero + 1)[None, :]).to(scale.dtype) * scale[None, :]
        acc += tl.dot(p, w)
        a_at += BK
        q_at += BK // 8 * N
    tl.store(c + m[:, None] * c_row + n[None, :], acc.to(c.dtype.element_ty), mask=m[:, None] < M)


@triton.jit
def gemm_awq(a, q, scales, zeros, c, M, N, K, PER: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Eight int4 along N in an i32 [K, N / 8], in the order 0 2 4 6 1 3 5 7, and so are the zero points."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    shift = ((n % 8) // 2 + (n % 2) * 4) * 4
    a_at = a + m[:, None] * K + k[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        p = tl.load(a_at + first, mask=m[:, None] < M, other=0.0)
        packed = tl.load(q + (first + k)[:, None] * (N // 8) + (n // 8)[None, :])
        g = (first + k) // PER
        zero = tl.load(zeros + g[:, None] * (N // 8) + (n // 8)[None, :])
        scale = tl.load(scales + g[:, None] * N + n[None, :])
        w = ((packed >> shift[None, :]) & 15) - ((zero >> shift[None, :]) & 15)
        acc = tl.dot(p, w.to(scale.dtype) * scale, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty), mask=m[:, None] < M)


@triton.jit
def gemm_int4_halves(a, q, scales, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, PER: tl.constexpr):
    """Bytes [N, K / 2]: in each group of PER value i beside value i + PER / 2. A step is a group: its scale comes behind the sums."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, PER // 2)
    a_at = a + m[:, None] * K + k[None, :]
    q_at = q + n[None, :] * (K // 2) + k[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    for g in range(0, K // PER):
        byte = tl.load(q_at)
        low = (byte & 15).to(tl.int8) - 8
        high = (byte >> 4).to(tl.int8) - 8
        p0 = tl.load(a_at, mask=m[:, None] < M, other=0.0)
        p1 = tl.load(a_at + PER // 2, mask=m[:, None] < M, other=0.0)
        part = tl.dot(p0, low.to(p0.dtype))
        part = tl.dot(p1, high.to(p1.dtype), part)
        acc += part * tl.load(scales + n * (K // PER) + g).to(tl.float32)[None, :]
        a_at += PER
        q_at += PER // 2
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty), mask=m[:, None] < M)


@triton.jit
def gemm_fp8_block(a, b, a_scales, b_scales, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """fp8 by fp8: scales of 1 x 128 for tokens, of 128 x 128 for weights [N, K]."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    steps = tl.cdiv(K, BK)
    a_at = a + (m % M)[:, None] * K + k[None, :]
    b_at = b + n[None, :] * K + k[:, None]
    sa_at = a_scales + (m % M) * steps
    sb_at = b_scales + n // 128 * steps
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, steps):
        p = tl.load(a_at, mask=k[None, :] < K - i * BK, other=0.0)
        q = tl.load(b_at, mask=k[:, None] < K - i * BK, other=0.0)
        acc += tl.dot(p, q) * tl.load(sa_at + i)[:, None] * tl.load(sb_at + i)[None, :]
        a_at += BK
        b_at += BK
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty), mask=(m < M)[:, None] & (n < N)[None, :])


@triton.jit
def gemm_fp8_weights(a, b, scale, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Tokens in f16 or bf16, weights in fp8 [N, K] with one scale."""
    m = tl.program_id(1) * BM + tl.arange(0, BM)
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, K, BK):
        p = tl.load(a + m[:, None] * K + (first + k)[None, :], mask=m[:, None] < M, other=0.0)
        q = tl.load(b + n[:, None] * K + (first + k)[None, :])
        acc = tl.dot(p, tl.trans(q.to(p.dtype)), acc)
    acc *= tl.load(scale)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(c.dtype.element_ty), mask=m[:, None] < M)


@triton.jit
def gemm_w8_split_k(a, b, scale, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    """Few tokens: parts of K in programs of their own, added by atomic operations in f32."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    m = tl.arange(0, BM)
    length = K // SPLIT
    begin = tl.program_id(1) * length
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(begin, begin + length, BK):
        k = first + tl.arange(0, BK)
        p = tl.load(a + m[:, None] * K + k[None, :], mask=m[:, None] < M, other=0.0)
        q = tl.load(b + n[None, :] * K + k[:, None]).to(a.dtype.element_ty)
        acc = tl.dot(p, q, acc)
    acc = acc * tl.load(scale + n)[None, :]
    tl.atomic_add(c + m[:, None] * N + n[None, :], acc, mask=m[:, None] < M)


@triton.jit
def gemv_int8(x, w, scales, out, N, K, BN: tl.constexpr, BK: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BN, BK), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        v = tl.load(x + k, mask=k < K, other=0.0).to(tl.float32)
        q = tl.load(w + n[:, None] * K + k[None, :], mask=(n[:, None] < N) & (k[None, :] < K), other=0)
        acc += q.to(tl.float32) * v[None, :]
    y = tl.sum(acc, axis=1) * tl.load(scales + n, mask=n < N, other=0.0)
    tl.store(out + n, y.to(out.dtype.element_ty), mask=n < N)


@triton.jit
def gemv_int4(x, q, scales, out, N, K, PER: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Bytes [N, K / 2], value 2 i in the lower half; scales [N, K / PER]."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BN,), tl.float32)
    for first in range(0, K // 2, BK):
        k = first + tl.arange(0, BK)
        even = tl.load(x + 2 * k).to(tl.float32)
        odd = tl.load(x + 2 * k + 1).to(tl.float32)
        byte = tl.load(q + n[:, None] * (K // 2) + k[None, :])
        scale = tl.load(scales + n[:, None] * (K // PER) + (2 * k // PER)[None, :]).to(tl.float32)
        low = (byte & 0xF).to(tl.float32) - 8.0
        high = (byte >> 4).to(tl.float32) - 8.0
        acc += tl.sum((low * even[None, :] + high * odd[None, :]) * scale, axis=1)
    tl.store(out + n, acc.to(out.dtype.element_ty))


@triton.jit
def gemv_gptq(x, q, scales, zeros, out, N, K, PER: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SPLIT: tl.constexpr):
    """Parts of K leave partial sums [SPLIT, N]."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    part = tl.program_id(1)
    acc = tl.zeros((BN,), tl.float32)
    for first in range(part * (K // SPLIT), (part + 1) * (K // SPLIT), BK):
        k = first + tl.arange(0, BK)
        v = tl.load(x + k).to(tl.float32)
        packed = tl.load(q + (k // 8)[:, None] * N + n[None, :])
        group = first // PER
        zero = ((tl.load(zeros + group * (N // 8) + n // 8) >> ((n % 8) * 4)) & 15) + 1
        scale = tl.load(scales + group * N + n).to(tl.float32)
        w = ((packed >> ((k % 8) * 4)[:, None]) & 15) - zero[None, :]
        acc += tl.sum(w.to(tl.float32) * v[:, None], axis=0) * scale
    tl.store(out + part * N + n, acc)


@triton.jit
def gemv_fp8(x, w, scale, bias, out, N, K, BN: tl.constexpr, BK: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    w_at = w + n[:, None] * K + k[None, :]
    acc = tl.zeros((BN, BK), tl.float32)
    for first in range(0, K, BK):
        v = tl.load(x + first + k).to(tl.float32)
        acc += tl.load(w_at).to(tl.float32) * v[None, :]
        w_at += BK
    y = tl.sum(acc, axis=1) * tl.load(scale) + tl.load(bias + n).to(tl.float32)
    tl.store(out + n, y.to(out.dtype.element_ty))


@triton.jit
def gemv_ternary(x, q, x_scale, w_scale, out, N, K, BN: tl.constexpr, BK: tl.constexpr):
    """Weights -1, 0, 1: value i of a quarter of the row in bits 2 i of a byte [N, K / 4]; tokens int8."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    quarter = K // 4
    acc = tl.zeros((BN, BK), tl.int32)
    for first in range(0, quarter, BK):
        k = first + tl.arange(0, BK)
        byte = tl.load(q + n[:, None] * quarter + k[None, :]).to(tl.int32)
        for part in tl.static_range(4):
            v = tl.load(x + part * quarter + k).to(tl.int32)
            acc += (((byte >> (2 * part)) & 3) - 1) * v[None, :]
    y = tl.sum(acc, axis=1).to(tl.float32) * (tl.load(x_scale) * tl.load(w_scale))
    tl.store(out + n, y.to(out.dtype.element_ty))


@triton.jit
def gemv_mxfp4(x, q, exponents, out, N, K, BN: tl.constexpr, BK: tl.constexpr):
    """e2m1 in halves of bytes [N, K / 2], a power of two for each 32 values."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    acc = tl.zeros((BN, BK), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        byte = tl.load(q + n[:, None] * (K // 2) + (k // 2)[None, :])
        code = (byte >> ((k % 2) * 4)[None, :].to(tl.uint8)) & 15
        power = (code >> 1) & 3
        half = (code & 1).to(tl.float32)
        size = tl.where(power == 0, half * 0.5, (1.0 + half * 0.5) * (1 << power.to(tl.int32)).to(tl.float32) * 0.5)
        value = tl.where(code >= 8, -size, size)
        e = tl.load(exponents + n[:, None] * (K // 32) + (k // 32)[None, :]).to(tl.float32)
        v = tl.load(x + k).to(tl.float32)
        acc += value * tl.exp2(e - 127.0) * v[None, :]
    tl.store(out + n, tl.sum(acc, axis=1).to(out.dtype.element_ty))


# -- Cases -------------------------------------------------------------------------------------------------------

def fields(q, bits, axis, order=None):
    """Integers of fewer bits, packed into q along an axis, lowest first."""
    per = (8 if q.dtype == torch.uint8 else 32) // bits
    parts = torch.stack([(q.long() >> bits * (order[i] if order else i)) & (1 << bits) - 1 for i in range(per)], axis + 1)
    shape = list(q.shape)
    shape[axis] *= per
    return parts.reshape(shape).float()


AWQ = [0, 4, 1, 5, 2, 6, 3, 7]  # where value i of eight is
WORD = dict(below=2 ** 31 - 1, least=-2 ** 31)


def gptq_weights(t, per):
    w, z = fields(t['q'], 4, 0), fields(t['zeros'], 4, 1) + 1
    up = lambda x: x.float().repeat_interleave(per, 0)
    return (w - up(z)) * up(t['scales'])


def awq_weights(t, per):
    up = lambda x: x.float().repeat_interleave(per, 0)
    return (fields(t['q'], 4, 1, AWQ) - up(fields(t['zeros'], 4, 1, AWQ))) * up(t['scales'])


def halves_weights(t, per):
    """[N, K]"""
    N, half = t['q'].shape
    q = t['q'].view(N, -1, 1, per // 2).int()
    w = torch.cat((q & 15, q >> 4), 2).view(N, 2 * half).float() - 8
    return w * t['scales'].float().repeat_interleave(per, 1)


def e2m1_weights(t):
    table = torch.tensor([0, .5, 1, 1.5, 2, 3, 4, 6, -0., -.5, -1, -1.5, -2, -3, -4, -6], device=t['q'].device)
    w = table[fields(t['q'], 4, 1).long()]
    return w * torch.exp2(t['exponents'].float() - 127).repeat_interleave(32, 1)


def fp8_block_product(t, K):
    a = t['a'].float() * t['a_scales'].repeat_interleave(128, 1)[:, :K]
    b = t['b'].float() * t['b_scales'].repeat_interleave(128, 0)[:t['b'].shape[0]].repeat_interleave(128, 1)[:, :K]
    return [a @ b.t()]


def positive(shape, scale, seed=7, s='f32'):
    return Tensor(shape, s, seed, made=lambda g: (torch.rand(shape, generator=g, device=g.device) + 0.5) * scale)


def bound(M, N, K, moved):
    return dict(bytes=int(moved)) if M <= 32 else dict(flops=2 * M * N * K)


def eight_bits(s, small):
    e = BYTES[s]
    i8 = lambda *shape, seed=1: Tensor(shape, 'i8', seed, 128, -127)
    for M, N, K, bm, bn, bk in ((30, 64, 128, 32, 32, 64),) if small else ((2048, 4096, 4096, 128, 128, 64), (16, 14336, 4096, 16, 64, 128)):
        size = ' %s %dx%dx%d' % (s, M, N, K)
        grid = (blocks(M, bm), blocks(N, bn))
        c, few = Tensor((M, N), s), dict(M=M, N=N, K=K)
        tile = dict(BM=bm, BN=bn, BK=bk, num_warps=4 if M < 1024 else 8)
        yield Case('gemm_w8a8' + size, dict(a=i8(M, K), b=i8(N, K, seed=2), a_scale=positive((M,), .01), b_scale=positive((N,), .01), c=c,
                   **few, a_row=K, b_row=K, c_row=N), ['c'], lambda t: [(t['a'].float() @ t['b'].float().t()) * t['a_scale'][:, None] *
                   t['b_scale']], near(0, s), gemm_w8a8, grid, tile, **bound(M, N, K, N * K + M * K + M * N * e))
        yield Case('gemm_w8a16' + size, dict(a=Tensor((M, K), s), b=i8(K, N, seed=2), scale=positive((N,), .01), bias=Tensor((N,), s, 3), c=c,
                   **few, a_row=K, b_row=N, c_row=N), ['c'], lambda t: [(t['a'].float() @ t['b'].float()) * t['scale'] + t['bias'].float()],
                   near(0, s), gemm_w8a16, (grid[0] * grid[1],), dict(tile, GROUP=8), **bound(M, N, K, N * K + e * (M * K + M * N)))
        yield Case('gemm_fp8_weights' + size, dict(a=Tensor((M, K), s), b=Tensor((N, K), 'e4m3', 2), scale=positive((1,), .02), c=c, **few), ['c'],
                   lambda t: [(t['a'].float() @ t['b'].float().t()) * t['scale']], near(0, s), gemm_fp8_weights, grid[::-1], tile,
                   **bound(M, N, K, N * K + e * (M * K + M * N)))
    M, N, K, bm, bn = (40, 128, 256, 32, 64) if small else (4096, 7168, 2048, 64, 128)
    yield Case('gemm_fp8_block %s %dx%dx%d' % (s, M, N, K), dict(a=Tensor((M, K), 'e4m3'), b=Tensor((N, K), 'e4m3', 2),
               a_scales=positive((M, K // 128), .02), b_scales=positive((N // 128, K // 128), .02, 8), c=Tensor((M, N), s), M=M, N=N, K=K),
               ['c'], lambda t: fp8_block_product(t, K), near(5e-3, s), gemm_fp8_block, (blocks(M, bm), blocks(N, bn)),
               dict(BM=bm, BN=bn, BK=128, num_warps=4), **bound(M, N, K, 0))
    M, N, K, split, bn = (7, 64, 256, 2, 32) if small else (8, 4096, 14336, 8, 64)
    yield Case('gemm_w8_split_k %s %dx%dx%d' % (s, M, N, K), dict(a=Tensor((M, K), s), b=i8(N, K, seed=2), scale=positive((N,), .01),
               c=Tensor((M, N), made=lambda g: torch.zeros(M, N)), M=M, N=N, K=K), ['c'],
               lambda t: [(t['a'].float() @ t['b'].float().t()) * t['scale']], 1e-4, gemm_w8_split_k, (N // bn, split),
               dict(BM=16, BN=bn, BK=128, SPLIT=split, num_warps=4), **bound(M, N, K, N * K + M * K * e + M * N * 4), kept=('c',))


def four_bits(s, small):
    e = BYTES[s]
    for M, N, K, bm, bn in ((20, 64, 256, 32, 32),) if small else ((1024, 4096, 4096, 64, 128), (16, 11008, 4096, 16, 64)):
        size = ' %s %dx%dx%d' % (s, M, N, K)
        grid, c = (blocks(M, bm), blocks(N, bn)), Tensor((M, N), s)
        a, few = Tensor((M, K), s), dict(M=M, N=N, K=K)
        G = K // 128
        moved = bound(M, N, K, N * K // 2 + e * (M * K + M * N + N * G))
        tile = dict(BM=bm, BN=bn, BK=64, num_warps=4)
        of = lambda weights: lambda t: [t['a'].float() @ weights(t, 128)]
        yield Case('gemm_gptq' + size, dict(a=a, q=Tensor((K // 8, N), 'i32', 2, **WORD), scales=positive((G, N), .01, s=s),
                   zeros=Tensor((G, N // 8), 'i32', 3, **WORD), c=c, **few, a_row=K, c_row=N), ['c'], of(gptq_weights), near(2e-3, s), gemm_gptq,
                   grid, dict(tile, PER=128), **moved)
        yield Case('gemm_awq' + size, dict(a=a, q=Tensor((K, N // 8), 'i32', 2, **WORD), scales=positive((G, N), .01, s=s),
                   zeros=Tensor((G, N // 8), 'i32', 3, **WORD), c=c, **few), ['c'], of(awq_weights), near(2e-3, s), gemm_awq, grid,
                   dict(tile, PER=128), **moved)
        yield Case('gemm_int4_halves' + size, dict(a=a, q=Tensor((N, K // 2), 'u8', 2, 256), scales=positive((N, G), .01, s=s), c=c, **few), ['c'],
                   lambda t: [t['a'].float() @ halves_weights(t, 128).t()], near(0, s), gemm_int4_halves, grid,
                   dict(BM=bm, BN=bn, PER=128, num_warps=4), **moved)


def single_tokens(s, small):
    e = BYTES[s]
    N, K = (48, 512) if small else (14336, 4096)
    size = ' %s %dx%d' % (s, N, K)
    x, out, few = Tensor((K,), s), Tensor((N,), s), dict(N=N, K=K)
    by = lambda w: lambda t: [w(t).double() @ t['x'].double()]
    bn, bk = (8, 128) if small else (8, 512)
    launch = dict(tol=near(1e-3, s), grid=(blocks(N, bn),))
    meta = dict(BN=bn, BK=bk, num_warps=4)
    yield Case('gemv_int8' + size, dict(x=x, w=Tensor((N, K), 'i8', 2, 128, -127), scales=positive((N,), .01), out=out, **few), ['out'],
               by(lambda t: t['w'].float() * t['scales'][:, None]), fn=gemv_int8, meta=meta, bytes=N * K, **launch)
    yield Case('gemv_fp8' + size, dict(x=x, w=Tensor((N, K), 'e4m3', 2), scale=positive((1,), .1), bias=Tensor((N,), s, 3), out=out, **few), ['out'],
               lambda t: [(t['w'].float() @ t['x'].float()) * t['scale'] + t['bias'].float()], fn=gemv_fp8, meta=meta, bytes=N * K, **launch)
    yield Case('gemv_int4' + size, dict(x=x, q=Tensor((N, K // 2), 'u8', 2, 256), scales=positive((N, K // 128), .01, s=s), out=out, **few), ['out'],
               by(lambda t: (fields(t['q'], 4, 1) - 8) * t['scales'].float().repeat_interleave(128, 1)), fn=gemv_int4,
               meta=dict(meta, PER=128, BK=bk // 2), bytes=N * K // 2 + N * K // 128 * e, **launch)
    yield Case('gemv_mxfp4' + size, dict(x=x, q=Tensor((N, K // 2), 'u8', 2, 256), exponents=Tensor((N, K // 32), 'u8', 3, 128, 120), out=out, **few),
               ['out'], by(e2m1_weights), fn=gemv_mxfp4, meta=meta, bytes=N * K // 2 + N * K // 32, **launch)
    yield Case('gemv_ternary' + size, dict(x=Tensor((K,), 'i8', 1, 128, -127), q=Tensor((N, K // 4), 'u8', 2, made=lambda g: sum(
               torch.randint(0, 3, (N, K // 4), generator=g, device=g.device) << 2 * i for i in range(4))), x_scale=positive((1,), .01),
               w_scale=positive((1,), .1), out=out, **few), ['out'], lambda t: [((torch.cat([t['q'].int() >> 2 * i & 3 for i in range(4)], 1) - 1)
               .double() @ t['x'].double()) * (t['x_scale'] * t['w_scale'])], fn=gemv_ternary, meta=dict(meta, BK=bk // 2), bytes=N * K // 4, **launch)
    split, bn = (2, 16) if small else (4, 64)
    yield Case('gemv_gptq' + size, dict(x=x, q=Tensor((K // 8, N), 'i32', 2, **WORD), scales=positive((K // 128, N), .01, s=s),
               zeros=Tensor((K // 128, N // 8), 'i32', 3, **WORD), out=Tensor((split, N)), **few), ['out'],
               lambda t: [torch.einsum('skn,sk->sn', gptq_weights(t, 128).view(split, K // split, N), t['x'].float().view(split, -1))], 1e-5,
               gemv_gptq, (N // bn, split), dict(PER=128, BN=bn, BK=64, SPLIT=split, num_warps=4), bytes=N * K // 2)


def cases(small=False):
    for s in ('f16', 'bf16'):
        for family in (eight_bits, four_bits, single_tokens):
            yield from family(s, small)
