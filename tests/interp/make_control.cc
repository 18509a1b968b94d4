/* Loops, branches, functions; and the module as a whole. */
#include "maker.h"

#include <algorithm>
#include <cmath>

namespace made {

static std::string types_of(const std::vector<value> &all) {
    std::string s;
    for (const value &v : all) s += (s.empty() ? "" : ", ") + v.type();
    return s;
}

std::string maker::names_of(const std::vector<value> &all) {
    std::string s;
    for (const value &v : all) s += (s.empty() ? "" : ", ") + use(v);
    return s;
}

/* "%a: T, %b: U" */
static std::string declared(const std::vector<value> &all) {
    std::string s;
    for (const value &v : all) s += (s.empty() ? "" : ", ") + v.name + ": " + v.type();
    return s;
}

static std::string initialised(const std::vector<value> &arguments, const std::vector<value> &inits) {
    std::string s;
    for (size_t i = 0; i < inits.size(); i++) s += (s.empty() ? "" : ", ") + arguments[i].name + " = " + inits[i].name;
    return s;
}

/* "%r = ", "%r:2 = ", or nothing. */
static std::string results_text(const std::string &name, size_t n) {
    return n == 0 ? "" : n == 1 ? name + " = " : name + ":" + std::to_string(n) + " = ";
}

void maker::add_results(const std::string &name, const std::vector<value> &of) {
    for (size_t i = 0; i < of.size(); i++) {
        value v = of[i];
        v.name = of.size() > 1 ? name + "#" + std::to_string(i) : name;
        add(v);
    }
}

/* -- Carried values --------------------------------------------------------------------------------------- */

/* What a loop carries must stay within the facts that hold of it from the start: integers may be anything,
 * floats are multiples of their grain up to this. */
static const double carried_most = 64;

static bool may_be_carried(const value &v) {
    if (v.k->is_int()) return true;
    return !v.k->is_byte_float() && v.f.sure() && v.f.grain != any_grain && v.f.grain >= -4 && v.f.most <= carried_most;
}

std::vector<value> maker::carried(unsigned most) {
    std::vector<value> all;
    for (unsigned i = 0, n = static_cast<unsigned>(rng_.below(most + 1)); i < n; i++)
        if (const value v = pick(may_be_carried)) all.push_back(v);
    return all;
}

std::vector<value> maker::arguments_for(const std::vector<value> &inits) {
    std::vector<value> all;
    for (value v : inits) {
        use(v);
        v.name = fresh();
        if (v.k->is_int()) v.f = any_of(*v.k);
        else v.f.most = carried_most, v.f.grain = std::min(v.f.grain, 0), v.f.loose_zero = true, v.f.product = false;
        all.push_back(v);
    }
    return all;
}

/* `v` made to fit the facts of an argument. */
value maker::fit(const value &v, const value &argument) {
    if (v.k->is_int()) return v;
    if (!v.f.sure()) return argument;
    value x = v;
    if (x.f.most > argument.f.most) x = clamped(x, -argument.f.most, argument.f.most);
    if (x.f.grain < argument.f.grain || x.f.grain == any_grain) {
        facts f = x.f;
        f.grain = 0;
        f.product = false;
        x = plain("math.trunc", {x}, f);
    }
    return x;
}

/* New values where there are any; sometimes another argument, so that they change places. */
std::vector<value> maker::yields(const std::vector<value> &arguments, size_t from) {
    std::vector<value> all;
    for (const value &a : arguments) {
        std::vector<value> fresh_ones;
        for (size_t i = from; i < pool_.size(); i++)
            if (pool_[i].k == a.k && pool_[i].dims == a.dims && !pool_[i].f.wild && pool_[i].f.sure()) fresh_ones.push_back(pool_[i]);
        value v = a;
        if (!fresh_ones.empty()) v = chance(60) ? fresh_ones.back() : fresh_ones[rng_.below(fresh_ones.size())];
        all.push_back(fit(v, a));
    }
    return all;
}

void maker::body(unsigned n) {
    depth_++;
    statements(n);
    if (chance(30) && allowed("tt.store")) store_some();
    depth_--;
}

/* A scalar between these, known here or only at launch. */
value maker::bound(const kind &k, int64_t low, int64_t high) {
    const int64_t x = rng_.between(low, high);
    if (k.bits == 64 || chance(50)) return whole_constant(k, {}, x);
    value v;
    v.name = add_parameter(k.name, "", "scalar " + std::string(k.name) + " " + std::to_string(x));
    v.k = &k;
    v.f = any_of(k);
    return v;
}

/* -- Structured control flow ------------------------------------------------------------------------------------ */

bool maker::for_loop() {
    const kind              &k = kind_named(chance(80) ? "i32" : "i64");
    const value              low = bound(k, -3, 3), high = bound(k, -2, 5), step = chance(60) ? whole_constant(k, {}, 1) : bound(k, 1, 3);
    const std::vector<value> inits = carried(3), arguments = arguments_for(inits);
    const size_t             outside = pool_.size();
    const std::string        result = fresh(), carry = inits.empty() ? "" : " iter_args(" + initialised(arguments, inits) + ") -> (" + types_of(inits) + ")";
    value                    i;
    i.name = fresh();
    i.k = &k;
    i.f = whole(9, k);
    line(results_text(result, inits.size()) + "scf.for " + i.name + " = " + use(low) + " to " + use(high) + " step " + use(step) + carry + "  : " + k.name + " {");
    indent_++;
    add(i);
    for (const value &a : arguments) add(a);
    const size_t inside = pool_.size();
    body(2 + static_cast<unsigned>(rng_.below(4)));
    if (!inits.empty()) {
        const std::vector<value> next = yields(arguments, chance(80) ? inside : outside);
        line("scf.yield " + names_of(next) + " : " + types_of(next));
    }
    indent_--;
    pool_.resize(outside);
    line("}");
    add_results(result, arguments);
    return true;
}

bool maker::if_else() {
    const value        c = condition({});
    std::vector<value> models, out;
    for (unsigned i = 0, n = static_cast<unsigned>(rng_.below(4)); i < n; i++)
        if (const value v = pick([](const value &x) { return !x.f.wild; })) models.push_back(v);
    const size_t      outside = pool_.size();
    const std::string result = fresh();
    line(results_text(result, models.size()) + "scf.if " + use(c) + (models.empty() ? "" : " -> (" + types_of(models) + ")") + " {");
    out = models;
    for (unsigned side = 0; side < (models.empty() && chance(50) ? 1u : 2u); side++) {
        std::vector<value> next;
        if (side) line("} else {");
        indent_++;
        body(1 + static_cast<unsigned>(rng_.below(3)));
        for (size_t i = 0; i < models.size(); i++) {
            const value &m = models[i];
            next.push_back(pick([&](const value &x) { return x.k == m.k && x.dims == m.dims && !x.f.wild; }));
            out[i].f = side ? join(out[i].f, next[i].f) : next[i].f;
        }
        if (!next.empty()) line("scf.yield " + names_of(next) + " : " + types_of(next));
        indent_--;
        pool_.resize(outside);
    }
    line("}");
    add_results(result, out);
    return true;
}

/* Ends after a few rounds, or when the data say so. */
bool maker::while_loop() {
    const kind        &i32 = kind_named("i32"), &i1 = kind_named("i1");
    std::vector<value> inits = carried(2);
    inits.insert(inits.begin(), whole_constant(i32, {}, 0));
    const value        limit = bound(i32, 0, 4), one = whole_constant(i32, {}, 1);
    const std::vector<value> before = arguments_for(inits), after = arguments_for(before);
    const size_t       outside = pool_.size();
    const std::string  result = fresh(), types = types_of(inits);
    line(results_text(result, inits.size()) + "scf.while (" + initialised(before, inits) + ") : (" + types + ") -> (" + types + ") {");
    indent_++;
    for (const value &v : before) add(v);
    const size_t inside = pool_.size();
    body(static_cast<unsigned>(rng_.below(3)));
    std::vector<value> passed = yields(before, inside);
    passed[0] = before[0];
    value go = give("arith.cmpi slt, " + before[0].name + ", " + use(limit) + " : i32", i1, {}, whole(1, i1));
    if (chance(60)) go = plain("arith.andi", {go, condition({})}, whole(1, i1));
    line("scf.condition(" + go.name + ") " + names_of(passed) + " : " + types);
    pool_.resize(outside);
    indent_--;
    line("} do {");
    line("^bb0(" + declared(after) + "):");
    indent_++;
    for (const value &v : after) add(v);
    body(1 + static_cast<unsigned>(rng_.below(3)));
    std::vector<value> next = yields(after, inside);
    next[0] = plain("arith.addi", {after[0], one}, any_of(i32));
    line("scf.yield " + names_of(next) + " : " + types);
    indent_--;
    pool_.resize(outside);
    line("}");
    add_results(result, before);
    return true;
}

/* Walks over memory tile by tile: pointers are carried, what is loaded is summed. */
bool maker::pointer_loop() {
    const kind    &k = chance(50) ? kind_named("f32") : one_of(whole_kinds()), &i32 = kind_named("i32");
    const shape    dims = random_dims(std::min<size_t>(largest_, 256));
    const int64_t  n = static_cast<int64_t>(count_of(dims)), trips = rng_.between(1, 4);
    facts          f, sum;
    const std::string what = contents(k, f), buffer = add_buffer(k, static_cast<size_t>(n * trips), what), p = pointers(buffer, k, linear(dims));
    const std::string pointer = pointer_text(k, dims), result = fresh(), at = fresh(), next = fresh();
    const value       zero = constant(k, dims, 0), low = whole_constant(i32, {}, 0), high = whole_constant(i32, {}, trips), one = whole_constant(i32, {}, 1),
                stride = whole_constant(i32, dims, n);
    sum = k.is_float ? f : any_of(k);
    if (k.is_float) sum.most *= static_cast<double>(trips);
    if (k.is_float && !is_exact(k, sum)) return false;
    value i, total = zero;
    i.name = fresh();
    i.k = &i32;
    i.f = whole(9, i32);
    total.name = fresh();
    total.f = sum;
    const size_t outside = pool_.size();
    line(result + ":2 = scf.for " + i.name + " = " + low.name + " to " + high.name + " step " + one.name + " iter_args(" + total.name + " = " + zero.name + ", " +
         at + " = " + p + ") -> (" + zero.type() + ", " + pointer + ")  : i32 {");
    indent_++;
    add(i);
    const value x = add(give("tt.load " + at + " : " + pointer, k, dims, f));
    if (chance(40)) body(1 + static_cast<unsigned>(rng_.below(2)));
    const value s = plain(k.is_float ? "arith.addf" : "arith.addi", {total, x}, sum);
    line(next + " = tt.addptr " + at + ", " + stride.name + " : " + pointer + ", " + stride.type());
    line("scf.yield " + s.name + ", " + next + " : " + zero.type() + ", " + pointer);
    indent_--;
    pool_.resize(outside);
    line("}");
    total.name = result + "#0";
    add(total);
    return true;
}

/* Two ways through blocks that meet again. */
bool maker::execute_region() {
    const value       c = condition({}), model = pick([](const value &v) { return !v.f.wild; });
    const size_t      outside = pool_.size();
    const std::string result = fresh(), left = "^bb" + std::to_string(names_++), right = "^bb" + std::to_string(names_++), end = "^bb" + std::to_string(names_++);
    value             out = model;
    line(result + " = scf.execute_region -> " + model.type() + " {");
    line("  cf.cond_br " + use(c) + ", " + left + ", " + right);
    for (const std::string &label : {left, right}) {
        line(label + ":");
        indent_++;
        body(1 + static_cast<unsigned>(rng_.below(2)));
        const value v = pick([&](const value &x) { return x.k == model.k && x.dims == model.dims && !x.f.wild; });
        out.f = label == left ? v.f : join(out.f, v.f);
        line("cf.br " + end + "(" + use(v) + " : " + v.type() + ")");
        indent_--;
        pool_.resize(outside);
    }
    const std::string passed = fresh();
    line(end + "(" + passed + ": " + model.type() + "):");
    line("  scf.yield " + passed + " : " + model.type());
    line("}");
    out.name = result;
    add(out);
    return true;
}

/* Blocks in a cycle, which are handed what a loop would carry; left by the first of them. */
bool maker::cycle_of_blocks() {
    const kind        &i32 = kind_named("i32"), &i1 = kind_named("i1");
    std::vector<value> inits = carried(2);
    if (inits.empty()) return false;
    inits.insert(inits.begin(), whole_constant(i32, {}, 0));
    const value              limit = bound(i32, 0, 4), one = whole_constant(i32, {}, 1);
    const std::vector<value> passed = arguments_for(inits), left = arguments_for(passed);
    const size_t             outside = pool_.size();
    const std::string        result = fresh(), types = types_of(inits);
    const std::string        head = "^bb" + std::to_string(names_++), round = "^bb" + std::to_string(names_++), end = "^bb" + std::to_string(names_++);
    const std::vector<value> model(passed.begin() + 1, passed.end()), out(left.begin() + 1, left.end());
    line(results_text(result, out.size()) + "scf.execute_region -> " + (out.size() > 1 ? "(" + types_of(out) + ")" : types_of(out)) + " {");
    indent_++;
    line("cf.br " + head + "(" + names_of(inits) + " : " + types + ")");
    line(head + "(" + declared(passed) + "):");
    for (const value &v : passed) add(v);
    const size_t inside = pool_.size();
    body(static_cast<unsigned>(rng_.below(3)));
    value go = give("arith.cmpi slt, " + passed[0].name + ", " + use(limit) + " : i32", i1, {}, whole(1, i1));
    if (chance(40)) go = plain("arith.andi", {go, condition({})}, whole(1, i1));
    const std::vector<value> last = yields(model, inside);
    line("cf.cond_br " + go.name + ", " + round + ", " + end + "(" + names_of(last) + " : " + types_of(last) + ")");
    line(round + ":");
    body(1 + static_cast<unsigned>(rng_.below(3)));
    std::vector<value> next = yields(passed, inside);
    next[0] = plain("arith.addi", {passed[0], one}, any_of(i32));
    line("cf.br " + head + "(" + names_of(next) + " : " + types + ")");
    pool_.resize(outside);
    line(end + "(" + declared(out) + "):");
    line("scf.yield " + names_of(out) + " : " + types_of(out));
    indent_--;
    line("}");
    add_results(result, out);
    return true;
}

/* What other threads wrote, read back: a tile is stored in one order and loaded in another, in the same round of a
 * loop or in the next. One store for each buffer, since the order of two is left open. */
bool maker::through_memory() {
    const kind &i32 = kind_named("i32");
    const value v = pick([](const value &x) { return !x.is_scalar() && x.k->is_int() && x.k->bits > 1 && count_of(x.dims) > 1; });
    if (!v) return false;
    const size_t      n = count_of(v.dims);
    const std::string buffer = add_buffer(*v.k, n * programs_, "bits"), type = pointer_text(*v.k, v.dims);
    const auto        place = [&]() {
        value at = linear(v.dims);
        if (chance(50)) at = plain("arith.muli", {at, whole_constant(i32, v.dims, 2 * rng_.between(1, 4) + 1)}, any_of(i32));
        if (chance(50)) at = plain("arith.addi", {at, whole_constant(i32, v.dims, rng_.between(1, 99))}, any_of(i32));
        at = shifted(masked(at, static_cast<int64_t>(n) - 1), n);
        return pointers(buffer, *v.k, at);
    };
    const bool store_first = chance(60);
    for (unsigned i = 0; i < 2; i++) {
        const std::string p = place();
        if ((i == 0) == store_first) line("tt.store " + p + ", " + use(v) + (chance(25) ? ", " + use(condition(v.dims)) : std::string()) + " : " + type);
        else add(give("tt.load " + p + " : " + type, *v.k, v.dims, any_of(*v.k)));
        if (i == 0 && chance(40)) body(1);
    }
    return true;
}

/* -- Functions and early returns ----------------------------------------------------------------------------------- */

/* A function of scalars that is kept out of line; gives its name. */
std::string maker::function_of(const std::vector<value> &arguments, value &result) {
    std::string        outer;
    std::vector<value> outside;
    const std::string  name = "@helper_" + std::to_string(function_count_++);
    outer.swap(text_);
    outside.swap(pool_);
    const unsigned indent = indent_;
    indent_ = 2;
    for (const value &v : arguments) add(v);
    in_region_ = true;
    const bool tiles = std::any_of(arguments.begin(), arguments.end(), [](const value &v) { return !v.is_scalar(); });
    for (unsigned i = 0, n = 2 + static_cast<unsigned>(rng_.below(5)); i < n; i++)
        if (!tiles || chance(60) || !(chance(50) ? transpose() : reshape())) elementwise();
    in_region_ = false;
    result = pool_.back();
    if (result.is_scalar() && chance(30)) result = splat(result, random_dims(std::min<size_t>(largest_, 64)));
    line("tt.return " + result.name + " : " + result.type());
    functions_ += "  tt.func private " + name + "(" + declared(arguments) + ") -> " + result.type() + " attributes {noinline = true} {\n" + text_ + "  }\n";
    indent_ = indent;
    text_.swap(outer);
    pool_.swap(outside);
    return name;
}

bool maker::call() {
    std::vector<value> passed, arguments;
    value              result;
    const bool         tiles = more_ && chance(60);
    for (unsigned i = 0; i < 2; i++)
        if (const value v = pick([&](const value &x) { return (tiles || x.is_scalar()) && !x.f.wild && !x.k->is_byte_float(); })) passed.push_back(v);
    if (passed.empty()) return false;
    for (value v : passed) {
        v.name = fresh();
        arguments.push_back(v);
    }
    const std::string name = function_of(arguments, result);
    add(give("tt.call " + name + "(" + names_of(passed) + ") : (" + types_of(passed) + ") -> " + result.type(), *result.k, result.dims, result.f));
    return true;
}

bool maker::early_return() {
    if (depth_ > 0) return false;
    const value       c = condition({});
    const std::string leave = "^bb" + std::to_string(names_++), go_on = "^bb" + std::to_string(names_++);
    line("cf.cond_br " + use(c) + ", " + leave + ", " + go_on);
    line(leave + ":");
    line("tt.return");
    line(go_on + ":");
    return true;
}

/* -- Debugging and hints ------------------------------------------------------------------------------------------------ */

/* a & 7 <= 7 */
value maker::always_true(const value &a) {
    const value m = masked(a, 7), l = whole_constant(*a.k, a.dims, 7);
    return give("arith.cmpi sle, " + m.name + ", " + l.name + " : " + a.type(), kind_named("i1"), a.dims, whole(1, kind_named("i1")));
}

bool maker::assert_true() {
    const bool  scalar = chance(30);
    const value a = pick([&](const value &v) { return v.k->is_int() && v.k->bits > 1 && (!scalar || v.is_scalar()); });
    if (!a) return false;
    const value c = always_true(a);
    if (c.is_scalar() && scalar) line("cf.assert " + c.name + ", \"more than seven\"");
    else line("tt.assert " + c.name + ", \"more than seven\" : " + c.type());
    return true;
}

bool maker::assume() {
    const value a = pick([](const value &v) { return v.is_scalar() && v.k->is_int() && v.k->bits > 1; });
    if (!a) return false;
    line("llvm.intr.assume " + always_true(a).name + " : i1");
    return true;
}

/* A value that is not chosen. */
bool maker::poison() {
    const value a = pick([](const value &v) { return v.k->is_int() && v.k->bits > 1; });
    if (!a) return false;
    const value c = always_true(a), p = give((chance(50) ? "ub.poison : " : "llvm.mlir.undef : ") + a.type(), *a.k, a.dims, a.f);
    add(give("arith.select " + c.name + ", " + use(a) + ", " + p.name + " : " + (a.is_scalar() ? "" : c.type() + ", ") + a.type(), *a.k, a.dims, a.f));
    return true;
}

bool maker::print_some() {
    const value a = pick([](const value &v) { return count_of(v.dims) <= 8 && v.k->bits > 1 && !v.k->is_byte_float(); });
    if (!a || depth_ > 0) return false;
    line("tt.print \" x: \" {hex = false, isSigned = array<i32: 1>} : " + use(a) + " : " + a.type());
    return true;
}

bool maker::barrier() {
    line(chance(50) ? "gpu.barrier" : "ttg.barrier all");
    return true;
}

/* -- Statements ----------------------------------------------------------------------------------------------------------- */

/* One operation, or a few that belong together; picked by weight until one can be made. */
void maker::statement() {
    static const struct {
        const char *op;
        unsigned    weight;
        bool (maker::*make)();
    } makers[] = {
        {"", 90, &maker::elementwise},
        {"tt.reshape", 6, &maker::reshape}, {"tt.trans", 6, &maker::transpose}, {"tt.expand_dims", 4, &maker::expand},
        {"tt.broadcast", 6, &maker::broadcast}, {"tt.splat", 3, &maker::splat_scalar}, {"tt.make_range", 2, &maker::range},
        {"tt.join", 4, &maker::join_two}, {"tt.split", 6, &maker::split_pair}, {"tt.cat", 2, &maker::concatenate},
        {"tt.unsplat", 2, &maker::unsplat}, {"tt.gather", 4, &maker::gather}, {"tt.histogram", 4, &maker::histogram},
        {"tt.reduce", 16, &maker::reduce}, {"tt.scan", 9, &maker::scan}, {"tt.dot", 7, &maker::dot}, {"tt.dot_scaled", 2, &maker::dot_scaled},
        {"tt.load", 14, &maker::load_some}, {"tt.store", 3, &maker::store_some}, {"tt.descriptor_store", 5, &maker::store_described}, {"tt.atomic_rmw", 5, &maker::atomic},
        {"tt.ptr_to_int", 2, &maker::pointer_difference}, {"tt.map_elementwise", 4, &maker::map_region},
        {"scf.if", 8, &maker::if_else}, {"scf.for", 8, &maker::for_loop}, {"scf.while", 4, &maker::while_loop}, {"scf.for", 4, &maker::pointer_loop},
        {"scf.execute_region", 2, &maker::execute_region}, {"ub.poison", 2, &maker::poison}, {"tt.call", 2, &maker::call}, {"cf.cond_br", 1, &maker::early_return}, {"tt.assert", 1, &maker::assert_true},
        {"llvm.intr.assume", 1, &maker::assume}, {"tt.print", 1, &maker::print_some}, {"gpu.barrier", 1, &maker::barrier},
        {"scf.execute_region", 6, &maker::cycle_of_blocks}, {"tt.load", 14, &maker::through_memory}, {"tt.call", 4, &maker::call},
    };
    const size_t late = 3; /* the last of them are for more_ alone */
    unsigned     total = 0;
    for (size_t i = 0; i < sizeof makers / sizeof *makers - (more_ ? 0 : late); i++) total += makers[i].weight;
    for (unsigned tries = 0; tries < 50; tries++) {
        uint64_t dice = rng_.below(total);
        size_t   i = 0;
        for (; dice >= makers[i].weight; i++) dice -= makers[i].weight;
        const std::string op = makers[i].op;
        if (!allowed(op) || (depth_ >= 2 && op.compare(0, 4, "scf.") == 0)) continue;
        if ((this->*makers[i].make)()) return;
    }
}

void maker::statements(unsigned n) {
    for (unsigned i = 0; i < n; i++) statement();
}

/* What nothing reads would not be computed. */
void maker::store_what_is_unread() {
    std::vector<value> all;
    for (const value &v : pool_)
        if (read_.count(v.name) == 0) all.push_back(v);
    if (all.empty()) all.push_back(pool_.back());
    while (all.size() > 10) all.erase(all.begin() + static_cast<long>(rng_.below(all.size())));
    for (const value &v : all) store(v);
}

/* -- The module --------------------------------------------------------------------------------------------------------------- */

maker::maker(uint64_t seed, const std::set<std::string> &without)
    : rng_(numbers(seed).next()), without_(without), seed_(seed), more_(seed >= 1000000 && seed % 5 == 3) {}

std::string maker::run() {
    static const size_t sizes[] = {32, 128, 256, 512, 1024, 2048};
    const kind         &i32 = kind_named("i32");
    const unsigned      x = 1 + static_cast<unsigned>(rng_.below(3)), y = chance(25) ? 2 : 1;
    programs_ = x * y;
    largest_ = sizes[rng_.below(6)];
    head_ = "//! grid " + std::to_string(x) + " " + std::to_string(y) + "\n";
    value pid = give("tt.get_program_id x : i32", i32, {}, whole(3, i32));
    if (y > 1) {
        const value row = give("tt.get_program_id y : i32", i32, {}, whole(3, i32)), n = give("tt.get_num_programs x : i32", i32, {}, whole(3, i32));
        pid = plain("arith.addi", {plain("arith.muli", {row, n}, whole(9, i32)), pid}, whole(9, i32));
    }
    program_ = pid.name;
    add(pid);
    add(bound(i32, -20, 20));
    const shape first = random_dims(largest_);
    add(load(i32, first));
    add(load(kind_named("f32"), first));
    statements(8 + static_cast<unsigned>(rng_.below(18)));
    store_what_is_unread();
    line("tt.return");
    const std::string name = "random_" + std::to_string(seed_);
    return "// Made by build/random from seed " + std::to_string(seed_) + ".\n" + head_ + "module {\n" + functions_ + "  tt.func public @" + name + "(" +
           parameters_ + ") {\n" + text_ + "  }\n}\n";
}

} // namespace made
