/* Numbers of every width as 64-bit words: integers hold their low bits, floats their encoding. */
#ifndef INTERP_NUMBERS_H
#define INTERP_NUMBERS_H

#include <stdint.h>
#include <string.h>

/* What a format does at the top of its range. */
typedef enum ti_special {
    TI_IEEE,   /* infinities and NaNs, as in f32 */
    TI_FN,     /* no infinity; all ones are NaN */
    TI_FNUZ,   /* no infinity, no negative zero; 0x80 is NaN */
    TI_FINITE, /* numbers only */
    TI_SCALE   /* f8E8M0FNU: powers of two, 0xFF is NaN, no sign */
} ti_special;

typedef struct ti_format {
    const char *name;
    int         bits, exponent, fraction, bias;
    ti_special  special;
} ti_format;

typedef enum ti_rounding { TI_TO_EVEN, TI_TO_ZERO } ti_rounding;

/* The format that Triton IR calls so; NULL when there is none. */
const ti_format *ti_format_named(const char *name);

double   ti_decode_small(const ti_format *f, uint64_t bits);
uint64_t ti_encode_small(const ti_format *f, double x, ti_rounding how, int saturate);

/* -- Integers ----------------------------------------------------------------- */

static inline uint64_t ti_mask(unsigned bits) {
    return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1;
}

/* The low bits, as a signed number. */
static inline int64_t ti_signed(uint64_t x, unsigned bits) {
    uint64_t top = (uint64_t)1 << (bits - 1);
    x &= ti_mask(bits);
    return (int64_t)((x ^ top) - top);
}

uint64_t ti_high_unsigned(uint64_t a, uint64_t b); /* upper 64 bits of the product */
int64_t  ti_high_signed(int64_t a, int64_t b);

/* -- Floats --------------------------------------------------------------------- */

/* Every format up to f64 has its numbers among the doubles. */
static inline double ti_decode(const ti_format *f, uint64_t bits) {
    if (f->bits == 32) {
        uint32_t u = (uint32_t)bits;
        float    x;
        memcpy(&x, &u, sizeof x);
        return (double)x;
    }
    if (f->bits == 64) {
        double x;
        memcpy(&x, &bits, sizeof x);
        return x;
    }
    return ti_decode_small(f, bits);
}

/* Rounds to nearest even; what is too large becomes infinite where there is an infinity. */
static inline uint64_t ti_encode(const ti_format *f, double x) {
    if (f->bits == 32) {
        float    y = (float)x;
        uint32_t u;
        memcpy(&u, &y, sizeof u);
        return u;
    }
    if (f->bits == 64) {
        uint64_t u;
        memcpy(&u, &x, sizeof u);
        return u;
    }
    return ti_encode_small(f, x, TI_TO_EVEN, f->bits <= 8);
}

/* A random word where a launch varies what is open (interp.h), else 0. */
extern uint64_t ti_vary;
uint64_t        ti_any(void);

/* What nothing defines: `settled`. Where a launch varies, ti_opened is set, and it is all ones, anything, 0, small in runs
 * 1 to 4 (ti_opens_as), then anything, and small in each fourth. */
extern int ti_opened, ti_opens_as;
uint64_t   ti_open(uint64_t settled);

/* ti_encode() of a result that had to be rounded; where a launch varies, one of its neighbours. */
uint64_t ti_round(const ti_format *f, double x);

/* a * b + c with one rounding. */
uint64_t ti_fused(const ti_format *f, uint64_t a, uint64_t b, uint64_t c);

/* Rounds toward zero; past the largest number, the largest number. */
uint64_t ti_encode_to_zero(const ti_format *f, double x);

#endif
