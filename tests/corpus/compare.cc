#include "compare.h"

#include "../sim/numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <sstream>

namespace corpus {

namespace {

/* -- Numbers ----------------------------------------------------------------------------------- */

/* An 8-bit float: `exponent` bits, a bias, and which codes are special. */
struct fp8_format {
    unsigned exponent, fraction;
    int      bias;
    bool     ieee;                 /* infinities and NaNs as in larger formats */
    bool     negative_zero_is_nan; /* fnuz */
};

const fp8_format &format_of(element kind) {
    static const fp8_format e5m2{5, 2, 15, true, false}, e4m3fn{4, 3, 7, false, false},
        e4m3fnuz{4, 3, 8, false, true}, e5m2fnuz{5, 2, 16, false, true},
        e4m3b11{4, 3, 11, false, true};
    switch (kind) {
    case element::e4m3fn: return e4m3fn;
    case element::e4m3fnuz: return e4m3fnuz;
    case element::e5m2fnuz: return e5m2fnuz;
    case element::e4m3b11: return e4m3b11;
    default: return e5m2;
    }
}

double decode_fp8(uint8_t code, element kind) {
    const fp8_format &f = format_of(kind);
    const unsigned    exponent = code >> f.fraction & ((1u << f.exponent) - 1),
                   fraction = code & ((1u << f.fraction) - 1);
    const double sign = code & 0x80 ? -1 : 1, nan = std::numeric_limits<double>::quiet_NaN();
    if (f.negative_zero_is_nan && code == 0x80) return nan;
    if (f.ieee && exponent == (1u << f.exponent) - 1)
        return fraction ? nan : sign * std::numeric_limits<double>::infinity();
    if (kind == element::e4m3fn && (code & 0x7f) == 0x7f) return nan;
    if (exponent == 0)
        return sign * std::ldexp(fraction, 1 - f.bias - static_cast<int>(f.fraction));
    return sign * std::ldexp((1u << f.fraction) + fraction,
                             static_cast<int>(exponent) - f.bias - static_cast<int>(f.fraction));
}

/* How many codes of its format lie between two fp8 numbers; zeros of either sign are one. */
int codes_apart(uint8_t a, uint8_t b) {
    const auto order = [](uint8_t c) { return c & 0x80 ? -(c & 0x7f) : c & 0x7f; };
    return std::abs(order(a) - order(b));
}

/* The distance between neighbours of an fp8 format near x. */
double unit_near(double x, element kind) {
    const fp8_format &f = format_of(kind);
    const double      least = std::ldexp(1.0, 1 - f.bias - static_cast<int>(f.fraction));
    if (x == 0 || !std::isfinite(x)) return least;
    return std::max(least, std::ldexp(1.0, std::ilogb(x) - static_cast<int>(f.fraction)));
}

template <typename T> T load(const uint8_t *p) {
    T x;
    std::memcpy(&x, p, sizeof x);
    return x;
}

} // namespace

double decode(const uint8_t *p, element kind) {
    switch (kind) {
    case element::f64: return load<double>(p);
    case element::f32: return static_cast<double>(load<float>(p));
    case element::f16: return static_cast<double>(sim::half_to_float(load<uint16_t>(p)));
    case element::bf16: return static_cast<double>(sim::bfloat_to_float(load<uint16_t>(p)));
    case element::integer:
    case element::boolean: return 0;
    default: return decode_fp8(*p, kind);
    }
}

/* -- What the program rounds to ---------------------------------------------------------------- */

namespace {

bool begins(const std::string &s, const char *with) { return s.rfind(with, 0) == 0; }

/* The operation of a line: after `%x =` or at the start, quoted or not. */
std::string operation_of(const std::string &line) {
    size_t at = line.find_first_not_of(" \t");
    if (at == std::string::npos) return "";
    if (line[at] == '%') {
        at = line.find(" = ", at);
        if (at == std::string::npos) return "";
        at += 3;
    }
    if (at < line.size() && line[at] == '"') at++;
    size_t end = at;
    while (end < line.size() && (std::isalnum(static_cast<unsigned char>(line[end])) ||
                                 line[end] == '.' || line[end] == '_'))
        end++;
    return line.substr(at, end - at);
}

/* The types of an operation: what follows the last ` : ` outside of its location. */
std::string types_of(const std::string &line) {
    std::string  s = line.substr(0, line.find(" loc("));
    const size_t colon = s.rfind(" : ");
    return colon == std::string::npos ? "" : s.substr(colon + 3);
}

/* The last type: a result where the types are `A -> B`, else the only one. */
std::string result_type(const std::string &types) {
    for (const char *arrow : {" -> ", " to "}) {
        const size_t at = types.rfind(arrow);
        if (at != std::string::npos) return types.substr(at + std::strlen(arrow));
    }
    return types;
}

/* Element types that a piece of text mentions, as whole words: `tensor<8x16xf32>` holds f32. */
std::vector<element> floats_in(const std::string &text) {
    std::vector<element> found;
    for (size_t at = 0; at < text.size();) {
        if (!std::isalpha(static_cast<unsigned char>(text[at]))) {
            at++;
            continue;
        }
        if (text[at] == 'x' && at && std::isdigit(static_cast<unsigned char>(text[at - 1]))) {
            at++; /* the x of a dimension */
            continue;
        }
        size_t end = at;
        while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end]))) end++;
        const std::string word = text.substr(at, end - at);
        if (word == "f64" || word == "f32" || word == "f16" || word == "bf16" ||
            begins(word, "f8E")) {
            try {
                found.push_back(parse_element(word).kind);
            } catch (const std::exception &) { /* a float type of scales, which no buffer has */
            }
        }
        at = end;
    }
    return found;
}

bool computes(const std::string &op) {
    static const char *const names[] = {
        "arith.addf",      "arith.subf",    "arith.mulf",
        "arith.divf",      "arith.remf",    "arith.negf",
        "arith.maxnumf",   "arith.minnumf", "arith.maximumf",
        "arith.minimumf",  "arith.truncf",  "arith.sitofp",
        "arith.uitofp",    "tt.fp_to_fp",   "tt.precise_sqrt",
        "tt.precise_divf", "tt.clampf",     "tt.extern_elementwise",
        "tt.dot",          "tt.dot_scaled", "tt.elementwise_inline_asm"};
    return begins(op, "math.") ||
           std::any_of(std::begin(names), std::end(names), [&](const char *n) { return op == n; });
}

int coarseness(element e) {
    switch (e) {
    case element::f64: return 0;
    case element::f32: return 1;
    case element::f16: return 2;
    case element::bf16: return 3;
    case element::e4m3fn:
    case element::e4m3fnuz:
    case element::e4m3b11: return 4;
    case element::e5m2:
    case element::e5m2fnuz: return 5;
    default: return -1;
    }
}

double norm_bound(element e) {
    switch (e) {
    case element::f64: return 1e-10;
    case element::f32: return 2e-5;
    case element::f16: return 2e-3;
    case element::bf16: return 1.6e-2;
    default: return 0;
    }
}

/* A widening conversion rounds nothing. */
bool widens(const std::string &op, const std::string &types) {
    if (op != "tt.fp_to_fp") return false;
    const std::vector<element> all = floats_in(types);
    return all.size() >= 2 && coarseness(all.back()) < coarseness(all.front());
}

void add(std::vector<element> &list, element e) {
    if (std::find(list.begin(), list.end(), e) == list.end()) list.push_back(e);
}

bool is_fp8(element e) { return coarseness(e) >= 4; }

} // namespace

namespace {

/* tf32, but not tf32x3, which corrects its roundings. */
bool has_tf32(const std::string &line) {
    static const std::string text = "inputPrecision = tf32";
    const size_t             at = line.find(text);
    return at != std::string::npos &&
           (at + text.size() == line.size() || line[at + text.size()] != 'x');
}

} // namespace

precision read_precision(const std::string &ttir) {
    precision          p;
    std::istringstream in(ttir);
    for (std::string line; std::getline(in, line);) {
        const std::string op = operation_of(line), types = types_of(line);
        if (op == "tt.dot" || op == "tt.dot_scaled") {
            const std::vector<element> all = floats_in(types);
            p.tf32_dot |= has_tf32(line) && !all.empty() && all[0] == element::f32;
            p.fp8_dot |= op == "tt.dot_scaled" || std::any_of(all.begin(), all.end(), is_fp8);
        }
        if (op == "tt.atomic_rmw" && line.find("fadd") != std::string::npos) p.float_atomics = true;
        const bool counts =
            computes(op) || (op == "tt.atomic_rmw" && line.find("fadd") != std::string::npos);
        if (!counts || widens(op, types)) continue;
        for (element e : floats_in(result_type(types))) add(p.rounds_to, e);
    }
    return p;
}

bound bound_for(element_type buffer, const precision &p) {
    element coarsest = buffer.kind;
    for (element e : p.rounds_to)
        if (coarseness(e) > coarseness(coarsest)) coarsest = e;
    bound b;
    b.per_element = is_fp8(coarsest);
    b.grid = coarsest;
    b.norm = norm_bound(coarsest);
    if (p.tf32_dot) b.norm = std::max(b.norm, 2e-3);
    if (p.fp8_dot) b.norm = std::max(b.norm, 2e-2);
    if (p.float_atomics) b.norm *= 10;
    return b;
}

/* -- Buffers ----------------------------------------------------------------------------------- */

namespace {

std::string number_text(double x) {
    char text[40];
    snprintf(text, sizeof text, "%.9g", x);
    return text;
}

std::string hex_text(const uint8_t *p, unsigned bytes) {
    std::string s = "0x";
    char        two[3];
    for (unsigned i = bytes; i-- > 0;) {
        snprintf(two, sizeof two, "%02x", p[i]);
        s += two;
    }
    return s;
}

comparison compare_exactly(const uint8_t *got, const uint8_t *want, size_t bytes,
                           element_type type) {
    comparison c;
    c.elements = bytes / type.bytes;
    for (size_t i = 0; i < bytes; i += type.bytes) {
        const unsigned n = static_cast<unsigned>(std::min<size_t>(type.bytes, bytes - i));
        if (std::memcmp(got + i, want + i, n) == 0) continue;
        c.differing++;
        if (c.first >= 0) continue;
        c.first = static_cast<long>(i / type.bytes);
        c.why = "element " + std::to_string(c.first) + " is " + hex_text(got + i, n) +
                ", should be " + hex_text(want + i, n);
    }
    c.error = c.elements ? static_cast<double>(c.differing) / static_cast<double>(c.elements) : 0;
    c.right = c.differing == 0;
    return c;
}

/* NaN where NaN is wanted, infinities equal. */
bool special_values_agree(double g, double w) {
    if (std::isnan(w) || std::isnan(g)) return std::isnan(w) && std::isnan(g);
    if (std::isinf(w) || std::isinf(g)) return g == w;
    return true;
}

void wrong_at(comparison &c, size_t i, double g, double w, const std::string &note) {
    if (!c.right) return;
    c.right = false;
    c.first = static_cast<long>(i);
    c.why = "element " + std::to_string(i) + " is " + number_text(g) + ", should be " +
            number_text(w) + note;
}

} // namespace

comparison compare(const uint8_t *got, const uint8_t *want, size_t bytes, element_type type,
                   const bound &b) {
    if (!type.is_float()) return compare_exactly(got, want, bytes, type);
    comparison c;
    double     difference = 0, size = 0;
    long       first_far = -1;
    const auto g_at = [&](size_t i) { return decode(got + i * type.bytes, type.kind); };
    const auto w_at = [&](size_t i) { return decode(want + i * type.bytes, type.kind); };
    c.elements = bytes / type.bytes;
    for (size_t i = 0; i < c.elements; i++) {
        const double g = g_at(i), w = w_at(i);
        if (!special_values_agree(g, w)) {
            wrong_at(c, i, g, w, "");
            c.differing++;
            continue;
        }
        if (!std::isfinite(w)) continue;
        const double d = std::fabs(g - w);
        difference += d * d;
        size += w * w;
        c.largest = std::max(c.largest, d);
        if (d == 0) continue;
        c.differing++;
        if (c.right && c.first < 0) c.first = static_cast<long>(i);
        if (!b.per_element || first_far >= 0) continue;
        const bool far =
            type.is_fp8()
                ? codes_apart(got[i], want[i]) > 1
                : d > unit_near(std::max(std::fabs(g), std::fabs(w)), b.grid) * (1 + 1e-9);
        if (far) first_far = static_cast<long>(i);
    }
    c.error = difference == 0 ? 0
              : size == 0     ? std::numeric_limits<double>::infinity()
                              : std::sqrt(difference / size);
    const bool near_enough = c.error <= b.norm || (b.per_element && first_far < 0);
    if (c.right && !near_enough) {
        const size_t      i = static_cast<size_t>(first_far >= 0 ? first_far : c.first);
        const std::string limit = b.norm > 0 ? number_text(b.norm) : "one unit in the last place";
        wrong_at(c, i, g_at(i), w_at(i),
                 "; error " + number_text(c.error) + " in the norm, bound " + limit);
    }
    if (bytes % type.bytes &&
        std::memcmp(got + c.elements * type.bytes, want + c.elements * type.bytes,
                    bytes % type.bytes) != 0) {
        c.right = false;
        c.why = "the bytes after the last element differ";
    }
    return c;
}

namespace {

/* The pointer type that a buffer was passed by; a float type wins over an integer one. */
element_type type_of(const recorded_case &c, unsigned buffer) {
    element_type type;
    bool         found = false;
    for (const recorded_parameter &p : c.parameters) {
        if (!p.is_buffer || p.buffer != buffer) continue;
        if (!found || (p.type.is_float() && !type.is_float())) type = p.type;
        found = true;
    }
    return type;
}

} // namespace

comparison compare_buffer(const recorded_case &c, unsigned i, const precision &p, bool written, const uint8_t *got) {
    const recorded_buffer &b = c.buffers[i];
    if (!b.has_out && !b.has_in) return {};
    const auto        *want = reinterpret_cast<const uint8_t *>(c.bytes.data()) + (b.has_out ? b.out : b.in);
    const element_type type = b.has_out || written ? type_of(c, i) : element_type();
    return compare(got, want, b.size, type, bound_for(type, p));
}

} // namespace corpus
