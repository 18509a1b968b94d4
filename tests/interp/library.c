/* tt.extern_elementwise: the functions of libdevice by their names, computed in double.
 *
 * `__nv_NAMEf` is NAME on f32, `__nv_NAME` on f64; `__ocml_NAME_f32` and `_f64` likewise. Types come
 * from the operation, so one row serves both. */
#include "machine.h"

#include <ctype.h>
#include <fenv.h>
#include <math.h>
#include <stdlib.h>

#define PI      3.14159265358979323846
#define SQRT2   1.41421356237309504880
#define SQRT_PI 1.77245385090551602730

typedef uint64_t bits_fn(const ti_op *op, const uint64_t *x);

typedef struct symbol {
    const char *name;
    double (*f1)(double);
    double (*f2)(double, double);
    double (*f3)(double, double, double);
    double (*f4)(double, double, double, double);
    bits_fn *bits;
} symbol;

/* -- Functions that libm lacks --------------------------------------------------------- */

static double my_rsqrt(double x) { return 1 / sqrt(x); }
static double my_rcbrt(double x) { return 1 / cbrt(x); }
static double my_exp10(double x) { return pow(10, x); }
static double my_rcp(double x) { return 1 / x; }
static double my_saturate(double x) { return x > 0 ? x < 1 ? x : 1 : 0; }
static double my_divide(double x, double y) { return x / y; }
static double my_rhypot(double x, double y) { return 1 / hypot(x, y); }
static double my_norm3(double x, double y, double z) { return hypot(hypot(x, y), z); }
static double my_rnorm3(double x, double y, double z) { return 1 / my_norm3(x, y, z); }
static double my_norm4(double x, double y, double z, double w) { return hypot(my_norm3(x, y, z), w); }
static double my_rnorm4(double x, double y, double z, double w) { return 1 / my_norm4(x, y, z, w); }

static double my_sinpi(double x) {
    double r = fmod(x, 2);
    if (r == floor(r)) return copysign(0, x);
    if (fabs(r) == 0.5 || fabs(r) == 1.5) return (r == 0.5 || r == -1.5) ? 1 : -1;
    return sin(PI * r);
}

static double my_cospi(double x) {
    double r = fabs(fmod(x, 2));
    if (r == 0.5 || r == 1.5) return 0;
    return cos(PI * r);
}

/* Newton from a start that the tail's size gives; erfc keeps its digits where erf has lost them. */
static double my_erfcinv(double y) {
    double x;
    int    i;
    if (isnan(y) || y < 0 || y > 2) return NAN;
    if (y == 0) return INFINITY;
    if (y == 2) return -INFINITY;
    if (y > 1) return -my_erfcinv(2 - y);
    x = y > 0.5 ? (1 - y) * SQRT_PI / 2 : sqrt(fmax(-log(y * SQRT_PI * sqrt(fmax(-log(y), 0.1))), 0.01));
    for (i = 0; i < 60; i++) {
        double error = erfc(x) - y, slope = -2 / SQRT_PI * exp(-x * x), step = error / slope;
        step /= 1 + x * step; /* Halley */
        x -= step;
        if (fabs(step) <= 1e-16 * fabs(x)) break;
    }
    return x;
}

static double my_erfinv(double y) {
    double x, error;
    int    i;
    if (fabs(y) > 0.5) return y > 0 ? my_erfcinv(1 - y) : -my_erfcinv(1 + y);
    x = y * SQRT_PI / 2;
    for (i = 0; i < 60; i++) {
        error = (erf(x) - y) / (2 / SQRT_PI * exp(-x * x));
        error /= 1 + x * error;
        x -= error;
        if (fabs(error) <= 1e-16 * fabs(x)) break;
    }
    return x;
}

static double my_normcdf(double x) { return erfc(-x / SQRT2) / 2; }
static double my_normcdfinv(double p) { return -SQRT2 * my_erfcinv(2 * p); }

static double my_erfcx(double x) {
    double q;
    if (x < 25) return exp(x * x) * erfc(x);
    q = 1 / (x * x);
    return (1 - q / 2 * (1 - 3 * q / 2 * (1 - 5 * q / 2))) / (x * SQRT_PI);
}

/* Modified Bessel functions by their series: all terms are positive, so nothing cancels. */
static double bessel_i(int order, double x) {
    double q = x * x / 4, term = order ? x / 2 : 1, sum = term;
    int    k;
    for (k = 1; k < 5000 && fabs(term) > 1e-18 * fabs(sum); k++) sum += term *= q / ((double)k * (k + order));
    return sum;
}

static double my_i0(double x) { return bessel_i(0, x); }
static double my_i1(double x) { return bessel_i(1, x); }

/* -- Functions with integers ------------------------------------------------------------- */

static double fl(const ti_op *op, const uint64_t *x, unsigned i) {
    return ti_decode(op->in_type[i]->format, x[i]);
}

static int64_t in(const ti_op *op, const uint64_t *x, unsigned i) {
    return ti_signed(x[i], op->in_type[i]->bits);
}

static uint64_t out_float(const ti_op *op, double x) {
    if (ti_vary && isfinite(x)) x += ((double)(ti_any() % 3) - 1) * (1 + fabs(x)) * 0x1p-21; /* approximations, near their zeros too */
    return ti_round(op->out_type[0]->format, x);
}

static uint64_t out_int(const ti_op *op, int64_t x) {
    return (uint64_t)x & ti_mask(op->out_type[0]->bits);
}

/* Saturates; NaN gives 0. */
static uint64_t out_whole(const ti_op *op, double x, int is_signed) {
    unsigned bits = op->out_type[0]->bits;
    double   top = ldexp(1, (int)bits - (is_signed ? 1 : 0)), bottom = is_signed ? -top : 0;
    if (isnan(x)) return is_signed && bits == 64 ? (uint64_t)1 << 63 : 0;
    if (x >= top) return ti_mask(is_signed ? bits - 1 : bits);
    if (x < bottom) return is_signed ? (uint64_t)1 << (bits - 1) : 0;
    return is_signed ? out_int(op, (int64_t)x) : (uint64_t)x;
}

#define BITS(name, expression)                                        \
    static uint64_t name(const ti_op *op, const uint64_t *x) {        \
        (void)op;                                                     \
        return (expression);                                          \
    }

BITS(b_isnan, isnan(fl(op, x, 0)) != 0)
BITS(b_isinf, isinf(fl(op, x, 0)) != 0)
BITS(b_finite, isfinite(fl(op, x, 0)) != 0)
BITS(b_signbit, x[0] >> (op->in_type[0]->bits - 1) & 1)
BITS(b_ldexp, out_float(op, ldexp(fl(op, x, 0), (int)in(op, x, 1))))
BITS(b_powi, out_float(op, pow(fl(op, x, 0), (double)in(op, x, 1))))
BITS(b_jn, out_float(op, jn((int)in(op, x, 0), fl(op, x, 1))))
BITS(b_yn, out_float(op, yn((int)in(op, x, 0), fl(op, x, 1))))
BITS(b_llrint, out_whole(op, nearbyint(fl(op, x, 0)), 1))
BITS(b_llround, out_whole(op, round(fl(op, x, 0)), 1))
BITS(b_abs, out_int(op, llabs(in(op, x, 0))))
BITS(b_copy, x[0])

/* Of a shorter float the bits that it has as one of 32. */
static uint64_t b_float_bits(const ti_op *op, const uint64_t *x) {
    const float f = (float)fl(op, x, 0);
    uint32_t    bits;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

BITS(b_min, in(op, x, 0) < in(op, x, 1) ? x[0] : x[1])
BITS(b_max, in(op, x, 0) > in(op, x, 1) ? x[0] : x[1])
BITS(b_umin, x[0] < x[1] ? x[0] : x[1])
BITS(b_umax, x[0] > x[1] ? x[0] : x[1])
BITS(b_mulhi, out_int(op, in(op, x, 0) * in(op, x, 1) >> 32))
BITS(b_umulhi, x[0] * x[1] >> 32)
BITS(b_mul64hi, (uint64_t)ti_high_signed((int64_t)x[0], (int64_t)x[1]))
BITS(b_umul64hi, ti_high_unsigned(x[0], x[1]))
BITS(b_mul24, out_int(op, ti_signed(x[0], 24) * ti_signed(x[1], 24)))
BITS(b_umul24, (x[0] & 0xffffff) * (x[1] & 0xffffff) & 0xffffffffu)
BITS(b_sad, out_int(op, llabs(in(op, x, 0) - in(op, x, 1)) + in(op, x, 2)))
BITS(b_usad, ((x[0] > x[1] ? x[0] - x[1] : x[1] - x[0]) + x[2]) & 0xffffffffu)
BITS(b_hadd, out_int(op, (in(op, x, 0) + in(op, x, 1)) >> 1))
BITS(b_rhadd, out_int(op, (in(op, x, 0) + in(op, x, 1) + 1) >> 1))
BITS(b_uhadd, (x[0] + x[1]) >> 1)
BITS(b_urhadd, (x[0] + x[1] + 1) >> 1)
BITS(b_loint, x[0] & 0xffffffffu)
BITS(b_hiint, x[0] >> 32)
BITS(b_hiloint, x[0] << 32 | (x[1] & 0xffffffffu))

static uint64_t b_ilogb(const ti_op *op, const uint64_t *x) {
    double y = fl(op, x, 0);
    if (y == 0 || isnan(y)) return 0x80000000u;
    return isinf(y) ? 0x7fffffffu : out_int(op, ilogb(y));
}

static uint64_t b_nextafter(const ti_op *op, const uint64_t *x) {
    if (op->in_type[0]->bits == 32) return out_float(op, (double)nextafterf((float)fl(op, x, 0), (float)fl(op, x, 1)));
    return out_float(op, nextafter(fl(op, x, 0), fl(op, x, 1)));
}

static uint64_t b_brev(const ti_op *op, const uint64_t *x) {
    uint64_t r = 0;
    unsigned i, bits = op->in_type[0]->bits;
    for (i = 0; i < bits; i++) r |= (x[0] >> i & 1) << (bits - 1 - i);
    return r;
}

static uint64_t b_clz(const ti_op *op, const uint64_t *x) { return ti_scalar_ctlz(op, x[0], 0, 0); }
static uint64_t b_popc(const ti_op *op, const uint64_t *x) { return ti_scalar_ctpop(op, x[0], 0, 0); }
static uint64_t b_ffs(const ti_op *op, const uint64_t *x) { return x[0] ? ti_scalar_cttz(op, x[0], 0, 0) + 1 : 0; }

static uint64_t b_byte_perm(const ti_op *op, const uint64_t *x) {
    uint64_t all = x[1] << 32 | x[0], r = 0;
    unsigned i;
    (void)op;
    for (i = 0; i < 4; i++) {
        unsigned pick = (unsigned)(x[2] >> (4 * i)) & 15;
        uint64_t byte = all >> (8 * (pick & 7)) & 255;
        r |= (pick & 8 ? (byte & 0x80 ? 255 : 0) : byte) << (8 * i);
    }
    return r;
}

/* -- The table ------------------------------------------------------------------------------ */

#define F1(name, fn) {name, fn, NULL, NULL, NULL, NULL}
#define F2(name, fn) {name, NULL, fn, NULL, NULL, NULL}
#define F3(name, fn) {name, NULL, NULL, fn, NULL, NULL}
#define F4(name, fn) {name, NULL, NULL, NULL, fn, NULL}
#define FB(name, fn) {name, NULL, NULL, NULL, NULL, fn}

static const symbol symbols[] = {
    F1("acos", acos), F1("acosh", acosh), F1("asin", asin), F1("asinh", asinh), F1("atan", atan), F1("atanh", atanh),
    F1("cbrt", cbrt), F1("ceil", ceil), F1("cos", cos), F1("cosh", cosh), F1("cospi", my_cospi), F1("erf", erf),
    F1("erfc", erfc), F1("erfcinv", my_erfcinv), F1("erfcx", my_erfcx), F1("erfinv", my_erfinv), F1("exp", exp),
    F1("exp10", my_exp10), F1("exp2", exp2), F1("expm1", expm1), F1("fabs", fabs), F1("floor", floor), F1("j0", j0),
    F1("j1", j1), F1("y0", y0), F1("y1", y1), F1("lgamma", lgamma), F1("log", log), F1("log10", log10),
    F1("log1p", log1p), F1("log2", log2), F1("logb", logb), F1("nearbyint", nearbyint), F1("normcdf", my_normcdf),
    F1("normcdfinv", my_normcdfinv), F1("rcbrt", my_rcbrt), F1("rint", nearbyint), F1("round", round),
    F1("rsqrt", my_rsqrt), F1("sin", sin), F1("sinh", sinh), F1("sinpi", my_sinpi), F1("sqrt", sqrt), F1("tan", tan),
    F1("tanh", tanh), F1("tgamma", tgamma), F1("trunc", trunc), F1("cyl_bessel_i0", my_i0), F1("cyl_bessel_i1", my_i1),
    F1("saturate", my_saturate), F1("rcp", my_rcp),
    F1("fast_sin", sin), F1("fast_cos", cos), F1("fast_tan", tan), F1("fast_exp", exp), F1("fast_exp10", my_exp10),
    F1("fast_log", log), F1("fast_log2", log2), F1("fast_log10", log10), F2("fast_pow", pow),
    F2("fast_fdivide", my_divide),
    F2("atan2", atan2), F2("copysign", copysign), F2("fdim", fdim), F2("fmod", fmod), F2("fmin", fmin),
    F2("fmax", fmax), F2("hypot", hypot), F2("rhypot", my_rhypot), F2("pow", pow), F2("remainder", remainder),
    F3("fma", fma), F3("norm3d", my_norm3), F3("rnorm3d", my_rnorm3), F4("norm4d", my_norm4), F4("rnorm4d", my_rnorm4),
    FB("isnan", b_isnan), FB("isnand", b_isnan), FB("isinf", b_isinf), FB("isinfd", b_isinf), FB("finite", b_finite),
    FB("isfinited", b_finite), FB("signbit", b_signbit), FB("signbitd", b_signbit), FB("ilogb", b_ilogb),
    FB("ldexp", b_ldexp), FB("scalbn", b_ldexp), FB("powi", b_powi), FB("jn", b_jn), FB("yn", b_yn),
    FB("llrint", b_llrint), FB("llround", b_llround), FB("nextafter", b_nextafter),
    FB("abs", b_abs), FB("llabs", b_abs), FB("min", b_min), FB("max", b_max), FB("umin", b_umin), FB("umax", b_umax),
    FB("llmin", b_min), FB("llmax", b_max), FB("ullmin", b_umin), FB("ullmax", b_umax), FB("brev", b_brev),
    FB("brevll", b_brev), FB("clz", b_clz), FB("clzll", b_clz), FB("popc", b_popc), FB("popcll", b_popc),
    FB("ffs", b_ffs), FB("ffsll", b_ffs), FB("mulhi", b_mulhi), FB("umulhi", b_umulhi), FB("mul64hi", b_mul64hi),
    FB("umul64hi", b_umul64hi), FB("mul24", b_mul24), FB("umul24", b_umul24), FB("sad", b_sad), FB("usad", b_usad),
    FB("hadd", b_hadd), FB("rhadd", b_rhadd), FB("uhadd", b_uhadd), FB("urhadd", b_urhadd),
    FB("byte_perm", b_byte_perm),
    FB("float_as_int", b_float_bits), FB("int_as_float", b_copy), FB("float_as_uint", b_float_bits), FB("uint_as_float", b_copy),
    FB("double_as_longlong", b_copy), FB("longlong_as_double", b_copy), FB("double2loint", b_loint),
    FB("double2hiint", b_hiint), FB("hiloint2double", b_hiloint),
};

static const symbol *find(const char *name, size_t len) {
    size_t i;
    for (i = 0; i < sizeof symbols / sizeof *symbols; i++)
        if (strlen(symbols[i].name) == len && memcmp(symbols[i].name, name, len) == 0) return &symbols[i];
    return NULL;
}

/* __nv_NAME, __nv_NAMEf, __ocml_NAME_f32: NAME. */
static const symbol *symbol_named(const char *text) {
    const symbol *s;
    size_t        len;
    if (strncmp(text, "__nv_", 5) == 0) text += 5;
    else if (strncmp(text, "__ocml_", 7) == 0) text += 7;
    len = strlen(text);
    if (len > 4 && (strcmp(text + len - 4, "_f32") == 0 || strcmp(text + len - 4, "_f64") == 0)) len -= 4;
    s = find(text, len);
    return s || len < 2 || text[len - 1] != 'f' ? s : find(text, len - 1);
}

/* -- Directed rounding: fadd_rz, double2int_ru, ... ------------------------------------------- */

static int rounding_of(const char *name) {
    const char *mode = strrchr(name, '_');
    if (!mode || strlen(mode) != 3 || mode[1] != 'r') return -1;
    switch (mode[2]) {
    case 'n': return FE_TONEAREST;
    case 'z': return FE_TOWARDZERO;
    case 'u': return FE_UPWARD;
    case 'd': return FE_DOWNWARD;
    default: return -1;
    }
}

/* Volatile, so that the operation happens between the two settings of the mode. */
static float directed_float(const char *op, float x, float y, float z) {
    volatile float a = x, b = y, c = z, r = 0;
    if (strncmp(op, "add", 3) == 0) r = a + b;
    else if (strncmp(op, "sub", 3) == 0) r = a - b;
    else if (strncmp(op, "mul", 3) == 0) r = a * b;
    else if (strncmp(op, "div", 3) == 0) r = a / b;
    else if (strncmp(op, "rcp", 3) == 0) r = 1.0f / a;
    else if (strncmp(op, "sqrt", 4) == 0) r = sqrtf(a);
    else if (strncmp(op, "rsqrt", 5) == 0) r = (float)(1 / sqrt((double)a));
    else if (strncmp(op, "ma", 2) == 0) r = fmaf(a, b, c);
    return r;
}

static double directed_double(const char *op, double x, double y, double z) {
    volatile double a = x, b = y, c = z, r = 0;
    if (strncmp(op, "add", 3) == 0) r = a + b;
    else if (strncmp(op, "sub", 3) == 0) r = a - b;
    else if (strncmp(op, "mul", 3) == 0) r = a * b;
    else if (strncmp(op, "div", 3) == 0) r = a / b;
    else if (strncmp(op, "rcp", 3) == 0) r = 1.0 / a;
    else if (strncmp(op, "sqrt", 4) == 0) r = sqrt(a);
    else if (strncmp(op, "ma", 2) == 0) r = fma(a, b, c);
    return r;
}

static uint64_t directed_arithmetic(const ti_op *op, const char *name, const uint64_t *x) {
    double v[3] = {0, 0, 0};
    float  r;
    unsigned i;
    for (i = 0; i < op->n_in && i < 3; i++) v[i] = fl(op, x, i);
    if (op->out_type[0]->bits == 64) return out_float(op, directed_double(name + 1, v[0], v[1], v[2]));
    r = directed_float(name + 1, (float)v[0], (float)v[1], (float)v[2]);
    return out_float(op, (double)r);
}

static double directed_whole(double x, int mode) {
    return mode == FE_UPWARD ? ceil(x) : mode == FE_DOWNWARD ? floor(x) : mode == FE_TOWARDZERO ? trunc(x) : nearbyint(x);
}

/* From and to: float, double, int, uint, ll, ull. */
static uint64_t directed_conversion(const ti_op *op, const char *name, const uint64_t *x) {
    int from_unsigned = name[0] == 'u';
    if (op->in_type[0]->kind == TI_FLOAT && op->out_type[0]->kind == TI_FLOAT) {
        volatile double d = fl(op, x, 0);
        volatile float  r = (float)d;
        return out_float(op, (double)r);
    }
    if (op->out_type[0]->bits == 32) {
        volatile uint64_t u = x[0];
        volatile int64_t  s = in(op, x, 0);
        volatile float    r = from_unsigned ? (float)u : (float)s;
        return out_float(op, (double)r);
    } else {
        volatile uint64_t u = x[0];
        volatile int64_t  s = in(op, x, 0);
        volatile double   r = from_unsigned ? (double)u : (double)s;
        return out_float(op, r);
    }
}

/* 1 when the name asks for a rounding and is known. */
static int directed(const ti_op *op, const char *name, const uint64_t *x, uint64_t *r) {
    const char *to = strchr(name, '2');
    int         mode = rounding_of(name);
    if (mode < 0) return 0;
    if (!to && name[0] != 'f' && name[0] != 'd') return 0;
    if (to && op->in_type[0]->kind == TI_FLOAT && op->out_type[0]->kind == TI_INT) {
        *r = out_whole(op, directed_whole(fl(op, x, 0), mode), to[1] != 'u');
        return 1;
    }
    fesetround(mode);
    *r = to ? directed_conversion(op, name, x) : directed_arithmetic(op, name, x);
    fesetround(FE_TONEAREST);
    return 1;
}

/* -- The operation -------------------------------------------------------------------------------- */

static uint64_t apply(const symbol *s, const ti_op *op, const uint64_t *x) {
    if (s->bits) return s->bits(op, x);
    if (s->f1) return out_float(op, s->f1(fl(op, x, 0)));
    if (s->f2) return out_float(op, s->f2(fl(op, x, 0), fl(op, x, 1)));
    if (s->f3 == fma) return ti_fused(op->out_type[0]->format, x[0], x[1], x[2]);
    if (s->f3) return out_float(op, s->f3(fl(op, x, 0), fl(op, x, 1), fl(op, x, 2)));
    return out_float(op, s->f4(fl(op, x, 0), fl(op, x, 1), fl(op, x, 2), fl(op, x, 3)));
}

static unsigned operands_of(const symbol *s) {
    return s->f4 ? 4 : s->f3 ? 3 : s->f2 ? 2 : 1;
}

void ti_run_extern(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_attribute *name = ti_attribute_of(op, "symbol");
    const char         *text = name ? name->text : "", *plain = strncmp(text, "__nv_", 5) == 0 ? text + 5 : text;
    const symbol       *s = symbol_named(text);
    ti_array           *out = ti_new(m, op->out_type[0]->count);
    uint64_t            x[4] = {0, 0, 0, 0};
    size_t              i;
    unsigned            k;
    if (op->n_in > 4 || (s && op->n_in < operands_of(s))) ti_stop(m, op, TI_UNSUPPORTED, "%s with %u operands", text, op->n_in);
    for (i = 0; i < out->n; i++) {
        for (k = 0; k < op->n_in; k++) x[k] = ti_in(f, op, k)->at[ti_in(f, op, k)->n > 1 ? i : 0];
        if (s) out->at[i] = apply(s, op, x);
        else if (!directed(op, plain, x, &out->at[i])) ti_stop(m, op, TI_UNSUPPORTED, "the function %s is not known", text);
    }
    ti_put(m, f, op->out[0], out);
}
