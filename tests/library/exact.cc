/* Functions that must be right to the last bit, against the arithmetic of this machine. */
#include "harness.h"

#include <algorithm>
#include <cfenv>
#include <climits>
#include <cmath>
#include <limits>

namespace library {

namespace {

typedef std::function<uint64_t(const uint64_t *)> reference;

struct exact_case {
    std::string name;
    reference   want;
    uint64_t    quick, thorough; /* random inputs */
    bool        flushes = false; /* works in float, where denormals are zero */
};

std::vector<exact_case> cases;

/* -- Rounding ---------------------------------------------------------------------------------------- */

const struct direction {
    const char *suffix;
    int         mode;
} directions[] = {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rd", FE_DOWNWARD}, {"ru", FE_UPWARD}};

/* Volatile operands and results keep the compiler from moving the arithmetic out of the mode. */
template <typename F> auto rounded(int mode, F f) -> decltype(f()) {
    std::fesetround(mode);
    volatile decltype(f()) r = f();
    std::fesetround(FE_TONEAREST);
    return r;
}

/* x in a format of `mant` bits of fraction and exponents from `low`; beyond `max` as IEEE 754 has it. */
double round_to(double x, int mant, int low, double max, int mode) {
    if (x == 0.0 || !std::isfinite(x)) return x;
    const int    unit = std::max(std::ilogb(x), low) - mant;
    const double r = rounded(mode, [&] {
        volatile double scaled = std::ldexp(x, -unit);
        return std::nearbyint(scaled);
    });
    const double y = std::copysign(std::ldexp(r, unit), x);
    if (std::fabs(y) <= max) return y;
    const bool largest = mode == FE_TOWARDZERO || mode == (x < 0 ? FE_UPWARD : FE_DOWNWARD);
    return std::copysign(largest ? max : HUGE_VAL, x);
}

uint64_t float_bits(double exact) { return bits(static_cast<float>(exact)); }

/* Bits of a half or bfloat that holds x. */
uint64_t short_bits(double x, unsigned mant, unsigned exp_bits) {
    const uint64_t inf = ((uint64_t(1) << exp_bits) - 1) << mant, sign = uint64_t(std::signbit(x)) << (mant + exp_bits);
    const int      low = 2 - (1 << (exp_bits - 1));
    if (std::isnan(x)) return inf | 1;
    if (std::isinf(x)) return sign | inf;
    if (x == 0.0) return sign;
    const int e = std::max(std::ilogb(x), low);
    return sign | (static_cast<uint64_t>(std::ldexp(std::fabs(x), static_cast<int>(mant) - e)) +
                   (static_cast<uint64_t>(e - low) << mant));
}

/* -- Double arithmetic ------------------------------------------------------------------------------- */

template <typename F> void unary(const char *name, F f, uint64_t quick = 300000, uint64_t thorough = 10000000) {
    cases.push_back({name, [f](const uint64_t *x) { return bits(f(f64(x[0]))); }, quick, thorough});
}
template <typename F> void binary(const char *name, F f, uint64_t quick = 300000, uint64_t thorough = 10000000) {
    cases.push_back({name, [f](const uint64_t *x) { return bits(f(f64(x[0]), f64(x[1]))); }, quick, thorough});
}
template <typename F> void predicate(const char *name, F f) {
    cases.push_back({name, [f](const uint64_t *x) { return uint64_t(f(f64(x[0]), f64(x[1]))); }, 300000, 20000000});
}

const double nan_value = std::numeric_limits<double>::quiet_NaN();

double larger(double a, double b) { return a < b || (a == b && std::signbit(a)) ? b : a; }
double smaller(double a, double b) { return a < b || (a == b && std::signbit(a)) ? a : b; }
double rint_of(double x, int mode) {
    return std::copysign(rounded(mode, [&] { volatile double v = x; return std::nearbyint(v); }), x);
}

void double_arithmetic() {
    const uint64_t many = 1500000, most = 60000000;
    binary("f64_add", [](double a, double b) { return a + b; }, many, most);
    binary("f64_sub", [](double a, double b) { return a - b; }, many, most);
    binary("f64_mul", [](double a, double b) { return a * b; }, many, most);
    binary("f64_div", [](double a, double b) { return a / b; }, many, most);
    unary("f64_sqrt", [](double a) { return std::sqrt(a); }, many, most);
    cases.push_back({"f64_fma", [](const uint64_t *x) { return bits(std::fma(f64(x[0]), f64(x[1]), f64(x[2]))); }, many, most});
    for (const direction &d : directions) {
        const int         m = d.mode;
        const std::string end = std::string("_") + d.suffix;
        unary(("f64_rcp" + end).c_str(), [m](double a) { return rounded(m, [&] { volatile double x = a; return 1.0 / x; }); });
        if (m == FE_TONEAREST) continue;
        binary(("f64_add" + end).c_str(), [m](double a, double b) { return rounded(m, [&] { volatile double x = a; return x + b; }); });
        binary(("f64_sub" + end).c_str(), [m](double a, double b) { return rounded(m, [&] { volatile double x = a; return x - b; }); });
        binary(("f64_mul" + end).c_str(), [m](double a, double b) { return rounded(m, [&] { volatile double x = a; return x * b; }); });
        binary(("f64_div" + end).c_str(), [m](double a, double b) { return rounded(m, [&] { volatile double x = a; return x / b; }); });
        unary(("f64_sqrt" + end).c_str(), [m](double a) { return rounded(m, [&] { volatile double x = a; return std::sqrt(x); }); });
        cases.push_back({"f64_fma" + end, [m](const uint64_t *x) {
            return bits(rounded(m, [&] { volatile double a = f64(x[0]); return std::fma(a, f64(x[1]), f64(x[2])); }));
        }, 300000, 10000000});
    }
    binary("f64_fmod", [](double a, double b) { return std::fmod(a, b); }, 200000, 5000000);
    binary("f64_remainder", [](double a, double b) { /* a zero has the sign of a; not in every C library */
        const double r = std::remainder(a, b);
        return r == 0.0 ? std::copysign(r, a) : r;
    }, 200000, 5000000);
    binary("f64_fdim", [](double a, double b) { return std::fdim(a, b); });
    binary("f64_nextafter", [](double a, double b) { return std::nextafter(a, b); });
    binary("f64_copysign", [](double a, double b) { return std::copysign(a, b); });
    unary("f64_neg", [](double a) { return -a; });
    unary("f64_abs", [](double a) { return std::fabs(a); });
    unary("f64_floor", [](double a) { return std::floor(a); });
    unary("f64_ceil", [](double a) { return std::ceil(a); });
    unary("f64_trunc", [](double a) { return std::trunc(a); });
    unary("f64_round", [](double a) { return std::round(a); });
    unary("f64_rint", [](double a) { return rint_of(a, FE_TONEAREST); });
    unary("f64_logb", [](double a) { return std::logb(a); });
    binary("f64_maxnum", [](double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : larger(a, b); });
    binary("f64_minnum", [](double a, double b) { return std::isnan(a) ? b : std::isnan(b) ? a : smaller(a, b); });
    binary("f64_maximum", [](double a, double b) { return std::isnan(a) || std::isnan(b) ? nan_value : larger(a, b); });
    binary("f64_minimum", [](double a, double b) { return std::isnan(a) || std::isnan(b) ? nan_value : smaller(a, b); });
    predicate("f64_eq", [](double a, double b) { return a == b; });
    predicate("f64_lt", [](double a, double b) { return a < b; });
    predicate("f64_le", [](double a, double b) { return a <= b; });
    predicate("f64_unordered", [](double a, double b) { return std::isunordered(a, b); });
    cases.push_back({"f64_isnan", [](const uint64_t *x) { return uint64_t(std::isnan(f64(x[0]))); }, 100000, 1000000});
    cases.push_back({"f64_isinf", [](const uint64_t *x) { return uint64_t(std::isinf(f64(x[0]))); }, 100000, 1000000});
    cases.push_back({"f64_ldexp", [](const uint64_t *x) {
        return bits(std::ldexp(f64(x[0]), static_cast<int>(x[1])));
    }, 300000, 10000000});
    cases.push_back({"f64_ilogb", [](const uint64_t *x) {
        const double a = f64(x[0]);
        return uint64_t(static_cast<uint32_t>(std::isnan(a) ? INT_MIN : std::isinf(a) ? INT_MAX : a == 0.0 ? INT_MIN : std::ilogb(a)));
    }, 300000, 10000000});
    cases.push_back({"f64_from_halves", [](const uint64_t *x) { return x[0] << 32 | x[1]; }, 10000, 10000});
    cases.push_back({"f64_low_half", [](const uint64_t *x) { return x[0] & 0xffffffff; }, 10000, 10000});
    cases.push_back({"f64_high_half", [](const uint64_t *x) { return x[0] >> 32; }, 10000, 10000});
    unary("f64_rcp64h", [](double a) { return f64(bits(1.0 / a) & 0xffffffff00000000u); });
}

/* -- Float arithmetic -------------------------------------------------------------------------------- */

void float_arithmetic() {
    for (const direction &d : directions) {
        const int         m = d.mode;
        const bool        native = m == FE_TONEAREST;
        const std::string end = std::string("_") + d.suffix;
        const auto        add = [&](const char *op, std::function<float(float, float, float)> f) {
            cases.push_back({op + end, [m, f](const uint64_t *x) {
                return bits(rounded(m, [&] { return f(f32(x[0]), f32(x[1]), f32(x[2])); }));
            }, 300000, 10000000, native});
        };
        add("f32_add", [](float a, float b, float) { volatile float x = a, y = b; return x + y; });
        add("f32_sub", [](float a, float b, float) { volatile float x = a, y = b; return x - y; });
        add("f32_mul", [](float a, float b, float) { volatile float x = a, y = b; return x * y; });
        add("f32_rcp", [](float a, float, float) { volatile float x = a; return 1.0f / x; });
        if (native) continue;
        add("f32_div", [](float a, float b, float) { volatile float x = a, y = b; return x / y; });
        add("f32_sqrt", [](float a, float, float) { volatile float x = a; return std::sqrt(x); });
        add("f32_fma", [](float a, float b, float c) { volatile float x = a, y = b, z = c; return std::fma(x, y, z); });
    }
    const auto one = [](const char *name, std::function<float(float, float)> f, bool flushes = false) {
        cases.push_back({name, [f](const uint64_t *x) { return bits(f(f32(x[0]), f32(x[1]))); }, 500000, 10000000, flushes});
    };
    one("remainder_f32", [](float a, float b) { return std::remainder(a, b); });
    one("nextafter_f32", [](float a, float b) { return std::nextafter(a, b); });
    one("logb_f32", [](float a, float) { return std::logb(a); });
    one("saturate_f32", [](float a, float) { return std::isnan(a) ? 0.0f : std::min(std::max(a, 0.0f), 1.0f); }, true);
    cases.push_back({"ldexp_f32", [](const uint64_t *x) {
        return bits(std::ldexp(f32(x[0]), static_cast<int>(x[1])));
    }, 500000, 10000000});
    cases.push_back({"ilogb_f32", [](const uint64_t *x) {
        const float a = f32(x[0]);
        return uint64_t(static_cast<uint32_t>(std::isnan(a) ? INT_MIN : std::isinf(a) ? INT_MAX : a == 0.0f ? INT_MIN : std::ilogb(a)));
    }, 500000, 10000000});
}

/* Functions of a half that hold exactly: by way of double. */
void half_arithmetic() {
    const auto one = [](const char *name, std::function<double(double, double)> f) {
        cases.push_back({name, [f](const uint64_t *x) {
            return short_bits(round_to(f(widen('h', x[0]), widen('h', x[1])), 10, -14, 65504.0, FE_TONEAREST), 10, 5);
        }, 300000, 3000000});
    };
    one("remainder_f16", [](double a, double b) { return std::remainder(a, b); });
    one("logb_f16", [](double a, double) { return std::logb(a); });
    cases.push_back({"nextafter_f16", [](const uint64_t *x) {
        const double a = widen('h', x[0]), b = widen('h', x[1]);
        if (std::isnan(a) || std::isnan(b)) return uint64_t(0x7e00);
        if (a == b) return x[1];
        if (a == 0.0) return uint64_t(b > 0.0 ? 1 : 0x8001);
        return (a < b) == (a > 0.0) ? x[0] + 1 : x[0] - 1;
    }, 300000, 3000000});
    cases.push_back({"ldexp_f16", [](const uint64_t *x) {
        const int n = std::max(-1000, std::min(1000, static_cast<int>(x[1])));
        return short_bits(round_to(std::ldexp(widen('h', x[0]), n), 10, -14, 65504.0, FE_TONEAREST), 10, 5);
    }, 300000, 3000000, true}); /* by way of a float, whose denormals may be zero: those round to zero anyway */
    cases.push_back({"ilogb_f16", [](const uint64_t *x) {
        const double a = widen('h', x[0]);
        return uint64_t(static_cast<uint32_t>(std::isnan(a) ? INT_MIN : std::isinf(a) ? INT_MAX : a == 0.0 ? INT_MIN : std::ilogb(a)));
    }, 0, 0});
}

/* -- Conversions --------------------------------------------------------------------------------------- */

/* A rounded double as an integer: saturates; `of_nan` for NaN. */
uint64_t to_integer(double r, double low, double high, uint64_t lowest, uint64_t highest, uint64_t of_nan, bool is_signed) {
    if (std::isnan(r)) return of_nan;
    if (r <= low) return lowest;
    if (r >= high) return highest;
    return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(r)) : static_cast<uint64_t>(r);
}

uint64_t convert_to(const std::string &type, double r, bool from_double) {
    const uint64_t top = uint64_t(1) << 63;
    if (type == "i32")
        return to_integer(r, -0x1p31, 0x1p31, 0x80000000u, 0x7fffffff, from_double ? 0x80000000u : 0, true) & 0xffffffff;
    if (type == "u32") return to_integer(r, 0, 0x1p32, 0, 0xffffffff, from_double ? 0x80000000u : 0, false);
    if (type == "i64") return to_integer(r, -0x1p63, 0x1p63, top, top - 1, top, true);
    return to_integer(r, 0, 0x1p64, 0, ~uint64_t(0), top, false);
}

long double integer_of(const std::string &type, uint64_t x) {
    if (type == "i32") return static_cast<int32_t>(x);
    if (type == "u32") return static_cast<uint32_t>(x);
    if (type == "i64") return static_cast<int64_t>(x);
    return x;
}

void conversions() {
    for (const std::string type : {"i32", "u32", "i64", "u64"}) {
        for (const direction &d : directions) {
            const int         m = d.mode;
            const std::string end = std::string("_") + d.suffix;
            cases.push_back({"f64_to_" + type + end, [type, m](const uint64_t *x) {
                return convert_to(type, rint_of(f64(x[0]), m), true);
            }, 200000, 5000000});
            cases.push_back({"f32_to_" + type + end, [type, m](const uint64_t *x) {
                return convert_to(type, rint_of(static_cast<double>(f32(x[0])), m), false);
            }, 200000, 5000000, type[1] == '3'});
            cases.push_back({type + "_to_f32" + end, [type, m](const uint64_t *x) {
                volatile long double v = integer_of(type, x[0]);
                return bits(rounded(m, [&] { return static_cast<float>(v); }));
            }, 200000, 5000000});
            if (m != FE_TONEAREST && type[1] == '3') continue;
            cases.push_back({type + "_to_f64" + (m == FE_TONEAREST ? "" : end), [type, m](const uint64_t *x) {
                volatile long double v = integer_of(type, x[0]);
                return bits(rounded(m, [&] { return static_cast<double>(v); }));
            }, 200000, 5000000});
        }
    }
    cases.push_back({"f64_llround", [](const uint64_t *x) { return convert_to("i64", std::round(f64(x[0])), true); }, 200000, 5000000});
    cases.push_back({"llround_f32", [](const uint64_t *x) {
        return convert_to("i64", std::round(static_cast<double>(f32(x[0]))), false);
    }, 200000, 5000000});
    for (const direction &d : directions) {
        const int m = d.mode;
        cases.push_back({std::string("f64_to_f32") + (m == FE_TONEAREST ? "" : std::string("_") + d.suffix), [m](const uint64_t *x) {
            return float_bits(round_to(f64(x[0]), 23, -126, static_cast<double>(std::numeric_limits<float>::max()), m));
        }, 500000, 20000000});
        if (m != FE_TONEAREST && m != FE_TOWARDZERO) continue;
        const std::string end = m == FE_TONEAREST ? "" : "_rz";
        cases.push_back({"f64_to_f16" + end, [m](const uint64_t *x) {
            return short_bits(round_to(f64(x[0]), 10, -14, 65504.0, m), 10, 5);
        }, 500000, 20000000});
        cases.push_back({"f64_to_bf16" + end, [m](const uint64_t *x) {
            return short_bits(round_to(f64(x[0]), 7, -126, 0x1.fep127, m), 7, 8);
        }, 500000, 20000000});
    }
    cases.push_back({"f64_to_f32_odd", [](const uint64_t *x) {
        const double v = round_to(f64(x[0]), 23, -126, static_cast<double>(std::numeric_limits<float>::max()), FE_TOWARDZERO);
        return float_bits(v) | static_cast<uint64_t>(v != f64(x[0]));
    }, 500000, 20000000});
    cases.push_back({"f32_to_f64", [](const uint64_t *x) { return bits(widen('f', x[0])); }, 500000, 20000000});
    cases.push_back({"half_bits_to_f32", [](const uint64_t *x) { return float_bits(widen('h', x[0])); }, 0, 0});
    cases.push_back({"f32_to_half_bits", [](const uint64_t *x) {
        const double v = widen('f', x[0]);
        return std::isnan(v) ? 0x7e00 : short_bits(round_to(v, 10, -14, 65504.0, FE_TONEAREST), 10, 5);
    }, 500000, 20000000});
}

/* -- Small floats ---------------------------------------------------------------------------------------- */

struct small_format {
    const char *name;
    int         mant, bias;
    double      max;
    bool        infinities, finite_unsigned; /* the latter: no -0, NaN is 0x80 */
    uint64_t    nan;
    int         bits;
    uint64_t    top() const { return uint64_t(1) << (bits - 1); }
};
const small_format formats[] = {{"f8e5m2", 2, 15, 57344.0, true, false, 0x7f, 8},
                                {"f8e4m3fn", 3, 7, 448.0, false, false, 0x7f, 8},
                                {"f8e4m3fnuz", 3, 8, 240.0, false, true, 0x80, 8},
                                {"f8e5m2fnuz", 2, 16, 57344.0, false, true, 0x80, 8},
                                {"f8e4m3b15", 3, 15, 1.75, false, false, 0, 8}};
/* Without NaN: PTX makes it the largest number. */
const small_format tiny_formats[] = {{"f6e2m3", 3, 1, 7.5, false, false, 0x1f, 6},
                                     {"f6e3m2", 2, 3, 28.0, false, false, 0x1f, 6},
                                     {"f4e2m1", 1, 1, 6.0, false, false, 7, 4}};

double decode(const small_format &f, uint64_t code) {
    const int    mag = static_cast<int>(code & (f.top() - 1)), e = mag >> f.mant, m = mag & ((1 << f.mant) - 1);
    const double s = (code & f.top()) != 0 ? -1.0 : 1.0;
    if (f.finite_unsigned && code == 0x80) return nan_value;
    if (f.infinities && e == 31) return m != 0 ? nan_value : s * HUGE_VAL;
    if (f.bits == 8 && f.nan == 0x7f && !f.infinities && mag == 0x7f) return nan_value;
    return s * (e == 0 ? std::ldexp(m, 1 - f.bias - f.mant) : std::ldexp((1 << f.mant) + m, e - f.bias - f.mant));
}

/* By search among all codes, ties to the even code or away from zero. */
uint64_t encode(const small_format &f, double x, bool ties_away) {
    if (std::isnan(x)) return f.nan != 0 ? f.nan : std::signbit(x) ? 0xfe : 0x7e;
    const double a = std::min(std::fabs(x), f.max);
    uint64_t     code = 0;
    while (code < f.top() - 1 && decode(f, code + 1) <= a && decode(f, code + 1) <= f.max) code++;
    if (decode(f, code) < f.max) {
        const double low = a - decode(f, code), high = decode(f, code + 1) - a;
        if (low > high || (low == high && (ties_away || code % 2 == 1))) code++;
    }
    if (f.finite_unsigned && code == 0) return 0;
    return std::signbit(x) ? code | f.top() : code;
}

void small_floats() {
    for (const small_format &f : formats) {
        cases.push_back({std::string(f.name) + "_to_f32", [f](const uint64_t *x) { return float_bits(decode(f, x[0])); }, 0, 0});
        cases.push_back({std::string(f.name) + "_to_f16", [f](const uint64_t *x) { return short_bits(decode(f, x[0]), 10, 5); }, 0, 0});
        if (f.nan != 0)
            cases.push_back({std::string("f32_to_") + f.name, [f](const uint64_t *x) {
                return encode(f, widen('f', x[0]), false);
            }, 500000, 5000000});
    }
    for (const small_format &f : tiny_formats) {
        cases.push_back({std::string(f.name) + "_to_f16", [f](const uint64_t *x) {
            return short_bits(decode(f, x[0] & (2 * f.top() - 1)), 10, 5);
        }, 0, 0});
        cases.push_back({std::string("f32_to_") + f.name, [f](const uint64_t *x) {
            return encode(f, widen('f', x[0]), false);
        }, 300000, 5000000});
    }
    const small_format b15 = formats[4], e5m2 = formats[0];
    cases.push_back({"f16_to_f8e4m3b15", [b15](const uint64_t *x) {
        return std::isnan(widen('h', x[0])) ? (x[0] >> 8 & 0x80) | 0x7e : encode(b15, widen('h', x[0]), true);
    }, 0, 0});
    cases.push_back({"f32_to_f8e4m3b15", [b15](const uint64_t *x) {
        const double v = widen('f', x[0]);
        return std::isnan(v) ? (x[0] >> 24 & 0x80) | 0x7e : encode(b15, round_to(v, 10, -14, 65504.0, FE_TONEAREST), true);
    }, 300000, 5000000});
    cases.push_back({"f32_to_f8e5m2_rz", [e5m2](const uint64_t *x) {
        const double   v = widen('f', x[0]), a = std::fabs(v);
        const uint64_t sign = std::signbit(v) ? 0x80 : 0;
        if (std::isnan(v)) return uint64_t(0x7f);
        if (std::isinf(v)) return sign | 0x7c;
        uint64_t code = 0;
        while (code < 0x7b && decode(e5m2, code + 1) <= a) code++;
        return sign | code;
    }, 500000, 5000000});
    for (const small_format &f : formats)
        if (f.nan != 0 && !f.infinities)
            cases.push_back({std::string("f32_to_") + f.name + "_rz", [f](const uint64_t *x) {
                const double v = widen('f', x[0]), a = std::min(std::fabs(v), f.max);
                uint64_t     code = 0;
                if (std::isnan(v)) return uint64_t(f.nan);
                while (code < 127 && decode(f, code + 1) <= a) code++;
                return f.finite_unsigned && code == 0 ? 0 : std::signbit(v) ? code | 0x80 : code;
            }, 500000, 5000000});
}

/* -- Integers and tests of numbers ------------------------------------------------------------------------ */

void integers() {
    const auto add = [](const char *name, reference f) { cases.push_back({name, std::move(f), 200000, 2000000}); };
    const auto i32 = [](uint64_t x) { return static_cast<int64_t>(static_cast<int32_t>(x)); };
    const auto i24 = [](uint64_t x) { return static_cast<int64_t>(static_cast<int32_t>(static_cast<uint32_t>(x) << 8)) >> 8; };
    add("abs_i32", [i32](const uint64_t *x) { return static_cast<uint64_t>(i32(x[0]) < 0 ? -i32(x[0]) : i32(x[0])) & 0xffffffff; });
    add("abs_i64", [](const uint64_t *x) { return x[0] >> 63 ? 0 - x[0] : x[0]; });
    add("leading_zeros", [](const uint64_t *x) { return uint64_t(x[0] ? __builtin_clzll(x[0]) : 64); });
    add("count_ones", [](const uint64_t *x) { return uint64_t(__builtin_popcountll(x[0])); });
    add("reverse_bits64", [](const uint64_t *x) {
        uint64_t r = 0;
        for (unsigned i = 0; i < 64; i++) r |= (x[0] >> i & 1) << (63 - i);
        return r;
    });
    add("find_first_one", [](const uint64_t *x) { return uint64_t(__builtin_ffs(static_cast<int>(x[0]))); });
    add("find_first_one64", [](const uint64_t *x) { return uint64_t(__builtin_ffsll(static_cast<long long>(x[0]))); });
    add("mul24_i32", [i24](const uint64_t *x) { return static_cast<uint64_t>(i24(x[0]) * i24(x[1])) & 0xffffffff; });
    add("mul24_u32", [](const uint64_t *x) { return (x[0] & 0xffffff) * (x[1] & 0xffffff) & 0xffffffff; });
    add("sad_i32", [i32](const uint64_t *x) {
        return (static_cast<uint64_t>(std::llabs(i32(x[0]) - i32(x[1]))) + x[2]) & 0xffffffff;
    });
    add("sad_u32", [](const uint64_t *x) { return ((x[0] > x[1] ? x[0] - x[1] : x[1] - x[0]) + x[2]) & 0xffffffff; });
    add("byte_perm", [](const uint64_t *x) {
        uint64_t r = 0;
        for (unsigned i = 0; i < 4; i++) {
            const unsigned k = x[2] >> (4 * i) & 7;
            r |= ((k < 4 ? x[0] : x[1]) >> (8 * (k % 4)) & 0xff) << (8 * i);
        }
        return r;
    });
    for (const char letter : {'f', 'h', 'd'}) {
        const std::string end = letter == 'f' ? "_f32" : letter == 'h' ? "_f16" : "_f64";
        add(("test_isnan" + end).c_str(), [letter](const uint64_t *x) { return uint64_t(std::isnan(widen(letter, x[0]))); });
        add(("test_isinf" + end).c_str(), [letter](const uint64_t *x) { return uint64_t(std::isinf(widen(letter, x[0]))); });
        add(("test_isfinite" + end).c_str(), [letter](const uint64_t *x) { return uint64_t(std::isfinite(widen(letter, x[0]))); });
        const unsigned top = letter == 'f' ? 31 : letter == 'h' ? 15 : 63;
        add(("test_signbit" + end).c_str(), [top](const uint64_t *x) { return x[0] >> top; });
    }
}

/* -- Inputs and comparison ------------------------------------------------------------------------------- */

/* An operand near another, so that sums cancel and quotients come near 1. */
uint64_t related(char letter, uint64_t x, random_bits &r) {
    const uint64_t sign = letter == 'd' ? uint64_t(1) << 63 : letter == 'f' ? 0x80000000u : 0x8000u;
    const uint64_t kind = r.next();
    uint64_t       y = x + r.below(9) - 4;
    if (kind % 4 == 0) y = x ^ r.next() >> (letter == 'd' ? 10 : letter == 'f' ? 39 : 52);
    if (kind % 4 == 1) y = x + (r.below(9) - 4) * (sign >> (letter == 'd' ? 11 : letter == 'f' ? 8 : 5));
    return (y & (2 * sign - 1)) ^ (kind & 16 ? sign : 0);
}

/* -a b, a little off, as the third operand of a multiply-add. */
uint64_t opposite(char letter, const uint64_t *x, random_bits &r) {
    if (letter == 'd') return bits(-f64(x[0]) * f64(x[1])) + r.below(5) - 2;
    return (bits(-f32(x[0]) * f32(x[1])) + r.below(5) - 2) & 0xffffffff;
}

std::vector<values> inputs_for(const call &c, const exact_case &e) {
    const size_t        n = c.operands();
    std::vector<values> in(n);
    random_bits         r(e.name);
    const char          first = c.operand(0);
    if (n == 1 && std::strchr("cqhts", first)) { /* all there are */
        const uint64_t all = std::strchr("cq", first) ? 256 : 65536;
        for (uint64_t i = 0; i < all; i++) in[0].push_back(i);
        return in;
    }
    if (n == 1) in[0] = edges(first);
    if (n == 2)
        for (uint64_t a : edges(first))
            for (uint64_t b : edges(c.operand(1))) in[0].push_back(a), in[1].push_back(b);
    if (n == 3)
        for (size_t i = 0; i < 100000; i++)
            for (size_t k = 0; k < 3; k++) in[k].push_back(edges(c.operand(k))[r.below(edges(c.operand(k)).size())]);
    const bool floats = std::strchr("dfh", first) != nullptr;
    for (uint64_t i = amount(e.quick, e.thorough); i > 0; i--) {
        uint64_t x[4];
        for (size_t k = 0; k < n; k++) {
            const char letter = c.operand(k);
            x[k] = any_value(letter, r);
            if (k == 1 && floats && letter == first && r.below(4) == 0) x[k] = related(letter, x[0], r);
            if (k == 1 && letter == 'i' && floats && r.below(2) == 0) x[k] = (r.below(4400) - 2200) & 0xffffffff;
            if (k == 2 && floats && letter != 'h' && r.below(3) == 0) x[k] = opposite(letter, x, r);
            in[k].push_back(x[k]);
        }
    }
    return in;
}

uint64_t flush(char letter, uint64_t x) { return letter == 'f' && (x & 0x7f800000u) == 0 ? x & 0x80000000u : x; }

bool agrees(const call &c, const exact_case &e, uint64_t got, uint64_t want, const uint64_t *x) {
    const char letter = c.result();
    if (got == want || (is_nan(letter, got) && is_nan(letter, want))) return true;
    if (e.name == "f32_to_half_bits") return is_nan('h', got) && is_nan('h', want);
    if (!e.flushes) return false;
    if (letter == 'f' && (want & 0x7fffffff) == 0x00800000 && (got & 0x7fffffff) == 0) return true; /* flushed before rounding */
    uint64_t zero[4] = {0, 0, 0, 0};
    for (size_t k = 0; k < c.operands(); k++) zero[k] = flush(c.operand(k), x[k]);
    const uint64_t other = e.want(zero);
    return got == flush(letter, want) || got == flush(letter, other) || (is_nan(letter, got) && is_nan(letter, other)) ||
           (letter == 'f' && flush(letter, got) == 0 && (flush(letter, other) & 0x7fffffff) == 0);
}

result run_case(const exact_case &e) {
    result      r;
    const call *c = find(e.name);
    r.name = e.name;
    r.promised = "exact";
    if (!c) {
        r.wrong = true;
        r.worst = "there is no such row";
        return r;
    }
    const std::vector<values> in = inputs_for(*c, e);
    const values              got = apply(*c, in);
    uint64_t                  bad = 0;
    r.inputs = got.size();
    for (size_t i = 0; i < got.size(); i++) {
        uint64_t x[4] = {0, 0, 0, 0};
        for (size_t k = 0; k < in.size(); k++) x[k] = in[k][i];
        const uint64_t want = e.want(x);
        if (agrees(*c, e, got[i], want, x)) continue;
        if (bad++ != 0) continue;
        for (size_t k = 0; k < in.size(); k++) r.worst += (k ? ", " : "") + show(c->operand(k), x[k]);
        r.worst += ": got " + show(c->result(), got[i]) + ", want " + show(c->result(), want);
    }
    r.measured = bad == 0 ? "exact" : std::to_string(bad) + " differ";
    r.wrong = bad != 0;
    return r;
}

} // namespace

std::vector<task> exact_tasks() {
    double_arithmetic();
    float_arithmetic();
    half_arithmetic();
    conversions();
    small_floats();
    integers();
    std::vector<task> tasks;
    for (const exact_case &e : cases) tasks.push_back({e.name, [&e] { return run_case(e); }});
    return tasks;
}

} // namespace library
