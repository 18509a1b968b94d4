import triton
import triton.language as tl


# Compiled for n, m and unread as multiples of 16.
@triton.jit
def specialized(x, y, out, n, m, unread, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < n
    v = tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask)
    if (m + 16) % 16 == 0:
        v *= 2
    tl.store(out + i, v, mask=mask)
