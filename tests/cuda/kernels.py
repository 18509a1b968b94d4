"""The kernels that measure.py times: Triton kernels as people write them, their launches, what they must give.

cases() and oplists() yield Case: tensors are described (Tensor), made when the case is run, and forgotten after it.
Bytes or flops are what must be moved or done at the least. Tolerances are relative errors of a whole result.
"""
from dataclasses import dataclass, field
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def copy(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@triton.jit
def cast(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n).to(out.dtype.element_ty), mask=i < n)


@triton.jit
def gelu_erf(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(out + i, v * 0.5 * (1.0 + tl.erf(v * 0.7071067811865476)), mask=i < n)


@triton.jit
def gelu_tanh(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(out + i, 0.5 * v * (1.0 + libdevice.tanh(0.7978845608028654 * (v + 0.044715 * v * v * v))), mask=i < n)


@triton.jit
def row_sum(x, out, cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        total += tl.load(x + row * stride + c, mask=c < cols, other=0.0).to(tl.float32)
    tl.store(out + row, tl.sum(total, axis=0))


@triton.jit
def row_sum_tile(x, out, rows, cols, stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, BLOCK)
    inside = (r[:, None] < rows) & (c[None, :] < cols)
    v = tl.load(x + r[:, None] * stride + c[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(out + r, tl.sum(v, axis=1), mask=r < rows)


@triton.jit
def argmax(x, out, cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + c, mask=c < cols, other=-float("inf"))
    tl.store(out + row, tl.argmax(v, axis=0))


@triton.jit
def cumsum(x, out, cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + c, mask=c < cols, other=0.0).to(tl.float32)
    tl.store(out + row * stride + c, tl.cumsum(v, axis=0), mask=c < cols)


@triton.jit
def softmax(out, x, x_stride, out_stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + row * x_stride + c, mask=c < cols, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * out_stride + c, e / tl.sum(e, axis=0), mask=c < cols)


@triton.jit
def softmax_loop(out, x, cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    most = tl.full((BLOCK,), -float("inf"), tl.float32)
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        most = tl.maximum(most, tl.load(x + row * stride + c, mask=c < cols, other=-float("inf")).to(tl.float32))
    top = tl.max(most, axis=0)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        total += tl.exp(tl.load(x + row * stride + c, mask=c < cols, other=-float("inf")).to(tl.float32) - top)
    whole = tl.sum(total, axis=0)
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        v = tl.load(x + row * stride + c, mask=c < cols, other=-float("inf")).to(tl.float32)
        tl.store(out + row * stride + c, tl.exp(v - top) / whole, mask=c < cols)


@triton.jit
def layer_norm(x, out, w, b, cols, stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < cols
    v = tl.load(x + row * stride + c, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / cols
    d = tl.where(inside, v - mean, 0.0)
    var = tl.sum(d * d, axis=0) / cols
    y = d * tl.rsqrt(var + eps) * tl.load(w + c, mask=inside) + tl.load(b + c, mask=inside)
    tl.store(out + row * stride + c, y, mask=inside)


@triton.jit
def layer_norm_loop(x, out, w, b, cols, stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        total += tl.load(x + row * stride + c, mask=c < cols, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / cols
    square = tl.zeros((BLOCK,), tl.float32)
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        d = tl.load(x + row * stride + c, mask=c < cols, other=0.0).to(tl.float32) - mean
        square += tl.where(c < cols, d * d, 0.0)
    scale = tl.rsqrt(tl.sum(square, axis=0) / cols + eps)
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        inside = c < cols
        v = tl.load(x + row * stride + c, mask=inside, other=0.0).to(tl.float32)
        y = (v - mean) * scale * tl.load(w + c, mask=inside) + tl.load(b + c, mask=inside)
        tl.store(out + row * stride + c, y, mask=inside)


@triton.jit
def rms_norm(x, out, w, cols, stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < cols
    v = tl.load(x + row * stride + c, mask=inside, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(v * v, axis=0) / cols + eps)
    tl.store(out + row * stride + c, v * scale * tl.load(w + c, mask=inside), mask=inside)


@triton.jit
def add_rms_norm(x, residual, out, kept, w, cols, stride, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    inside = c < cols
    v = tl.load(x + row * stride + c, mask=inside, other=0.0).to(tl.float32)
    v += tl.load(residual + row * stride + c, mask=inside, other=0.0).to(tl.float32)
    tl.store(kept + row * stride + c, v, mask=inside)
    scale = tl.rsqrt(tl.sum(v * v, axis=0) / cols + eps)
    tl.store(out + row * stride + c, v * scale * tl.load(w + c, mask=inside).to(tl.float32), mask=inside)


@triton.jit
def cross_entropy(x, label, loss, cols, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    want = tl.load(label + row)
    x += row * stride
    top = -float("inf")
    total = 0.0
    for first in range(0, cols, BLOCK):
        c = first + tl.arange(0, BLOCK)
        v = tl.load(x + c, mask=c < cols, other=-float("inf")).to(tl.float32)
        new = tl.maximum(top, tl.max(v, axis=0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(v - new), axis=0)
        top = new
    tl.store(loss + row, top + tl.log(total) - tl.load(x + want).to(tl.float32))


@triton.jit
def column_sum(x, out, rows, cols, stride, CHUNK: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    begin = tl.program_id(1) * CHUNK
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for first in range(0, CHUNK, ROWS):
        r = begin + first + tl.arange(0, ROWS)
        inside = (r[:, None] < rows) & (c[None, :] < cols)
        total += tl.load(x + r[:, None] * stride + c[None, :], mask=inside, other=0.0).to(tl.float32)
    tl.store(out + tl.program_id(1) * cols + c, tl.sum(total, axis=0), mask=c < cols)


@triton.jit
def transpose(x, out, rows, cols, x_stride, out_stride, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.program_id(1) * BN + tl.arange(0, BN)
    v = tl.load(x + r[:, None] * x_stride + c[None, :], mask=(r[:, None] < rows) & (c[None, :] < cols))
    tl.store(out + c[:, None] * out_stride + r[None, :], tl.trans(v), mask=(c[:, None] < cols) & (r[None, :] < rows))


@triton.jit
def gather(ids, table, out, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.load(ids + row)
    c = tl.arange(0, BLOCK)
    tl.store(out + row * cols + c, tl.load(table + at * cols + c, mask=c < cols), mask=c < cols)


@triton.jit
def gemv(x, w, out, N, K, stride, BN: tl.constexpr, BK: tl.constexpr):
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BN, BK), tl.float32)
    for first in range(0, K, BK):
        k = first + tl.arange(0, BK)
        part = tl.load(w + n[:, None] * stride + k[None, :], mask=(n < N)[:, None] & (k < K)[None, :], other=0.0)
        total += part.to(tl.float32) * tl.load(x + k, mask=k < K, other=0.0).to(tl.float32)[None, :]
    tl.store(out + n, tl.sum(total, axis=1), mask=n < N)


@triton.jit
def matmul(a, b, c, M, N, K, a_row, a_col, b_row, b_col, c_row, c_col, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           GROUP: tl.constexpr, PRECISION: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = pid // (GROUP * tiles_n) * GROUP
    size = min(tiles_m - first, GROUP)
    tile_m = first + pid % (GROUP * tiles_n) % size
    tile_n = pid % (GROUP * tiles_n) // size
    m = (tile_m * BM + tl.arange(0, BM)) % M
    n = (tile_n * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    a_at = a + m[:, None] * a_row + k[None, :] * a_col
    b_at = b + k[:, None] * b_row + n[None, :] * b_col
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        p = tl.load(a_at, mask=k[None, :] < K - i * BK, other=0.0)
        q = tl.load(b_at, mask=k[:, None] < K - i * BK, other=0.0)
        acc = tl.dot(p, q, acc, input_precision=PRECISION)
        a_at += BK * a_col
        b_at += BK * b_row
    m = tile_m * BM + tl.arange(0, BM)
    n = tile_n * BN + tl.arange(0, BN)
    tl.store(c + c_row * m[:, None] + c_col * n[None, :], acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def attention(q, k, v, out, scale, head_stride, row_stride, length, CAUSAL: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
              D: tl.constexpr):
    begin = tl.program_id(0) * BM
    head = tl.program_id(1).to(tl.int64) * head_stride
    m = begin + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + head + m[:, None] * row_stride + d[None, :], mask=m[:, None] < length, other=0.0)
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for first in range(0, begin + BM if CAUSAL else length, BN):
        n = first + tl.arange(0, BN)
        key = tl.load(k + head + n[None, :] * row_stride + d[:, None], mask=n[None, :] < length, other=0.0)
        s = tl.dot(query, key) * (scale * 1.44269504)
        keep = n[None, :] < length
        if CAUSAL:
            keep = keep & (m[:, None] >= n[None, :])
        s = tl.where(keep, s, -1.0e30)
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.math.exp2(s - new[:, None])
        alpha = tl.math.exp2(top - new)
        total = total * alpha + tl.sum(p, axis=1)
        value = tl.load(v + head + n[:, None] * row_stride + d[None, :], mask=n[:, None] < length, other=0.0)
        acc = tl.dot(p.to(value.dtype), value, acc * alpha[:, None])
        top = new
    y = (acc / total[:, None]).to(out.dtype.element_ty)
    tl.store(out + head + m[:, None] * row_stride + d[None, :], y, mask=m[:, None] < length)


# -- Cases -------------------------------------------------------------------------------------------------------

DEVICE = 'cuda'  # where tensors are made
DTYPES = {'f32': torch.float32, 'f16': torch.float16, 'bf16': torch.bfloat16, 'i64': torch.int64, 'i32': torch.int32,
          'i16': torch.int16, 'i8': torch.int8, 'u8': torch.uint8, 'bool': torch.bool, 'e4m3': torch.float8_e4m3fn,
          'e5m2': torch.float8_e5m2}
BYTES = {name: dtype.itemsize for name, dtype in DTYPES.items()}
TOLERANCE = {'f32': 1e-5, 'f16': 1e-3, 'bf16': 8e-3}


@dataclass
class Tensor:
    """Normal values of a scale; integers from `least` to `below`; or what `made` makes with a generator of random numbers."""
    shape: tuple
    dtype: str = 'f32'
    seed: int = 1
    below: int = 0
    least: int = 0
    scale: float = 1
    made: object = None

    def make(self):
        g = torch.Generator(device=DEVICE)
        g.manual_seed(self.seed)
        if self.made:
            return self.made(g).to(DTYPES[self.dtype]).to(DEVICE).reshape(self.shape).contiguous()
        if self.below:
            return torch.randint(self.least, self.below, self.shape, device=DEVICE, generator=g, dtype=DTYPES[self.dtype])
        return (torch.randn(*self.shape, device=DEVICE, generator=g) * self.scale).to(DTYPES[self.dtype])


@dataclass
class Case:
    name: str
    args: dict  # in the order of parameters: Tensor or number
    out: list  # names of results
    ref: object  # from the tensors by name to the results, in float or double
    tol: float
    fn: object = None
    grid: tuple = ()
    meta: dict = field(default_factory=dict)
    ops: dict = None  # of an op list: what `tmetal compile` takes
    bytes: int = 0
    flops: int = 0
    torch: object = None  # the same from the tensors by name, as torch does it
    kept: tuple = ()  # names of results that the launch reads as well, or writes in part: not spoiled before it


def spoil(case, tensors):
    """Nothing that a launch before this one wrote is left: all bits are ones, NaN in floats; what the launch reads is made anew."""
    for name in case.out:
        if name in case.kept:
            tensors[name].copy_(case.args[name].make())
        elif tensors[name].dtype == torch.bool:
            tensors[name].fill_(True)
        else:
            tensors[name].view(torch.uint8).fill_(255)


def wrong(case, tensors, reference, tol=None):
    """Empty when the results in `tensors` are right, else why not. Tolerance -1: results are places of equal values."""
    if case.tol < 0:
        got, want = case.ref(tensors)
        return '' if torch.equal(got, want) else 'values at the places found differ'
    for name, want in zip(case.out, reference):
        got = tensors[name].double().reshape(want.shape)
        want = want.double()
        if not torch.isfinite(got).all():
            return '%s is not finite' % name
        error = ((got - want).norm() / want.norm().clamp_min(1e-300)).item()
        if error > (tol or case.tol):
            return '%s: relative error %.3g, allowed %.3g' % (name, error, tol or case.tol)
    return ''


def near(c, dtype):
    return max(TOLERANCE[dtype], c)


def blocks(n, of):
    return (n + of - 1) // of


def warps(block):
    return 4 if block <= 1024 else 8 if block <= 8192 else 32


def elementwise(s):
    for n in (1 << 26, 9999999):
        size = '2^26' if n == 1 << 26 else str(n)
        x, y, o = Tensor((n,), s), Tensor((n,), s, 2), Tensor((n,), s, 9)
        launch = dict(grid=(blocks(n, 1024),), meta=dict(BLOCK=1024, num_warps=4), out=['out'])
        yield Case('add %s %s' % (s, size), dict(x=x, y=y, out=o, n=n), ref=lambda t: [t['x'].float() + t['y'].float()],
                   tol=near(0, s), fn=add, bytes=3 * n * BYTES[s], torch=lambda t: t['x'] + t['y'], **launch)
        yield Case('gelu_erf %s %s' % (s, size), dict(x=x, out=o, n=n), fn=gelu_erf, bytes=2 * n * BYTES[s], tol=near(0, s),
                   ref=lambda t: [torch.nn.functional.gelu(t['x'].double())],
                   torch=lambda t: torch.nn.functional.gelu(t['x']), **launch)
        if n != 1 << 26:
            continue
        yield Case('gelu_tanh %s %s' % (s, size), dict(x=x, out=o, n=n), fn=gelu_tanh, bytes=2 * n * BYTES[s],
                   tol=near(2e-5, s), ref=lambda t: [torch.nn.functional.gelu(t['x'].double(), approximate='tanh')],
                   torch=lambda t: torch.nn.functional.gelu(t['x'], approximate='tanh'), **launch)
        for to in ('f32', 'f16', 'bf16'):
            if to != s:
                yield Case('cast %s to %s %s' % (s, to, size), dict(x=x, out=Tensor((n,), to, 9), n=n), fn=cast, tol=near(0, to),
                           bytes=n * (BYTES[s] + BYTES[to]), ref=lambda t: [t['x'].float()],
                           torch=lambda t, to=to: t['x'].to(DTYPES[to]), **launch)


ROWS = ((65536, 1024), (16384, 4096), (1024, 65536), (65536, 1000), (30000, 768), (8192, 10000))


def rows(s):
    for R, C in ROWS:
        sh, e = '%s [%d,%d]' % (s, R, C), BYTES[s]
        B = triton.next_power_of_2(C)
        x, o, w, b = Tensor((R, C), s), Tensor((R, C), s, 9), Tensor((C,), 'f32', 3), Tensor((C,), 'f32', 4)
        meta = dict(BLOCK=B, num_warps=warps(B))
        part = dict(BLOCK=min(4096, B), num_warps=warps(min(4096, B)))
        yield Case('row_sum ' + sh, dict(x=x, out=Tensor((R,)), cols=C, stride=C), ['out'], lambda t: [t['x'].double().sum(1)],
                   2e-5, row_sum, (R,), part, bytes=R * C * e + 4 * R, torch=lambda t: t['x'].sum(1, dtype=torch.float32))
        yield Case('softmax ' + sh, dict(out=o, x=x, x_stride=C, out_stride=C, cols=C), ['out'],
                   lambda t: [torch.softmax(t['x'].float(), 1)], near(0, s), softmax, (R,), meta, bytes=2 * R * C * e,
                   torch=lambda t: torch.softmax(t['x'], 1))
        norm = lambda t, C=C: [torch.nn.functional.layer_norm(t['x'].float(), (C,), t['w'], t['b'], 1e-5)]
        if C >= 10000:
            yield Case('softmax_loop ' + sh, dict(out=o, x=x, cols=C, stride=C), ['out'],
                       lambda t: [torch.softmax(t['x'].float(), 1)], near(0, s), softmax_loop, (R,), part, bytes=2 * R * C * e)
            yield Case('layer_norm_loop ' + sh, dict(x=x, out=o, w=w, b=b, cols=C, stride=C, eps=1e-5), ['out'], norm, near(0, s),
                       layer_norm_loop, (R,), part, bytes=2 * R * C * e + 8 * C)
        if C > 4096:
            continue
        yield Case('layer_norm ' + sh, dict(x=x, out=o, w=w, b=b, cols=C, stride=C, eps=1e-5), ['out'], norm, near(0, s),
                   layer_norm, (R,), meta, bytes=2 * R * C * e + 8 * C,
                   torch=lambda t, C=C: torch.nn.functional.layer_norm(t['x'], (C,), t['w'].to(t['x'].dtype), t['b'].to(t['x'].dtype)))
        yield Case('rms_norm ' + sh, dict(x=x, out=o, w=w, cols=C, stride=C, eps=1e-5), ['out'],
                   lambda t: [t['x'].double() * torch.rsqrt((t['x'].double() ** 2).mean(1, keepdim=True) + 1e-5) * t['w'].double()],
                   near(0, s), rms_norm, (R,), meta, bytes=2 * R * C * e + 4 * C,
                   torch=lambda t, C=C: torch.nn.functional.rms_norm(t['x'], (C,), t['w'].to(t['x'].dtype), 1e-5))
        if C in (1024, 1000):
            yield Case('cumsum ' + sh, dict(x=x, out=o, cols=C, stride=C), ['out'], lambda t: [t['x'].double().cumsum(1)],
                       near(0, s), cumsum, (R,), meta, bytes=2 * R * C * e, torch=lambda t: t['x'].cumsum(1))
            yield Case('argmax ' + sh, dict(x=x, out=Tensor((R,), 'i32'), cols=C, stride=C), ['out'],
                       lambda t: [t['x'].gather(1, t['out'].long()[:, None])[:, 0], t['x'].max(1)[0]], -1, argmax, (R,), meta,
                       bytes=R * C * e + 4 * R, torch=lambda t: t['x'].argmax(1))
    R, C = 1 << 20, 64
    yield Case('row_sum %s [%d,%d]' % (s, R, C), dict(x=Tensor((R, C), s), out=Tensor((R,)), cols=C, stride=C), ['out'],
               lambda t: [t['x'].double().sum(1)], 2e-5, row_sum, (R,), dict(BLOCK=64, num_warps=4),
               bytes=R * C * BYTES[s] + 4 * R)
    yield Case('row_sum_tile %s [%d,%d]' % (s, R, C), dict(x=Tensor((R, C), s), out=Tensor((R,)), rows=R, cols=C, stride=C), ['out'],
               lambda t: [t['x'].double().sum(1)], 2e-5, row_sum_tile, (R // 64,), dict(ROWS=64, BLOCK=64, num_warps=4),
               bytes=R * C * BYTES[s] + 4 * R, torch=lambda t: t['x'].sum(1, dtype=torch.float32))


def others(s):
    e = BYTES[s]
    R, C = 16384, 4096
    def added(t):
        h = t['x'].float() + t['residual'].float()
        return [h * torch.rsqrt((h * h).mean(1, keepdim=True) + 1e-5) * t['w'].float(), h]
    x = lambda seed: Tensor((R, C), s, seed)
    yield Case('add_rms_norm %s [%d,%d]' % (s, R, C), dict(x=x(1), residual=x(2), out=x(9), kept=x(8), w=Tensor((C,), s, 3), cols=C,
               stride=C, eps=1e-5), ['out', 'kept'], added, near(0, s), add_rms_norm, (R,), dict(BLOCK=C, num_warps=8),
               bytes=4 * R * C * e)
    for R, C in ((8192, 32000), (16384, 5000)):
        yield Case('cross_entropy %s [%d,%d]' % (s, R, C), dict(x=Tensor((R, C), s), label=Tensor((R,), 'i64', 5, C), loss=Tensor((R,)),
                   cols=C, stride=C), ['loss'], lambda t: [torch.nn.functional.cross_entropy(t['x'].float(), t['label'], reduction='none')],
                   1e-5, cross_entropy, (R,), dict(BLOCK=4096, num_warps=8), bytes=R * C * e,
                   torch=lambda t: torch.nn.functional.cross_entropy(t['x'], t['label'], reduction='none'))
    for R, C in ((65536, 1024), (65536, 1000)):
        yield Case('column_sum %s [%d,%d]' % (s, R, C), dict(x=Tensor((R, C), s), out=Tensor((R // 512, C)), rows=R, cols=C, stride=C),
                   ['out'], lambda t, R=R, C=C: [t['x'].double().view(R // 512, 512, C).sum(1)], 1e-5, column_sum,
                   (blocks(C, 128), R // 512), dict(CHUNK=512, ROWS=16, BLOCK=128, num_warps=4), bytes=R * C * e)
    for n, b in ((8192, 32), (8192, 64), (8000, 64), (7001, 32)):
        yield Case('transpose %s [%d,%d] %dx%d' % (s, n, n, b, b), dict(x=Tensor((n, n), s), out=Tensor((n, n), s, 9), rows=n, cols=n,
                   x_stride=n, out_stride=n), ['out'], lambda t: [t['x'].t()], 0, transpose, (blocks(n, b), blocks(n, b)),
                   dict(BM=b, BN=b, num_warps=4), bytes=2 * n * n * e, torch=lambda t: t['x'].t().contiguous())
    yield Case('embedding %s [32000,4096]x32768' % s, dict(ids=Tensor((32768,), 'i32', 5, 32000), table=Tensor((32000, 4096), s),
               out=Tensor((32768, 4096), s, 9), cols=4096), ['out'], lambda t: [t['table'][t['ids'].long()]], 0, gather, (32768,),
               dict(BLOCK=4096, num_warps=8), bytes=2 * 32768 * 4096 * e, torch=lambda t: t['table'][t['ids']])
    n = 16384
    yield Case('gemv %s [%d,%d]' % (s, n, n), dict(x=Tensor((n,), s), w=Tensor((n, n), s, 2), out=Tensor((n,)), N=n, K=n, stride=n),
               ['out'], lambda t: [t['w'].double() @ t['x'].double()], 2e-5, gemv, (n // 4,), dict(BN=4, BK=256, num_warps=4),
               bytes=n * n * e, torch=lambda t: t['w'] @ t['x'])


def product(s, M, N, K, bm, bn, bk):
    args = dict(a=Tensor((M, K), s), b=Tensor((K, N), s, 2), c=Tensor((M, N), s, 9), M=M, N=N, K=K, a_row=K, a_col=1, b_row=N,
                b_col=1, c_row=N, c_col=1)
    wide = torch.float64 if s == 'f32' else torch.float32
    meta = dict(BM=bm, BN=bn, BK=bk, GROUP=8, PRECISION='ieee', num_warps=8 if bm * bn > 16384 else 4)
    size = '%d^3' % M if M == N == K else '%dx%dx%d' % (M, N, K)
    bound = dict(bytes=(M * K + K * N + M * N) * BYTES[s]) if M <= 16 else dict(flops=2 * M * N * K)
    return Case('matmul %s %s %dx%dx%d' % (s, size, bm, bn, bk), args, ['c'], lambda t: [t['a'].to(wide) @ t['b'].to(wide)],
                near(0, s), matmul, (blocks(M, bm) * blocks(N, bn),), meta, torch=lambda t: t['a'] @ t['b'], **bound)


def products():
    for s, n in (('f16', 4096), ('bf16', 4096), ('f32', 2048)):
        for tile in ((64, 64, 32), (128, 64, 32), (32, 32, 32), (128, 128, 32)):
            yield product(s, n, n, n, *tile)
        yield product(s, n - 1, n - 1, n - 1, 64, 64, 32)
        yield product(s, n - 8, n - 8, n - 8, 64, 64, 32)
        yield product(s, 16, 8192, 8192, 16, 64, 64)
    for s in ('f16', 'bf16', 'f32'):
        for causal in (False, True):
            for bm, bn in ((64, 64), (64, 32), (32, 32), (128, 64)):
                for S in (2048, 2000):
                    if s != 'f32' and (S == 2048 or (bm, bn) == (64, 64)) or (bm, bn) == (64, 32) and S == 2048:
                        yield heads(s, causal, 32, S, 64, bm, bn)
        yield heads(s, False, 16, 2048, 128, 64, 32)


def heads(s, causal, H, S, D, bm, bn):
    B = 2
    t = lambda seed: Tensor((B, H, S, D), s, seed)
    sdpa = torch.nn.functional.scaled_dot_product_attention
    return Case('attention %s%s B2 H%d S%d D%d %dx%d' % (s, ' causal' if causal else '', H, S, D, bm, bn),
                dict(q=t(1), k=t(2), v=t(3), out=t(9), scale=D ** -0.5, head_stride=S * D, row_stride=D, length=S), ['out'],
                lambda t: [sdpa(t['q'].float(), t['k'].float(), t['v'].float(), is_causal=causal)], 3 * near(1e-3, s), attention,
                (blocks(S, bm), B * H), dict(CAUSAL=causal, BM=bm, BN=bn, D=D, num_warps=4),
                torch=lambda t: sdpa(t['q'], t['k'], t['v'], is_causal=causal), flops=4 * B * H * S * S * D // (2 if causal else 1))


def cases():
    for s in ('f32', 'f16', 'bf16'):
        yield from elementwise(s)
        yield from rows(s)
        yield from others(s)
    yield from products()


# -- Op lists ----------------------------------------------------------------------------------------------------

def op(name, kind, shapes, s, ref, result, tol=None, **kw):
    """One operation on inputs x0, x1, ... and a result y; keywords that Case does not have are the operation's."""
    bound = {k: kw.pop(k) for k in ('bytes', 'flops') if k in kw}
    ops = {'ops': [dict(type=kind, id='y', inputs=['x%d' % i for i in range(len(shapes))], input_shapes=[list(x) for x in shapes],
                        dtype=s, args=kw)]}
    args = {'x%d' % i: Tensor(tuple(x), s, i + 1) for i, x in enumerate(shapes)}
    args['y'] = Tensor(tuple(result), s, 9)
    inputs = lambda t: [t['x%d' % i] for i in range(len(shapes))]
    wide = torch.float64 if s == 'f32' and not bound.get('flops', 0) > 1 << 36 else torch.float32
    return Case('op %s' % name, args, ['y'], lambda t: [ref(*[x.to(wide) for x in inputs(t)])], tol or 3 * near(0, s), ops=ops,
                torch=lambda t: ref(*inputs(t)), **bound)


def oplists():
    F = torch.nn.functional
    for s in ('f32', 'f16', 'bf16'):
        e = BYTES[s]
        for R in (128, 256, 512, 1024) if s == 'f32' else ():  # the sizes of the prototype's table of layouts
            yield op('sum %s [%d,1024]' % (s, R), 'sum', [(R, 1024)], s, lambda x: x.sum(1), (R,), bytes=R * 4100, axis=1)
        for R, C in ((65536, 1024), (16384, 4096), (1024, 65536), (1 << 20, 64), (65536, 1000)):
            sh = '%s [%d,%d]' % (s, R, C)
            yield op('sum ' + sh, 'sum', [(R, C)], s, lambda x: x.sum(1), (R,), bytes=R * C * e + e * R, axis=1)
            if C == 64:
                continue
            yield op('softmax ' + sh, 'softmax', [(R, C)], s, lambda x: torch.softmax(x, 1), (R, C), bytes=2 * R * C * e, axis=1)
            if C > 4096:
                continue
            yield op('layer_norm ' + sh, 'layer_norm', [(R, C), (C,), (C,)], s,
                     lambda x, w, b: F.layer_norm(x, (x.shape[1],), w, b, 1e-5), (R, C), bytes=2 * R * C * e, axis=1)
            yield op('rms_norm ' + sh, 'rms_norm', [(R, C), (C,)], s, lambda x, w: F.rms_norm(x, (x.shape[1],), w, 1e-5), (R, C),
                     bytes=2 * R * C * e, axis=1)
        R, C = 65536, 1024
        yield op('sum0 %s [%d,%d]' % (s, R, C), 'sum', [(R, C)], s, lambda x: x.sum(0), (C,), bytes=R * C * e, axis=0)
        yield op('sum_all %s 2^26' % s, 'sum', [(1 << 26,)], s, lambda x: x.sum().view(1), (1,), 5e-3 if s == 'f32' else 2e-2,
                 bytes=(1 << 26) * e, axis=0)
        yield op('add %s 2^26' % s, 'add', [(1 << 26,), (1 << 26,)], s, lambda x, y: x + y, (1 << 26,), bytes=3 * (1 << 26) * e)
        yield op('gelu %s 2^26' % s, 'gelu', [(1 << 26,)], s, lambda x: F.gelu(x), (1 << 26,), bytes=2 * (1 << 26) * e)
        yield op('cumsum %s [%d,%d]' % (s, R, C), 'cumsum', [(R, C)], s, lambda x: x.cumsum(1), (R, C), bytes=2 * R * C * e, axis=1)
        yield op('transpose %s [8192,8192]' % s, 'transpose', [(8192, 8192)], s, lambda x: x.t().contiguous(), (8192, 8192),
                 bytes=2 * 8192 * 8192 * e)
        n = 2048 if s == 'f32' else 4096
        for k in (n, n - 1):
            yield op('matmul %s %d^3' % (s, k), 'matmul', [(k, k), (k, k)], s, lambda a, b: a @ b, (k, k), flops=2 * k ** 3)
        for m in (1, 4, 16):
            yield op('matmul %s %dx8192x8192' % (s, m), 'matmul', [(m, 8192), (8192, 8192)], s, lambda a, b: a @ b, (m, 8192),
                     bytes=(2 * m + 8192) * 8192 * e)
    for causal in (False, True):
        yield op('attention f16%s B2 H32 S2048 D64' % (' causal' if causal else ''), 'attention', [(2, 32, 2048, 64)] * 3, 'f16',
                 lambda q, k, v, c=causal: F.scaled_dot_product_attention(q, k, v, is_causal=c), (2, 32, 2048, 64), causal=causal,
                 flops=4 * 64 * 2048 * 2048 * 64 // (2 if causal else 1))
