#!/usr/bin/python3
"""Where the coefficients of the Metal library come from.

    python3 tests/library/fit.py [NAME...]

prints the tables as they stand in the library, all or those named, with the largest error of each fit. Needs mpmath
(and gmpy2, or it takes an hour). Two kinds:

  float   weighted least squares at Chebyshev nodes, reweighted (Lawson) until the error is level; coefficients are
          rounded to float one after the other, the lowest first, and the others fitted again after each
  fixed   interpolation at Chebyshev nodes; coefficients of powers of t in [-1, 1], as integers over 2^62

Other tables are the digits of constants.
"""
import sys
from mpmath import mp, mpf, matrix, lu_solve, cos, pi
import mpmath
mp.prec = 200

# -- Fitting -------------------------------------------------------------------------------------------

def to_float(x):
    """Nearest float, as an exact number."""
    x = mpf(x)
    if x == 0: return x
    e = mpmath.floor(mpmath.log(abs(x), 2))
    unit = mpf(2) ** (e - 23)
    return mpmath.nint(x / unit) * unit

def nodes(a, b, n):
    return [(a + b) / 2 + (b - a) / 2 * cos(pi * (2 * k + 1) / (2 * n)) for k in range(n)]

def solve(xs, ys, ws, powers):
    n = len(powers)
    m, v = matrix(n, n), matrix(n, 1)
    for x, y, w in zip(xs, ys, ws):
        row = [w * x ** p for p in powers]
        for i in range(n):
            v[i] += row[i] * w * y
            for k in range(n): m[i, k] += row[i] * row[k]
    return list(lu_solve(m, v))

def fit_float(f, powers, a, b, weight=None, rounds=12, keep=None):
    """Coefficients c of sum c_i x^powers_i near f on [a, b]; the error times weight(x) is made level."""
    a, b = mpf(a), mpf(b)
    xs = nodes(a, b, 8 * len(powers) + 16)
    ys, ws = [f(x) for x in xs], [mpf(1) if weight is None else weight(x) for x in xs]
    lawson = [mpf(1)] * len(xs)
    def best(powers, ys):
        nonlocal lawson
        for _ in range(rounds):
            c = solve(xs, ys, [w * mpmath.sqrt(l) for w, l in zip(ws, lawson)], powers)
            errors = [abs(w * (y - sum(k * x ** p for k, p in zip(c, powers)))) for x, y, w in zip(xs, ys, ws)]
            lawson = [l * e for l, e in zip(lawson, errors)]
            total = sum(lawson)
            lawson = [l / total * len(xs) + mpf(10) ** -9 for l in lawson]
        return c
    done, left, rest = [], list(powers), ys
    while left:
        c = best(left, rest) if len(left) > 1 or not done else solve(xs, rest, ws, left)
        k = to_float(c[0])
        rest = [y - k * x ** left[0] for x, y in zip(xs, rest)]
        done.append(k)
        left = left[1:]
    error = max(abs(w * r) for w, r in zip(ws, rest))
    return done, error

def fit_fixed(f, a, b, n):
    """Coefficients of t^0 .. t^(n-1), as integers over 2^62, and the largest error over [a, b], a part of [-1, 1].

    Interpolates at Chebyshev nodes. No value on the way of Horner's rule may leave 64 bits."""
    a, b = mpf(a), mpf(b)
    mid, half = (a + b) / 2, (b - a) / 2
    ys = [f(x) for x in nodes(a, b, n)]
    series = [2 * sum(y * cos(pi * k * (2 * i + 1) / (2 * n)) for i, y in enumerate(ys)) / n for k in range(n)]
    series[0] /= 2
    total, last, this = [mpf(0)] * n, [mpf(0)] * n, [mpf(1)] + [mpf(0)] * (n - 1)    # T_k of (t - mid) / half, in t
    for k in range(n):
        total = [x + series[k] * y for x, y in zip(total, this)]
        turn = [(x - mid * y) / half for x, y in zip([mpf(0)] + this[:-1], this)]
        last, this = this, turn if k == 0 else [2 * x - y for x, y in zip(turn, last)]
    c = [int(mpmath.nint(x * mpf(2) ** 62)) for x in total]
    shown = [k + 1 for k in c[:-1]] + c[-1:]    # each step of the library rounds down, by 1 on average
    error = mpf(0)
    for i in range(3 * n + 2):
        t = mid + half * (mpf(2 * i) / (3 * n + 1) - 1)
        p = mpf(0)
        for k in reversed(c):
            p = k + p * t
            assert abs(p) < 2 ** 63 - 64, 'leaves 64 bits'
        error = max(error, abs(f(t) - p / mpf(2) ** 62))
    return shown, error

# -- Printing ------------------------------------------------------------------------------------------

def float_text(k):
    """Shortest decimal that reads back as that float, with a suffix."""
    for digits in range(6, 10):
        s = mpmath.nstr(k, digits, min_fixed=-5, max_fixed=9, strip_zeros=True)
        if to_float(mpf(s)) == k: break
    return s + 'f'

def horner(name, c, p, x, error):
    """Lines that evaluate a polynomial in x into p."""
    lines = ['float %s = %s;' % (p, float_text(c[-1]))]
    lines += ['%s = fma(%s, %s, %s);' % (p, p, x, float_text(k)) for k in reversed(c[:-1])]
    return lines

def table(name, c, signed=True):
    """A table of 64-bit numbers, as the rows of >>library write one."""
    return ['constant %s %s[%d] = {#%s %s};' % ('long' if signed else 'ulong', name, len(c), 'l' if signed else 'ul',
                                                ' '.join('%x' % k for k in c))]

fits = {}
def fit(f):
    fits[f.__name__] = f
    return f

# -- Floats --------------------------------------------------------------------------------------------

@fit
def exp_f32():       # (e^r - 1 - r) / r^2
    return fit_float(lambda r: (mpmath.expm1(r) - r) / r ** 2, range(5), -0.3467, 0.3467,
                     lambda r: r ** 2 / mpmath.expm1(r)) + ('p', 'r')

@fit
def log_f32():       # (log(1 + f) - f + f^2/2) / f^3
    return fit_float(lambda f: (mpmath.log1p(f) - f + f * f / 2) / f ** 3, range(8), -0.29290, 0.41422,
                     lambda f: f ** 3 / mpmath.log1p(f)) + ('p', 'f')

@fit
def log_pair_f32():  # (log((1 + s) / (1 - s)) - 2 s) / s^3, in s^2
    return fit_float(lambda s: (2 * mpmath.atanh(s) - 2 * s) / s ** 3, range(0, 7, 2), 0.001, 0.17158,
                     lambda s: s ** 3) + ('p', 'ss')

@fit
def sinpi_f32():     # sin(pi r) / r, in r^2
    return fit_float(lambda r: mpmath.sinpi(r) / r, range(0, 9, 2), 1e-6, 0.5,
                     lambda r: r / mpmath.sinpi(r)) + ('p', 'rr')

def erfcx(x):
    if x < 50: return mpmath.exp(x * x) * mpmath.erfc(x)
    return mpmath.quad(lambda u: mpmath.exp(-u * u / (4 * x * x) - u), [0, 20, 60, 200]) / (x * mpmath.sqrt(pi))

@fit
def erfcx_f32():     # (1 + 2 x) e^(x^2) erfc(x), in t = (x - 2) / (x + 2)
    def f(t):
        x = 2 * (1 + t) / (1 - t)
        return (1 + 2 * x) * erfcx(x)
    return fit_float(f, range(12), -1, mpf(1) - mpf(2) ** -12, lambda t: 1 / f(t)) + ('p', 't')

def erfcinv(y):
    """Inverse of erfc for 0 < y <= 1, by Newton's method on the logarithm."""
    x = mpmath.sqrt(-mpmath.log(y)) if y < 0.5 else (1 - y) * mpmath.sqrt(pi) / 2
    for _ in range(60):
        e = mpmath.erfc(x)
        step = mpmath.log(e / y) * e * mpmath.sqrt(pi) / 2 * mpmath.exp(x * x)
        x += step
        if abs(step) < mpf(2) ** -100 * x: break
    return x

@fit
def erfinv_f32():    # erfinv(x) / x, in w = -log(1 - x^2) - 2.5
    def f(w):
        w = w + mpf(5) / 2
        if w < 1e-8: return mpmath.sqrt(pi) / 2 * (1 + w * pi / 12)
        x = mpmath.sqrt(-mpmath.expm1(-w))
        return erfcinv(1 - x) / x
    return fit_float(f, range(9), -2.5, 2.5, lambda w: 1 / f(w)) + ('p', 'v')

def erfinv_tail(v):
    w = 1 / v ** 2
    y = mpmath.exp(-w) / (1 + mpmath.sqrt(1 - mpmath.exp(-w)))
    return erfcinv(y) * v

@fit
def erfinv_tail_f32():    # erfcinv(y) / s, in v = 1 / s, s = sqrt(-log(y (2 - y)))
    return fit_float(erfinv_tail, range(9), mpf(1) / 9.5, mpf(1) / 2.236, lambda v: 1 / erfinv_tail(v)) + ('p', 'v')

@fit
def gamma_f32():     # gamma(1 + f)
    return fit_float(lambda f: mpmath.gamma(1 + f), range(10), 0, 1, lambda f: 1 / mpmath.gamma(1 + f)) + ('p', 'f')

def stirling(x):
    return mpmath.loggamma(x) - (x - mpf(1) / 2) * (mpmath.log(x) - 1)

@fit
def gamma_tail_f32():     # gamma(x) e^-((x - 1/2) (log x - 1)), in v = 1 / x
    return fit_float(lambda v: mpmath.exp(stirling(1 / v)), range(6), 0.01, mpf(1) / 3,
                     lambda v: mpmath.exp(-stirling(1 / v))) + ('p', 'v')

@fit
def lgamma_tail_f32():    # lgamma(x) - (x - 1/2) (log x - 1), in v = 1 / x
    return fit_float(lambda v: stirling(1 / v), range(5), 0.001, mpf(1) / 3) + ('p', 'v')

@fit
def lgamma1_f32():   # lgamma(1 + t) / t
    return fit_float(lambda t: mpmath.loggamma(1 + t) / t, range(11), -0.5, 0.5,
                     lambda t: t / mpmath.loggamma(1 + t)) + ('p', 't')

@fit
def lgamma2_f32():   # lgamma(2 + t) / t
    return fit_float(lambda t: mpmath.loggamma(2 + t) / t, range(10), -0.5, 1,
                     lambda t: t / mpmath.loggamma(2 + t)) + ('p', 't')

@fit
def i0_f32():        # I0(x), in x^2
    return fit_float(lambda x: mpmath.besseli(0, x), range(0, 21, 2), 0, 6, lambda x: 1 / mpmath.besseli(0, x)) + ('p', 'xx')

@fit
def i0_tail_f32():   # sqrt(x) e^-x I0(x), in v = 1 / x
    f = lambda v: mpmath.besseli(0, 1 / v) * mpmath.exp(-1 / v) / mpmath.sqrt(v)
    return fit_float(f, range(8), mpf(1) / 100, mpf(1) / 6, lambda v: 1 / f(v)) + ('p', 'v')

@fit
def i1_f32():        # I1(x) / x, in x^2
    return fit_float(lambda x: mpmath.besseli(1, x) / x, range(0, 21, 2), 0.001, 6, lambda x: x / mpmath.besseli(1, x)) + ('p', 'xx')

@fit
def i1_tail_f32():
    f = lambda v: mpmath.besseli(1, 1 / v) * mpmath.exp(-1 / v) / mpmath.sqrt(v)
    return fit_float(f, range(8), mpf(1) / 100, mpf(1) / 6, lambda v: 1 / f(v)) + ('p', 'v')

# -- Doubles: polynomials in fixed point ----------------------------------------------------------------

@fit
def EXP2_POLY():     # 2^(t/2)
    return fit_fixed(lambda t: mpf(2) ** (t / 2), -1, 1, 15)

@fit
def EXPM1_POLY():    # (e^t - 1) / t
    return fit_fixed(lambda t: mpmath.expm1(t) / t if t else mpf(1), -0.5, 0.5, 15)

LOG2_PARTS = 32
def log2_inverses():
    """Near 1 / m in units of 2^-9, for m in the i-th part of [1, 2), halved in the upper half of it."""
    inv = []
    for i in range(LOG2_PARTS):
        mid = (1 + (mpf(i) + 0.5) / LOG2_PARTS) / (1 if i < LOG2_PARTS // 2 else 2)
        inv.append(512 if i in (0, LOG2_PARTS - 1) else int(mpmath.nint(512 / mid)))
    return inv

@fit
def LOG2_INVERSE():
    inv = [str(k) + 'u' for k in log2_inverses()]
    lines = ['    ' + ', '.join(inv[i:i + 8]) + ',' for i in range(0, 32, 8)]
    return ['constant uint LOG2_INVERSE[32] = {'] + lines[:-1] + [lines[-1][:-1] + '};']

def log2_rounded():
    return [int(mpmath.nint(mpmath.log(mpf(512) / k, 2) * mpf(2) ** 116)) for k in log2_inverses()]

@fit
def LOG2_HIGH():
    return table('LOG2_HIGH', [k >> 64 for k in log2_rounded()])

@fit
def LOG2_LOW():
    return table('LOG2_LOW', [k & (2 ** 64 - 1) for k in log2_rounded()], False)

@fit
def LOG2_POLY():     # (log2(1 + r) - r log2(e)) / r^2, for r = t / 32
    def f(t):
        r = t / 32
        if not r: return -1 / (2 * mpmath.log(2))
        return (mpmath.log1p(r) - r) / (r * r * mpmath.log(2))
    return fit_fixed(f, -0.75, 1, 12)

@fit
def LOG1P_POLY():    # log(1 + t) / t
    return fit_fixed(lambda t: mpmath.log1p(t) / t if t else mpf(1), -0.125, 0.125, 16)

@fit
def SIN_POLY():      # sin(pi/2 y) / y, in t = 2 y^2
    def f(t):
        y = mpmath.sqrt(t / 2)
        return mpmath.sin(pi / 2 * y) / y if y else pi / 2
    return fit_fixed(f, 0, 0.5, 10)

@fit
def COS_POLY():      # cos(pi/2 y), in t = 2 y^2
    return fit_fixed(lambda t: mpmath.cos(pi / 2 * mpmath.sqrt(t / 2)), 0, 0.5, 10)

@fit
def TWO_OVER_PI():   # bits of 2 / pi after 128 zeros
    old, mp.prec = mp.prec, 1600
    bits = int(mpmath.floor(2 / +pi * mpf(2) ** (64 * 19)))
    mp.prec = old
    return table('TWO_OVER_PI', [0, 0] + [(bits >> (64 * (18 - i))) & (2 ** 64 - 1) for i in range(19)], False)

@fit
def ATAN_POLY():     # atan(s) / s, in t = s^2
    def f(t):
        s = mpmath.sqrt(t)
        return mpmath.atan(s) / s if s else mpf(1)
    return fit_fixed(f, 0, 0.36, 18)

@fit
def ERF_POLY():      # erf(x) / x, in t = x^2
    def f(t):
        x = mpmath.sqrt(t)
        return mpmath.erf(x) / x if x else 2 / mpmath.sqrt(pi)
    return fit_fixed(f, 0, 1, 18)

def scaled_erfc(x):
    """e^(x^2) erfc(x), for any x."""
    if x < 60: return mpmath.exp(x * x) * mpmath.erfc(x)
    total, term, k = mpf(0), mpf(1), 0
    while abs(term) > mpf(2) ** -190:
        total += term
        term *= -(2 * k + 1) / (2 * x * x)
        k += 1
    return total / (x * mpmath.sqrt(pi))

@fit
def ERFCX_POLY():    # (1 + 2 x) e^(x^2) erfc(x), in t = (x - 2) / (x + 2)
    def f(t):
        if t > 1 - mpf(2) ** -60: return 2 / mpmath.sqrt(pi)
        x = 2 * (1 + t) / (1 - t)
        return (1 + 2 * x) * scaled_erfc(x)
    return fit_fixed(f, -1, 1, 36)

@fit
def erf_small_f32():      # erf(x) / x - 1, in x^2
    return fit_float(lambda x: mpmath.erf(x) / x - 1, range(0, 11, 2), 1e-3, 0.93, lambda x: x / mpmath.erf(x)) + ('p', 's')

@fit
def erf_large_f32():      # log(1 - erf(t))
    return fit_float(lambda t: mpmath.log(mpmath.erfc(t)), range(8), 0.92, 3.96, lambda t: mpmath.erfc(t) / mpmath.erf(t)) + ('q', 't')

@fit
def erfinv_far_f32():     # erfcinv(y) / s, in v = 1 / s, s = sqrt(-log(y (2 - y))), for doubles
    return fit_float(erfinv_tail, range(11), mpf(1) / 27.5, mpf(1) / 2.236, lambda v: 1 / erfinv_tail(v)) + ('p', 'v')

@fit
def GAMMA_POLY():    # gamma(1 + f), for f = (1 + t) / 2
    return fit_fixed(lambda t: mpmath.gamma(1 + (1 + t) / 2), -1, 1, 25)

@fit
def STIRLING_POLY(): # gamma(x) / (sqrt(2 pi) x^(x - 1/2) e^-x), in t = 8 / x
    def f(t):
        if t < mpf(2) ** -40: return 1 + t / 96
        x = 8 / t
        return mpmath.exp(mpmath.loggamma(x) - (x - mpf(1) / 2) * mpmath.log(x) + x) / mpmath.sqrt(2 * pi)
    old, mp.prec = mp.prec, 400
    r = fit_fixed(f, 0, 1, 22)
    mp.prec = old
    return r

@fit
def LGAMMA_POLY():   # log(gamma(2 + t)) / t
    def f(t):
        if abs(t) < mpf(2) ** -60: return 1 - mpmath.euler
        return mpmath.loggamma(2 + t) / t
    return fit_fixed(f, -0.5, 1, 26)

# J_n and Y_n below 8, in t = x^2 / 32 - 1; Y_n without its logarithm (and its pole)

@fit
def J0_POLY():       # J0(x) / 4
    return fit_fixed(lambda t: mpmath.besselj(0, mpmath.sqrt(32 * (1 + t))) / 4, -1, 1, 25)

@fit
def J1_POLY():       # J1(x) / x
    def f(t):
        x = mpmath.sqrt(32 * (1 + t))
        return mpmath.besselj(1, x) / x if x else mpf(1) / 2
    return fit_fixed(f, -1, 1, 24)

@fit
def Y0_POLY():       # (Y0(x) - 2/pi log(x) J0(x)) / 4
    def f(t):
        x = mpmath.sqrt(32 * (1 + t))
        if x < 1e-12: return (mpmath.euler - mpmath.log(2)) / (2 * pi)
        return (mpmath.bessely(0, x) - 2 / pi * mpmath.log(x) * mpmath.besselj(0, x)) / 4
    return fit_fixed(f, -1, 1, 25)

@fit
def Y1_POLY():       # (Y1(x) - 2/pi (log(x) J1(x) - 1/x)) / x
    def f(t):
        x = mpmath.sqrt(32 * (1 + t))
        if x < 1e-12: return (2 * mpmath.euler - 1 - 2 * mpmath.log(2)) / (2 * pi)
        return (mpmath.bessely(1, x) - 2 / pi * (mpmath.log(x) * mpmath.besselj(1, x) - 1 / x)) / x
    return fit_fixed(f, -1, 1, 24)

# From 8 on: J_n = sqrt(2 / (pi x)) M cos(x - (2 n + 1) pi/4 + P / x), and Y_n with the sine; t = 128 / x^2 - 1

def hankel(n, t):
    """Modulus M and x times the phase, and both for x without end."""
    if t < -1 + mpf(2) ** -40: return 1 + (4 * n * n - 1) * (1 + t) / 2048, mpf(4 * n * n - 1) / 8
    x = mpmath.sqrt(128 / (1 + t))
    j, y = mpmath.besselj(n, x), mpmath.bessely(n, x)
    angle = x - (2 * n + 1) * pi / 4
    c, s = mpmath.cos(angle), mpmath.sin(angle)
    return mpmath.sqrt((j * j + y * y) * pi * x / 2), mpmath.atan2(y * c - j * s, j * c + y * s) * x

def hankel_poly(n, part):
    return fit_fixed(lambda t: hankel(n, t)[part], -1, 1, 30)

@fit
def M0_POLY(): return hankel_poly(0, 0)
@fit
def M1_POLY(): return hankel_poly(1, 0)
@fit
def P0_POLY(): return hankel_poly(0, 1)
@fit
def P1_POLY(): return hankel_poly(1, 1)

@fit
def I0_POLY():       # e^-x I0(x), in t = x / 4 - 1
    return fit_fixed(lambda t: mpmath.besseli(0, 4 + 4 * t) * mpmath.exp(-4 - 4 * t), -1, 1, 32)

@fit
def I1_POLY():       # e^-x I1(x) / x, in t = x / 4 - 1
    def f(t):
        x = 4 + 4 * t
        return mpmath.besseli(1, x) / x * mpmath.exp(-x) if x else mpf(1) / 2
    return fit_fixed(f, -1, 1, 32)

def bessel_i_tail(n, t):
    if t < -1 + mpf(2) ** -12:    # asymptotic series
        v, total, term, k = (1 + t) / 16, mpf(0), mpf(1), 0
        while abs(term) > mpf(2) ** -150 and k < 60:
            total += term
            k += 1
            term *= -mpf(4 * n * n - (2 * k - 1) ** 2) * v / (8 * k)
        return total / mpmath.sqrt(2 * pi)
    x = 16 / (1 + t)
    return mpmath.sqrt(x) * mpmath.exp(-x) * mpmath.besseli(n, x)

@fit
def I0_TAIL_POLY():  # sqrt(x) e^-x I0(x), in t = 16 / x - 1
    return fit_fixed(lambda t: bessel_i_tail(0, t), -1, 1, 32)
@fit
def I1_TAIL_POLY():
    return fit_fixed(lambda t: bessel_i_tail(1, t), -1, 1, 32)

if __name__ == '__main__':
    names = [a for a in sys.argv[1:] if not a.startswith('-')] or list(fits)
    for n in names:
        r = fits[n]()
        if isinstance(r, list): print('\n'.join(r))
        else:
            print('// %s: error 2^%.1f' % (n, mpmath.log(r[1], 2)))
            print('\n'.join(table(n, r[0]) if n.isupper() else horner(n, r[0], r[2], r[3], r[1])))
