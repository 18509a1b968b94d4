#include "numbers.h"

#include <math.h>

/* Sheet 1.5. */
static const ti_format formats[] = {
    {"f16", 16, 5, 10, 15, TI_IEEE},
    {"bf16", 16, 8, 7, 127, TI_IEEE},
    {"f32", 32, 8, 23, 127, TI_IEEE},
    {"f64", 64, 11, 52, 1023, TI_IEEE},
    {"tf32", 32, 8, 23, 127, TI_IEEE},
    {"f8E5M2", 8, 5, 2, 15, TI_IEEE},
    {"f8E4M3FN", 8, 4, 3, 7, TI_FN},
    {"f8E4M3FNUZ", 8, 4, 3, 8, TI_FNUZ},
    {"f8E5M2FNUZ", 8, 5, 2, 16, TI_FNUZ},
    {"f8E4M3B11FNUZ", 8, 4, 3, 11, TI_FNUZ},
    {"f8E4M3", 8, 4, 3, 7, TI_IEEE},
    {"f8E3M4", 8, 3, 4, 3, TI_IEEE},
    {"f8E8M0FNU", 8, 8, 0, 127, TI_SCALE},
    {"f6E2M3FN", 6, 2, 3, 1, TI_FINITE},
    {"f6E3M2FN", 6, 3, 2, 3, TI_FINITE},
    {"f4E2M1FN", 4, 2, 1, 1, TI_FINITE},
};

const ti_format *ti_format_named(const char *name) {
    size_t i;
    for (i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].name, name) == 0) return &formats[i];
    return NULL;
}

uint64_t ti_high_unsigned(uint64_t a, uint64_t b) {
    uint64_t al = a & 0xffffffffu, ah = a >> 32, bl = b & 0xffffffffu, bh = b >> 32;
    uint64_t mid = ah * bl + (al * bl >> 32), low = (mid & 0xffffffffu) + al * bh;
    return ah * bh + (mid >> 32) + (low >> 32);
}

int64_t ti_high_signed(int64_t a, int64_t b) {
    uint64_t high = ti_high_unsigned((uint64_t)a, (uint64_t)b);
    if (a < 0) high -= (uint64_t)b;
    if (b < 0) high -= (uint64_t)a;
    return (int64_t)high;
}

/* -- Formats below 32 bits ------------------------------------------------------ */

static uint64_t nan_of(const ti_format *f) {
    switch (f->special) {
    case TI_IEEE:
        if (f->bits == 8) return 0x7f;
        return (((uint64_t)1 << f->exponent) - 1) << f->fraction | (uint64_t)1 << (f->fraction - 1);
    case TI_FN: return ((uint64_t)1 << (f->bits - 1)) - 1;
    case TI_FNUZ: return (uint64_t)1 << (f->bits - 1);
    case TI_SCALE: return 0xff;
    default: return 0;
    }
}

/* The encoding of the largest finite number. */
static uint64_t largest_of(const ti_format *f) {
    uint64_t ones = ((uint64_t)1 << (f->bits - 1)) - 1;
    if (f->special == TI_IEEE) return ((((uint64_t)1 << f->exponent) - 1) << f->fraction) - 1;
    if (f->special == TI_SCALE) return 0xfe;
    return f->special == TI_FN ? ones - 1 : ones;
}

double ti_decode_small(const ti_format *f, uint64_t bits) {
    uint64_t sign = bits >> (f->bits - 1) & 1, fraction = bits & ti_mask((unsigned)f->fraction);
    int      e = (int)(bits >> f->fraction & ti_mask((unsigned)f->exponent)), top = (1 << f->exponent) - 1;
    double   x;
    if (f->special == TI_SCALE) return bits == 0xff ? NAN : ldexp(1.0, (int)bits - f->bias);
    if (f->special == TI_IEEE && e == top) x = fraction ? NAN : INFINITY;
    else if (f->special == TI_FN && (bits & ti_mask((unsigned)f->bits - 1)) == nan_of(f)) x = NAN;
    else if (f->special == TI_FNUZ && bits == nan_of(f)) return NAN;
    else if (e == 0) x = ldexp((double)fraction, 1 - f->bias - f->fraction);
    else {
        uint64_t u = (uint64_t)(e - f->bias + 1023) << 52 | fraction << (52 - f->fraction);
        memcpy(&x, &u, sizeof x);
    }
    return sign ? -x : x;
}

/* |x| in units of the last place of its own binade, as a whole number and what is cut off. */
static uint64_t round_fraction(uint64_t mantissa, int shift, ti_rounding how) {
    uint64_t kept, rest, half;
    if (shift <= 0) return mantissa << -shift;
    if (shift > 60) return 0;
    kept = mantissa >> shift;
    rest = mantissa & ti_mask((unsigned)shift);
    half = (uint64_t)1 << (shift - 1);
    if (how == TI_TO_EVEN && (rest > half || (rest == half && (kept & 1)))) kept++;
    return kept;
}

static uint64_t encode_scale(double x) {
    int e;
    if (isnan(x)) return 0xff;
    if (!(x > 0)) return 0;
    e = (int)lrint(log2(x)) + 127;
    return e < 0 ? 0 : e > 254 ? 254 : (uint64_t)e;
}

uint64_t ti_encode_small(const ti_format *f, double x, ti_rounding how, int saturate) {
    uint64_t u, sign, mantissa, code;
    int      e, least = 1 - f->bias;
    if (f->special == TI_SCALE) return encode_scale(x);
    memcpy(&u, &x, sizeof u);
    sign = (u >> 63) << (f->bits - 1);
    if (isnan(x)) return f->bits == 8 ? nan_of(f) : sign | nan_of(f); /* fp8 has one NaN, without a sign */
    if (isinf(x)) {
        if (f->special == TI_IEEE && !saturate) return sign | (largest_of(f) + 1);
        return sign | largest_of(f);
    }
    e = (int)(u >> 52 & 2047) - 1023;
    mantissa = u & ti_mask(52);
    if (e == -1023) e = -1022;
    else mantissa |= (uint64_t)1 << 52;
    if (e < least) {
        code = round_fraction(mantissa, 52 - f->fraction + (least - e), how);
    } else { /* a carry out of the fraction moves into the exponent by itself */
        code = round_fraction(mantissa, 52 - f->fraction, how);
        code += (uint64_t)(e + f->bias - 1) << f->fraction;
    }
    if (code > largest_of(f)) {
        if (saturate || how == TI_TO_ZERO || f->special == TI_FINITE) code = largest_of(f);
        else if (f->special == TI_IEEE) code = largest_of(f) + 1;
        else return nan_of(f);
    }
    if (f->special == TI_FNUZ && code == 0) return 0;
    return sign | code;
}

uint64_t ti_encode_to_zero(const ti_format *f, double x) {
    float    y;
    uint32_t u;
    if (f->bits == 64) return ti_encode(f, x);
    if (f->bits < 32) {
        if (isinf(x) && f->special == TI_IEEE) return ti_encode_small(f, x, TI_TO_EVEN, 0);
        return ti_encode_small(f, x, TI_TO_ZERO, f->bits <= 8);
    }
    y = (float)x;
    if (!isnan(x) && !isinf(x) && fabs((double)y) > fabs(x)) y = nextafterf(y, 0.0f);
    memcpy(&u, &y, sizeof u);
    return u;
}

/* -- What is open ------------------------------------------------------------------- */

uint64_t ti_vary;

uint64_t ti_any(void) { /* splitmix64 */
    uint64_t z = ti_vary += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

int ti_opened, ti_opens_as;

uint64_t ti_open(uint64_t settled) {
    if (!ti_vary) return settled;
    ti_opened = 1;
    return ti_opens_as == 3 ? 0 : ti_opens_as == 1 ? ~(uint64_t)0 : ti_opens_as ? ti_any() : ti_any() % 8;
}

/* Never the number itself: sums and differences of several such results then rarely look exact. Of a double no digit beyond its last is known: one that ends in zeros counts as exact. */
static int is_exact(const ti_format *f, double x, uint64_t r) {
    if (f->bits == 64) return !(r & 0xffff);
    return ti_decode(f, r) == x;
}

uint64_t ti_round(const ti_format *f, double x) {
    uint64_t r = ti_encode(f, x), magnitude = r & ti_mask((unsigned)f->bits - 1);
    if (ti_vary && f->exponent == 8 && magnitude < (uint64_t)1 << f->fraction) return ti_any() % 2 ? r : r ^ magnitude; /* flushed */
    if (!ti_vary || f->special != TI_IEEE || !isfinite(x) || is_exact(f, x, r)) return r;
    if (magnitude < 2 || magnitude + 2 > largest_of(f)) return r;
    switch (ti_any() % 4) {
    case 0: return r - 2;
    case 1: return r - 1;
    case 2: return r + 1;
    default: return r + 2;
    }
}

/* The sum is rounded to odd in double: then rounding again, to a narrower format, errs nowhere.
 * The product of two numbers of at most 24 bits is exact. */
uint64_t ti_fused(const ti_format *f, uint64_t a, uint64_t b, uint64_t c) {
    double   x = ti_decode(f, a), y = ti_decode(f, b), z = ti_decode(f, c), p, s, t, lost;
    uint64_t u;
    if (f->bits == 64) return ti_round(f, fma(x, y, z));
    p = x * y;
    s = p + z;
    if (isnan(s) || isinf(s)) return ti_encode(f, s);
    t = s - p;
    lost = (p - (s - t)) + (z - t);
    memcpy(&u, &s, sizeof u);
    if (lost != 0 && !(u & 1)) {
        u += (lost > 0) == (s > 0) ? 1 : (uint64_t)-1;
        memcpy(&s, &u, sizeof s);
    }
    return ti_round(f, s);
}
