/* Operations element by element: chosen among the rows of tmetal's table by the rule of their types, so that
 * a new row is made too. */
#include "maker.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace made {

static bool starts(const std::string &s, const char *with) { return s.compare(0, std::strlen(with), with) == 0; }
static bool has(const std::string &s, const char *part) { return s.find(part) != std::string::npos; }

/* -- Integers ---------------------------------------------------------------------------------------- */

static facts whole_facts(const std::string &op, const kind &k, const facts &a, const facts &b) {
    if (op == "arith.addi" || op == "arith.subi") return whole(a.most + b.most, k);
    if (op == "arith.muli") return whole(a.most * b.most, k);
    if (has(op, "divui")) return any_of(k); /* of a negative number */
    if (has(op, "div") || has(op, "absi")) return whole(a.most, k);
    if (has(op, "max") || has(op, "min")) return has(op, "ui") ? any_of(k) : whole(std::max(a.most, b.most), k);
    if (starts(op, "math.ct")) return whole(k.bits, k);
    return any_of(k);
}

/* What makes sense on booleans. */
static bool takes_booleans(const std::string &op) {
    for (const char *name : {"arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori", "arith.maxui", "arith.minui"})
        if (op == name) return true;
    return false;
}

bool maker::whole_op(const ti_table_row &row) {
    const std::string op = row.name;
    const value       a = op == "tt.mulhiui" ? pick([](const value &v) { return v.k->is_int() && v.k->bits >= 32; }) : pick_whole(takes_booleans(op));
    if (!a) return false;
    if (row.in == 1) return add(plain(op, {a}, whole_facts(op, *a.k, a.f, a.f))), true;
    value b;
    if (has(op, "div") || has(op, "rem")) b = divisor(a, has(op, "si"));
    else if (has(op, ".sh")) b = chance(50) ? whole_constant(*a.k, a.dims, rng_.between(0, a.k->bits - 1)) : masked(like(a), a.k->bits - 1);
    else if (op == "math.ipowi") b = masked(like(a), 7);
    else b = like(a);
    add(plain(op, {a, b}, whole_facts(op, *a.k, a.f, b.f)));
    return true;
}

bool maker::extended(const ti_table_row &row) {
    const value a = pick_whole(false);
    if (!a) return false;
    const value       b = like(a);
    const bool        sum = has(row.name, "addui");
    const kind       &second = sum ? kind_named("i1") : *a.k;
    const std::string low = fresh(), high = fresh();
    line(low + ", " + high + " = " + row.name + " " + use(a) + ", " + use(b) + " : " + a.type() + ", " + type_text(second, a.dims));
    value v = a;
    v.name = low;
    v.f = any_of(*a.k);
    add(v);
    v.name = high;
    v.k = &second;
    v.f = any_of(second);
    add(v);
    return true;
}

/* -- Floats ------------------------------------------------------------------------------------------------ */

/* Functions on a stretch of their domain: how steep they are there, how large, and the error that is allowed
 * of them, in units of the last place of `most`. Wider than Metal's specification allows a function. */
static const struct {
    const char *op;
    double      low, high, slope, most;
} functions[] = {
    {"math.exp", -4, 4, 55, 55},        {"math.exp2", -6, 6, 45, 64},     {"math.expm1", -4, 4, 55, 55},
    {"math.log", 0.0625, 64, 16, 5},    {"math.log2", 0.0625, 64, 24, 7}, {"math.log10", 0.0625, 64, 7, 2},
    {"math.log1p", -0.5, 64, 2, 5},     {"math.sin", -64, 64, 1, 1},      {"math.cos", -64, 64, 1, 1},
    {"math.tan", -1, 1, 4, 2},          {"math.asin", -0.75, 0.75, 2, 1}, {"math.acos", -0.75, 0.75, 2, 3},
    {"math.atan", -32, 32, 1, 2},       {"math.sinh", -4, 4, 28, 28},     {"math.cosh", -4, 4, 28, 28},
    {"math.tanh", -8, 8, 1, 1},         {"math.asinh", -32, 32, 1, 5},    {"math.acosh", 1.5, 64, 1, 5},
    {"math.atanh", -0.75, 0.75, 3, 1},  {"math.sqrt", 0.25, 1024, 1, 32}, {"math.rsqrt", 0.25, 1024, 4, 2},
    {"math.cbrt", 0.125, 512, 2, 8},    {"math.erf", -4, 4, 2, 1},        {"math.erfc", -4, 4, 2, 2},
};
static const double function_ulps = 16;

bool maker::real_function(const std::string &op) {
    for (const auto &fn : functions) {
        if (op != fn.op) continue;
        const value a = pick_real(false);
        if (!a || (a.k->bits == 16 && chance(70)) || (a.k->bits == 64 && !allowed("math of f64"))) return false;
        const value x = clamped(a, fn.low, fn.high);
        facts       f;
        f.most = fn.most;
        f.grain = any_grain;
        f.error = x.f.error * fn.slope + function_ulps * a.k->unit() * fn.most;
        if (!round_once(*a.k, f)) return false;
        add(plain(op, {x}, f));
        return true;
    }
    return false;
}

/* Divisors are at least 1, so no quotient is larger than its dividend. */
bool maker::division(const std::string &op, const value &a) {
    const bool exact = op == "tt.precise_divf", rest = op == "arith.remf";
    if ((exact || op == "tt.approx_divf") && a.k->bits != 32) return false;
    if ((exact || rest) && !a.f.sure()) return false;
    const value b = away_from_zero(like(a, [&](const value &v) { return !v.f.wild && (!(exact || rest) || v.f.sure()); }));
    if (!b) return false;
    facts f = join(a.f, b.f);
    f.product = false;
    f.most = rest ? std::min(a.f.most, b.f.most) : a.f.most;
    if (!rest) f.grain = any_grain;
    if (rest && f.grain == any_grain) return false;
    if (!rest && !exact) {
        f.error = a.f.error + a.f.most * b.f.error + 8 * a.k->unit() * a.f.most;
        if (!round_once(*a.k, f)) return false;
    }
    add(plain(op, {a, b}, f));
    return true;
}

bool maker::fused(const value &a) {
    const auto  tame = [](const value &v) { return !v.f.wild; };
    const value b = like(a, tame), c = like(a, tame);
    facts       p, r;
    if (!product_of(*a.k, a.f, b.f, p)) return false;
    p.product = false;
    if (p.error == 0 && !is_exact(*a.k, p)) { /* rounded once, where the sum is */
        r = join(p, c.f);
        r.most = p.most + c.f.most;
        r.error = c.f.error;
        r.product = false;
        if (!round_once(*a.k, r)) return false;
    } else if (!sum_of(*a.k, p, c.f, r)) {
        return false;
    }
    add(plain("math.fma", {a, b, c}, r));
    return true;
}

/* Rows of floats of one type: one or two of them in, one out. */
bool maker::real_op(const ti_table_row &row) {
    const std::string op = row.name;
    const bool        rounds = op == "math.floor" || op == "math.ceil" || op == "math.trunc" || op == "math.round" || op == "math.roundeven";
    const bool        bits = op == "math.copysign";
    const value       a = pick_real(rounds || bits || op == "tt.precise_sqrt");
    facts             f;
    if (!a) return false;
    const auto  tame = [&](const value &v) { return !v.f.wild && (!bits || (v.f.sure() && !v.f.loose_zero)); };
    if (real_function(op)) return true;
    if (op == "math.fma") return fused(a);
    if (has(op, "div") || op == "arith.remf") return division(op, a);
    if (op == "math.powf" || op == "math.atan2") return real_power(op);
    f = a.f;
    if (op == "tt.precise_sqrt") {
        if (a.k->bits != 32) return false;
        const value b = away_from_zero(a);
        if (!b) return false;
        f = b.f;
        f.most = std::sqrt(b.f.most) + 1;
        f.grain = any_grain;
        return add(plain(op, {b}, f)), true;
    }
    if (op == "tt.clampf") return add(clamped(a, -static_cast<double>(rng_.between(1, 9)), static_cast<double>(rng_.between(1, 9)))), true;
    if (op == "arith.negf") return add(plain(op, {a}, f)), true;
    if (op == "math.absf") return f.loose_zero = f.product = false, add(plain(op, {a}, f)), true;
    if (rounds) {
        f.most = std::ceil(f.most);
        f.grain = 0;
        f.product = false;
        return add(plain(op, {a}, f)), true;
    }
    if (row.in != 2) return false;
    const value b = like(a, tame);
    if (bits) return b.f.sure() && add(plain(op, {a, b}, f)), true;
    if (op == "arith.addf" || op == "arith.subf") {
        if (!sum_of(*a.k, a.f, b.f, f)) return false;
    } else if (op == "arith.mulf") {
        if (!product_of(*a.k, a.f, b.f, f)) return false;
    } else if (has(op, "max") || has(op, "min")) {
        f = join(a.f, b.f);
        f.product = false;
        f.loose_zero = f.loose_zero || has(op, "num");
    } else {
        return false;
    }
    add(plain(op, {a, b}, f));
    return true;
}

/* a^b with a in [1, 5] and b in [-2, 2]; atan2 away from its cut. */
bool maker::real_power(const std::string &op) {
    const value a = pick_real(false);
    if (!a || a.k->bits < 32 || (a.k->bits == 64 && !allowed("math of f64"))) return false;
    const value x = clamped(a, op == "math.powf" ? 1 : -4, 5), y = clamped(like(a, [](const value &v) { return !v.f.wild; }), op == "math.powf" ? -2 : 1, 2);
    facts       f;
    f.most = op == "math.powf" ? 25 : 2;
    f.grain = any_grain;
    f.error = 41 * (x.f.error + y.f.error) + 2 * function_ulps * a.k->unit() * f.most;
    if (!round_once(*a.k, f)) return false;
    add(plain(op, {x, y}, f));
    return true;
}

/* -- Comparing and choosing ------------------------------------------------------------------------------------ */

bool maker::compare(const ti_table_row &row, bool reals) {
    static const char *const wholes[] = {"eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"};
    static const char *const predicates[] = {"oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule", "une", "uno"};
    const value a = reals ? pick_real(true) : pick_whole();
    if (!a) return false;
    const value b = like(a, [](const value &v) { return v.f.sure(); });
    if (!b.f.sure()) return false;
    const std::string p = reals ? predicates[rng_.below(14)] : wholes[rng_.below(10)];
    const kind       &i1 = kind_named("i1");
    add(give(std::string(row.name) + " " + p + ", " + use(a) + ", " + use(b) + " : " + a.type(), i1, a.dims, whole(1, i1)));
    return true;
}

bool maker::class_test(const std::string &op) {
    const value a = pick_real(true);
    if (!a) return false;
    const kind &i1 = kind_named("i1");
    add(give(op + " " + use(a) + " : " + a.type(), i1, a.dims, whole(1, i1)));
    return true;
}

bool maker::select() {
    const value a = pick([](const value &) { return true; });
    if (!a) return false;
    const value b = like(a), c = condition(a.dims.empty() || chance(85) ? a.dims : shape());
    const std::string s = "arith.select " + use(c) + ", " + use(a) + ", " + use(b) + " : ";
    facts             f = join(a.f, b.f);
    if (f.error > 0 && f.wild) return false;
    add(give(s + (c.is_scalar() ? a.type() : c.type() + ", " + a.type()), *a.k, a.dims, f));
    return true;
}

/* -- Conversions --------------------------------------------------------------------------------------------------- */

static std::string cast_text(const std::string &op, const std::string &name, const value &a, const kind &to, const char *arrow) {
    return op + " " + name + " : " + a.type() + arrow + type_text(to, a.dims);
}

bool maker::change_width(const ti_table_row &row) {
    const std::string op = row.name;
    const bool        wider = op != "arith.trunci";
    const value       a = pick_whole();
    if (!a) return false;
    std::vector<const kind *> fits;
    for (const char *name : {"i1", "i8", "i16", "i32", "i64"})
        if (wider ? kind_named(name).bits > a.k->bits : kind_named(name).bits < a.k->bits) fits.push_back(&kind_named(name));
    if (fits.empty()) return false;
    const kind &to = one_of(fits);
    facts       f = whole(a.f.most, to);
    if (op == "arith.extui") f = whole(std::ldexp(1, static_cast<int>(a.k->bits)), to);
    if (!wider && a.f.most > to.most - 1) f = any_of(to);
    add(give(cast_text(op, use(a), a, to, " to "), to, a.dims, f));
    return true;
}

/* extf, truncf, tt.fp_to_fp: between any two float types that the operation takes. */
bool maker::change_real(const ti_table_row &row) {
    const std::string op = row.name;
    const bool        bytes = op == "tt.fp_to_fp";
    const value       a = pick([&](const value &v) { return v.k->is_float && !v.f.wild && (bytes || !v.k->is_byte_float()); });
    if (!a) return false;
    std::vector<const kind *> fits;
    for (const char *name : {"f16", "bf16", "f32", "f64", "f8E5M2", "f8E4M3FN"}) {
        const kind &k = kind_named(name);
        if (&k == a.k || (!bytes && k.is_byte_float()) || (bytes && (k.bits == 64 || a.k->bits == 64))) continue;
        if (bytes && k.bits == a.k->bits) continue;
        if (bytes || (op == "arith.extf" ? k.bits > a.k->bits : k.bits < a.k->bits)) fits.push_back(&k);
    }
    if (fits.empty()) return false;
    const kind &to = one_of(fits);
    const bool  narrower = to.bits < a.k->bits, toward_zero = bytes && narrower && chance(30);
    facts       f = a.f;
    if (narrower) {
        f.product = false;
        if (f.grain != any_grain) f.grain = std::max(f.grain, to.least);
        if (to.is_byte_float()) f.most = std::min(f.most, to.most); /* saturates */
        else if (f.most > to.most / 2) return false;
        if (!f.sure()) f.error += 2 * to.unit() * f.most;
        if (f.error > f.most * 0x1p-5) return false;
        f.most *= 1 + to.unit();
        if (to.is_byte_float()) f.most = std::min(f.most, to.most);
    }
    std::string s = op + " " + use(a);
    if (bytes && narrower) s += toward_zero ? ", rounding = rtz" : ", rounding = rtne";
    add(give(s + " : " + a.type() + (bytes ? " -> " : " to ") + type_text(to, a.dims), to, a.dims, f));
    return true;
}

bool maker::to_real(const ti_table_row &row) {
    const value a = pick_whole();
    if (!a) return false;
    const kind &to = one_of(real_kinds());
    facts       f;
    f.most = has(row.name, "uito") ? std::ldexp(1, static_cast<int>(a.k->bits)) : a.f.most;
    if (f.most > to.most / 2) return false;
    add(give(cast_text(row.name, use(a), a, to, " to "), to, a.dims, f));
    return true;
}

/* Only where the result is in range: out of it, the language leaves it open. */
bool maker::to_whole(const ti_table_row &row) {
    value       a = pick_real(true);
    const kind &to = one_of(whole_kinds());
    const bool  is_unsigned = has(row.name, "toui");
    if (!a || a.f.most >= to.most * (is_unsigned ? 2 : 1) - 1) return false;
    if (is_unsigned) {
        facts f = a.f;
        f.product = false;
        a = plain("math.absf", {a}, f);
    }
    add(give(cast_text(row.name, use(a), a, to, " to "), to, a.dims, is_unsigned ? any_of(to) : whole(a.f.most, to)));
    return true;
}

/* tt.bitcast and arith.bitcast between types of one width. */
bool maker::change_nothing(const ti_table_row &row) {
    const value a = pick([](const value &v) { return v.k->bits > 1 && (v.k->is_int() || (v.f.error == 0 && !v.f.loose_zero)); });
    if (!a) return false;
    std::vector<const kind *> fits;
    for (const char *name : {"i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "f8E5M2", "f8E4M3FN"})
        if (&kind_named(name) != a.k && kind_named(name).bits == a.k->bits) fits.push_back(&kind_named(name));
    if (fits.empty()) return false;
    const kind &to = one_of(fits);
    facts       f = any_of(to);
    f.wild = to.is_float;
    f.grain = to.is_float ? any_grain : 0;
    add(give(cast_text(row.name, use(a), a, to, has(row.name, "tt.") ? " -> " : " to "), to, a.dims, f));
    return true;
}

/* There and back: nothing else takes an index. */
bool maker::index_round_trip(const std::string &op) {
    const value a = pick([](const value &v) { return v.is_scalar() && v.k->is_int() && v.k->bits > 1; });
    if (!a) return false;
    const kind       &to = one_of(whole_kinds());
    const std::string name = fresh();
    line(name + " = " + op + " " + use(a) + " : " + a.type() + " to index");
    add(give(op + " " + name + " : index to " + type_text(to, {}), to, {}, any_of(to)));
    return true;
}

/* -- Functions of libraries -------------------------------------------------------------------------------------------- */

bool maker::external() {
    static const struct {
        const char *symbol, *type, *result;
        unsigned    in;
    } wholes[] = {
        {"__nv_popc", "i32", "i32", 1},   {"__nv_popcll", "i64", "i32", 1}, {"__nv_clz", "i32", "i32", 1}, {"__nv_clzll", "i64", "i32", 1},
        {"__nv_ffs", "i32", "i32", 1},    {"__nv_ffsll", "i64", "i32", 1},  {"__nv_brev", "i32", "i32", 1}, {"__nv_brevll", "i64", "i64", 1},
        {"__nv_mulhi", "i32", "i32", 2},  {"__nv_umulhi", "i32", "i32", 2}, {"__nv_mul64hi", "i64", "i64", 2}, {"__nv_umul64hi", "i64", "i64", 2},
        {"__nv_mul24", "i32", "i32", 2},  {"__nv_umul24", "i32", "i32", 2}, {"__nv_hadd", "i32", "i32", 2}, {"__nv_rhadd", "i32", "i32", 2},
        {"__nv_uhadd", "i32", "i32", 2},  {"__nv_urhadd", "i32", "i32", 2}, {"__nv_byte_perm", "i32", "i32", 3}, {"__nv_usad", "i32", "i32", 3},
    };
    const auto &e = wholes[rng_.below(sizeof wholes / sizeof *wholes)];
    const value a = pick([&](const value &v) { return v.k == &kind_named(e.type); });
    if (!a) return false;
    std::string names = use(a), types = a.type();
    for (unsigned i = 1; i < e.in; i++) {
        value b = like(a);
        if (i == 2 && std::string(e.symbol) == "__nv_byte_perm") b = masked(b, 0x7777); /* CUDA's description leaves out the other bits */
        names += ", " + use(b);
        types += ", " + b.type();
    }
    const kind &to = kind_named(e.result);
    add(give("tt.extern_elementwise " + names + " {libname = \"\", libpath = \"\", pure = true, symbol = \"" + e.symbol + "\"} : (" + types + ") -> " +
                 type_text(to, a.dims), to, a.dims, any_of(to)));
    return true;
}

bool maker::real_power_of_whole(const std::string &op) {
    const value a = pick_real(false);
    if (!a || a.k->bits < 32 || (a.k->bits == 64 && !allowed("math of f64"))) return false;
    const value x = clamped(a, 1, 2), n = masked(any_constant(kind_named("i32"), a.dims), 7);
    facts       f;
    f.most = 128;
    f.grain = any_grain;
    f.error = 448 * x.f.error + 8 * function_ulps * a.k->unit() * f.most;
    if (!round_once(*a.k, f)) return false;
    add(give(op + " " + use(x) + ", " + use(n) + " : " + x.type() + ", " + n.type(), *a.k, a.dims, f));
    return true;
}

/* -- Regions per element ----------------------------------------------------------------------------------------------------- */

/* Operations on scalars, of which a few are given back. Neighbours form a group when `pack` says so, but which do is
 * left open: so the groups' elements stay apart. */
bool maker::map_region() {
    const value a = pick([](const value &v) { return !v.is_scalar() && !v.k->is_byte_float() && !v.f.wild; });
    if (!a || in_region_ || !allowed("tt.map_elementwise")) return false;
    value b = pick([&](const value &v) { return v.dims == a.dims && !v.k->is_byte_float() && !v.f.wild; });
    const std::string names = use(a) + ", " + use(b), types = a.type() + ", " + b.type();
    const std::string result = fresh();
    line(result + ":2 = \"tt.map_elementwise\"(" + names + ") <{pack = 1 : i32}> ({");
    std::vector<value> outside;
    outside.swap(pool_);
    value x = a, y = b;
    x.dims = y.dims = shape();
    x.name = fresh();
    y.name = fresh();
    line("^bb0(" + x.name + ": " + x.type() + ", " + y.name + ": " + y.type() + "):");
    indent_++;
    add(x);
    add(y);
    in_region_ = true;
    for (unsigned i = 0, n = 2 + static_cast<unsigned>(rng_.below(5)); i < n; i++) elementwise();
    in_region_ = false;
    value u = pool_.back(), v = pick([](const value &) { return true; });
    line("tt.map_elementwise.return " + use(u) + ", " + use(v) + " : " + u.type() + ", " + v.type());
    indent_--;
    pool_.swap(outside);
    u.dims = v.dims = a.dims;
    line("}) : (" + types + ") -> (" + u.type() + ", " + v.type() + ")");
    u.name = result + "#0";
    v.name = result + "#1";
    add(u);
    add(v);
    return true;
}

/* -- By the table ----------------------------------------------------------------------------------------------------------------- */

bool maker::elementwise() {
    if (elementwise_.empty()) {
        ti_table_row row;
        for (unsigned i = 0; ti_table_at(i, &row); i++)
            if (row.elementwise && !row.inner && allowed(row.name)) elementwise_.push_back(row);
    }
    const ti_table_row &row = elementwise_[rng_.below(elementwise_.size())];
    const std::string   types = row.types;
    if (types == "sameint") return whole_op(row);
    if (types == "samefloat" || types == "float32") return real_op(row);
    if (types == "cmpi") return compare(row, false);
    if (types == "cmpf") return compare(row, true);
    if (types == "select") return select();
    if (types == "intwider" || types == "intnarrow") return change_width(row);
    if (types == "fltwider" || types == "fltnarrow" || types == "fptofp") return change_real(row);
    if (types == "inttoflt") return to_real(row);
    if (types == "flttoint") return to_whole(row);
    if (types == "bitcast") return change_nothing(row);
    if (types == "indexcast") return index_round_trip(row.name);
    if (types == "extended") return extended(row);
    if (types == "fltclass") return class_test(row.name);
    if (types == "fpowi") return real_power_of_whole(row.name);
    if (types == "extern_") return external();
    return false;
}

} // namespace made
