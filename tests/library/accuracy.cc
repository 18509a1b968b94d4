/* Functions that are right to a few units in the last place, against MPFR.
 *
 * The error is in units of the last place of the exact result, rounded to the format; `floor`, where a
 * function has zeros that no format can name, is the least unit that counts. Infinities, NaN and zeros with
 * their signs must be as MPFR has them, but for denormal floats, which are zero on Apple GPUs. */
#include "harness.h"

#include <algorithm>
#include <cmath>
#ifdef HAVE_MPFR
#include <mpfr.h>
#endif

namespace library {

#ifdef HAVE_MPFR
const bool has_references = true;

namespace {

const mpfr_prec_t precision = 160;

class number {
public:
    number() { mpfr_init2(v, precision); }
    explicit number(double x) { mpfr_init2(v, precision), mpfr_set_d(v, x, MPFR_RNDN); }
    number(const number &o) { mpfr_init2(v, precision), mpfr_set(v, o.v, MPFR_RNDN); }
    number &operator=(const number &o) { mpfr_set(v, o.v, MPFR_RNDN); return *this; }
    ~number() { mpfr_clear(v); }
    double value() const { return mpfr_get_d(v, MPFR_RNDN); }
    mpfr_t v;
};

number operator+(const number &a, const number &b) { number r; mpfr_add(r.v, a.v, b.v, MPFR_RNDN); return r; }
number operator-(const number &a, const number &b) { number r; mpfr_sub(r.v, a.v, b.v, MPFR_RNDN); return r; }
number operator*(const number &a, const number &b) { number r; mpfr_mul(r.v, a.v, b.v, MPFR_RNDN); return r; }
number operator/(const number &a, const number &b) { number r; mpfr_div(r.v, a.v, b.v, MPFR_RNDN); return r; }
number operator-(const number &a) { number r; mpfr_neg(r.v, a.v, MPFR_RNDN); return r; }

typedef int (*unary_function)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
number apply_to(unary_function f, const number &x) { number r; f(r.v, x.v, MPFR_RNDN); return r; }
number pi() { number r; mpfr_const_pi(r.v, MPFR_RNDN); return r; }
number square_root(const number &x) { return apply_to(mpfr_sqrt, x); }
number exponential(const number &x) { return apply_to(mpfr_exp, x); }

/* -- References ------------------------------------------------------------------------------------------ */

/* The exact result; `got` is what the function gave, for inverses to start from. */
typedef std::function<number(const std::vector<number> &x, double got)> reference;

number log_of_gamma(const number &x) {
    number r;
    int    sign;
    mpfr_lgamma(r.v, &sign, x.v, MPFR_RNDN);
    return r;
}

number scaled_erfc(const number &x) {
    const number square = x * x; /* from 10^4 on e^(x^2) may be too large for MPFR */
    if (x.value() > 1e4) return (number(1) - (number(0.5) - number(0.75) / square) / square) / (x * square_root(pi()));
    return exponential(square) * apply_to(mpfr_erfc, x);
}

number normal_below(const number &x) { return apply_to(mpfr_erfc, -x * square_root(number(0.5))) * number(0.5); }

/* One step of Newton's method from what came out: its error is the square of the one that is measured. */
number improve(double got, const number &value, const number &wanted, const number &slope) {
    if (!std::isfinite(got)) return number(got);
    return number(got) - (value - wanted) / slope;
}
number inverse_erf(const number &y, double got, bool of_erfc) {
    const double limit = y.value(), inf = HUGE_VAL;
    if (of_erfc ? limit < 0.0 || limit > 2.0 : std::fabs(limit) > 1.0) return number(NAN);
    if (of_erfc ? limit == 0.0 : limit == 1.0) return number(inf);
    if (of_erfc ? limit == 2.0 : limit == -1.0) return number(-inf);
    if (limit == 0.0) return y;
    const number x(got), slope = exponential(-x * x) * number(2) / square_root(pi());
    if (of_erfc) return improve(got, apply_to(mpfr_erfc, x), y, -slope);
    return improve(got, apply_to(mpfr_erf, x), y, slope);
}
number inverse_normal(const number &p, double got) {
    if (p.value() < 0.0 || p.value() > 1.0) return number(NAN);
    if (p.value() == 0.0 || p.value() == 1.0) return number(p.value() == 0.0 ? -HUGE_VAL : HUGE_VAL);
    const number x(got), slope = exponential(-x * x * number(0.5)) / square_root(number(2) * pi());
    return improve(got, normal_below(x), p, slope);
}

number bessel_i(unsigned order, const number &x) { /* the power series */
    if (mpfr_nan_p(x.v)) return x;
    if (std::fabs(x.value()) > 800.0) return number(order == 1 ? std::copysign(HUGE_VAL, x.value()) : HUGE_VAL);
    const number quarter = x * x * number(0.25);
    number       term = order == 0 ? number(1) : x * number(0.5), sum = term;
    if (x.value() == 0.0) return term;
    for (unsigned k = 1;; k++) {
        term = term * quarter / number(static_cast<double>(k) * (k + order));
        const number next = sum + term;
        if (mpfr_equal_p(next.v, sum.v)) return sum;
        sum = next;
    }
}

number norm(const std::vector<number> &x) {
    number sum(0.0);
    for (const number &v : x)
        if (std::isinf(v.value())) return number(HUGE_VAL);
    for (const number &v : x) sum = sum + v * v;
    return square_root(sum);
}
/* -- The table -------------------------------------------------------------------------------------------- */

struct range {
    double low, high;
};

struct accuracy_case {
    std::string        name;
    double             ulps;
    reference          want;
    std::vector<range> ranges;    /* uniform in each, beside edges and anything at all */
    double             floor = 0; /* the least unit */
    bool               want_is_slow = false;
    uint64_t           quick = 12000, thorough = 1000000;
};

std::vector<accuracy_case> cases;

reference of(unary_function f) {
    return [f](const std::vector<number> &x, double) { return apply_to(f, x[0]); };
}

number bessel_y(unary_function f, const number &x) {
    return mpfr_zero_p(x.v) ? number(-HUGE_VAL) : apply_to(f, x);
}

struct known {
    const char        *name; /* without the type */
    double             ulps; /* of doubles */
    reference          want;
    std::vector<range> ranges;
    double             floor_d, floor_f; /* 0: none; else MPFR is slow too */
};

const std::vector<known> &functions() {
    static const range  unit = {-1, 1}, wide = {-1000, 1000}, near_one = {0.9, 1.1}, positive = {0, 2000}, small = {-1e-3, 1e-3};
    static const double none = 0.0;
    static const auto   order = [](const number &n) { return static_cast<long>(n.value()); };
    static const std::vector<known> all = {
        {"exp", 0.52, of(mpfr_exp), {unit, {-110, 90}, {-750, 710}}, none, none},
        {"exp2", 0.52, of(mpfr_exp2), {unit, {-150, 130}, {-1080, 1030}}, none, none},
        {"exp10", 0.52, of(mpfr_exp10), {unit, {-45, 39}, {-325, 310}}, none, none},
        {"expm1", 0.52, of(mpfr_expm1), {unit, small, {-40, 90}, {-40, 710}}, none, none},
        {"log", 0.52, of(mpfr_log), {near_one, {0, 2}, positive}, none, none},
        {"log2", 0.52, of(mpfr_log2), {near_one, {0, 2}, positive}, none, none},
        {"log10", 0.52, of(mpfr_log10), {near_one, {0, 2}, positive}, none, none},
        {"log1p", 0.52, of(mpfr_log1p), {unit, small, {-0.2, 0.2}, {-1, 2000}}, none, none},
        {"sin", 0.52, of(mpfr_sin), {unit, {-8, 8}, wide, {-1e9, 1e9}}, none, none},
        {"cos", 0.52, of(mpfr_cos), {unit, {-8, 8}, wide, {-1e9, 1e9}}, none, none},
        {"tan", 0.52, of(mpfr_tan), {unit, {-8, 8}, wide, {-1e9, 1e9}}, none, none},
        {"sinpi", 0.52, [](const std::vector<number> &x, double) {
            number r = apply_to(mpfr_sinpi, x[0]);
            if (mpfr_zero_p(r.v)) mpfr_setsign(r.v, r.v, mpfr_signbit(x[0].v), MPFR_RNDN);
            return r;
        }, {unit, small, {-50, 50}}, none, none},
        {"cospi", 0.52, [](const std::vector<number> &x, double) {
            number r = apply_to(mpfr_cospi, x[0]);
            if (mpfr_zero_p(r.v)) mpfr_setsign(r.v, r.v, 0, MPFR_RNDN);
            return r;
        }, {unit, small, {-50, 50}}, none, none},
        {"asin", 0.52, of(mpfr_asin), {unit, small, near_one}, none, none},
        {"acos", 0.52, of(mpfr_acos), {unit, small, near_one}, none, none},
        {"atan", 0.52, of(mpfr_atan), {unit, small, {-10, 10}, wide}, none, none},
        {"sinh", 0.52, of(mpfr_sinh), {unit, small, {-90, 90}, {-711, 711}}, none, none},
        {"cosh", 0.52, of(mpfr_cosh), {unit, small, {-90, 90}, {-711, 711}}, none, none},
        {"tanh", 0.52, of(mpfr_tanh), {unit, small, {-22, 22}}, none, none},
        {"asinh", 0.52, of(mpfr_asinh), {unit, small, {-10, 10}, wide}, none, none},
        {"acosh", 0.52, of(mpfr_acosh), {{1, 1.001}, {1, 3}, positive}, none, none},
        {"atanh", 0.52, of(mpfr_atanh), {unit, small, {0.99, 1}}, none, none},
        {"atan2", 0.52, [](const std::vector<number> &x, double) {
            number r;
            mpfr_atan2(r.v, x[0].v, x[1].v, MPFR_RNDN);
            return r;
        }, {unit, wide, small}, none, none},
        {"pow", 0.54, [](const std::vector<number> &x, double) {
            number r;
            mpfr_pow(r.v, x[0].v, x[1].v, MPFR_RNDN);
            return r;
        }, {{0, 3}, near_one, {-150, 150}, {0, 1000}, {0.999, 1.001}}, none, none},
        {"powi", 0.52, [](const std::vector<number> &x, double) {
            number r;
            mpfr_pow(r.v, x[0].v, x[1].v, MPFR_RNDN);
            return r;
        }, {{0, 3}, near_one, {-100, 100}, {0.999, 1.001}}, none, none},
        {"cbrt", 0.52, of(mpfr_cbrt), {unit, wide}, none, none},
        {"rcbrt", 0.52, [](const std::vector<number> &x, double) { return number(1) / apply_to(mpfr_cbrt, x[0]); },
         {unit, wide}, none, none},
        {"rsqrt", 0.52, [](const std::vector<number> &x, double) {
            return mpfr_zero_p(x[0].v) ? number(1) / x[0] : apply_to(mpfr_rec_sqrt, x[0]);
        }, {{0, 1}, positive}, none, none},
        {"hypot", 0.52, [](const std::vector<number> &x, double) { return norm(x); }, {unit, wide}, none, none},
        {"rhypot", 0.52, [](const std::vector<number> &x, double) { return number(1) / norm(x); }, {unit, wide}, none, none},
        {"norm3d", 0.52, [](const std::vector<number> &x, double) { return norm(x); }, {unit, wide}, none, none},
        {"rnorm3d", 0.52, [](const std::vector<number> &x, double) { return number(1) / norm(x); }, {unit, wide}, none, none},
        {"norm4d", 0.52, [](const std::vector<number> &x, double) { return norm(x); }, {unit, wide}, none, none},
        {"rnorm4d", 0.52, [](const std::vector<number> &x, double) { return number(1) / norm(x); }, {unit, wide}, none, none},
        {"erf", 0.52, of(mpfr_erf), {unit, small, {-6, 6}}, none, none},
        {"erfc", 0.52, of(mpfr_erfc), {unit, {-6, 10}, {0, 27}}, none, none},
        {"erfcx", 0.52, [](const std::vector<number> &x, double) { return scaled_erfc(x[0]); },
         {unit, {-9, 10}, {-27, 100}}, none, none},
        {"erfinv", 0.6, [](const std::vector<number> &x, double got) { return inverse_erf(x[0], got, false); },
         {unit, small, {0.99, 1}}, none, none},
        {"erfcinv", 0.6, [](const std::vector<number> &x, double got) { return inverse_erf(x[0], got, true); },
         {{0, 2}, {0, 0.01}, near_one}, none, none},
        {"normcdf", 0.52, [](const std::vector<number> &x, double) { return normal_below(x[0]); },
         {unit, {-14, 6}, {-39, 9}}, none, none},
        {"normcdfinv", 0.6, [](const std::vector<number> &x, double got) { return inverse_normal(x[0], got); },
         {{0, 1}, {0, 0.01}, {0.49, 0.51}}, none, none},
        {"tgamma", 0.55, [](const std::vector<number> &x, double) { return apply_to(mpfr_gamma, x[0]); },
         {unit, {0, 13}, {0, 36}, {0, 172}, {-42, 0}, {-185, 0}}, none, none},
        {"lgamma", 0.55, [](const std::vector<number> &x, double) { return log_of_gamma(x[0]); },
         {{0, 1}, {0.9, 1.1}, {1.9, 2.1}, {1, 14}, positive, {-20, 0}}, 0x1p-57, 0x1p-23},
        {"j0", 2, [](const std::vector<number> &x, double) { return apply_to(mpfr_j0, x[0]); },
         {unit, {-9, 9}, {0, 100}, positive}, 0x1p-58, 0x1p-25},
        {"j1", 2, [](const std::vector<number> &x, double) {
            return mpfr_inf_p(x[0].v) ? number(1) / x[0] : apply_to(mpfr_j1, x[0]);
        },
         {unit, {-9, 9}, {0, 100}, positive}, 0x1p-58, 0x1p-25},
        {"y0", 2, [](const std::vector<number> &x, double) { return bessel_y(mpfr_y0, x[0]); },
         {{0, 1}, {0, 9}, {0, 100}, positive}, 0x1p-58, 0x1p-25},
        {"y1", 2, [](const std::vector<number> &x, double) { return bessel_y(mpfr_y1, x[0]); },
         {{0, 1}, {0, 9}, {0, 100}, positive}, 0x1p-58, 0x1p-25},
        {"jn", 2, [](const std::vector<number> &x, double) {
            number r(NAN);
            if (order(x[0]) >= 0) mpfr_jn(r.v, order(x[0]), x[1].v, MPFR_RNDN);
            return r;
        }, {{0, 1}, {0, 9}, {0, 100}, {-50, 50}}, 0x1p-57, 0x1p-23},
        {"yn", 2, [](const std::vector<number> &x, double) {
            number r(NAN);
            if (order(x[0]) >= 0 && x[1].value() == 0.0) return number(-HUGE_VAL);
            if (order(x[0]) >= 0) mpfr_yn(r.v, order(x[0]), x[1].v, MPFR_RNDN);
            return r;
        }, {{0, 1}, {0, 9}, {0, 100}}, 0x1p-57, 0x1p-23},
        {"cyl_bessel_i0", 0.55, [](const std::vector<number> &x, double) { return bessel_i(0, x[0]); },
         {unit, {-10, 10}, {-90, 90}, {-715, 715}}, none, none},
        {"cyl_bessel_i1", 1.5, [](const std::vector<number> &x, double) { return bessel_i(1, x[0]); },
         {unit, {-10, 10}, {-90, 90}, {-715, 715}}, none, none},
    };
    return all;
}

/* Units in the last place that the functions of floats keep to. */
const struct {
    const char *name;
    double      ulps;
} of_floats[] = {
    {"expm1", 2},      {"log1p", 2},       {"cbrt", 1},     {"rcbrt", 1},   {"hypot", 2},   {"rhypot", 2},
    {"norm3d", 2},     {"rnorm3d", 2},     {"norm4d", 2},   {"rnorm4d", 3}, {"powi", 4},    {"erf", 2},
    {"erfc", 4},       {"erfcx", 4},       {"erfinv", 4},   {"erfcinv", 4}, {"normcdf", 4}, {"normcdfinv", 5},
    {"tgamma", 6},     {"lgamma", 4},      {"j0", 0.51},    {"j1", 0.51},   {"y0", 0.51},   {"y1", 0.51},
    {"jn", 0.51},      {"yn", 0.51},       {"cyl_bessel_i0", 4}, {"cyl_bessel_i1", 4},
};

void fill() {
    for (const known &k : functions()) {
        const bool slow = k.floor_d != 0.0;
        cases.push_back({std::string("f64_") + k.name, k.ulps, k.want, k.ranges, k.floor_d, slow});
        for (const auto &f : of_floats)
            if (std::string(k.name) == f.name) {
                cases.push_back({std::string(f.name) + "_f32", f.ulps, k.want, k.ranges, k.floor_f, slow});
                if (!find(std::string(f.name) + "_f16")) continue;
                cases.push_back({std::string(f.name) + "_f16", 0.52, k.want, k.ranges, k.floor_f, slow});
            }
    }
}

/* -- Inputs and comparison --------------------------------------------------------------------------------- */

const struct format {
    char   letter;
    int    mant, low; /* bits of fraction, lowest exponent */
    double max;
} formats[] = {{'d', 52, -1022, 0x1.fffffffffffffp1023}, {'f', 23, -126, 0x1.fffffep127}, {'h', 10, -14, 65504.0}};

const format &format_of(char letter) { return letter == 'd' ? formats[0] : letter == 'f' ? formats[1] : formats[2]; }

uint64_t narrow(char letter, double x) {
    if (letter == 'd') return bits(x);
    if (letter == 'f') return bits(static_cast<float>(x));
    return static_cast<uint32_t>(static_cast<int32_t>(x)); /* an integer */
}

/* MPFR takes hours for Bessel functions of numbers as large as 1e300. */
bool too_large(const accuracy_case &e, char letter, uint64_t b) {
    const double x = std::fabs(widen(letter, b));
    const bool   bessel = e.want_is_slow && letter != 'i';
    return bessel && x > 5000.0 && std::isfinite(x);
}

bool is_order(const accuracy_case &c) { return c.name.find("jn") != std::string::npos || c.name.find("yn") != std::string::npos; }

uint64_t some_integer(const accuracy_case &c, random_bits &r) {
    if (is_order(c)) return r.below(16) == 0 ? r.below(200) : r.below(16) == 0 ? 0xffffffffu : r.below(12);
    const uint64_t n = r.next() % 4 == 0 ? r.below(1 << 12) : r.below(40);
    return (r.next() & 1 ? 0 - n : n) & 0xffffffff;
}

std::vector<values> inputs_for(const call &c, const accuracy_case &e) {
    const size_t        n = c.operands();
    std::vector<values> in(n);
    random_bits         r(e.name);
    if (n == 1 && c.operand(0) == 'h') {
        for (uint64_t i = 0; i < 65536; i++) in[0].push_back(i);
        return in;
    }
    if (n == 1)
        for (uint64_t x : edges(c.operand(0)))
            if (!too_large(e, c.operand(0), x)) in[0].push_back(x);
    if (n == 2 && c.operand(0) == c.operand(1))
        for (size_t i = 0; i < 4000; i++)
            for (size_t k = 0; k < 2; k++) in[k].push_back(edges(c.operand(k))[r.below(edges(c.operand(k)).size())]);
    for (uint64_t i = amount(e.quick, e.thorough) / (e.want_is_slow ? 4 : 1); i > 0; i--)
        for (size_t k = 0; k < n; k++) {
            const range &a = e.ranges[r.below(e.ranges.size())];
            const char   letter = c.operand(k);
            uint64_t     x = narrow(letter, a.low + (a.high - a.low) * r.unit());
            if (letter == 'i') x = some_integer(e, r);
            else if (i % 8 == 0) x = any_value(letter, r);
            if (too_large(e, letter, x)) x = narrow(letter, a.low);
            in[k].push_back(x);
        }
    return in;
}

/* Error in units of the last place; 1e30 where there is none to speak of. */
double error_of(char letter, uint64_t got, const number &want, double floor) {
    const format &f = format_of(letter);
    const double  g = widen(letter, got);
    number        rounded(want);
    if (mpfr_nan_p(want.v) || std::isnan(g)) return mpfr_nan_p(want.v) && std::isnan(g) ? 0.0 : 1e30;
    if (mpfr_zero_p(want.v)) return g == 0.0 && std::signbit(g) == (mpfr_signbit(want.v) != 0) ? 0.0 : 1e30;
    const double approximate = want.value();
    const int    exp = approximate == 0.0 ? f.low : std::isinf(approximate) ? 1024 : std::max(std::ilogb(approximate), f.low);
    if (std::isinf(approximate) || std::fabs(approximate) > f.max) { /* the largest number may stand for what rounds to it */
        if (std::isinf(g)) return std::signbit(g) == (mpfr_signbit(want.v) != 0) ? 0.0 : 1e30;
        if (std::fabs(approximate) > f.max * (1.0 + std::ldexp(4.0, -f.mant))) return 1e30;
    }
    double unit = std::max(std::ldexp(1.0, exp - f.mant), floor);
    if (letter == 'f' && exp == f.low && std::fabs(approximate) <= 0x1p-126 && std::fabs(g) <= 0x1p-126) return 0.0;
    if (std::isinf(g)) return std::fabs(approximate) + unit * 2.0 > f.max && std::signbit(g) == std::signbit(approximate) ? 1.0 : 1e30;
    if (g == 0.0 && std::signbit(g) != (mpfr_signbit(want.v) != 0) && floor == 0.0) return 1e30;
    return std::fabs(((number(g) - want) / number(unit)).value());
}

double error_at(const call &c, const accuracy_case &e, const std::vector<values> &in, size_t i, uint64_t got, bool flush) {
    std::vector<number> x;
    for (size_t k = 0; k < in.size(); k++) {
        const double v = widen(c.operand(k), in[k][i]);
        x.push_back(number(flush && c.operand(k) == 'f' && std::fabs(v) < 0x1p-126 ? std::copysign(0.0, v) : v));
    }
    const double g = widen(c.result(), got);
    return error_of(c.result(), got, e.want(x, g), e.floor);
}

result run_case(const accuracy_case &e) {
    result      r;
    const call *c = find(e.name);
    char        text[40];
    r.name = e.name;
    snprintf(text, sizeof text, e.floor != 0.0 ? "%.3g ulp, or %.1g" : "%.3g ulp", e.ulps, e.floor * e.ulps);
    r.promised = text;
    if (!c) {
        r.wrong = true;
        r.worst = "there is no such row";
        return r;
    }
    const std::vector<values> in = inputs_for(*c, e);
    const values              got = apply(*c, in);
    double                    worst = -1.0;
    size_t                    at = 0;
    r.inputs = got.size();
    for (size_t i = 0; i < got.size(); i++) {
        double error = error_at(*c, e, in, i, got[i], false);
        if (error > e.ulps && c->result() == 'f') error = std::min(error, error_at(*c, e, in, i, got[i], true));
        if (error > worst) worst = error, at = i;
    }
    for (size_t k = 0; k < in.size(); k++) r.worst += (k ? ", " : "") + show(c->operand(k), in[k][at]);
    r.worst += ": " + show(c->result(), got[at]);
    snprintf(text, sizeof text, worst > 1e20 ? "not near" : "%.3f ulp", worst);
    r.measured = text;
    r.wrong = worst > e.ulps;
    mpfr_free_cache();
    return r;
}

} // namespace

std::vector<task> accuracy_tasks() {
    std::vector<task> tasks;
    fill();
    for (const accuracy_case &e : cases) tasks.push_back({e.name, [&e] { return run_case(e); }});
    return tasks;
}
#else
const bool        has_references = false;
std::vector<task> accuracy_tasks() { return {}; }
#endif

} // namespace library
