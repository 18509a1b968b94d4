/* Operations that take one element of each operand: arith, math, casts, pointer arithmetic.
 *
 * A scalar function gets the operation, for its types and its detail, and the bits of up to three
 * elements. Floats are computed in double and rounded once to the result's format: for formats up to
 * f32 that gives the same as computing in the format (double has more than twice the digits plus two),
 * for f64 double is the format. */
#include "machine.h"

#include <math.h>

static unsigned bits_of(const ti_op *op) {
    return op->in_type[0]->bits;
}

static uint64_t fit(const ti_op *op, uint64_t x) {
    return x & ti_mask(op->out_type[0]->bits);
}

static int64_t s(const ti_op *op, uint64_t x) {
    return ti_signed(x, bits_of(op));
}

#define SCALAR1(name) uint64_t ti_scalar_##name(const ti_op *op, uint64_t a, uint64_t b, uint64_t c)
#define UNUSED1 (void)b, (void)c
#define UNUSED2 (void)c

/* -- Integers -------------------------------------------------------------------- */

#define INT2(name, expression)                                                           \
    uint64_t ti_scalar_##name(const ti_op *op, uint64_t a, uint64_t b, uint64_t c) {     \
        (void)c;                                                                         \
        return fit(op, (uint64_t)(expression));                                          \
    }

INT2(addi, a + b)
INT2(subi, a - b)
INT2(muli, a * b)
INT2(andi, a &b)
INT2(ori, a | b)
INT2(xori, a ^ b)
INT2(maxsi, s(op, a) > s(op, b) ? a : b)
INT2(minsi, s(op, a) < s(op, b) ? a : b)
INT2(maxui, a > b ? a : b)
INT2(minui, a < b ? a : b)
INT2(shli, b >= bits_of(op) ? ti_open(0) : a << b)
INT2(shrui, b >= bits_of(op) ? ti_open(0) : a >> b)
INT2(divui, b ? a / b : ti_open(~(uint64_t)0))
INT2(remui, b ? a % b : ti_open(a))
INT2(ceildivui, b ? a / b + (a % b != 0) : ti_open(~(uint64_t)0))

/* Toward zero, without the one overflow. */
static int64_t divide(int64_t x, int64_t y) {
    if (!y) return (int64_t)ti_open(~(uint64_t)0);
    return y == -1 ? (int64_t)(0 - (uint64_t)x) : x / y;
}

static int64_t remainder_of(int64_t x, int64_t y) {
    if (!y) return (int64_t)ti_open((uint64_t)x);
    return y == -1 ? 0 : x % y;
}

static int64_t divide_down(int64_t x, int64_t y) {
    int64_t q = divide(x, y);
    return y && remainder_of(x, y) && (x < 0) != (y < 0) ? q - 1 : q;
}

static int64_t divide_up(int64_t x, int64_t y) {
    int64_t q = divide(x, y);
    return y && remainder_of(x, y) && (x < 0) == (y < 0) ? q + 1 : q;
}

INT2(divsi, divide(s(op, a), s(op, b)))
INT2(remsi, remainder_of(s(op, a), s(op, b)))
INT2(floordivsi, divide_down(s(op, a), s(op, b)))
INT2(ceildivsi, divide_up(s(op, a), s(op, b)))

/* Right shifts of negative numbers are up to the compiler; this is arithmetic for certain. */
static int64_t shift_right(int64_t x, uint64_t by) {
    return x >= 0 ? x >> by : ~(~x >> by);
}

INT2(shrsi, b < bits_of(op) ? (uint64_t)shift_right(s(op, a), b) : ti_open((uint64_t)shift_right(s(op, a), 63)))

SCALAR1(mulhiui) {
    unsigned bits = bits_of(op);
    (void)c;
    return bits == 64 ? ti_high_unsigned(a, b) : fit(op, a * b >> bits);
}

SCALAR1(absi) {
    UNUSED1;
    return fit(op, s(op, a) < 0 ? 0 - a : a);
}

static unsigned ones(uint64_t x) {
    unsigned n = 0;
    for (; x; x &= x - 1) n++;
    return n;
}

SCALAR1(ctpop) {
    UNUSED1;
    (void)op;
    return ones(a);
}

SCALAR1(ctlz) {
    unsigned n = bits_of(op);
    UNUSED1;
    for (; a; a >>= 1) n--;
    return n;
}

SCALAR1(cttz) {
    unsigned n = 0;
    UNUSED1;
    if (!a) return bits_of(op);
    for (; !(a & 1); a >>= 1) n++;
    return n;
}

SCALAR1(ipowi) {
    int64_t  n = s(op, b);
    uint64_t r = 1, x = a;
    UNUSED2;
    if (n < 0) { /* 1 / x^n, toward zero */
        if (s(op, a) == 1) return 1;
        if (s(op, a) == -1) return fit(op, n & 1 ? ~(uint64_t)0 : 1);
        return 0;
    }
    for (; n; n >>= 1, x *= x)
        if (n & 1) r *= x;
    return fit(op, r);
}

SCALAR1(cmpi) {
    int64_t x = s(op, a), y = s(op, b);
    UNUSED2;
    switch (op->detail) {
    case 0: return a == b;
    case 1: return a != b;
    case 2: return x < y;
    case 3: return x <= y;
    case 4: return x > y;
    case 5: return x >= y;
    case 6: return a < b;
    case 7: return a <= b;
    case 8: return a > b;
    default: return a >= b;
    }
}

SCALAR1(select) {
    (void)op;
    return a ? b : c;
}

SCALAR1(extsi) {
    UNUSED1;
    return fit(op, (uint64_t)s(op, a));
}

SCALAR1(extui) {
    UNUSED1;
    (void)op;
    return a;
}

SCALAR1(trunci) {
    UNUSED1;
    return fit(op, a);
}

SCALAR1(index_cast) {
    UNUSED1;
    return fit(op, (uint64_t)s(op, a));
}

SCALAR1(index_castui) {
    UNUSED1;
    return fit(op, a);
}

SCALAR1(same_bits) {
    UNUSED1;
    (void)op;
    return a;
}

SCALAR1(addptr) {
    UNUSED2;
    return a + (uint64_t)ti_signed(b, op->in_type[1]->bits) * ti_bytes(op->in_type[0]->to);
}

/* -- Floats: arithmetic ------------------------------------------------------------- */

/* Of 8 bits of exponent, what is below the least normal number may be flushed as it is read. */
static double get(const ti_op *op, uint64_t x) {
    const ti_format *f = op->in_type[0]->format;
    const double     d = ti_decode(f, x);
    if (ti_vary && f->exponent == 8 && d != 0 && fabs(d) < 0x1p-126 && ti_any() % 2) return copysign(0, d);
    return d;
}

static uint64_t put(const ti_op *op, double x) {
    return ti_round(op->out_type[0]->format, x);
}

/* Conversions: how they round is not left open. */
static uint64_t put_converted(const ti_op *op, double x) {
    return ti_encode(op->out_type[0]->format, x);
}

#define FLOAT1(name, expression)                                                         \
    uint64_t ti_scalar_##name(const ti_op *op, uint64_t a, uint64_t b, uint64_t c) {     \
        double x = get(op, a);                                                           \
        (void)b, (void)c;                                                                \
        return put(op, (expression));                                                    \
    }
#define FLOAT2(name, expression)                                                         \
    uint64_t ti_scalar_##name(const ti_op *op, uint64_t a, uint64_t b, uint64_t c) {     \
        double x = get(op, a), y = get(op, b);                                           \
        (void)c;                                                                         \
        return put(op, (expression));                                                    \
    }

/* The other one if one is NaN. */
static double larger(double x, double y) {
    if (isnan(x)) return y;
    if (isnan(y)) return x;
    return x > y || (x == y && !signbit(x)) ? x : y;
}

static double smaller(double x, double y) {
    if (isnan(x)) return y;
    if (isnan(y)) return x;
    return x < y || (x == y && signbit(x)) ? x : y;
}

static double either_nan(double x, double y) {
    return isnan(x) ? x : y;
}

FLOAT2(addf, x + y)
FLOAT2(subf, x - y)
FLOAT2(mulf, x *y)
FLOAT2(divf, x / y)
FLOAT2(remf, fmod(x, y))
FLOAT2(maxnumf, larger(x, y))
FLOAT2(minnumf, smaller(x, y))
FLOAT2(maximumf, isnan(x) || isnan(y) ? either_nan(x, y) : larger(x, y))
FLOAT2(minimumf, isnan(x) || isnan(y) ? either_nan(x, y) : smaller(x, y))

SCALAR1(negf) {
    UNUSED1;
    return a ^ (uint64_t)1 << (bits_of(op) - 1);
}

SCALAR1(absf) {
    UNUSED1;
    return a & ~((uint64_t)1 << (bits_of(op) - 1));
}

SCALAR1(copysign) {
    uint64_t sign = (uint64_t)1 << (bits_of(op) - 1);
    UNUSED2;
    return (a & ~sign) | (b & sign);
}

SCALAR1(fma) {
    return ti_fused(op->in_type[0]->format, a, b, c);
}

SCALAR1(clampf) {
    double x = get(op, a), low = get(op, b), high = get(op, c);
    if (op->detail && isnan(x)) return a;
    return put(op, smaller(larger(x, low), high));
}

SCALAR1(cmpf) {
    double x = get(op, a), y = get(op, b);
    int    unordered = isnan(x) || isnan(y), less = x < y, equal = x == y, more = x > y;
    UNUSED2;
    switch (op->detail) {
    case 0: return 0;
    case 1: return (uint64_t)equal;
    case 2: return (uint64_t)more;
    case 3: return (uint64_t)(more || equal);
    case 4: return (uint64_t)less;
    case 5: return (uint64_t)(less || equal);
    case 6: return (uint64_t)(less || more);
    case 7: return (uint64_t)!unordered;
    case 8: return (uint64_t)(unordered || equal);
    case 9: return (uint64_t)(unordered || more);
    case 10: return (uint64_t)(unordered || more || equal);
    case 11: return (uint64_t)(unordered || less);
    case 12: return (uint64_t)(unordered || less || equal);
    case 13: return (uint64_t)(unordered || less || more);
    case 14: return (uint64_t)unordered;
    default: return 1;
    }
}

SCALAR1(isnan) {
    UNUSED1;
    return isnan(get(op, a)) != 0;
}

SCALAR1(isinf) {
    UNUSED1;
    return isinf(get(op, a)) != 0;
}

/* -- Floats: conversions --------------------------------------------------------------- */

SCALAR1(convert) {
    UNUSED1;
    return put_converted(op, get(op, a));
}

SCALAR1(fp_to_fp) {
    UNUSED1;
    if (op->detail == 0 && op->out_type[0]->bits < bits_of(op)) return ti_encode_to_zero(op->out_type[0]->format, get(op, a));
    return put_converted(op, get(op, a));
}

/* 64-bit integers do not all fit a double: round once, to odd in double, so that rounding on is right. */
static double whole(uint64_t magnitude, const ti_format *f) {
    double   x = (double)magnitude;
    uint64_t low;
    int      shift = 0;
    if (f->bits == 64 || magnitude < (uint64_t)1 << 53) return x;
    while (magnitude >> shift >= (uint64_t)1 << 53) shift++;
    low = magnitude & ti_mask((unsigned)shift);
    return ldexp((double)(magnitude >> shift | (low != 0)), shift);
}

SCALAR1(uitofp) {
    UNUSED1;
    return put_converted(op, whole(a, op->out_type[0]->format));
}

SCALAR1(sitofp) {
    int64_t x = s(op, a);
    double  magnitude = whole(x < 0 ? 0 - (uint64_t)x : (uint64_t)x, op->out_type[0]->format);
    UNUSED1;
    return put_converted(op, x < 0 ? -magnitude : magnitude);
}

SCALAR1(fptosi) {
    double   x = get(op, a);
    unsigned bits = op->out_type[0]->bits;
    double   limit = ldexp(1.0, (int)bits - 1);
    UNUSED1;
    if (ti_vary && !(fabs(x) < limit)) return fit(op, ti_open(0));
    if (isnan(x)) return 0;
    if (x >= limit) return ti_mask(bits - 1);
    if (x < -limit) return (uint64_t)1 << (bits - 1);
    return fit(op, (uint64_t)(int64_t)x);
}

SCALAR1(fptoui) {
    double   x = get(op, a);
    unsigned bits = op->out_type[0]->bits;
    UNUSED1;
    if (ti_vary && !(x > -1 && x < ldexp(1.0, (int)bits))) return fit(op, ti_open(0));
    if (isnan(x) || x <= 0) return 0;
    if (x >= ldexp(1.0, (int)bits)) return ti_mask(bits);
    return (uint64_t)x;
}

/* -- Functions ---------------------------------------------------------------------------- */

FLOAT1(exp, exp(x))
FLOAT1(exp2, exp2(x))
FLOAT1(expm1, expm1(x))
FLOAT1(log, log(x))
FLOAT1(log2, log2(x))
FLOAT1(log10, log10(x))
FLOAT1(log1p, log1p(x))
FLOAT1(sin, sin(x))
FLOAT1(cos, cos(x))
FLOAT1(tan, tan(x))
FLOAT1(asin, asin(x))
FLOAT1(acos, acos(x))
FLOAT1(atan, atan(x))
FLOAT1(sinh, sinh(x))
FLOAT1(cosh, cosh(x))
FLOAT1(tanh, tanh(x))
FLOAT1(asinh, asinh(x))
FLOAT1(acosh, acosh(x))
FLOAT1(atanh, atanh(x))
FLOAT1(sqrt, sqrt(x))
FLOAT1(rsqrt, 1 / sqrt(x))
FLOAT1(cbrt, cbrt(x))
FLOAT1(erf, erf(x))
FLOAT1(erfc, erfc(x))
FLOAT1(floor, floor(x))
FLOAT1(ceil, ceil(x))
FLOAT1(trunc, trunc(x))
FLOAT1(round, round(x))
FLOAT1(roundeven, nearbyint(x))
FLOAT2(powf, pow(x, y))
FLOAT2(atan2, atan2(x, y))

SCALAR1(fpowi) {
    UNUSED2;
    /* 64 bits of an exponent are more than a double holds */
    return put(op, (double)powl(get(op, a), (long double)ti_signed(b, op->in_type[1]->bits)));
}

/* -- Whole values ------------------------------------------------------------------------- */

/* An operand of one word beside operands of many stands for as many of it: inside a region, where
 * constants are scalars, and for the condition of a select of whole values. */
void ti_run_elementwise(ti_machine *m, ti_frame *f, const ti_op *op) {
    static const uint64_t zero[1] = {0};
    const uint64_t       *x[3] = {zero, zero, zero};
    size_t                step[3] = {0, 0, 0}, n = 1, i;
    ti_scalar_fn         *scalar = op->row->scalar;
    ti_array             *out;
    unsigned              k;
    for (k = 0; k < op->n_in && k < 3; k++) {
        ti_array *a = ti_in(f, op, k);
        x[k] = a->at;
        step[k] = a->n > 1;
        if (a->n > n) n = a->n;
    }
    out = ti_new(m, n);
    for (i = 0; i < n; i++) out->at[i] = scalar(op, x[0][i * step[0]], x[1][i * step[1]], x[2][i * step[2]]);
    ti_put(m, f, op->out[0], out);
}

/* Two results: low part or sum, and high part or carry. */
void ti_run_extended(ti_machine *m, ti_frame *f, const ti_op *op) {
    unsigned        bits = bits_of(op);
    uint64_t        mask = ti_mask(bits);
    const ti_array *a = ti_in(f, op, 0), *b = ti_in(f, op, 1);
    ti_array       *low = ti_new(m, a->n), *high = ti_new(m, a->n);
    size_t          i;
    for (i = 0; i < a->n; i++) {
        uint64_t x = a->at[i], y = b->at[i];
        if (op->name[6] == 'a') {
            low->at[i] = (x + y) & mask;
            high->at[i] = low->at[i] < x;
        } else {
            low->at[i] = (x * y) & mask;
            if (op->name[9] == 'u') high->at[i] = bits == 64 ? ti_high_unsigned(x, y) : x * y >> bits;
            else if (bits == 64) high->at[i] = (uint64_t)ti_high_signed((int64_t)x, (int64_t)y);
            else high->at[i] = (uint64_t)(ti_signed(x, bits) * ti_signed(y, bits)) >> bits & mask;
        }
    }
    ti_put(m, f, op->out[0], low);
    ti_put(m, f, op->out[1], high);
}
