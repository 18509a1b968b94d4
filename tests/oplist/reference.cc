#include "reference.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>

namespace oplist {

using nlohmann::json;

namespace {

const double f32_step = std::ldexp(1.0, -22); /* what a function or a sum in f32 may be off by, relative */

std::string canonical(std::string t) {
    const size_t dot = t.rfind('.');
    if (dot != std::string::npos) t = t.substr(dot + 1);
    static const std::map<std::string, std::string> names = {
        {"float32", "f32"}, {"fp32", "f32"}, {"float", "f32"}, {"float16", "f16"}, {"fp16", "f16"}, {"half", "f16"},
        {"bfloat16", "bf16"}, {"int32", "i32"}, {"int64", "i64"}, {"int16", "i16"}, {"int8", "i8"}, {"i1", "bool"}, {"uint8", "u8"}, {"uint32", "u32"}};
    const auto found = names.find(t);
    return found == names.end() ? t : found->second;
}

int bits_of(const std::string &t) { return static_cast<int>(bytes_of(t)) * 8; }

double step_of(const std::string &t) { return t == "f16" ? std::ldexp(1.0, -10) : t == "bf16" ? std::ldexp(1.0, -7) : std::ldexp(1.0, -23); }

} // namespace

size_t tensor::count() const {
    size_t n = 1;
    for (int64_t d : shape) n *= static_cast<size_t>(d);
    return n;
}

size_t bytes_of(const std::string &t) {
    if (t == "bool") return 1;
    return static_cast<size_t>(std::stoi(t.substr(t.find_first_of("0123456789")))) / 8;
}

bool is_float(const std::string &t) { return t[0] == 'f' || t[0] == 'b' ? t != "bool" : false; }

/* To the nearest number of a type, ties to even; integers wrap. */
double round_to(double v, const std::string &t) {
    if (t == "f32") return static_cast<double>(static_cast<float>(v));
    if (is_float(t)) {
        if (!std::isfinite(v) || v == 0) return v;
        const int    man = t == "f16" ? 10 : 7, low = t == "f16" ? -14 : -126;
        const double top = t == "f16" ? 65520.0 : 3.3961775292304957e38;
        int          exp;
        std::frexp(v, &exp);
        exp = std::max(exp - 1, low);
        const double unit = std::ldexp(1.0, exp - man), r = std::nearbyint(v / unit) * unit;
        return std::fabs(v) >= top ? std::copysign(std::numeric_limits<double>::infinity(), v) : r;
    }
    if (t == "bool") return v != 0;
    const int bits = bits_of(t);
    if (bits == 64) return v;
    const double span = std::ldexp(1.0, bits);
    double       r = std::fmod(std::trunc(v), span);
    if (r < 0) r += span;
    if (t[0] == 'i' && r >= span / 2) r -= span;
    return r;
}

/* A product in a type: of integers modulo 2^bits, which a double would round; in the type of the result where that is wider. */
double product(double x, double y, std::string type, const std::string &want = "") {
    if (!want.empty() && !is_float(want) && !is_float(type) && want != "bool" && bits_of(want) > bits_of(type)) type = want;
    if (is_float(type) || type == "bool" || bits_of(type) == 64) return x * y;
    const uint64_t low = static_cast<uint64_t>(static_cast<int64_t>(x)) * static_cast<uint64_t>(static_cast<int64_t>(y));
    return round_to(static_cast<double>(low & 0xffffffffu), type);
}

std::vector<uint8_t> pack(const tensor &t) {
    const size_t         size = bytes_of(t.type);
    std::vector<uint8_t> out(t.v.size() * size);
    for (size_t i = 0; i < t.v.size(); i++) {
        uint64_t w = 0;
        if (t.type == "f32") {
            const float f = static_cast<float>(t.v[i]);
            std::memcpy(&w, &f, 4);
        } else if (t.type == "bf16") {
            const float f = static_cast<float>(t.v[i]);
            uint32_t    b;
            std::memcpy(&b, &f, 4);
            w = b >> 16;
        } else if (t.type == "f16") {
            const _Float16 h = static_cast<_Float16>(t.v[i]);
            std::memcpy(&w, &h, 2);
        } else {
            w = static_cast<uint64_t>(static_cast<int64_t>(t.v[i]));
        }
        std::memcpy(out.data() + i * size, &w, size);
    }
    return out;
}

double unpack(const uint8_t *p, size_t i, const std::string &t) {
    const size_t size = bytes_of(t);
    uint64_t     w = 0;
    std::memcpy(&w, p + i * size, size);
    if (t == "f32" || t == "bf16") {
        const uint32_t b = static_cast<uint32_t>(t == "f32" ? w : w << 16);
        float          f;
        std::memcpy(&f, &b, 4);
        return static_cast<double>(f);
    }
    if (t == "f16") {
        _Float16 h;
        std::memcpy(&h, &w, 2);
        return static_cast<double>(h);
    }
    if (t[0] == 'i' && size < 8 && (w >> (size * 8 - 1))) w |= ~uint64_t{0} << (size * 8);
    return t[0] == 'u' ? static_cast<double>(w) : static_cast<double>(static_cast<int64_t>(w));
}

namespace {

using shape = std::vector<int64_t>;

std::string promote(const std::string &a, const std::string &b) {
    if (a == b) return a;
    if (is_float(a) && is_float(b)) return "f32";
    if (is_float(a)) return a;
    if (is_float(b)) return b;
    if (a == "bool") return b;
    if (b == "bool") return a;
    if (bits_of(a) != bits_of(b)) return bits_of(a) > bits_of(b) ? a : b;
    return a[0] == 'u' ? a : b;
}

struct node {
    std::string id, type;
    json        op, args;
    std::vector<const tensor *> in;
    tensor      out;
    std::string want; /* the result's type as the list names it, or "" */

    const tensor &x(size_t i = 0) const { return *in[i]; }
    bool          is(const char *t) const { return type == t; }
    double        number(const char *key, double missing) const { return args.contains(key) && !args[key].is_null() ? args[key].get<double>() : missing; }
    bool          flag(const char *key) const { return args.contains(key) && args[key] == json(true); }
};

void make(tensor &t, const shape &s, const std::string &type) {
    t.shape = s;
    t.type = type;
    t.v.assign(t.count(), 0);
    t.e.assign(t.count(), 0);
}

/* Integers and truths are certain, or nothing is known of them: what an uncertain number decided. */
void settle_whole(double &e) { e = std::isfinite(e) ? 0 : INFINITY; }

/* Is it open whether a number known to within e lies on one side of another, or at it? */
bool is_open(double difference, double e) { return !(e == 0) && !(std::fabs(difference) > e); }

/* The element is one that a kernel may have stored and loaded again. */
void settle(tensor &t) {
    for (size_t i = 0; i < t.v.size(); i++) {
        if (std::isnan(t.e[i])) t.e[i] = INFINITY; /* nothing is known of it */
        if (is_float(t.type)) t.e[i] += std::isfinite(t.v[i]) ? std::fabs(t.v[i]) * step_of(t.type) + (t.type == "f16" ? 6e-8 : 1e-37) : 0;
        else t.v[i] = round_to(t.v[i], t.type);
    }
}

/* A value that others read may be stored in its type, or stay an f32 of a larger range. */
void settle_overflow(tensor &t) {
    const double top = t.type == "f16" ? 65504 : 3.38e38;
    for (size_t i = 0; i < t.v.size() && is_float(t.type); i++)
        if (std::isfinite(t.v[i]) && std::fabs(t.v[i]) + t.e[i] > top) t.e[i] = INFINITY;
}

std::vector<int64_t> index_of(size_t flat, const shape &s) {
    std::vector<int64_t> at(s.size());
    for (size_t d = s.size(); d-- > 0;) at[d] = static_cast<int64_t>(flat % static_cast<size_t>(s[d])), flat /= static_cast<size_t>(s[d]);
    return at;
}

size_t flat_of(const std::vector<int64_t> &at, const shape &s) {
    size_t f = 0;
    for (size_t d = 0; d < s.size(); d++) f = f * static_cast<size_t>(s[d]) + static_cast<size_t>(at[d]);
    return f;
}

shape stretched(const shape &a, const shape &b) {
    shape r(std::max(a.size(), b.size()));
    for (size_t i = 0; i < r.size(); i++) {
        const int64_t x = i + a.size() < r.size() ? 1 : a[i + a.size() - r.size()], y = i + b.size() < r.size() ? 1 : b[i + b.size() - r.size()];
        r[i] = std::max(x, y);
    }
    return r;
}

/* Place in `s` of an element of the larger shape. */
size_t place_in(const std::vector<int64_t> &at, const shape &s) {
    size_t f = 0;
    for (size_t d = 0; d < s.size(); d++) f = f * static_cast<size_t>(s[d]) + static_cast<size_t>(s[d] == 1 ? 0 : at[at.size() - s.size() + d]);
    return f;
}

int64_t axis_of(const node &n, int64_t rank, int64_t missing) {
    for (const char *key : {"axis", "dim"})
        if (n.args.contains(key) && n.args[key].is_number()) {
            const int64_t a = n.args[key].get<int64_t>();
            return a < 0 ? a + rank : a;
        }
    return missing < 0 ? missing + rank : missing;
}

std::vector<bool> axes_of(const node &n, size_t rank) {
    std::vector<bool> on(rank, false);
    const json        a = n.args.contains("axis") ? n.args["axis"] : n.args.contains("dim") ? n.args["dim"] : json();
    if (a.is_null()) on.assign(rank, true);
    auto set = [&](int64_t v) { on[static_cast<size_t>(v < 0 ? v + static_cast<int64_t>(rank) : v)] = true; };
    if (a.is_number()) set(a.get<int64_t>());
    if (a.is_array())
        for (const json &j : a) set(j.get<int64_t>());
    return on;
}

/* f of a number known to within e: value and error. */
void through(const std::function<double(double)> &f, double v, double e, double &out, double &err) {
    out = f(v);
    err = std::fabs(out) * 3 * f32_step;
    if (e == 0) return;
    const double up = f(v + e), down = f(v - e);
    if (!std::isfinite(out) && std::isnan(up) == std::isnan(out) && std::isnan(down) == std::isnan(out)) return;
    const bool leaves = std::isnan(up) != std::isnan(out) || std::isnan(down) != std::isnan(out); /* where f is defined */
    err = std::isfinite(e) && !leaves ? err + std::max(std::fabs(up - out), std::fabs(down - out)) : INFINITY;
}

double gelu_erf(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double gelu_tanh(double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }

bool unary(node &n) {
    static const std::map<std::string, double (*)(double)> functions = {
        {"exp", std::exp}, {"exp2", std::exp2}, {"expm1", std::expm1}, {"log", std::log}, {"log2", std::log2}, {"log1p", std::log1p}, {"sqrt", std::sqrt},
        {"rsqrt", [](double x) { return 1 / std::sqrt(x); }}, {"sin", std::sin}, {"cos", std::cos}, {"tanh", std::tanh}, {"erf", std::erf}, {"floor", std::floor},
        {"ceil", std::ceil}, {"round", std::nearbyint}, {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }}, {"gelu", gelu_erf},
        {"silu", [](double x) { return x / (1 + std::exp(-x)); }}, {"hardswish", [](double x) { return x * std::min(std::max(x + 3, 0.0), 6.0) / 6; }}, {"reciprocal", [](double x) { return 1 / x; }}};
    const auto found = functions.find(n.type);
    if (found == functions.end()) return false;
    auto f = found->second;
    if (n.is("gelu") && n.args.contains("approximate") && n.args["approximate"] == "tanh") f = gelu_tanh;
    make(n.out, n.x().shape, is_float(n.x().type) ? n.x().type : "f32");
    for (size_t i = 0; i < n.out.v.size(); i++) {
        through(f, n.x().v[i], n.x().e[i], n.out.v[i], n.out.e[i]);
        if (n.is("sin") || n.is("cos") || n.is("log") || n.is("log2")) n.out.e[i] += f32_step * 2;
        if (n.is("sin") || n.is("cos")) n.out.e[i] += std::min(2.0, n.x().e[i]); /* they turn round between both ends */
        if (n.is("gelu") || n.is("silu") || n.is("hardswish")) n.out.e[i] += f32_step * std::fabs(n.x().v[i]);
        if (n.type.rfind("exp", 0) == 0) n.out.e[i] += f32_step * std::fabs(n.x().v[i] * (n.out.v[i] + n.is("expm1"))); /* Metal: 3 + 2|x| ulp */
        if (n.is("reciprocal") && is_open(n.x().v[i], n.x().e[i])) n.out.e[i] = INFINITY;
    }
    return true;
}

bool same(node &n) {
    std::function<double(double)> f;
    if (n.is("neg")) f = [](double x) { return -x; };
    else if (n.is("abs")) f = [](double x) { return std::fabs(x); };
    else if (n.is("relu")) f = [](double x) { return x < 0 ? 0 : x; };
    else if (n.is("relu6")) f = [](double x) { return x < 0 ? 0 : x > 6 ? 6 : x; };
    else if (n.is("square")) f = [](double x) { return x * x; };
    else if (n.is("clamp"))
        f = [&](double x) {
            if (n.args.contains("min")) x = x < n.number("min", 0) ? n.number("min", 0) : x;
            if (n.args.contains("max")) x = x > n.number("max", 0) ? n.number("max", 0) : x;
            return x;
        };
    else return false;
    make(n.out, n.x().shape, n.x().type == "bool" ? "i32" : n.x().type);
    for (size_t i = 0; i < n.out.v.size(); i++) {
        through(f, n.x().v[i], n.x().e[i], n.out.v[i], n.out.e[i]);
        if (!is_float(n.out.type)) settle_whole(n.out.e[i]);
    }
    return true;
}

double modulo(double a, double b) { return std::fmod(a, b); }

double quotient_error(double x, double y, double ex, double ey) {
    if (ex == 0 && ey == 0) return 0;
    return is_open(y, ey) ? INFINITY : (ex + std::fabs(x / y) * ey) / (std::fabs(y) - ey) + f32_step * std::fabs(x / y);
}

bool binary(node &n) {
    static const char *const arithmetic[] = {"add", "sub", "mul", "div", "floordiv", "mod", "pow", "maximum", "minimum"};
    static const char *const logic[] = {"eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor"};
    const bool arith = std::find(std::begin(arithmetic), std::end(arithmetic), n.type) != std::end(arithmetic);
    const bool truth = std::find(std::begin(logic), std::end(logic), n.type) != std::end(logic);
    if (!arith && !truth) return false;
    tensor scalar;
    const bool has = n.in.size() == 1;
    if (has) {
        make(scalar, {}, n.x().type);
        scalar.v[0] = n.number("value", 0);
        if (!is_float(scalar.type) && scalar.v[0] != std::floor(scalar.v[0])) scalar.type = "f32";
        if (is_float(scalar.type)) scalar.e[0] = std::fabs(scalar.v[0]) * f32_step;
    }
    const tensor &a = n.x(), &b = has ? scalar : n.x(1);
    std::string   type = promote(a.type, b.type);
    if (arith && type == "bool") type = "i32";
    if ((n.is("div") || n.is("pow")) && !is_float(type)) type = "f32";
    if (truth && !(n.is("and") || n.is("or") || n.is("xor"))) type = "bool";
    if ((n.is("and") || n.is("or") || n.is("xor")) && is_float(type)) type = "bool";
    make(n.out, stretched(a.shape, b.shape), type);
    for (size_t i = 0; i < n.out.v.size(); i++) {
        const auto   at = index_of(i, n.out.shape);
        const size_t ia = place_in(at, a.shape), ib = place_in(at, b.shape);
        const double x = a.v[ia], y = b.v[ib], ex = a.e[ia], ey = b.e[ib];
        double      &r = n.out.v[i], &e = n.out.e[i];
        if (n.is("add")) r = x + y, e = ex + ey + f32_step * (std::fabs(x) + std::fabs(y));
        else if (n.is("sub")) r = x - y, e = ex + ey + f32_step * (std::fabs(x) + std::fabs(y));
        else if (n.is("mul")) r = product(x, y, type, n.want), e = std::fabs(x) * ey + std::fabs(y) * ex + ex * ey + f32_step * std::fabs(r);
        else if (n.is("div")) r = x / y, e = quotient_error(x, y, ex, ey) + f32_step * std::fabs(r);
        else if (n.is("floordiv")) r = std::floor(x / y), e = is_open(x / y - std::nearbyint(x / y), quotient_error(x, y, ex, ey)) ? INFINITY : 0;
        else if (n.is("mod")) r = modulo(x, y), e = is_open(x / y - std::nearbyint(x / y), quotient_error(x, y, ex, ey)) ? INFINITY : ex + ey * (1 + std::fabs(x / y));
        else if (n.is("pow")) r = std::pow(x, y), e = std::fabs(r) * (ex / std::max(std::fabs(x), 1e-30) * std::fabs(y) + ey * 10 + 30 * f32_step);
        else if (n.is("maximum")) r = std::max(x, y), e = std::max(ex, ey);
        else if (n.is("minimum")) r = std::min(x, y), e = std::max(ex, ey);
        else if (n.is("eq")) r = x == y;
        else if (n.is("ne")) r = x != y;
        else if (n.is("lt")) r = x < y;
        else if (n.is("le")) r = x <= y;
        else if (n.is("gt")) r = x > y;
        else if (n.is("ge")) r = x >= y;
        else if (type == "bool") r = n.is("and") ? x != 0 && y != 0 : n.is("or") ? x != 0 || y != 0 : (x != 0) != (y != 0);
        else {
            const int64_t p = static_cast<int64_t>(x), q = static_cast<int64_t>(y);
            r = static_cast<double>(n.is("and") ? p & q : n.is("or") ? p | q : p ^ q);
        }
        if (n.is("pow") && is_open(x, ex)) e = INFINITY;
        if ((n.is("floordiv") || n.is("mod")) && !is_float(type) && y == 0) e = INFINITY; /* as in Triton */
        if (truth) e = is_open(x - y, ex + ey) ? INFINITY : 0;
        if (truth && (n.is("and") || n.is("or") || n.is("xor"))) e = is_open(x, ex) || is_open(y, ey) ? INFINITY : 0;
        if (!is_float(n.out.type)) settle_whole(e);
    }
    return true;
}

/* What is known of a number of one type after a conversion to another. */
double cast_error(double v, double e, const std::string &from, const std::string &to) {
    if (is_float(to)) return e;
    if (to == "bool") return is_open(v, e) ? INFINITY : 0;
    const bool fits = std::fabs(v) < std::ldexp(1.0, bits_of(to) - 1);
    return e == 0 && (fits || !is_float(from)) ? 0 : is_open(v - std::nearbyint(v), e) || !fits ? INFINITY : 0;
}

bool several(node &n) {
    if (n.is("not")) {
        make(n.out, n.x().shape, is_float(n.x().type) ? "bool" : n.x().type);
        for (size_t i = 0; i < n.out.v.size(); i++) n.out.v[i] = n.out.type == "bool" ? n.x().v[i] == 0 : static_cast<double>(~static_cast<int64_t>(n.x().v[i]));
        return true;
    }
    if (n.is("cast")) {
        make(n.out, n.x().shape, n.want);
        for (size_t i = 0; i < n.out.v.size(); i++) {
            n.out.v[i] = round_to(n.x().v[i], n.want);
            n.out.e[i] = cast_error(n.x().v[i], n.x().e[i], n.x().type, n.want);
        }
        return true;
    }
    if (!n.is("where") && !n.is("fma")) return false;
    const bool   fma = n.is("fma");
    make(n.out, stretched(stretched(n.x(0).shape, n.x(1).shape), n.x(2).shape), fma ? promote(promote(n.x(0).type, n.x(1).type), n.x(2).type) : promote(n.x(1).type, n.x(2).type));
    if (fma && n.out.type == "bool") n.out.type = "i32";
    for (size_t i = 0; i < n.out.v.size(); i++) {
        const auto   at = index_of(i, n.out.shape);
        const size_t a = place_in(at, n.x(0).shape), b = place_in(at, n.x(1).shape), c = place_in(at, n.x(2).shape);
        if (!fma) {
            n.out.v[i] = n.x(0).v[a] != 0 ? n.x(1).v[b] : n.x(2).v[c];
            n.out.e[i] = n.x(0).v[a] != 0 ? n.x(1).e[b] : n.x(2).e[c];
            if (is_open(n.x(0).v[a], n.x(0).e[a])) n.out.e[i] = INFINITY;
            continue;
        }
        n.out.v[i] = n.x(0).v[a] * n.x(1).v[b] + n.x(2).v[c];
        n.out.e[i] = std::fabs(n.x(0).v[a]) * n.x(1).e[b] + std::fabs(n.x(1).v[b]) * n.x(0).e[a] + n.x(2).e[c] +
                     f32_step * (std::fabs(n.x(0).v[a] * n.x(1).v[b]) + std::fabs(n.x(2).v[c]));
        if (!is_float(n.out.type)) settle_whole(n.out.e[i]);
    }
    return true;
}

/* Philox 4x32 of ten rounds as tl.rand uses it. */
double uniform(uint64_t seed, uint64_t offset) {
    uint32_t c[4] = {static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32), 0, 0};
    uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
    for (int i = 0; i < 10; i++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        const uint64_t b = uint64_t{0xCD9E8D57u} * c[2], a = uint64_t{0xD2511F53u} * c[0];
        const uint32_t c1 = c[1], c3 = c[3];
        c[0] = static_cast<uint32_t>(b >> 32) ^ c1 ^ k0;
        c[2] = static_cast<uint32_t>(a >> 32) ^ c3 ^ k1;
        c[1] = static_cast<uint32_t>(b);
        c[3] = static_cast<uint32_t>(a);
    }
    const int32_t x = static_cast<int32_t>(c[0]);
    return static_cast<double>(static_cast<float>(x < 0 ? -x - 1 : x) * 4.6566126e-10f);
}

bool dropout(node &n) {
    if (!n.is("dropout")) return false;
    const double p = n.number("p", 0.5), seed = n.number("seed", 0), offset = n.number("offset", 0);
    make(n.out, n.x().shape, is_float(n.x().type) ? n.x().type : "f32");
    for (size_t i = 0; i < n.out.v.size(); i++)
        if (uniform(static_cast<uint64_t>(static_cast<int64_t>(seed)), i + static_cast<uint64_t>(offset)) > static_cast<double>(static_cast<float>(p)))
            n.out.v[i] = n.x().v[i] / (1 - p), n.out.e[i] = n.x().e[i] / (1 - p) + std::fabs(n.out.v[i]) * f32_step;
    return true;
}

bool reduce(node &n) {
    static const char *const kinds[] = {"sum", "mean", "prod", "max", "min", "argmax", "argmin", "any", "all"};
    if (n.is("reduce")) {
        n.type = n.args.contains("op") ? n.args["op"].get<std::string>() : "sum";
    }
    if (std::find(std::begin(kinds), std::end(kinds), n.type) == std::end(kinds)) return false;
    const auto on = axes_of(n, n.x().shape.size());
    shape      out;
    for (size_t d = 0; d < on.size(); d++) {
        if (!on[d]) out.push_back(n.x().shape[d]);
        else if (n.flag("keepdims")) out.push_back(1);
    }
    std::string type = n.x().type;
    if (n.type[0] == 'a' && n.type[1] == 'r') type = "i32";
    else if (n.is("any") || n.is("all")) type = "bool";
    else if (n.is("mean") && !is_float(type)) type = "f32";
    else if ((n.is("sum") || n.is("prod")) && !is_float(type) && bits_of(type) < 32) type = type[0] == 'u' ? "u32" : "i32";
    make(n.out, out, type);
    const bool          is_arg = n.is("argmax") || n.is("argmin"), low = n.is("min") || n.is("argmin");
    std::vector<double> best(n.out.v.size(), std::nan("")), near(n.out.v.size()), small(n.out.v.size(), 1), large(n.out.v.size(), 1), sum(n.out.v.size()), count(n.out.v.size());
    for (size_t i = 0; i < best.size(); i++) {
        if (n.is("prod") || n.is("all")) n.out.v[i] = 1;
        if (n.is("max") || n.is("min")) n.out.v[i] = std::nan("");
    }
    for (size_t i = 0; i < n.x().v.size(); i++) {
        const auto           at = index_of(i, n.x().shape);
        std::vector<int64_t> to;
        int64_t              place = 0;
        for (size_t d = 0; d < on.size(); d++) {
            if (on[d]) place = place * n.x().shape[d] + at[d];
            if (!on[d]) to.push_back(at[d]);
            else if (n.flag("keepdims")) to.push_back(0);
        }
        const size_t o = flat_of(to, out);
        const double x = n.x().v[i], ex = n.x().e[i];
        double      &r = n.out.v[o], &e = n.out.e[o];
        if (n.is("sum") || n.is("mean")) r += x, e += ex, sum[o] += std::fabs(x);
        else if (n.is("prod")) e = std::fabs(r) * ex + std::fabs(x) * e + 2 * f32_step * std::fabs(r * x), r = product(r, x, type), (std::fabs(x) < 1 ? small : large)[o] *= std::fabs(x);
        else if (n.is("any")) r = r != 0 || x != 0, e = is_open(x, ex) ? INFINITY : e;
        else if (n.is("all")) r = r != 0 && x != 0, e = is_open(x, ex) ? INFINITY : e;
        else if (is_arg) {
            if (is_open(x - best[o], ex + near[o]) && count[o]) e = INFINITY;
            else if (!std::isnan(x) && (low ? x < best[o] : x > best[o])) e = ex == 0 || std::isfinite(e) ? 0 : e;
            if (std::isnan(best[o]) ? !std::isnan(x) : low ? x < best[o] : x > best[o]) best[o] = x, near[o] = ex, r = static_cast<double>(place);
        } else {
            if (std::isnan(r) ? !std::isnan(x) : low ? x < r : x > r) r = x;
            e = std::max(e, ex);
        }
        count[o]++;
    }
    for (size_t i = 0; i < best.size(); i++) {
        if (n.is("sum") || n.is("mean")) n.out.e[i] += f32_step * 2 * sum[i] * std::max(1.0, std::log2(count[i]));
        if (n.is("prod") && (small[i] < 0x1p-126 || large[i] > 3e38)) n.out.e[i] = INFINITY; /* in some order it leaves the range */
        if (n.is("mean")) n.out.v[i] /= count[i], n.out.e[i] /= count[i];
        if (!is_float(type)) settle_whole(n.out.e[i]);
        if (std::isnan(n.out.e[i])) n.out.e[i] = INFINITY;
    }
    return true;
}

/* For ops along one run of axes: where an element's row begins, how long it is, and the stride. */
void rows_of(const shape &s, size_t first, size_t last, const std::function<void(const std::vector<size_t> &)> &f) {
    size_t before = 1, size = 1, after = 1;
    for (size_t d = 0; d < s.size(); d++) (d < first ? before : d < last ? size : after) *= static_cast<size_t>(s[d]);
    std::vector<size_t> row(size);
    for (size_t b = 0; b < before; b++)
        for (size_t a = 0; a < after; a++) {
            for (size_t k = 0; k < size; k++) row[k] = (b * size + k) * after + a;
            f(row);
        }
}

bool rows(node &n) {
    const bool soft = n.is("softmax") || n.is("log_softmax"), layer = n.is("layer_norm");
    if (!soft && !layer && !n.is("rms_norm")) return false;
    const int64_t rank = static_cast<int64_t>(n.x().shape.size());
    size_t        first = static_cast<size_t>(axis_of(n, rank, -1)), last = first + 1;
    if (n.args.contains("normalized_shape")) first = static_cast<size_t>(rank) - (n.args["normalized_shape"].is_array() ? n.args["normalized_shape"].size() : 1), last = static_cast<size_t>(rank);
    else if (n.args.contains("axis") && n.args["axis"].is_array()) {
        const auto on = axes_of(n, static_cast<size_t>(rank));
        for (first = 0; !on[first]; first++) {}
        for (last = first; last < on.size() && on[last]; last++) {}
    }
    const double eps = n.number("eps", 1e-5);
    make(n.out, n.x().shape, is_float(n.x().type) ? n.x().type : "f32");
    rows_of(n.x().shape, first, last, [&](const std::vector<size_t> &row) {
        const double size = static_cast<double>(row.size());
        double       top = -INFINITY, sum = 0, mean = 0, var = 0, err = 0, abs = 0;
        for (size_t i : row) top = std::max(top, n.x().v[i]), mean += n.x().v[i] / size, err = std::max(err, n.x().e[i]), abs = std::max(abs, std::fabs(n.x().v[i]));
        for (size_t i : row) sum += std::exp(n.x().v[i] - top), var += (n.x().v[i] - (layer ? mean : 0)) * (n.x().v[i] - (layer ? mean : 0)) / size;
        const double inv = 1 / std::sqrt(var + eps), slack = 30 * f32_step * (1 + abs) + 2 * err;
        for (size_t k = 0; k < row.size(); k++) {
            const size_t i = row[k];
            double      &r = n.out.v[i], &e = n.out.e[i];
            if (n.is("softmax")) r = std::exp(n.x().v[i] - top) / sum, e = r * slack + 1e-38;
            else if (n.is("log_softmax")) r = n.x().v[i] - top - std::log(sum), e = slack + std::fabs(r) * f32_step;
            else {
                r = (n.x().v[i] - (layer ? mean : 0)) * inv, e = inv * slack * 2 + std::fabs(r) * slack * inv * 2;
                double ew = 0;
                if (n.in.size() > 1) ew = std::fabs(r) * n.x(1).e[k], r *= n.x(1).v[k], e = e * std::fabs(n.x(1).v[k]) + ew;
                if (n.in.size() > 2) r += n.x(2).v[k], e += n.x(2).e[k] + f32_step * (std::fabs(r) + std::fabs(n.x(2).v[k]));
                if (var * size > 3.38e38) e = INFINITY; /* squares are added in f32, as everybody does */
            }
        }
    });
    return true;
}

bool matmul(node &n) {
    if (!n.is("matmul")) return false;
    const tensor &a = n.x(0), &b = n.x(1);
    const bool    ta = n.flag("transpose_a") && a.shape.size() > 1, tb = n.flag("transpose_b") && b.shape.size() > 1;
    shape         sa = a.shape, sb = b.shape;
    if (a.shape.size() == 1) sa.insert(sa.begin(), 1);
    if (b.shape.size() == 1) sb.push_back(1);
    const int64_t M = ta ? sa[sa.size() - 1] : sa[sa.size() - 2], K = ta ? sa[sa.size() - 2] : sa[sa.size() - 1], N = tb ? sb[sb.size() - 2] : sb[sb.size() - 1];
    shape         ba(sa.begin(), sa.end() - 2), bb(sb.begin(), sb.end() - 2), batch = stretched(ba, bb), out = batch;
    if (a.shape.size() > 1) out.push_back(M);
    if (b.shape.size() > 1) out.push_back(N);
    std::string type = promote(a.type, b.type);
    if (!is_float(type) && bits_of(type) < 32) type = "i32";
    make(n.out, out, type);
    size_t batches = 1;
    for (int64_t d : batch) batches *= static_cast<size_t>(d);
    for (size_t q = 0; q < batches; q++) {
        const auto   at = index_of(q, batch);
        const size_t oa = place_in(at, ba) * static_cast<size_t>(M * K), ob = place_in(at, bb) * static_cast<size_t>(K * N);
        for (int64_t m = 0; m < M; m++)
            for (int64_t c = 0; c < N; c++) {
                double r = 0, e = 0, mag = 0;
                for (int64_t k = 0; k < K; k++) {
                    const size_t i = oa + static_cast<size_t>(ta ? k * M + m : m * K + k), j = ob + static_cast<size_t>(tb ? c * K + k : k * N + c);
                    r += product(a.v[i], b.v[j], type);
                    mag += std::fabs(a.v[i] * b.v[j]);
                    e += std::fabs(a.v[i]) * b.e[j] + std::fabs(b.v[j]) * a.e[i];
                }
                const size_t o = q * static_cast<size_t>(M * N) + static_cast<size_t>(m * N + c);
                n.out.v[o] = r;
                n.out.e[o] = is_float(type) ? e + mag * 4 * f32_step * std::log2(2.0 + static_cast<double>(K)) : 0;
                if (n.in.size() == 3) {
                    const size_t w = place_in(index_of(o, out), n.x(2).shape);
                    n.out.v[o] += n.x(2).v[w];
                    n.out.e[o] += n.x(2).e[w] + f32_step * std::fabs(n.x(2).v[w]);
                    if (!is_float(type)) settle_whole(n.out.e[o]);
                }
            }
    }
    return true;
}

bool attention(node &n) {
    if (!n.is("attention")) return false;
    const tensor &q = n.x(0), &k = n.x(1), &v = n.x(2);
    const size_t  r = q.shape.size();
    const int64_t Sq = q.shape[r - 2], Sk = k.shape[r - 2], D = q.shape[r - 1], Dv = v.shape[r - 1], group = r > 2 ? q.shape[r - 3] / k.shape[r - 3] : 1;
    const double  scale = n.number("scale", 1 / std::sqrt(static_cast<double>(D)));
    const std::string how = n.args.contains("causal") && n.args["causal"].is_string() ? n.args["causal"].get<std::string>() : "";
    const bool        causal = n.flag("causal") || !how.empty();
    const int64_t     seen = how == "bottom_right" || how == "lower_right" ? Sk - Sq : static_cast<int64_t>(n.number("causal_offset", 0)); /* beyond i */
    shape         out = q.shape, scores = q.shape, batch(q.shape.begin(), q.shape.end() - 2), kb(k.shape.begin(), k.shape.end() - 2);
    out[r - 1] = Dv;
    scores[r - 1] = Sk;
    const std::string type = promote(promote(q.type, k.type), v.type);
    make(n.out, out, type);
    size_t batches = 1;
    for (int64_t d : batch) batches *= static_cast<size_t>(d);
    for (size_t b = 0; b < batches; b++) {
        auto at = index_of(b, batch);
        if (r > 2) at[r - 3] /= group;
        const size_t kv = flat_of(at, kb);
        for (int64_t i = 0; i < Sq; i++) {
            std::vector<double> s(static_cast<size_t>(Sk)), e(static_cast<size_t>(Sk));
            double              top = -INFINITY, sum = 0, worst = 0;
            for (int64_t j = 0; j < Sk; j++) {
                double x = 0, ex = 0;
                for (int64_t d = 0; d < D; d++) {
                    const size_t iq = (b * static_cast<size_t>(Sq) + static_cast<size_t>(i)) * static_cast<size_t>(D) + static_cast<size_t>(d);
                    const size_t ik = (kv * static_cast<size_t>(Sk) + static_cast<size_t>(j)) * static_cast<size_t>(D) + static_cast<size_t>(d);
                    x += q.v[iq] * k.v[ik];
                    ex += std::fabs(q.v[iq]) * k.e[ik] + std::fabs(k.v[ik]) * q.e[iq] + std::fabs(q.v[iq] * k.v[ik]) * 4 * f32_step;
                }
                x *= scale, ex *= std::fabs(scale);
                if (n.in.size() == 4) {
                    auto as = index_of(b, batch);
                    as.push_back(i), as.push_back(j);
                    const double m = n.x(3).v[place_in(as, n.x(3).shape)];
                    if (n.x(3).type == "bool") x = m != 0 ? x : -INFINITY;
                    else x += m;
                }
                if (causal && j > i + seen) x = -INFINITY;
                s[static_cast<size_t>(j)] = x, e[static_cast<size_t>(j)] = ex;
                top = std::max(top, x);
                worst = std::max(worst, ex);
            }
            for (double &x : s) x = top == -INFINITY ? 0 : std::exp(x - top), sum += x;
            for (int64_t d = 0; d < Dv; d++) {
                double y = 0, mag = 0, ev = 0;
                for (int64_t j = 0; j < Sk && sum > 0; j++) {
                    const size_t iv = (kv * static_cast<size_t>(Sk) + static_cast<size_t>(j)) * static_cast<size_t>(Dv) + static_cast<size_t>(d);
                    const double p = s[static_cast<size_t>(j)] / sum;
                    y += p * v.v[iv], mag += p * std::fabs(v.v[iv]), ev += p * v.e[iv];
                }
                const size_t o = (b * static_cast<size_t>(Sq) + static_cast<size_t>(i)) * static_cast<size_t>(Dv) + static_cast<size_t>(d);
                n.out.v[o] = y;
                n.out.e[o] = ev + mag * (2 * worst + step_of(type) + 40 * f32_step);
            }
        }
    }
    return true;
}

bool conv2d(node &n) {
    if (!n.is("conv2d")) return false;
    const tensor &x = n.x(0), &w = n.x(1);
    auto pair = [&](const char *key, int64_t missing, size_t i) {
        if (!n.args.contains(key)) return missing;
        return n.args[key].is_array() ? n.args[key][i].get<int64_t>() : n.args[key].get<int64_t>();
    };
    const int64_t groups = static_cast<int64_t>(n.number("groups", 1)), C = w.shape[1], KH = w.shape[2], KW = w.shape[3], O = w.shape[0];
    auto size = [&](size_t i) { return (x.shape[2 + i] + 2 * pair("padding", 0, i) - pair("dilation", 1, i) * (w.shape[2 + i] - 1) - 1) / pair("stride", 1, i) + 1; };
    make(n.out, {x.shape[0], O, size(0), size(1)}, promote(x.type, w.type));
    for (size_t o = 0; o < n.out.v.size(); o++) {
        const auto at = index_of(o, n.out.shape);
        double     r = 0, e = 0, mag = 0;
        for (int64_t c = 0; c < C; c++)
            for (int64_t ky = 0; ky < KH; ky++)
                for (int64_t kx = 0; kx < KW; kx++) {
                    const int64_t y = at[2] * pair("stride", 1, 0) + ky * pair("dilation", 1, 0) - pair("padding", 0, 0);
                    const int64_t z = at[3] * pair("stride", 1, 1) + kx * pair("dilation", 1, 1) - pair("padding", 0, 1);
                    if (y < 0 || z < 0 || y >= x.shape[2] || z >= x.shape[3]) continue;
                    const size_t i = flat_of({at[0], at[1] / (O / groups) * C + c, y, z}, x.shape), j = flat_of({at[1], c, ky, kx}, w.shape);
                    r += x.v[i] * w.v[j], mag += std::fabs(x.v[i] * w.v[j]), e += std::fabs(x.v[i]) * w.e[j] + std::fabs(w.v[j]) * x.e[i];
                }
        if (n.in.size() == 3) r += n.x(2).v[static_cast<size_t>(at[1])], mag += std::fabs(n.x(2).v[static_cast<size_t>(at[1])]);
        n.out.v[o] = r;
        n.out.e[o] = e + mag * 40 * f32_step;
    }
    return true;
}

bool cumsum(node &n) {
    if (!n.is("cumsum")) return false;
    const size_t axis = static_cast<size_t>(axis_of(n, static_cast<int64_t>(n.x().shape.size()), -1));
    std::string  type = n.x().type;
    if (!is_float(type) && bits_of(type) < 32) type = type[0] == 'u' ? "u32" : "i32";
    make(n.out, n.x().shape, type);
    rows_of(n.x().shape, axis, axis + 1, [&](const std::vector<size_t> &row) {
        double sum = 0, mag = 0, e = 0;
        for (size_t k = 0; k < row.size(); k++) {
            const size_t i = n.flag("reverse") ? row[row.size() - 1 - k] : row[k];
            if (n.flag("exclusive")) n.out.v[i] = sum, n.out.e[i] = e + mag * 8 * f32_step;
            sum += n.x().v[i], mag += std::fabs(n.x().v[i]), e += n.x().e[i];
            if (!n.flag("exclusive")) n.out.v[i] = sum, n.out.e[i] = e + mag * 8 * f32_step;
            if (!is_float(type)) settle_whole(n.out.e[i]);
        }
    });
    return true;
}

bool moves(node &n) {
    const tensor &x = n.x();
    const int64_t rank = static_cast<int64_t>(x.shape.size());
    if (n.is("transpose")) {
        std::vector<int64_t> perm;
        if (n.args.contains("perm")) perm = n.args["perm"].get<std::vector<int64_t>>();
        else
            for (int64_t i = rank; i-- > 0;) perm.push_back(i);
        if (n.args.contains("dim0")) { /* these two swapped, the others as they are */
            std::sort(perm.begin(), perm.end());
            const int64_t a = n.args["dim0"], b = n.args["dim1"];
            std::swap(perm[static_cast<size_t>(a < 0 ? a + rank : a)], perm[static_cast<size_t>(b < 0 ? b + rank : b)]);
        }
        shape s;
        for (int64_t &p : perm) p = p < 0 ? p + rank : p, s.push_back(x.shape[static_cast<size_t>(p)]);
        make(n.out, s, x.type);
        for (size_t o = 0; o < n.out.v.size(); o++) {
            const auto           at = index_of(o, s);
            std::vector<int64_t> from(perm.size());
            for (size_t d = 0; d < perm.size(); d++) from[static_cast<size_t>(perm[d])] = at[d];
            n.out.v[o] = x.v[flat_of(from, x.shape)], n.out.e[o] = x.e[flat_of(from, x.shape)];
        }
        return true;
    }
    if (n.is("reshape") || n.is("broadcast")) {
        shape  s = n.args["shape"].get<shape>();
        size_t known = 1;
        for (int64_t d : s) known *= d < 0 ? 1 : static_cast<size_t>(d);
        for (size_t i = 0; i < s.size(); i++)
            if (s[i] < 0) s[i] = n.is("broadcast") ? x.shape[i + x.shape.size() - s.size()] : static_cast<int64_t>(x.v.size() / known);
        make(n.out, s, x.type);
        for (size_t o = 0; o < n.out.v.size(); o++) {
            const size_t i = n.is("reshape") ? o : place_in(index_of(o, s), x.shape);
            n.out.v[o] = x.v[i], n.out.e[o] = x.e[i];
        }
        return true;
    }
    if (n.is("concat")) {
        const size_t axis = static_cast<size_t>(axis_of(n, rank, 0));
        shape        s = x.shape;
        std::string  type = x.type;
        for (size_t i = 1; i < n.in.size(); i++) s[axis] += n.x(i).shape[axis], type = promote(type, n.x(i).type);
        make(n.out, s, type);
        for (size_t o = 0; o < n.out.v.size(); o++) {
            auto   at = index_of(o, s);
            size_t i = 0;
            for (; at[axis] >= n.x(i).shape[axis]; i++) at[axis] -= n.x(i).shape[axis];
            n.out.v[o] = n.x(i).v[flat_of(at, n.x(i).shape)], n.out.e[o] = n.x(i).e[flat_of(at, n.x(i).shape)];
        }
        return true;
    }
    return false;
}

bool indexed(node &n) {
    const tensor &x = n.x();
    const int64_t rank = static_cast<int64_t>(x.shape.size());
    if (n.is("gather")) {
        const size_t axis = static_cast<size_t>(axis_of(n, rank, 0));
        make(n.out, n.x(1).shape, x.type);
        for (size_t o = 0; o < n.out.v.size(); o++) {
            auto at = index_of(o, n.out.shape);
            at[axis] = static_cast<int64_t>(n.x(1).v[o]);
            if (at[axis] < 0 || at[axis] >= x.shape[axis]) continue;
            n.out.v[o] = x.v[flat_of(at, x.shape)], n.out.e[o] = x.e[flat_of(at, x.shape)];
        }
        return true;
    }
    if (n.is("embedding")) {
        shape        s = x.shape;
        const size_t D = static_cast<size_t>(n.x(1).shape[1]);
        s.push_back(n.x(1).shape[1]);
        make(n.out, s, n.x(1).type);
        for (size_t o = 0; o < n.out.v.size(); o++) {
            const double row = x.v[o / D];
            if (row < 0 || row >= static_cast<double>(n.x(1).shape[0])) continue;
            n.out.v[o] = n.x(1).v[static_cast<size_t>(row) * D + o % D], n.out.e[o] = n.x(1).e[static_cast<size_t>(row) * D + o % D];
        }
        return true;
    }
    if (n.is("scatter_add")) {
        const size_t        axis = static_cast<size_t>(axis_of(n, rank, 0));
        std::vector<double> mag(x.v.size());
        n.out = x;
        for (size_t i = 0; i < mag.size(); i++) mag[i] = std::fabs(x.v[i]);
        for (size_t o = 0; o < n.x(2).v.size(); o++) {
            auto at = index_of(o, n.x(2).shape);
            at[axis] = static_cast<int64_t>(n.x(1).v[o]);
            if (at[axis] < 0 || at[axis] >= x.shape[axis]) continue;
            const size_t i = flat_of(at, x.shape);
            const double v = is_float(x.type) ? n.x(2).v[o] : round_to(n.x(2).v[o], x.type);
            n.out.v[i] += v, n.out.e[i] += cast_error(n.x(2).v[o], n.x(2).e[o], n.x(2).type, x.type), mag[i] += std::fabs(v);
        }
        for (size_t i = 0; i < mag.size(); i++)
            if (is_float(x.type)) n.out.e[i] += mag[i] * 8 * f32_step;
        return true;
    }
    if (n.is("sort") || n.is("topk")) {
        const size_t axis = static_cast<size_t>(axis_of(n, rank, -1));
        const bool   down = n.is("topk") ? !(n.args.contains("largest") && n.args["largest"] == json(false)) : (n.flag("descending") || n.flag("largest"));
        shape        s = x.shape;
        if (n.is("topk")) s[axis] = n.args["k"].get<int64_t>();
        make(n.out, s, n.flag("indices") ? "i32" : x.type);
        std::vector<std::vector<size_t>> to;
        rows_of(s, axis, axis + 1, [&](const std::vector<size_t> &row) { to.push_back(row); });
        size_t at = 0;
        rows_of(x.shape, axis, axis + 1, [&](const std::vector<size_t> &row) {
            std::vector<size_t> order(row.size());
            for (size_t i = 0; i < order.size(); i++) order[i] = i;
            std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { /* NaN counts as the largest */
                const double p = x.v[row[a]], q = x.v[row[b]];
                const bool   less = std::isnan(q) ? !std::isnan(p) : p < q, more = std::isnan(p) ? !std::isnan(q) : p > q;
                return down ? more : less;
            });
            for (size_t i = 0; i < to[at].size(); i++) {
                n.out.v[to[at][i]] = n.flag("indices") ? static_cast<double>(order[i]) : x.v[row[order[i]]];
                n.out.e[to[at][i]] = n.flag("indices") ? 0 : x.e[row[order[i]]];
            }
            at++;
        });
        return true;
    }
    return false;
}

/* -- What lists build of other ops: by their definitions, element by element -- */

int64_t entry(const node &n, const char *key, size_t i, int64_t missing) { /* of a list, or one number for all */
    if (!n.args.contains(key)) return missing;
    return n.args[key].is_array() ? n.args[key][n.args[key].size() == 1 ? 0 : i].get<int64_t>() : n.args[key].get<int64_t>();
}

/* PyTorch's x[start:end:step], with negative steps as Python has them. */
bool sliced(node &n) {
    if (!n.is("slice") && !n.is("split")) return false;
    const tensor        &x = n.x();
    const int64_t        rank = static_cast<int64_t>(x.shape.size());
    std::vector<std::vector<int64_t>> taken(x.shape.size());
    for (size_t d = 0; d < taken.size(); d++)
        for (int64_t i = 0; i < x.shape[d]; i++) taken[d].push_back(i);
    if (n.is("split")) {
        const size_t  axis = static_cast<size_t>(axis_of(n, rank, 0)), nth = n.op["nth"], parts = n.op["outputs"].size();
        int64_t       first = 0, size = x.shape[axis] / static_cast<int64_t>(parts);
        for (size_t i = 0; i <= nth; i++) {
            if (n.args.contains("sizes")) size = n.args["sizes"][i];
            if (i < nth) first += size;
        }
        taken[axis].assign(taken[axis].begin() + first, taken[axis].begin() + first + size);
    } else {
        size_t count = 1;
        for (const char *key : {"axis", "start", "end", "step"})
            if (n.args.contains(key) && n.args[key].is_array()) count = n.args[key].size();
        for (size_t k = 0; k < count; k++) {
            int64_t axis = entry(n, "axis", k, static_cast<int64_t>(k)), step = entry(n, "step", k, 1);
            if (axis < 0) axis += rank;
            const int64_t size = x.shape[static_cast<size_t>(axis)];
            int64_t       i = entry(n, "start", k, step > 0 ? 0 : size), end = entry(n, "end", k, step > 0 ? size : -size - 1);
            if (i < 0) i += size;
            if (end < 0) end += size;
            i = step > 0 ? std::max<int64_t>(i, 0) : std::min(i, size - 1);
            taken[static_cast<size_t>(axis)].clear();
            for (; i >= 0 && i < size && (step > 0 ? i < end : i > end); i += step) taken[static_cast<size_t>(axis)].push_back(i);
        }
    }
    shape s;
    for (const auto &t : taken) s.push_back(static_cast<int64_t>(t.size()));
    make(n.out, s, x.type);
    for (size_t o = 0; o < n.out.v.size(); o++) {
        auto at = index_of(o, s);
        for (size_t d = 0; d < at.size(); d++) at[d] = taken[d][static_cast<size_t>(at[d])];
        n.out.v[o] = x.v[flat_of(at, x.shape)], n.out.e[o] = x.e[flat_of(at, x.shape)];
    }
    return true;
}

bool padded(node &n) {
    if (!n.is("pad")) return false;
    const tensor        &x = n.x();
    const size_t         rank = x.shape.size();
    std::vector<int64_t> before(rank, 0), after(rank, 0);
    for (size_t d = 0; d < rank; d++) {
        if (n.args.contains("pads")) before[d] = n.args["pads"][d], after[d] = n.args["pads"][rank + d];
        else if (n.args.contains("pad")) {
            if (2 * (rank - d) <= n.args["pad"].size()) before[d] = n.args["pad"][2 * (rank - 1 - d)], after[d] = n.args["pad"][2 * (rank - 1 - d) + 1];
        } else if (n.args["pad_width"].is_number()) before[d] = after[d] = n.args["pad_width"];
        else before[d] = n.args["pad_width"][d][0], after[d] = n.args["pad_width"][d][1];
    }
    shape s = x.shape;
    for (size_t d = 0; d < rank; d++) s[d] += before[d] + after[d];
    make(n.out, s, x.type);
    for (double &v : n.out.v) v = round_to(n.number("value", 0), x.type);
    for (size_t i = 0; i < x.v.size(); i++) {
        auto at = index_of(i, x.shape);
        for (size_t d = 0; d < rank; d++) at[d] += before[d];
        n.out.v[flat_of(at, s)] = x.v[i], n.out.e[flat_of(at, s)] = x.e[i];
    }
    return true;
}

bool rope(node &n) {
    if (!n.is("rope")) return false;
    const tensor &x = n.x();
    const size_t  last = x.shape.size() - 1;
    const int64_t D = x.shape[last], dims = static_cast<int64_t>(n.number("dims", static_cast<double>(D)));
    const bool    pairs = n.flag("traditional") || n.flag("interleaved");
    int64_t       along = static_cast<int64_t>(n.number("seq_axis", -2));
    if (along < 0) along += static_cast<int64_t>(x.shape.size());
    n.out = x;
    for (size_t o = 0; o < x.v.size(); o++) {
        auto at = index_of(o, x.shape);
        if (at[last] >= dims) continue;
        const int64_t d = at[last], j = pairs ? d / 2 : d % (dims / 2);
        const bool    first = pairs ? d % 2 == 0 : d < dims / 2;
        at[last] = pairs ? d + (first ? 1 : -1) : d + (first ? dims / 2 : -dims / 2);
        const size_t p = flat_of(at, x.shape);
        double       position = static_cast<double>(at[static_cast<size_t>(along)]);
        at.pop_back();
        if (n.in.size() == 2) position = n.x(1).v[place_in(at, n.x(1).shape)];
        position = (position + n.number("offset", 0)) * n.number("scale", 1);
        const double exponent = -2.0 * static_cast<double>(j) / static_cast<double>(dims);
        const double angle = position * std::pow(n.number("base", 10000), exponent);
        const double off = std::min(2.0, std::fabs(angle) * 2e-6) + 8 * f32_step, c = std::cos(angle), s = std::sin(angle);
        n.out.v[o] = first ? x.v[o] * c - x.v[p] * s : x.v[p] * s + x.v[o] * c;
        n.out.e[o] = x.e[o] + x.e[p] + off * (std::fabs(x.v[o]) + std::fabs(x.v[p]));
    }
    return true;
}

bool pooled(node &n) {
    const bool most = n.is("max_pool2d");
    if (!most && !n.is("avg_pool2d")) return false;
    const tensor &x = n.x();
    shape         s = x.shape;
    int64_t       kernel[2], stride[2], pad[2], gap[2];
    const bool    whole = n.flag("ceil_mode"), all = !n.args.contains("count_include_pad") || n.flag("count_include_pad");
    for (size_t i = 0; i < 2; i++) {
        kernel[i] = entry(n, "kernel_size", i, 1), stride[i] = entry(n, "stride", i, kernel[i]), pad[i] = entry(n, "padding", i, 0), gap[i] = entry(n, "dilation", i, 1);
        const int64_t room = x.shape[2 + i] + 2 * pad[i] - gap[i] * (kernel[i] - 1) - 1;
        int64_t       count = room / stride[i] + 1;
        if (whole && room % stride[i] && count * stride[i] < x.shape[2 + i] + pad[i]) count++;
        s[2 + i] = count;
    }
    make(n.out, s, !most && !is_float(x.type) ? "f32" : x.type);
    for (size_t o = 0; o < n.out.v.size(); o++) {
        const auto at = index_of(o, s);
        double     top = -INFINITY, sum = 0, mag = 0, e = 0, count = 0;
        for (int64_t ky = 0; ky < kernel[0]; ky++)
            for (int64_t kx = 0; kx < kernel[1]; kx++) {
                const int64_t y = at[2] * stride[0] - pad[0] + ky * gap[0], z = at[3] * stride[1] - pad[1] + kx * gap[1];
                const bool    inside = y >= 0 && z >= 0 && y < x.shape[2] && z < x.shape[3];
                if (inside || (all && y < x.shape[2] + pad[0] && z < x.shape[3] + pad[1])) count++;
                if (!inside) continue;
                const size_t i = flat_of({at[0], at[1], y, z}, x.shape);
                if (std::isnan(x.v[i]) || x.v[i] > top) top = x.v[i];
                sum += x.v[i], mag += std::fabs(x.v[i]), e = most ? std::max(e, x.e[i]) : e + x.e[i];
                if (std::isnan(x.v[i])) top = x.v[i], ky = kernel[0], kx = kernel[1]; /* one is enough */
            }
        n.out.v[o] = most ? top : sum / count;
        n.out.e[o] = most ? e : (e + mag * 4 * f32_step * std::max(1.0, std::log2(count))) / count;
    }
    return true;
}

bool channels(node &n) {
    const bool group = n.is("group_norm");
    if (!group && !n.is("batch_norm")) return false;
    const tensor  &x = n.x();
    const size_t   axis = group ? 1 : static_cast<size_t>(axis_of(n, static_cast<int64_t>(x.shape.size()), 1));
    const double   eps = n.number("eps", 1e-5);
    const tensor  *weight = group ? (n.in.size() > 1 ? &n.x(1) : nullptr) : n.in.size() == 5 ? &n.x(1) : nullptr;
    const tensor  *bias = group ? (n.in.size() > 2 ? &n.x(2) : nullptr) : n.in.size() == 5 ? &n.x(2) : nullptr;
    const int64_t  groups = group ? static_cast<int64_t>(n.number("groups", n.number("num_groups", 1))) : 1;
    const size_t   sets = group ? static_cast<size_t>(x.shape[0] * groups) : 0;
    std::vector<double> mean(sets), var(sets), count(sets), abs(sets), err(sets);
    auto set_of = [&](const std::vector<int64_t> &at) { return static_cast<size_t>(at[0] * groups + at[1] / (x.shape[1] / groups)); };
    make(n.out, x.shape, is_float(x.type) ? x.type : "f32");
    for (size_t i = 0; i < x.v.size() && group; i++) {
        const size_t s = set_of(index_of(i, x.shape));
        mean[s] += x.v[i], count[s]++, abs[s] = std::max(abs[s], std::fabs(x.v[i])), err[s] = std::max(err[s], x.e[i]);
    }
    for (size_t s = 0; s < sets; s++) mean[s] /= count[s];
    for (size_t i = 0; i < x.v.size() && group; i++) {
        const size_t s = set_of(index_of(i, x.shape));
        var[s] += (x.v[i] - mean[s]) * (x.v[i] - mean[s]) / count[s];
    }
    for (size_t i = 0; i < x.v.size(); i++) {
        const auto   at = index_of(i, x.shape);
        const size_t c = static_cast<size_t>(at[axis]);
        double       m, v, slack;
        if (group) {
            const size_t s = set_of(at);
            m = mean[s], v = var[s] + eps, slack = 30 * f32_step * (1 + abs[s]) + 2 * err[s];
            if (v * count[s] > 3.38e38) slack = INFINITY;
        } else {
            const tensor &mt = n.x(n.in.size() - 2), &vt = n.x(n.in.size() - 1);
            m = mt.v[c], v = vt.v[c] + eps, slack = 4 * f32_step * (std::fabs(x.v[i]) + std::fabs(m)) + x.e[i] + mt.e[c];
            if (vt.e[c] > 0) slack = vt.e[c] < v / 2 ? slack + std::fabs(x.v[i] - m) * vt.e[c] / v : INFINITY;
        }
        const double inv = 1 / std::sqrt(v);
        double       r = (x.v[i] - m) * inv, e = inv * slack * 2 + std::fabs(r) * (group ? slack * inv * 2 : 8 * f32_step);
        if (weight) e = e * std::fabs(weight->v[c]) + std::fabs(r) * weight->e[c], r *= weight->v[c];
        if (bias) e += bias->e[c] + f32_step * (std::fabs(r) + std::fabs(bias->v[c])), r += bias->v[c];
        n.out.v[i] = r, n.out.e[i] = e;
    }
    return true;
}

bool upsampled(node &n) {
    if (!n.is("upsample_nearest")) return false;
    const tensor &x = n.x();
    shape         s = x.shape;
    for (size_t d = 2; d < s.size(); d++) s[d] *= entry(n, "scale_factor", d - 2, 1);
    make(n.out, s, x.type);
    for (size_t o = 0; o < n.out.v.size(); o++) {
        auto at = index_of(o, s);
        for (size_t d = 2; d < s.size(); d++) at[d] /= entry(n, "scale_factor", d - 2, 1);
        n.out.v[o] = x.v[flat_of(at, x.shape)], n.out.e[o] = x.e[flat_of(at, x.shape)];
    }
    return true;
}

bool taken(node &n) {
    const bool along = n.is("take_along_axis") || (n.is("gather") && n.flag("broadcast"));
    if (!along && !n.is("take")) return false;
    const tensor &x = n.x(), &index = n.x(1);
    const size_t  axis = static_cast<size_t>(axis_of(n, static_cast<int64_t>(x.shape.size()), 0)), inner = index.shape.size();
    shape         s;
    for (size_t d = 0; d < x.shape.size(); d++) {
        if (d != axis) s.push_back(along ? std::max(x.shape[d], index.shape[d]) : x.shape[d]);
        else if (along) s.push_back(index.shape[d]);
        else s.insert(s.end(), index.shape.begin(), index.shape.end());
    }
    make(n.out, s, x.type);
    for (size_t o = 0; o < n.out.v.size(); o++) {
        auto at = index_of(o, s), from = at;
        if (along) {
            for (size_t d = 0; d < at.size(); d++) at[d] = index.shape[d] == 1 ? 0 : at[d], from[d] = x.shape[d] == 1 ? 0 : from[d];
        } else {
            at.assign(from.begin() + static_cast<long>(axis), from.begin() + static_cast<long>(axis + inner));
            from.erase(from.begin() + static_cast<long>(axis), from.begin() + static_cast<long>(axis + inner));
            from.insert(from.begin() + static_cast<long>(axis), 0);
        }
        from[axis] = static_cast<int64_t>(index.v[flat_of(at, index.shape)]);
        if (from[axis] < 0 || from[axis] >= x.shape[axis]) continue;
        n.out.v[o] = x.v[flat_of(from, x.shape)], n.out.e[o] = x.e[flat_of(from, x.shape)];
    }
    return true;
}

void apply(node &n) {
    if (!(taken(n) || sliced(n) || padded(n) || rope(n) || pooled(n) || channels(n) || upsampled(n) || unary(n) || same(n) || binary(n) || several(n) || dropout(n) || reduce(n) || rows(n) || matmul(n) || attention(n) || conv2d(n) || cumsum(n) || moves(n) || indexed(n)))
        throw std::runtime_error("the reference has no op '" + n.type + "'");
    if (!n.want.empty() && n.want != n.out.type) {
        for (size_t i = 0; i < n.out.v.size(); i++) n.out.e[i] = cast_error(n.out.v[i], n.out.e[i], n.out.type, n.want);
        n.out.type = n.want;
    }
    settle(n.out);
}

struct random {
    uint64_t state;
    double   next() { /* 0 to 1 */
        state += 0x9e3779b97f4a7c15u;
        uint64_t z = state;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * std::ldexp(1.0, -53);
    }
};

/* "positive", "nonzero", "special" (NaN, infinities and -0 among them), "ties", "index:N", "share:P" (of ones) */
void fill(tensor &t, const std::string &how, random &r) {
    for (double &v : t.v) {
        const double u = r.next();
        if (how.rfind("index:", 0) == 0) v = std::floor(u * std::stod(how.substr(6)));
        else if (how.rfind("share:", 0) == 0) v = u < std::stod(how.substr(6));
        else if (t.type == "bool") v = u < 0.5;
        else if (!is_float(t.type)) v = t.type[0] == 'u' || how == "positive" ? std::floor(u * 100) + 1 : std::floor(u * 200) - 100;
        else if (how == "ties") v = std::floor(u * 5) - 2;
        else v = u * 4 - 2;
        if (how == "positive" && is_float(t.type)) v = std::fabs(v) + 0.05;
        if (how == "nonzero" && v == 0) v = 1;
        if (how == "nonzero" && is_float(t.type)) v = v < 0 ? v - 0.25 : v + 0.25;
        if (how == "special") {
            const double w = r.next();
            if (w < 0.1) v = NAN;
            else if (w < 0.15) v = INFINITY;
            else if (w < 0.2) v = -INFINITY;
            else if (w < 0.3) v = -0.0;
        }
        v = round_to(v, t.type);
    }
}

} // namespace

answer evaluate(const std::string &text, uint64_t seed) {
    const json  list = json::parse(text);
    json        ops = json::array(); /* an op with several results is one for each here */
    for (const json &op : list.is_array() ? list : list["ops"]) {
        if (!op.contains("outputs")) ops.push_back(op);
        else
            for (size_t nth = 0; nth < op["outputs"].size(); nth++) {
                ops.push_back(op);
                ops.back()["id"] = op["outputs"][nth];
                ops.back()["nth"] = nth;
                if (!op.contains("inputs")) ops.back()["inputs"] = {"#" + op["outputs"][0].get<std::string>()};
            }
    }
    std::map<std::string, size_t>  op_of;
    std::vector<node>              nodes(ops.size());
    std::map<std::string, tensor *> named;
    std::vector<std::unique_ptr<tensor>> inputs;
    std::vector<bool>              read(ops.size(), false), done(ops.size(), false);
    random                         r{seed};
    for (size_t i = 0; i < ops.size(); i++) {
        std::string type = ops[i]["type"];
        if (type.rfind("tt.", 0) == 0) type = type.substr(3);
        nodes[i].type = type;
        nodes[i].op = ops[i];
        nodes[i].args = ops[i].value("args", json::object());
        if (type == "linear") {
            nodes[i].type = "matmul";
            if (!nodes[i].args.contains("transpose_b")) nodes[i].args["transpose_b"] = true;
        }
        nodes[i].id = ops[i].value("id", "#" + std::to_string(i));
        op_of[nodes[i].id] = i;
    }
    for (size_t i = 0; i < ops.size(); i++) {
        const json &op = ops[i];
        const json  names = op.value("inputs", json::array()), shapes = op.value("input_shapes", json::array()), types = op.value("input_dtypes", json::array()),
                   how = op.value("test_inputs", json::array());
        const std::string type = nodes[i].type;
        if (nodes[i].args.contains("dtype")) nodes[i].want = canonical(nodes[i].args["dtype"]);
        if (type == "cast" && nodes[i].want.empty()) nodes[i].want = canonical(op["dtype"]);
        for (size_t k = 0; k < std::max(names.size(), shapes.size()); k++) {
            const std::string name = k < names.size() && names[k].is_string() ? names[k].get<std::string>() : "";
            if (!name.empty() && op_of.count(name)) {
                read[op_of[name]] = true;
                nodes[i].in.push_back(&nodes[op_of[name]].out);
                continue;
            }
            if (!name.empty() && named.count(name)) {
                nodes[i].in.push_back(named[name]);
                continue;
            }
            std::string t = "f32";
            const bool  index = ((type == "gather" || type == "take_along_axis" || type == "take" || type == "rope" || type == "scatter_add") && k == 1) || (type == "embedding" && k == 0), condition = type == "where" && k == 0;
            if (k < types.size() && types[k].is_string()) t = canonical(types[k]);
            else if (index) t = "i32";
            else if (condition) t = "bool";
            else if (op.contains("dtype") && !(type == "cast" && !nodes[i].args.contains("dtype"))) t = canonical(op["dtype"]);
            else if (nodes[i].args.contains("dtype") && type != "cast") t = canonical(nodes[i].args["dtype"]);
            inputs.push_back(std::make_unique<tensor>());
            make(*inputs.back(), shapes[k].get<shape>(), t);
            fill(*inputs.back(), k < how.size() && how[k].is_string() ? how[k].get<std::string>() : "", r);
            if (!name.empty()) named[name] = inputs.back().get();
            nodes[i].in.push_back(inputs.back().get());
        }
    }
    for (size_t left = nodes.size(); left;) {
        const size_t before = left;
        for (size_t i = 0; i < nodes.size(); i++) {
            if (done[i]) continue;
            bool ready = true;
            for (const tensor *t : nodes[i].in)
                for (size_t k = 0; k < nodes.size(); k++) ready = ready && (t != &nodes[k].out || done[k]);
            if (!ready) continue;
            apply(nodes[i]);
            if (read[i]) settle_overflow(nodes[i].out);
            done[i] = true;
            left--;
        }
        if (left == before) throw std::runtime_error("a cycle");
    }
    answer a;
    for (auto &t : inputs) a.inputs.push_back(*t);
    for (size_t i = 0; i < nodes.size(); i++)
        if (!read[i]) a.results.push_back(nodes[i].out);
    return a;
}

} // namespace oplist
