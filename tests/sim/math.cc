/* Math functions of kernels, computed in double and rounded once.
 *
 * The `fast_` functions behave as the formulas in Apple's specification where those have traps:
 * tanh = (t-1)/(t+1) with t = exp(2x), so infinity over infinity for large x; sin and cos without a
 * careful reduction and good to 2^-13; logarithms of nothing and negative numbers undefined; pow
 * through exp2 and log2. A kernel that is right with these is right with the real ones. */
#include "include/sim/runtime.h"
#include "numbers.h"

#include <cmath>

using sim::bits_as;

namespace {

const double pi = 3.14159265358979323846;

float undefined() { return bits_as<float>(0x7fc0fa57u); }

float rounded(double x) { return static_cast<float>(x); }

/* sin(pi x) and cos(pi x) from the remainder by 2, which is exact. */
double sin_pi(double x) {
    const double r = std::remainder(x, 2.0);
    if (r == 1.0 || r == -1.0 || r == 0.0) return std::copysign(0.0, x);
    return std::sin(r * pi);
}
double cos_pi(double x) {
    const double r = std::fabs(std::remainder(x, 2.0));
    return r == 0.5 ? 0.0 : std::cos(r * pi);
}

/* One multiply by 1/2pi and one subtraction in float: all that a fast reduction does. */
float fast_reduced(float x) { return x - std::rint(x * 0.15915494f) * 6.2831855f; }
float fast_grid(double x) {
    return std::isfinite(x) ? rounded(std::rint(x * 16384.0) / 16384.0) : rounded(x);
}

} // namespace

extern "C" {

float sim_acos(float x) { return rounded(std::acos(static_cast<double>(x))); }
float sim_acosh(float x) { return rounded(std::acosh(static_cast<double>(x))); }
float sim_asin(float x) { return rounded(std::asin(static_cast<double>(x))); }
float sim_asinh(float x) { return rounded(std::asinh(static_cast<double>(x))); }
float sim_atan(float x) { return rounded(std::atan(static_cast<double>(x))); }
float sim_atanh(float x) { return rounded(std::atanh(static_cast<double>(x))); }
float sim_cos(float x) { return rounded(std::cos(static_cast<double>(x))); }
float sim_cosh(float x) { return rounded(std::cosh(static_cast<double>(x))); }
float sim_cospi(float x) { return rounded(cos_pi(static_cast<double>(x))); }
float sim_exp(float x) { return rounded(std::exp(static_cast<double>(x))); }
float sim_exp2(float x) { return rounded(std::exp2(static_cast<double>(x))); }
float sim_exp10(float x) { return rounded(std::pow(10.0, static_cast<double>(x))); }
float sim_log(float x) { return rounded(std::log(static_cast<double>(x))); }
float sim_log2(float x) { return rounded(std::log2(static_cast<double>(x))); }
float sim_log10(float x) { return rounded(std::log10(static_cast<double>(x))); }
float sim_rsqrt(float x) { return rounded(1.0 / std::sqrt(static_cast<double>(x))); }
float sim_sin(float x) { return rounded(std::sin(static_cast<double>(x))); }
float sim_sinh(float x) { return rounded(std::sinh(static_cast<double>(x))); }
float sim_sinpi(float x) { return rounded(sin_pi(static_cast<double>(x))); }
float sim_tan(float x) { return rounded(std::tan(static_cast<double>(x))); }
float sim_tanh(float x) { return rounded(std::tanh(static_cast<double>(x))); }
float sim_tanpi(float x) {
    return rounded(sin_pi(static_cast<double>(x)) / cos_pi(static_cast<double>(x)));
}
float sim_atan2(float y, float x) {
    return rounded(std::atan2(static_cast<double>(y), static_cast<double>(x)));
}
float sim_fmod(float x, float y) {
    return rounded(std::fmod(static_cast<double>(x), static_cast<double>(y)));
}
float sim_pow(float x, float y) {
    return rounded(std::pow(static_cast<double>(x), static_cast<double>(y)));
}
float sim_nextafter(float x, float y) { return std::nextafterf(x, y); }

float sim_fast_acosh(float x) { return std::log(x + std::sqrt(x * x - 1.0f)); }
float sim_fast_asinh(float x) { return std::log(x + std::sqrt(x * x + 1.0f)); }
float sim_fast_atanh(float x) { return 0.5f * std::log((1.0f + x) / (1.0f - x)); }
float sim_fast_cos(float x) { return fast_grid(std::cos(static_cast<double>(fast_reduced(x)))); }
float sim_fast_sin(float x) { return fast_grid(std::sin(static_cast<double>(fast_reduced(x)))); }
float sim_fast_tan(float x) { return sim_fast_sin(x) / sim_fast_cos(x); }
float sim_fast_cosh(float x) { return 0.5f * (sim_exp(x) + sim_exp(-x)); }
float sim_fast_sinh(float x) { return 0.5f * (sim_exp(x) - sim_exp(-x)); }
float sim_fast_tanh(float x) { return (sim_exp(2.0f * x) - 1.0f) / (sim_exp(2.0f * x) + 1.0f); }
float sim_fast_log(float x) { return x > 0.0f || x != x ? sim_log(x) : undefined(); }
float sim_fast_log2(float x) { return x > 0.0f || x != x ? sim_log2(x) : undefined(); }
float sim_fast_log10(float x) { return x > 0.0f || x != x ? sim_log10(x) : undefined(); }
float sim_fast_atan2(float y, float x) {
    return x == 0.0f || y == 0.0f ? undefined() : sim_atan2(y, x);
}
float sim_fast_pow(float x, float y) {
    return x < 0.0f || (x == 0.0f && y == 0.0f) ? undefined() : sim_pow(x, y);
}
float sim_fast_fmod(float x, float y) { return x - y * std::trunc(x / y); }

float sim_fma_half(float a, float b, float c) {
    return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) +
                              static_cast<double>(c));
}
float sim_ldexp(float x, int n) { return std::ldexp(x, n); }
int   sim_ilogb(float x) { return std::ilogb(x); }
float sim_frexp_part(float x) {
    int power;
    return std::frexp(x, &power);
}
int sim_frexp_power(float x) {
    int power = 0;
    std::frexp(x, &power);
    return power;
}
}
