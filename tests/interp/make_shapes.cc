/* Shapes, reductions, scans and products of matrices. */
#include "maker.h"

#include <algorithm>
#include <cmath>

namespace made {

static bool is_tensor(const value &v) { return !v.is_scalar(); }

static std::string arrow(const std::string &op, const std::string &name, const value &a, const std::string &attributes, const shape &to) {
    return op + " " + name + attributes + " : " + a.type() + " -> " + type_text(*a.k, to);
}

/* -- Shapes ------------------------------------------------------------------------------------------- */

bool maker::reshape() {
    const value a = pick(is_tensor);
    if (!a) return false;
    const shape to = split_count(count_of(a.dims), 1 + static_cast<unsigned>(rng_.below(chance(90) ? 4 : 8)));
    add(give(arrow("tt.reshape", use(a), a, "", to), *a.k, to, a.f));
    return true;
}

bool maker::transpose() {
    const value a = pick([](const value &v) { return v.dims.size() > 1; });
    if (!a) return false;
    std::vector<size_t> order;
    shape               to;
    std::string         list;
    for (size_t i = 0; i < a.dims.size(); i++) order.push_back(i);
    for (size_t i = order.size() - 1; i > 0; i--) std::swap(order[i], order[rng_.below(i + 1)]);
    for (size_t d : order) {
        list += (list.empty() ? "" : ", ") + std::to_string(d);
        to.push_back(a.dims[d]);
    }
    add(give(arrow("tt.trans", use(a), a, " {order = array<i32: " + list + ">}", to), *a.k, to, a.f));
    return true;
}

bool maker::expand() {
    const value a = pick([](const value &v) { return !v.is_scalar() && v.dims.size() < 5; });
    if (!a) return false;
    const size_t axis = rng_.below(a.dims.size() + 1);
    shape        to = a.dims;
    to.insert(to.begin() + static_cast<long>(axis), 1);
    add(give(arrow("tt.expand_dims", use(a), a, " {axis = " + std::to_string(axis) + " : i32}", to), *a.k, to, a.f));
    return true;
}

bool maker::broadcast() {
    const value a = pick([&](const value &v) {
        return !v.is_scalar() && *std::min_element(v.dims.begin(), v.dims.end()) == 1 && 2 * count_of(v.dims) <= largest_;
    });
    if (!a) return false;
    shape to = a.dims;
    for (uint32_t &d : to)
        if (d == 1 && chance(75)) d = 1u << rng_.below(6);
    while (count_of(to) > largest_) *std::max_element(to.begin(), to.end()) /= 2;
    for (size_t i = 0; i < to.size(); i++)
        if (a.dims[i] != 1 && to[i] != a.dims[i]) return false;
    add(give(arrow("tt.broadcast", use(a), a, "", to), *a.k, to, a.f));
    return true;
}

bool maker::splat_scalar() {
    const value a = pick([](const value &v) { return v.is_scalar(); });
    return a && (add(splat(a, random_dims(largest_))), true);
}

bool maker::range() {
    const shape       dims = {1u << rng_.below(9)};
    const int64_t     start = chance(60) ? 0 : rng_.between(1, 100), end = start + dims[0];
    const kind       &i32 = kind_named("i32");
    add(give("tt.make_range {end = " + std::to_string(end) + " : i32, start = " + std::to_string(start) + " : i32} : " + type_text(i32, dims), i32,
             dims, whole(static_cast<double>(end), i32)));
    return true;
}

bool maker::join_two() {
    const value a = pick([&](const value &v) { return !v.is_scalar() && v.dims.size() < 5 && 2 * count_of(v.dims) <= largest_; });
    if (!a) return false;
    const value b = like(a);
    shape       to = a.dims;
    to.push_back(2);
    add(give(arrow("tt.join", use(a) + ", " + use(b), a, "", to), *a.k, to, join(a.f, b.f)));
    return true;
}

bool maker::split_pair() {
    const value a = pick([](const value &v) { return v.dims.size() > 1 && v.dims.back() == 2; });
    if (!a) return false;
    value v = a;
    v.dims.pop_back();
    const std::string left = fresh(), right = fresh();
    line(left + ", " + right + " = " + arrow("tt.split", use(a), a, "", v.dims));
    v.name = left;
    add(v);
    v.name = right;
    add(v);
    return true;
}

/* The order of its elements is left open, so only a sum or the like reads them. */
bool maker::concatenate() {
    const value a = pick([&](const value &v) { return v.dims.size() == 1 && v.k->is_int() && 2 * count_of(v.dims) <= largest_; });
    if (!a) return false;
    const value b = like(a);
    const shape to = {a.dims[0] * 2};
    const value c = give(arrow("tt.cat", use(a) + ", " + use(b), a, "", to), *a.k, to, join(a.f, b.f));
    return reduce_single(c, false);
}

bool maker::unsplat() {
    const value a = pick([](const value &v) { return !v.is_scalar() && count_of(v.dims) == 1; });
    return a && (add(give("tt.unsplat " + use(a) + " : " + a.type(), *a.k, {}, a.f)), true);
}

bool maker::gather() {
    const value a = pick(is_tensor);
    if (!a) return false;
    const size_t axis = rng_.below(a.dims.size());
    shape        to = a.dims;
    to[axis] = 1u << rng_.below(7);
    while (count_of(to) > largest_) to[axis] /= 2;
    if (to[axis] == 0) return false;
    value index = pick([&](const value &v) { return v.k->is_int() && v.k->bits >= 16 && v.dims == to; });
    if (!index) index = load(kind_named("i32"), to);
    index = masked(index, a.dims[axis] - 1);
    add(give("tt.gather " + use(a) + "[" + use(index) + "] {axis = " + std::to_string(axis) + " : i32} : (" + a.type() + ", " + index.type() + ") -> " +
                 type_text(*a.k, to), *a.k, to, a.f));
    return true;
}

/* Values past the last bin are dropped. */
bool maker::histogram() {
    const kind &i32 = kind_named("i32");
    value       a = pick([&](const value &v) { return v.k == &i32 && v.dims.size() == 1; });
    if (!a) return false;
    const shape bins = {2u << rng_.below(6)};
    a = masked(a, bins[0] * (chance(30) ? 2 : 1) - 1);
    std::string operands = use(a);
    if (chance(40)) operands += ", " + use(condition(a.dims));
    add(give("tt.histogram " + operands + " : " + a.type() + " -> " + type_text(i32, bins), i32, bins, whole(a.dims[0], i32)));
    return true;
}

/* -- Reductions and scans --------------------------------------------------------------------------------- */

/* Of n elements with these facts. */
bool maker::combined(const kind &k, const facts &f, const std::string &op, size_t n, facts &r) {
    const double count = static_cast<double>(n);
    r = f;
    r.product = false;
    if (!k.is_float) {
        if (op == "arith.addi") r = whole(f.most * count, k);
        else if (op == "arith.maxsi" || op == "arith.minsi") r = whole(f.most, k);
        else r = any_of(k);
        return true;
    }
    r.loose_zero = true;
    if (op == "arith.addf") r.most *= count;
    if (op == "arith.mulf") {
        r.most = std::pow(std::max(f.most, 1.0), count);
        if (f.grain == any_grain || static_cast<double>(-f.grain) * count > 1000) return false;
        r.grain = f.grain * static_cast<int>(n);
    }
    return op[6] == 'm' && op != "arith.mulf" ? !f.wild : is_exact(k, r);
}

/* "" where there is none. Addition more often, since it is what is optimised most. */
std::string maker::combiner(const kind &k, const facts &f, size_t n, facts &r) {
    static const char *const wholes[] = {"arith.addi", "arith.addi",  "arith.muli",  "arith.andi",  "arith.ori",
                                         "arith.xori", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui"};
    static const char *const reals[] = {"arith.addf",    "arith.addf",     "arith.addf",     "arith.mulf",
                                        "arith.maxnumf", "arith.minnumf",  "arith.maximumf", "arith.minimumf"};
    for (unsigned tries = 0; tries < 6; tries++) {
        const std::string op = k.is_float ? reals[rng_.below(8)] : k.bits == 1 ? wholes[3 + rng_.below(3)] : wholes[rng_.below(10)];
        if (allowed(op) && combined(k, f, op, n, r)) return op;
    }
    return "";
}

/* `results` are named by the body; `in` gives their types. */
void maker::emit_region(const std::string &op, const std::vector<value> &in, const std::vector<std::string> &body,
                        const std::vector<std::string> &results, unsigned axis, bool is_scan, bool reverse, const std::vector<facts> &out) {
    shape       to = in[0].dims;
    std::string names, types, outs, arguments, returned, elements;
    if (!is_scan) to.erase(to.begin() + axis);
    for (size_t i = 0; i < in.size(); i++) {
        const std::string comma = i ? ", " : "";
        names += comma + use(in[i]);
        types += comma + in[i].type();
        outs += comma + type_text(*in[i].k, to);
        returned += comma + results[i];
        elements += comma + in[i].k->name;
    }
    for (const char *side : {"l", "r"})
        for (size_t i = 0; i < in.size(); i++)
            arguments += (arguments.empty() ? "%" : ", %") + std::string(side) + std::to_string(i) + ": " + in[i].k->name;
    const std::string result = fresh();
    line(result + (in.size() > 1 ? ":" + std::to_string(in.size()) : "") + " = \"" + op + "\"(" + names + ") <{axis = " + std::to_string(axis) +
         " : i32" + (is_scan ? std::string(", reverse = ") + (reverse ? "true" : "false") : "") + "}> ({");
    line("^bb0(" + arguments + "):");
    for (const std::string &s : body) line("  " + s);
    line("  " + op + ".return " + returned + " : " + elements);
    line("}) : (" + types + ") -> " + (in.size() > 1 ? "(" + outs + ")" : outs));
    for (size_t i = 0; i < in.size(); i++) {
        value v = in[i];
        v.name = in.size() > 1 ? result + "#" + std::to_string(i) : result;
        v.dims = to;
        v.f = out[i];
        add(v);
    }
}

bool maker::reduce_single(const value &v, bool is_scan) {
    const unsigned axis = static_cast<unsigned>(rng_.below(v.dims.size()));
    facts          r;
    const std::string op = combiner(*v.k, v.f, v.dims[axis], r), type = v.k->name;
    if (op.empty()) return false;
    const bool turned = chance(10);
    emit_region(is_scan ? "tt.scan" : "tt.reduce", {v}, {"%t = " + op + (turned ? " %r0, %l0 : " : " %l0, %r0 : ") + type}, {"%t"}, axis, is_scan,
                chance(40), {r});
    return true;
}

/* Two or three operands, each with its own combiner. */
bool maker::reduce_several(const value &v, bool is_scan) {
    const unsigned           axis = static_cast<unsigned>(rng_.below(v.dims.size()));
    std::vector<value>       in = {v};
    std::vector<facts>       out;
    std::vector<std::string> body, results;
    while (in.size() < 2 || (in.size() < 3 && chance(30))) {
        value w = pick([&](const value &x) { return x.dims == v.dims && !x.k->is_byte_float() && !x.f.wild; });
        in.push_back(w ? w : like(v));
    }
    for (size_t i = 0; i < in.size(); i++) {
        facts             r;
        const std::string n = std::to_string(i), op = combiner(*in[i].k, in[i].f, v.dims[axis], r);
        if (op.empty()) return false;
        body.push_back("%t" + n + " = " + op + " %l" + n + ", %r" + n + " : " + in[i].k->name);
        results.push_back("%t" + n);
        out.push_back(r);
    }
    emit_region(is_scan ? "tt.scan" : "tt.reduce", in, body, results, axis, is_scan, chance(40), out);
    return true;
}

/* The largest or smallest with where it stands: the first place among equals. */
bool maker::reduce_pair(const value &v, bool is_scan) {
    const unsigned axis = static_cast<unsigned>(rng_.below(v.dims.size()));
    const kind    &i32 = kind_named("i32");
    if (!v.f.sure()) return false;
    const shape line_dims = {v.dims[axis]};
    value       index = give("tt.make_range {end = " + std::to_string(v.dims[axis]) + " : i32, start = 0 : i32} : " + type_text(i32, line_dims), i32,
                             line_dims, whole(v.dims[axis], i32));
    shape       ones(v.dims.size(), 1);
    ones[axis] = v.dims[axis];
    if (v.dims.size() > 1) {
        index = give(arrow("tt.reshape", index.name, index, "", ones), i32, ones, index.f);
        index = give(arrow("tt.broadcast", index.name, index, "", v.dims), i32, v.dims, index.f);
    }
    const bool        most = chance(50), real = v.k->is_float;
    const std::string t = v.k->name, cmp = real ? "arith.cmpf " : "arith.cmpi ", better = std::string(real ? "o" : "s") + (most ? "gt" : "lt");
    facts             f = v.f;
    f.product = false;
    emit_region(is_scan ? "tt.scan" : "tt.reduce", {v, index},
                {"%better = " + cmp + better + ", %l0, %r0 : " + t, "%same = " + cmp + (real ? "oeq" : "eq") + ", %l0, %r0 : " + t,
                 "%first = arith.cmpi slt, %l1, %r1 : i32", "%tie = arith.andi %same, %first : i1", "%take = arith.ori %better, %tie : i1",
                 "%x = arith.select %take, %l0, %r0 : " + t, "%i = arith.select %take, %l1, %r1 : i32"},
                {"%x", "%i"}, axis, is_scan, chance(40), {f, index.f});
    return true;
}

/* x -> m x + b, one after the other: associative, but the order of the two sides shows. */
bool maker::scan_affine(const value &v) {
    if (!v.k->is_int() || v.k->bits == 1) return false;
    const value       b = like(v);
    const std::string t = v.k->name;
    emit_region("tt.scan", {v, b},
                {"%m = arith.muli %l0, %r0 : " + t, "%p = arith.muli %l1, %r0 : " + t, "%s = arith.addi %p, %r1 : " + t}, {"%m", "%s"},
                static_cast<unsigned>(rng_.below(v.dims.size())), true, chance(40), {any_of(*v.k), any_of(*v.k)});
    return true;
}

bool maker::reduce() {
    const value v = pick([](const value &x) { return !x.is_scalar() && !x.k->is_byte_float() && !x.f.wild; });
    if (!v) return false;
    const uint64_t dice = rng_.below(10);
    return dice < 7 ? reduce_single(v, false) : dice < 9 && v.k->bits > 1 ? reduce_pair(v, false) : reduce_several(v, false);
}

bool maker::scan() {
    const value v = pick([](const value &x) { return !x.is_scalar() && !x.k->is_byte_float() && !x.f.wild; });
    if (!v) return false;
    const uint64_t dice = rng_.below(10);
    if (dice < 6) return reduce_single(v, true);
    if (dice < 8) return scan_affine(v);
    return dice < 9 && v.k->bits > 1 ? reduce_pair(v, true) : reduce_several(v, true);
}

/* -- Products of matrices -------------------------------------------------------------------------------------- */

/* Operands are small whole numbers, so that every sum is exact in the accumulator. */
bool maker::dot() {
    static const struct {
        const char *a, *b, *c;
    } types[] = {{"f16", "f16", "f32"}, {"f16", "f16", "f16"}, {"bf16", "bf16", "f32"}, {"f32", "f32", "f32"},         {"f32", "f32", "f32"},
                 {"i8", "i8", "i32"},   {"f64", "f64", "f64"}, {"f8E5M2", "f8E5M2", "f32"}, {"f8E4M3FN", "f8E5M2", "f32"}};
    const auto &t = types[rng_.below(sizeof types / sizeof *types)];
    const kind &ka = kind_named(t.a), &kb = kind_named(t.b), &kc = kind_named(t.c);
    shape       batch;
    if (chance(15)) batch.push_back(2);
    const auto side = [&]() { return chance(20) ? 1u << rng_.below(4) : 16u << rng_.below(2); };
    shape      da = batch, db = batch, dc = batch;
    uint32_t   rows = side(), columns = side(), inner = side();
    da.push_back(rows), da.push_back(inner);
    db.push_back(inner), db.push_back(columns);
    dc.push_back(rows), dc.push_back(columns);
    const double limit = kc.is_int() ? 1e9 : kc.bits == 16 ? 5 : 200;
    const auto   fits = [&](const kind &k, const shape &dims) {
        return [&](const value &v) { return v.k == &k && v.dims == dims && v.f.sure() && (k.is_int() || (v.f.most <= limit && v.f.grain >= -1)); };
    };
    value a = pick(fits(ka, da)), b = pick(fits(kb, db)), c = pick([&](const value &v) { return v.k == &kc && v.dims == dc && v.f.sure(); });
    if (!a) a = load(ka, da);
    if (!b) b = load(kb, db);
    if (!c) c = chance(60) ? constant(kc, dc, 0) : load(kc, dc);
    facts f = join(join(a.f, b.f), c.f);
    f.most = a.f.most * b.f.most * inner + c.f.most;
    f.grain = a.f.grain == any_grain || b.f.grain == any_grain || c.f.grain == any_grain ? any_grain : std::min(a.f.grain + b.f.grain, c.f.grain);
    f.product = false;
    f.loose_zero = true;
    if (kc.is_float && !is_exact(kc, f)) return false;
    facts      tf32 = join(a.f, b.f);
    const bool rounds_nothing = tf32.most <= std::ldexp(1, tf32.grain + 11);
    add(give("tt.dot " + use(a) + ", " + use(b) + ", " + use(c) + (kc.is_float && rounds_nothing && chance(50) ? ", inputPrecision = tf32" : "") + " : " +
                 a.type() + " * " + b.type() + " -> " + type_text(kc, dc), kc, dc, kc.is_int() ? any_of(kc) : f));
    return true;
}

/* Scales between 1/4 and 4; every sum is exact. */
bool maker::dot_scaled() {
    static const struct {
        const char *word, *element;
    } types[] = {{"e2m1", "i8"}, {"e4m3", "f8E4M3FN"}, {"e5m2", "f8E5M2"}, {"bf16", "bf16"}, {"fp16", "f16"}};
    const uint32_t rows = 16u << rng_.below(2), columns = 16u << rng_.below(2), inner = 32u << rng_.below(2);
    const auto    &ta = types[rng_.below(5)], &tb = types[rng_.below(5)];
    const kind    &ka = kind_named(ta.element), &kb = kind_named(tb.element), &f32 = kind_named("f32"), &i8 = kind_named("i8");
    const auto     scale_of = [&](uint32_t outer) {
        const std::string buffer = add_buffer(i8, outer * inner / 32, "ints 125 129");
        const shape       dims = {outer, inner / 32};
        return from_memory(pointers(buffer, i8, linear(dims)), i8, i8, dims, any_of(i8));
    };
    const bool  scale_a = ka.bits == 8 || chance(50), scale_b = kb.bits == 8 || chance(50);
    const value a = load(ka, {rows, ka.is_int() ? inner / 2 : inner}), b = load(kb, {kb.is_int() ? inner / 2 : inner, columns}),
                c = chance(50) ? constant(f32, {rows, columns}, 0) : load(f32, {rows, columns});
    std::string left = use(a), right = use(b), left_type = a.type(), right_type = b.type();
    if (scale_a) {
        const value s = scale_of(rows);
        left += " scale " + use(s);
        left_type += ", " + s.type();
    }
    if (scale_b) {
        const value s = scale_of(columns);
        right += " scale " + use(s);
        right_type += ", " + s.type();
    }
    facts f;
    f.most = 4 * std::max(6.0, ka.is_int() ? 0 : a.f.most) * 4 * std::max(6.0, kb.is_int() ? 0 : b.f.most) * inner + c.f.most;
    f.grain = std::min(-6, c.f.grain);
    f.loose_zero = true;
    if (!is_exact(f32, f)) return false;
    add(give("tt.dot_scaled " + left + ", " + right + ", " + use(c) + " lhs = " + ta.word + " rhs = " + tb.word + " {fastMath = false} : " + left_type +
                 " * " + right_type + " -> " + c.type(), f32, c.dims, f));
    return true;
}

} // namespace made
