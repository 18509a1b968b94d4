#!/usr/bin/python3
"""Where the coefficients of the Metal library come from.

    python3 tests/library/fit.py [NAME...]

prints the tables as they stand in the library, all or those named, with the largest error of each fit. Needs mpmath
(and gmpy2, or it takes an hour). Two kinds:

  float   weighted least squares at Chebyshev nodes, reweighted (Lawson) until the error is level; coefficients are
          rounded to float one after the other, the lowest first, and the others fitted again after each
  fixed   interpolation at Chebyshev nodes; coefficients of powers of t in [-1, 1], as integers over 2^scale
"""
import sys
from mpmath import mp, mpf, matrix, lu_solve, cos, pi
import mpmath
mp.prec = 240

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
    """Coefficients of t^0 .. t^(n-1) for f at x = (a+b)/2 + t (b-a)/2, and the largest error."""
    a, b = mpf(a), mpf(b)
    ts = nodes(mpf(-1), mpf(1), n)
    ys = [f((a + b) / 2 + t * (b - a) / 2) for t in ts]
    m = matrix(n, n)
    for i, t in enumerate(ts):
        for k in range(n): m[i, k] = t ** k
    c = list(lu_solve(m, matrix(ys)))
    error = mpf(0)
    for i in range(4 * n):
        t = mpf(2 * i + 1) / (4 * n) - 1
        error = max(error, abs(f((a + b) / 2 + t * (b - a) / 2) - sum(k * t ** j for j, k in enumerate(c))))
    return c, error

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

@fit
def erfinv_tail_f32():    # erfcinv(y) / s, in v = 1 / s, s = sqrt(-log(y (2 - y)))
    def f(v):
        w = 1 / v ** 2
        y = mpmath.exp(-w) / (1 + mpmath.sqrt(1 - mpmath.exp(-w)))
        return erfcinv(y) * v
    return fit_float(f, range(9), mpf(1) / 9.5, mpf(1) / 2.236, lambda v: 1 / f(v)) + ('p', 'v')

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

if __name__ == '__main__':
    names = [a for a in sys.argv[1:] if not a.startswith('-')] or list(fits)
    for n in names:
        r = fits[n]()
        print('%s    error 2^%.2f' % (n, mpmath.log(r[1], 2)))
        for l in horner(n, r[0], r[2], r[3], r[1]): print('    ' + l)
