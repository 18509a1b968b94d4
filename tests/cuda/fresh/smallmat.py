"""Many small matrices: products, triangular solves, Cholesky factors, inverses."""
import torch
import triton
import triton.language as tl
from kernels import BYTES, Case, Tensor, blocks


@triton.jit
def bmm_small(A, B, C, N: tl.constexpr):
    """One product of N x N a program, by the matrix unit."""
    pid = tl.program_id(0).to(tl.int64)
    i = tl.arange(0, N)[:, None]
    j = tl.arange(0, N)[None, :]
    a = tl.load(A + pid * N * N + i * N + j)
    b = tl.load(B + pid * N * N + i * N + j)
    tl.store(C + pid * N * N + i * N + j, tl.dot(a, b).to(C.dtype.element_ty))


@triton.jit
def bmm_many(a_ptr, b_ptr, c_ptr, batch, N: tl.constexpr, MANY: tl.constexpr):
    """MANY products at once, three axes."""
    k = tl.program_id(0) * MANY + tl.arange(0, MANY)
    i = tl.arange(0, N)
    at = k[:, None, None] * (N * N) + i[None, :, None] * N + i[None, None, :]
    mask = (k < batch)[:, None, None]
    a = tl.load(a_ptr + at, mask=mask, other=0.0)
    b = tl.load(b_ptr + at, mask=mask, other=0.0)
    c = tl.dot(a, b)
    tl.store(c_ptr + at, c.to(c_ptr.dtype.element_ty), mask=mask)


@triton.jit
def bmv_broadcast(m_ptr, v_ptr, out_ptr, batch, N: tl.constexpr, MANY: tl.constexpr):
    """Matrices times vectors by a product of tiles and a sum (transforms of points and the like)."""
    k = tl.program_id(0) * MANY + tl.arange(0, MANY)
    i = tl.arange(0, N)
    ok = k < batch
    m = tl.load(m_ptr + k[:, None, None] * N * N + i[None, :, None] * N + i[None, None, :], mask=ok[:, None, None], other=0.0)
    v = tl.load(v_ptr + k[:, None] * N + i[None, :], mask=ok[:, None], other=0.0)
    y = tl.sum(m.to(tl.float32) * v[:, None, :].to(tl.float32), axis=2)
    tl.store(out_ptr + k[:, None] * N + i[None, :], y, mask=ok[:, None])


@triton.jit
def tri_solve(l_ptr, b_ptr, x_ptr, N: tl.constexpr, R: tl.constexpr):
    """L X = B for a lower triangle, forward, R right sides."""
    pid = tl.program_id(0)
    i = tl.arange(0, N)
    r = tl.arange(0, R)
    x = tl.load(b_ptr + pid * N * R + i[:, None] * R + r[None, :])
    for k in range(0, N):
        col = tl.load(l_ptr + pid * N * N + i * N + k)
        pivot = tl.sum(tl.where(i == k, col, 0.0), axis=0)
        row = tl.sum(tl.where((i == k)[:, None], x, 0.0), axis=0) / pivot
        x = tl.where((i == k)[:, None], row[None, :], tl.where((i > k)[:, None], x - col[:, None] * row[None, :], x))
    tl.store(x_ptr + pid * N * R + i[:, None] * R + r[None, :], x)


@triton.jit
def cholesky_small(a_ptr, l_ptr, N: tl.constexpr):
    """The lower factor of a positive matrix, a column at a time."""
    pid = tl.program_id(0)
    i = tl.arange(0, N)
    at = i[:, None] * N + i[None, :]
    a = tl.load(a_ptr + pid * N * N + at)
    for k in range(N):
        col = tl.sum(tl.where(i[None, :] == k, a, 0.0), axis=1)
        d = tl.sqrt(tl.sum(tl.where(i == k, col, 0.0), axis=0))
        col = tl.where(i >= k, col / d, 0.0)
        rest = (i[:, None] > k) & (i[None, :] > k)
        a = tl.where(i[None, :] == k, col[:, None], tl.where(rest, a - col[:, None] * col[None, :], a))
    tl.store(l_ptr + pid * N * N + at, tl.where(i[:, None] >= i[None, :], a, 0.0))


@triton.jit
def unit_lower_inverse(a_ptr, out_ptr, stride, N: tl.constexpr):
    """(I + A)^-1 for a strictly lower A, row by row, as chunked delta rules need it."""
    pid = tl.program_id(0)
    i = tl.arange(0, N)
    a = tl.load(a_ptr + pid * stride + i[:, None] * N + i[None, :]).to(tl.float32)
    inv = -tl.where(i[:, None] > i[None, :], a, 0.0)
    for k in range(1, N):
        row = -tl.load(a_ptr + pid * stride + k * N + i).to(tl.float32)
        row = tl.where(i < k, row, 0.0)
        row = row + tl.sum(row[:, None] * inv, axis=0) * (i < k)
        inv = tl.where((i == k)[:, None], row[None, :], inv)
    inv += (i[:, None] == i[None, :]).to(tl.float32)
    tl.store(out_ptr + pid * stride + i[:, None] * N + i[None, :], inv.to(out_ptr.dtype.element_ty))


# -- Inputs and cases ----------------------------------------------------------------------------------------------

def lower(batch, n, below):
    """Lower triangles whose diagonals are 1 to 2."""
    def make(g):
        v = torch.randn(batch, n, n, generator=g, device=g.device).tril(-1) * below
        return v + torch.diag_embed(torch.rand(batch, n, generator=g, device=g.device) + 1)
    return Tensor((batch, n, n), made=make)


def positive(batch, n):
    def make(g):
        v = torch.randn(batch, n, n, generator=g, device=g.device)
        return v @ v.mT / n + torch.eye(n, device=g.device)
    return Tensor((batch, n, n), made=make)


def cases(small=False):
    for s, N, B in (('f16', 16, 1 << 17), ('bf16', 32, 1 << 15)):
        B = 9 if small else B
        m = lambda seed: Tensor((B, N, N), s, seed)
        yield Case('bmm_small %s %dx%d' % (s, B, N), dict(A=m(1), B=m(2), C=m(9)), ['C'], lambda t: [t['A'].float() @ t['B'].float()],
                   8e-3 if s == 'bf16' else 1e-3, bmm_small, (B,), dict(N=N, num_warps=1), bytes=3 * B * N * N * BYTES[s])
        yield Case('bmm_many %s %dx%d' % (s, B, N), dict(a_ptr=m(1), b_ptr=m(2), c_ptr=m(9), batch=B), ['c_ptr'],
                   lambda t: [t['a_ptr'].float() @ t['b_ptr'].float()], 8e-3 if s == 'bf16' else 1e-3, bmm_many, (blocks(B, 4),), dict(N=N, MANY=4, num_warps=4),
                   bytes=3 * B * N * N * BYTES[s])
    B, N = (50, 4) if small else (1 << 21, 4)
    yield Case('bmv_broadcast f32 %dx%d' % (B, N), dict(m_ptr=Tensor((B, N, N)), v_ptr=Tensor((B, N), 'f32', 2), out_ptr=Tensor((B, N)), batch=B), ['out_ptr'],
               lambda t: [(t['m_ptr'].double() @ t['v_ptr'].double()[:, :, None])[:, :, 0]], 1e-5, bmv_broadcast, (blocks(B, 128),),
               dict(N=N, MANY=128, num_warps=4), bytes=B * N * (N + 2) * 4)
    B, N, R = (3, 32, 16) if small else (1 << 14, 32, 16)
    yield Case('tri_solve f32 %dx%d %d' % (B, N, R), dict(l_ptr=lower(B, N, 0.2), b_ptr=Tensor((B, N, R), 'f32', 2), x_ptr=Tensor((B, N, R))), ['x_ptr'],
               lambda t: [torch.linalg.solve_triangular(t['l_ptr'].double(), t['b_ptr'].double(), upper=False)], 1e-5, tri_solve, (B,),
               dict(N=N, R=R, num_warps=1), bytes=B * N * (N + 2 * R) * 4)
    for N, B in ((16, 1 << 16), (32, 1 << 14)):
        B = 3 if small else B
        yield Case('cholesky_small f32 %dx%d' % (B, N), dict(a_ptr=positive(B, N), l_ptr=Tensor((B, N, N))), ['l_ptr'],
                   lambda t: [torch.linalg.cholesky(t['a_ptr'].double())], 1e-5, cholesky_small, (B,), dict(N=N, num_warps=1), bytes=8 * B * N * N)
    for s, N, B in (('bf16', 16, 1 << 16), ('f16', 64, 1 << 13)):
        B = 3 if small else B
        yield Case('unit_lower_inverse %s %dx%d' % (s, B, N), dict(a_ptr=Tensor((B, N, N), s, scale=0.15), out_ptr=Tensor((B, N, N), s, 9), stride=N * N),
                   ['out_ptr'], lambda t, N=N: [torch.linalg.inv(torch.eye(N, device=t['a_ptr'].device).double() + t['a_ptr'].double().tril(-1))],
                   8e-3 if s == 'bf16' else 2e-3, unit_lower_inverse, (B,), dict(N=N, num_warps=1 if N == 16 else 4), bytes=2 * B * N * N * BYTES[s])
