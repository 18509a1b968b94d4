/* Facts, the pool of values, and text: what every maker of operations uses. */
#include "maker.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace made {

/* -- Types ---------------------------------------------------------------------------------------- */

/* `least` keeps f32 and bf16 far from denormals, which the hardware flushes. */
static const kind kinds[] = {
    {"i1", 1, false, 0, 0, 1},
    {"i8", 8, false, 0, 0, 0x1p7},
    {"i16", 16, false, 0, 0, 0x1p15},
    {"i32", 32, false, 0, 0, 0x1p31},
    {"i64", 64, false, 0, 0, 0x1p63},
    {"f16", 16, true, 11, -24, 65504},
    {"bf16", 16, true, 8, -90, 1e30},
    {"f32", 32, true, 24, -90, 1e30},
    {"f64", 64, true, 53, -900, 1e200},
    {"f8E5M2", 8, true, 3, -16, 57344},
    {"f8E4M3FN", 8, true, 4, -9, 448},
};

double kind::unit() const { return std::ldexp(1.0, -precision); }

const kind &kind_named(const std::string &name) { return kind_named(name.c_str()); }

const kind &kind_named(const char *name) {
    for (const kind &k : kinds)
        if (std::string(name) == k.name) return k;
    throw std::runtime_error(std::string("no type ") + name);
}

const std::vector<const kind *> &whole_kinds() {
    static const std::vector<const kind *> all = {&kinds[1], &kinds[2], &kinds[3], &kinds[3], &kinds[3], &kinds[4]};
    return all;
}

const std::vector<const kind *> &real_kinds() {
    static const std::vector<const kind *> all = {&kinds[5], &kinds[6], &kinds[7], &kinds[7], &kinds[7], &kinds[8]};
    return all;
}

size_t count_of(const shape &dims) {
    size_t n = 1;
    for (uint32_t d : dims) n *= d;
    return n;
}

static std::string shaped(const shape &dims, const std::string &element) {
    std::string s = "tensor<";
    if (dims.empty()) return element;
    for (uint32_t d : dims) s += std::to_string(d) + "x";
    return s + element + ">";
}

std::string type_text(const kind &k, const shape &dims) { return shaped(dims, k.name); }
std::string pointer_text(const kind &k, const shape &dims) { return shaped(dims, std::string("!tt.ptr<") + k.name + ">"); }
std::string value::type() const { return type_text(*k, dims); }

/* -- Facts -------------------------------------------------------------------------------------------- */

facts whole(double most, const kind &k) {
    facts f;
    f.most = std::min(most, k.most);
    return f;
}

facts any_of(const kind &k) { return whole(k.most, k); }

bool is_exact(const kind &k, const facts &f) {
    return f.sure() && f.grain != any_grain && f.grain >= k.least && f.most <= k.most && f.most <= std::ldexp(1.0, f.grain + k.precision);
}

facts join(const facts &a, const facts &b) {
    facts r;
    r.most = std::max(a.most, b.most);
    r.grain = std::min(a.grain, b.grain);
    r.error = std::max(a.error, b.error);
    r.product = a.product || b.product;
    r.loose_zero = a.loose_zero || b.loose_zero;
    r.wild = a.wild || b.wild;
    return r;
}

bool round_once(const kind &k, facts &f) {
    if (f.wild || f.most > k.most / 2 || !(f.error <= f.most * 0x1p-5)) return false;
    if (f.grain != any_grain && f.grain < k.least) return false;
    if (f.error > 0) f.error += 2 * k.unit() * f.most;
    if (!is_exact(k, f)) f.most *= 1 + k.unit();
    return true;
}

bool sum_of(const kind &k, const facts &a, const facts &b, facts &r) {
    r = join(a, b);
    r.product = false;
    r.most = a.most + b.most;
    r.error = a.error + b.error;
    if (is_exact(k, r)) return !r.wild;
    /* Fused with the product, the sum lacks the product's rounding. */
    if (a.product) r.error += k.unit() * (a.most + 2 * r.most);
    if (b.product) r.error += k.unit() * (b.most + 2 * r.most);
    return round_once(k, r);
}

bool product_of(const kind &k, const facts &a, const facts &b, facts &r) {
    r = join(a, b);
    r.most = a.most * b.most;
    r.error = a.most * b.error + b.most * a.error + a.error * b.error;
    r.grain = a.grain == any_grain || b.grain == any_grain ? any_grain : a.grain + b.grain;
    r.product = false;
    if (is_exact(k, r)) return !r.wild;
    if (r.grain == any_grain && r.error == 0) return false; /* might come near the denormals */
    r.product = true;
    return round_once(k, r);
}

/* -- Text ------------------------------------------------------------------------------------------------- */

void maker::line(const std::string &s) { text_ += std::string(2 * indent_, ' ') + s + "\n"; }

std::string maker::fresh() { return "%v" + std::to_string(names_++); }

value maker::add(const value &v) {
    pool_.push_back(v);
    return v;
}

const std::string &maker::use(const value &v) {
    read_.insert(v.name);
    return v.name;
}

value maker::give(const std::string &op_text, const kind &k, const shape &dims, const facts &f) {
    value v;
    v.name = fresh();
    v.k = &k;
    v.dims = dims;
    v.f = f;
    line(v.name + " = " + op_text);
    return v;
}

value maker::plain(const std::string &op, const std::vector<value> &in, const facts &f) {
    std::string s = op;
    for (size_t i = 0; i < in.size(); i++) s += (i ? ", " : " ") + use(in[i]);
    return give(s + " : " + in[0].type(), *in[0].k, in[0].dims, f);
}

static std::string literal_of(const kind &k, double x) {
    char text[64];
    if (k.bits == 1) return x != 0 ? "true" : "false";
    std::snprintf(text, sizeof text, k.is_float ? "%.6e" : "%.0f", x);
    return text;
}

value maker::constant(const kind &k, const shape &dims, double x) {
    facts             f;
    const std::string t = type_text(k, dims), one = literal_of(k, x);
    f.most = std::fabs(x);
    f.grain = x == 0 || std::floor(x) == x ? 0 : -6;
    if (dims.empty() && k.bits == 1) return give("arith.constant " + one, k, dims, f);
    return give("arith.constant " + (dims.empty() ? one : "dense<" + one + ">") + " : " + t, k, dims, f);
}

value maker::whole_constant(const kind &k, const shape &dims, int64_t x) {
    const std::string one = std::to_string(x), t = type_text(k, dims);
    facts             f;
    f.most = std::fabs(static_cast<double>(x));
    return give("arith.constant " + (dims.empty() ? one : "dense<" + one + ">") + " : " + t, k, dims, f);
}

/* Eighths between -4 and 4, or integers: mostly small, now and then the ends of the range. */
value maker::any_constant(const kind &k, const shape &dims) {
    if (k.is_byte_float()) throw std::runtime_error("a constant of fp8");
    if (k.is_float) return constant(k, dims, static_cast<double>(rng_.between(-16, 16)) / 4);
    if (k.bits == 1) return constant(k, dims, rng_.one_in(2) ? 1 : 0);
    const bool end = rng_.one_in(8);
    if (end && k.bits < 64) return whole_constant(k, dims, rng_.one_in(2) ? (int64_t(1) << (k.bits - 1)) - 1 : -(int64_t(1) << (k.bits - 1)));
    if (end) return whole_constant(k, dims, rng_.one_in(2) ? INT64_MAX : INT64_MIN);
    if (dims.size() == 1 && dims[0] <= 16 && rng_.one_in(2)) {
        std::string list;
        for (uint32_t i = 0; i < dims[0]; i++) list += (i ? ", " : "") + std::to_string(rng_.between(-99, 99));
        return give("arith.constant dense<[" + list + "]> : " + type_text(k, dims), k, dims, whole(99, k));
    }
    return whole_constant(k, dims, rng_.between(-99, 99));
}

value maker::splat(const value &scalar, const shape &dims) {
    return give("tt.splat " + use(scalar) + " : " + scalar.type() + " -> " + type_text(*scalar.k, dims), *scalar.k, dims, scalar.f);
}

/* -- Choosing ------------------------------------------------------------------------------------------------- */

/* A random factorisation of a power of two. */
shape maker::split_count(size_t count, unsigned rank) {
    shape dims(rank, 1);
    for (; count > 1; count /= 2) dims[rng_.below(rank)] *= 2;
    return dims;
}

shape maker::random_dims(size_t most) {
    unsigned log = 0;
    while (size_t(2) << log <= most) log++;
    const unsigned bits = log - static_cast<unsigned>(rng_.below(std::min(log + 1, 5u)));
    const uint64_t dice = rng_.below(10);
    return split_count(size_t(1) << bits, dice < 4 ? 1 : dice < 8 ? 2 : dice < 9 ? 3 : 4);
}

/* Late values more often, so that chains grow. */
value maker::pick(const std::function<bool(const value &)> &fits) {
    std::vector<size_t> all;
    for (size_t i = 0; i < pool_.size(); i++)
        if (fits(pool_[i])) all.push_back(i);
    if (all.empty()) return value();
    const uint64_t a = rng_.below(all.size()), b = rng_.below(all.size());
    return pool_[all[chance(60) ? std::max(a, b) : a]];
}

value maker::pick_whole(bool booleans_too) {
    return pick([&](const value &v) { return v.k->is_int() && (booleans_too || v.k->bits > 1); });
}

value maker::pick_real(bool sure) {
    return pick([&](const value &v) { return v.k->is_float && !v.k->is_byte_float() && !v.f.wild && (!sure || v.f.sure()); });
}

value maker::like(const value &v, const std::function<bool(const value &)> &fits) {
    const auto same = [&](const value &w) { return w.k == v.k && w.dims == v.dims && fits(w); };
    if (chance(70))
        if (const value w = pick([&](const value &x) { return same(x) && x.name != v.name; })) return w;
    if (!v.is_scalar() && chance(50))
        if (const value w = pick([&](const value &x) { return x.is_scalar() && x.k == v.k && fits(x); })) return splat(w, v.dims);
    if (chance(15) && fits(v)) return v;
    if (v.k->is_byte_float()) return v;
    return any_constant(*v.k, v.dims);
}

value maker::like(const value &v) {
    return like(v, [](const value &) { return true; });
}

/* An i1 of this shape; scalar ones serve a select of tensors too, now and then. */
value maker::condition(const shape &dims) {
    const kind &i1 = kind_named("i1");
    if (chance(60))
        if (const value c = pick([&](const value &v) { return v.k == &i1 && v.dims == dims; })) return c;
    value a = pick([&](const value &v) { return v.k->is_int() && v.k->bits > 1 && v.dims == dims; });
    if (!a) a = any_constant(kind_named("i32"), dims);
    const value       b = like(a);
    static const char *const predicates[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
    const char *const p = predicates[rng_.below(10)];
    const std::string s = std::string("arith.cmpi ") + p + ", " + use(a) + ", " + use(b) + " : " + a.type();
    return give(s, i1, dims, whole(1, i1));
}

/* One mask: i8 has room for 7 bits beside the sign. */
value maker::masked(const value &a, int64_t mask) {
    const value m = whole_constant(*a.k, a.dims, mask);
    return plain("arith.andi", {a, m}, whole(static_cast<double>(mask), *a.k));
}

/* Not zero, and not -1 where the dividend may be the least number. */
value maker::divisor(const value &a, bool is_signed) {
    if (chance(40)) {
        int64_t x = rng_.between(1, 99);
        if (is_signed && chance(40)) x = -x - 1;
        return whole_constant(*a.k, a.dims, x);
    }
    value       d = like(a);
    const value one = whole_constant(*a.k, a.dims, 1);
    if (is_signed) d = masked(d, rng_.one_in(2) ? 7 : 127);
    return plain("arith.ori", {d, one}, is_signed ? whole(d.f.most + 1, *a.k) : any_of(*a.k));
}

value maker::clamped(const value &a, double low, double high) {
    const value l = constant(*a.k, a.dims, low), h = constant(*a.k, a.dims, high);
    facts       f = join(a.f, join(l.f, h.f));
    f.most = std::max(std::fabs(low), std::fabs(high));
    f.product = false;
    f.loose_zero = true;
    if (chance(50) && allowed("tt.clampf"))
        return give("tt.clampf " + use(a) + ", " + use(l) + ", " + use(h) + ", propagateNan = none : " + a.type(), *a.k, a.dims, f);
    const value m = plain("arith.maxnumf", {a, l}, f);
    return plain("arith.minnumf", {m, h}, f);
}

value maker::away_from_zero(const value &a) {
    facts f = a.f, r;
    f.product = f.loose_zero = false;
    const value p = plain("math.absf", {a}, f), one = constant(*a.k, a.dims, 1);
    if (!sum_of(*a.k, p.f, one.f, r)) return value();
    return plain("arith.addf", {p, one}, r);
}

value maker::as_i32(const value &a) {
    const kind &i32 = kind_named("i32");
    if (a.k == &i32) return a;
    const char *const op = a.k->bits > 32 ? "arith.trunci " : rng_.one_in(2) && a.k->bits > 1 ? "arith.extsi " : "arith.extui ";
    return give(op + use(a) + " : " + a.type() + " to " + type_text(i32, a.dims), i32, a.dims, any_of(i32));
}

} // namespace made
