/* Loads, stores and atomics: buffers are made with them. */
#include "maker.h"

#include <algorithm>
#include <cmath>

namespace made {

/* -- Parameters and buffers ---------------------------------------------------------------------------- */

std::string maker::add_parameter(const std::string &type, const std::string &attributes, const std::string &head) {
    const std::string name = "%p" + std::to_string(parameter_count_++);
    parameters_ += (parameters_.empty() ? "" : ", ") + name + ": " + type + attributes;
    head_ += "//! " + head + "\n";
    return name;
}

std::string maker::add_buffer(const kind &k, size_t count, const std::string &what) {
    const std::string hint = chance(60) ? " {tt.divisibility = 16 : i32}" : "";
    return add_parameter(pointer_text(k, {}), hint, "buffer " + std::string(k.name) + " " + std::to_string(count) + " " + what);
}

/* Contents of an input, and what they say of its elements. Floats hold small whole numbers. */
std::string maker::contents(const kind &k, facts &f) {
    if (k.bits == 1) return f = whole(1, k), "ints 0 1";
    if (k.is_int() && chance(40)) return f = any_of(k), "bits";
    static const int limits[] = {1, 2, 4, 8, 50, 100};
    const int        most = limits[rng_.below(k.is_float ? k.precision <= 4 ? 3 : k.precision <= 11 ? 4 : 6 : 6)];
    f = facts();
    f.most = most;
    return "ints " + std::to_string(-most) + " " + std::to_string(most);
}

/* Booleans lie in memory as bytes. */
const kind &maker::memory_kind(const kind &k) const { return k.bits == 1 ? kind_named("i8") : k; }

/* -- Offsets --------------------------------------------------------------------------------------------------- */

/* Row-major: a range in another shape. */
value maker::linear(const shape &dims) {
    const kind    &i32 = kind_named("i32");
    const uint32_t n = static_cast<uint32_t>(count_of(dims));
    const value    r = give("tt.make_range {end = " + std::to_string(n) + " : i32, start = 0 : i32} : " + type_text(i32, {n}), i32, {n}, whole(n, i32));
    if (dims.size() == 1) return r;
    return give("tt.reshape " + r.name + " : " + r.type() + " -> " + type_text(i32, dims), i32, dims, r.f);
}

/* row * stride + column, as Triton prints it. */
value maker::strided(const shape &dims, size_t stride) {
    const kind &i32 = kind_named("i32");
    const shape rows = {dims[0], 1}, columns = {1, dims[1]};
    const value r = linear({dims[0]}), c = linear({dims[1]});
    const value r2 = give("tt.expand_dims " + r.name + " {axis = 1 : i32} : " + r.type() + " -> " + type_text(i32, rows), i32, rows, r.f);
    const value c2 = give("tt.expand_dims " + c.name + " {axis = 0 : i32} : " + c.type() + " -> " + type_text(i32, columns), i32, columns, c.f);
    const value s = whole_constant(i32, rows, static_cast<int64_t>(stride));
    const value at = plain("arith.muli", {r2, s}, any_of(i32));
    const value b = give("tt.broadcast " + at.name + " : " + at.type() + " -> " + type_text(i32, dims), i32, dims, at.f);
    const value d = give("tt.broadcast " + c2.name + " : " + c2.type() + " -> " + type_text(i32, dims), i32, dims, c2.f);
    return plain("arith.addi", {b, d}, any_of(i32));
}

/* A stretch of its own for each program; sometimes in 64 bits. */
value maker::shifted(const value &offsets, size_t by_program) {
    const kind &i32 = kind_named("i32"), &i64 = kind_named("i64");
    if (programs_ == 1 && chance(60)) return offsets;
    value program;
    program.name = program_;
    program.k = &i32;
    const value n = whole_constant(i32, {}, static_cast<int64_t>(by_program)), base = plain("arith.muli", {program, n}, any_of(i32));
    value       at = plain("arith.addi", {splat(base, offsets.dims), offsets}, any_of(i32));
    if (chance(25)) at = give("arith.extsi " + at.name + " : " + at.type() + " to " + type_text(i64, at.dims), i64, at.dims, any_of(i64));
    return at;
}

/* Name of a tensor of pointers. */
std::string maker::pointers(const std::string &base, const kind &k, const value &offsets) {
    const std::string all = fresh(), at = fresh(), type = pointer_text(k, offsets.dims);
    line(all + " = tt.splat " + base + " : " + pointer_text(k, {}) + " -> " + type);
    line(at + " = tt.addptr " + all + ", " + use(offsets) + " : " + type + ", " + offsets.type());
    return at;
}

/* -- Loads --------------------------------------------------------------------------------------------------------- */

/* `name` is what is behind `tt.load`, pointer first. */
value maker::from_memory(const std::string &name, const kind &k, const kind &stored, const shape &dims, const facts &f) {
    value v = give("tt.load " + name + " : " + pointer_text(stored, dims), stored, dims, &k == &stored ? f : any_of(stored));
    if (&k == &stored) return v;
    const value zero = whole_constant(stored, dims, 0);
    return give("arith.cmpi ne, " + v.name + ", " + zero.name + " : " + v.type(), k, dims, whole(1, k));
}

/* With a mask, `other` is always given: without it, what is masked is open. */
value maker::load_at(const kind &k, const shape &dims, const value &offsets, size_t count, const value &mask) {
    const kind       &stored = memory_kind(k);
    facts             f;
    const std::string what = contents(k, f), p = pointers(add_buffer(stored, count, what), stored, offsets);
    if (!mask) return from_memory(p, k, stored, dims, f);
    value other;
    if (!stored.is_byte_float()) other = any_constant(stored, dims);
    else other = from_memory(pointers(add_buffer(stored, count_of(dims), what), stored, linear(dims)), stored, stored, dims, f);
    return from_memory(p + ", " + use(mask) + ", " + other.name, k, stored, dims, join(f, other.f));
}

/* A buffer that ends within the tile. */
value maker::load_tail(const kind &k, const shape &dims) {
    const kind   &i1 = kind_named("i1");
    const size_t  n = count_of(dims), count = 1 + rng_.below(n);
    const value   at = linear(dims), limit = whole_constant(kind_named("i32"), dims, static_cast<int64_t>(count));
    const value   mask = give("arith.cmpi slt, " + at.name + ", " + limit.name + " : " + at.type(), i1, dims, whole(1, i1));
    return load_at(k, dims, at, count, mask);
}

/* A block pointer that may reach past the edges. */
value maker::load_block(const kind &k, const shape &dims) {
    facts             f;
    const size_t      rows = 1 + rng_.below(2 * dims[0]), columns = 1 + rng_.below(2 * dims[1]);
    const kind       &i32 = kind_named("i32"), &i64 = kind_named("i64");
    const std::string buffer = add_buffer(k, rows * columns, contents(k, f)), block = "<" + type_text(k, dims) + ">";
    const value       r = whole_constant(i64, {}, static_cast<int64_t>(rows)), c = whole_constant(i64, {}, static_cast<int64_t>(columns)),
                one = whole_constant(i64, {}, 1), y = whole_constant(i32, {}, rng_.between(-3, 3)), x = whole_constant(i32, {}, rng_.between(-3, 3));
    std::string p = fresh();
    line(p + " = tt.make_tensor_ptr " + buffer + ", [" + r.name + ", " + c.name + "], [" + c.name + ", " + one.name + "], [" + y.name + ", " + x.name +
         "] {order = array<i32: 1, 0>} : " + block);
    if (chance(50)) {
        const std::string q = fresh();
        line(q + " = tt.advance " + p + ", [" + x.name + ", " + y.name + "] : " + block);
        p = q;
    }
    return give("tt.load " + p + " {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr" + block, k, dims, f);
}

/* A descriptor of a matrix with blocks of these dimensions; gives its name. Strides are multiples of 16 bytes,
 * as descriptors want. */
std::string maker::descriptor(const std::string &buffer, const kind &k, size_t rows, size_t stride, const shape &block) {
    const kind       &i32 = kind_named("i32"), &i64 = kind_named("i64");
    const value       r = whole_constant(i32, {}, static_cast<int64_t>(rows)), c = whole_constant(i32, {}, static_cast<int64_t>(stride)),
                s = whole_constant(i64, {}, static_cast<int64_t>(stride)), one = whole_constant(i64, {}, 1);
    const std::string d = fresh();
    line(d + " = tt.make_tensor_descriptor " + buffer + ", [" + r.name + ", " + c.name + "], [" + s.name + ", " + one.name + "] : <" + k.name + ">, <" +
         type_text(k, block) + ">");
    return d;
}

static size_t described_stride(numbers &rng, const kind &k) { return (1 + rng.below(3)) * 128 / k.bits; }

value maker::load_described(const kind &k, const shape &dims) {
    facts             f;
    const kind       &i32 = kind_named("i32");
    const size_t      rows = 1 + rng_.below(2 * dims[0]), stride = described_stride(rng_, k);
    const std::string buffer = add_buffer(k, rows * stride, contents(k, f));
    if (dims[0] >= 8 && dims[1] * k.bits >= 256 && chance(40) && allowed("tt.descriptor_gather")) { /* rows by a tensor of numbers */
        const std::string d = descriptor(buffer, k, rows, stride, {1, dims[1]});
        value             at = pick([&](const value &v) { return v.k == &i32 && v.dims == shape{dims[0]}; });
        if (!at) at = linear({dims[0]});
        const value       y = whole_constant(i32, {}, rng_.between(-3, 3)), row = masked(at, 15);
        return give("tt.descriptor_gather " + d + "[" + use(row) + ", " + y.name + "] : (!tt.tensordesc<" + type_text(k, {1, dims[1]}) + ">, " + row.type() +
                        ", i32) -> " + type_text(k, dims), k, dims, f);
    }
    const std::string d = descriptor(buffer, k, rows, stride, dims);
    const value       y = whole_constant(i32, {}, rng_.between(-3, 3)), x = whole_constant(i32, {}, rng_.between(-3, 3));
    return give("tt.descriptor_load " + d + "[" + y.name + ", " + x.name + "] : !tt.tensordesc<" + type_text(k, dims) + "> -> " + type_text(k, dims), k, dims, f);
}

value maker::load(const kind &k, const shape &dims) {
    const size_t   n = count_of(dims);
    const kind    &i32 = kind_named("i32");
    const uint64_t dice = rng_.below(100);
    if (dims.size() == 2 && k.bits > 1 && dice < 8 && allowed("tt.make_tensor_ptr")) return load_block(k, dims);
    if (dims.size() == 2 && k.bits > 1 && dice < 14 && dims[1] * k.bits >= 128 && allowed("tt.make_tensor_descriptor")) return load_described(k, dims);
    if (dice < 30) return load_tail(k, dims);
    if (dice < 42) { /* from anywhere */
        const value index = pick([&](const value &v) { return v.k == &i32 && v.dims == dims; });
        if (index) return load_at(k, dims, masked(index, static_cast<int64_t>(n) - 1), n, value());
    }
    if (dice < 50) { /* from the end */
        const value at = linear(dims), last = whole_constant(i32, dims, static_cast<int64_t>(n) - 1);
        return load_at(k, dims, plain("arith.subi", {last, at}, any_of(i32)), n, value());
    }
    if (dims.size() == 2 && dice < 75) { /* rows apart */
        const size_t stride = dims[1] + rng_.below(5);
        return load_at(k, dims, shifted(strided(dims, stride), dims[0] * stride), dims[0] * stride * programs_, value());
    }
    return load_at(k, dims, shifted(linear(dims), n), n * programs_, chance(25) ? condition(dims) : value());
}

bool maker::load_some() {
    static const char *const types[] = {"i1", "i8", "i16", "i32", "i32", "i32", "i64", "f16", "bf16", "f32", "f32", "f32", "f64", "f8E5M2", "f8E4M3FN"};
    const kind              &k = kind_named(types[rng_.below(15)]);
    const value              old = chance(60) ? pick([](const value &v) { return !v.is_scalar(); }) : value();
    add(load(k, old ? old.dims : random_dims(largest_)));
    return true;
}

/* -- Stores ------------------------------------------------------------------------------------------------------------ */

value maker::to_memory(const value &v, const kind &stored) {
    if (v.k == &stored) return v;
    return give("arith.extui " + use(v) + " : " + v.type() + " to " + type_text(stored, v.dims), stored, v.dims, any_of(stored));
}

/* Each program and each element has its own place. `within` stands for the error that is allowed. */
bool maker::store(const value &v) {
    const kind &stored = memory_kind(*v.k), &i32 = kind_named("i32");
    const value x = to_memory(v, stored);
    const size_t n = count_of(v.dims);
    std::string  p, mask;
    const bool   block = v.dims.size() == 2 && v.k->bits > 1 && programs_ == 1 && chance(12);
    if (block && store_block(v)) return true;
    const std::string buffer = add_buffer(stored, n * programs_, stored.is_float ? "ints -2 2" : "ints -100 100");
    char              within[64];
    std::snprintf(within, sizeof within, "//! within %.9g\n", v.f.error);
    if (v.f.error > 0) head_ += within;
    if (v.is_scalar()) {
        p = fresh();
        line(p + " = tt.addptr " + buffer + ", " + program_ + " : " + pointer_text(stored, {}) + ", i32");
    } else {
        value at = linear(v.dims);
        if (v.dims.size() == 2 && chance(30)) { /* transposed in memory */
            const value turned = linear({v.dims[1], v.dims[0]});
            at = give("tt.trans " + turned.name + " {order = array<i32: 1, 0>} : " + turned.type() + " -> " + type_text(i32, v.dims), i32, v.dims, at.f);
        }
        p = pointers(buffer, stored, shifted(at, n));
        if (chance(20)) mask = ", " + use(condition(v.dims));
    }
    line("tt.store " + p + ", " + use(x) + mask + " : " + pointer_text(stored, v.dims));
    return true;
}

/* Through a block pointer whose matrix ends within the block. */
bool maker::store_block(const value &v) {
    const size_t      rows = 1 + rng_.below(v.dims[0]), columns = 1 + rng_.below(v.dims[1]);
    const kind       &i32 = kind_named("i32"), &i64 = kind_named("i64");
    if (v.f.error > 0 || !allowed("tt.make_tensor_ptr")) return false;
    const std::string buffer = add_buffer(*v.k, rows * columns, "ints -2 2"), block = "<" + type_text(*v.k, v.dims) + ">", p = fresh();
    const value       r = whole_constant(i64, {}, static_cast<int64_t>(rows)), c = whole_constant(i64, {}, static_cast<int64_t>(columns)),
                one = whole_constant(i64, {}, 1), zero = whole_constant(i32, {}, 0);
    line(p + " = tt.make_tensor_ptr " + buffer + ", [" + r.name + ", " + c.name + "], [" + c.name + ", " + one.name + "], [" + zero.name + ", " + zero.name +
         "] {order = array<i32: 1, 0>} : " + block);
    line("tt.store " + p + ", " + use(v) + " {boundaryCheck = array<i32: 0, 1>} : !tt.ptr" + block);
    return true;
}

/* The whole block, its rows in another order, or added to what is there. */
bool maker::store_described() {
    const kind &i32 = kind_named("i32");
    const value v = pick([](const value &x) { return x.dims.size() == 2 && x.k->bits > 1 && x.dims[1] * x.k->bits >= 128 && x.f.error == 0; });
    if (!v || programs_ > 1 || depth_ > 0) return false;
    const size_t      rows = 1 + rng_.below(2 * v.dims[0]), stride = described_stride(rng_, *v.k);
    const bool        sums = v.k->is_float ? v.k->bits == 32 && v.f.sure() && is_exact(*v.k, v.f) && v.f.most < 1e6 : v.k->bits >= 32;
    const uint64_t    dice = rng_.below(3);
    const bool        scatters = dice == 1 && v.dims[0] >= 8 && v.dims[1] * v.k->bits >= 256 && allowed("tt.descriptor_scatter");
    const std::string buffer = add_buffer(*v.k, rows * stride, "ints -2 2"), d = descriptor(buffer, *v.k, rows, stride, scatters ? shape{1, v.dims[1]} : v.dims);
    const value       y = whole_constant(i32, {}, rng_.between(-3, 3)), x = whole_constant(i32, {}, rng_.between(-3, 3));
    if (scatters) { /* 5 is odd: no two rows meet */
        const value five = whole_constant(i32, {v.dims[0]}, 5), at = plain("arith.muli", {linear({v.dims[0]}), five}, any_of(i32));
        const value row = masked(at, v.dims[0] - 1);
        line("tt.descriptor_scatter " + d + "[" + row.name + ", " + y.name + "], " + use(v) + " : !tt.tensordesc<" + type_text(*v.k, {1, v.dims[1]}) + ">, " +
             row.type() + ", i32, " + v.type());
        return true;
    }
    static const char *const kinds[] = {"add", "min", "max", "and", "or", "xor"};
    const std::string        op = dice == 2 && sums && allowed("tt.descriptor_reduce")
                                      ? std::string("tt.descriptor_reduce ") + kinds[v.k->is_float ? 0 : rng_.below(6)] + ", "
                                      : "tt.descriptor_store ";
    line(op + d + "[" + y.name + ", " + x.name + "], " + use(v) + " : !tt.tensordesc<" + v.type() + ">, " + v.type());
    return true;
}

bool maker::store_some() {
    const value v = pick([](const value &) { return true; });
    return v && store(v);
}

/* -- Atomics ---------------------------------------------------------------------------------------------------------------- */

/* Updates that collide, within a program and between programs; in any order memory ends up the same. What
 * they find there is not read. */
bool maker::atomic_add() {
    static const char *const wholes[] = {"add", "and", "or", "xor", "max", "min", "umax", "umin"};
    static const char *const scopes[] = {"acq_rel, gpu", "relaxed, gpu", "release, sys", "acquire, cta", "relaxed, cta"};
    const bool               real = chance(30);
    const value v = real ? pick([](const value &x) { return (x.k->bits == 32 || x.k->bits == 16) && x.k->is_float && x.f.sure(); })
                         : pick([](const value &x) { return x.k->is_int() && x.k->bits >= 32; });
    if (!v) return false;
    const size_t bins = size_t(1) << rng_.below(7);
    facts        sum = v.f;
    sum.most = 2 + 64 * v.f.most * static_cast<double>(count_of(v.dims) * programs_); /* 64: of loops around it */
    if (real && !is_exact(*v.k, sum)) return false;
    const std::string op = real ? "fadd" : wholes[rng_.below(8)], order = scopes[rng_.below(5)], buffer = add_buffer(*v.k, bins, "ints -2 2"), r = fresh();
    const kind       &i1 = kind_named("i1");
    if (v.is_scalar()) {
        const value yes = constant(i1, {}, 1);
        line(r + " = tt.atomic_rmw " + op + ", " + order + ", " + buffer + ", " + use(v) + ", " + yes.name + " : (" + pointer_text(*v.k, {}) + ", " + v.type() +
             ", i1) -> " + v.type());
        return true;
    }
    value index = pick([&](const value &x) { return x.k == &kind_named("i32") && x.dims == v.dims; });
    index = masked(index ? index : linear(v.dims), static_cast<int64_t>(bins) - 1);
    const value mask = condition(v.dims);
    const std::string p = pointers(buffer, *v.k, index), type = pointer_text(*v.k, v.dims);
    line(r + " = tt.atomic_rmw " + op + ", " + order + ", " + p + ", " + use(v) + ", " + use(mask) + " : (" + type + ", " + v.type() + ", " + mask.type() +
         ") -> " + v.type());
    return true;
}

/* Every element has its own place, so what was there is certain too. */
bool maker::atomic_exchange() {
    static const char *const wholes[] = {"add", "and", "or", "xor", "max", "min", "umax", "umin", "exch"};
    const value v = pick([](const value &x) { return !x.is_scalar() && x.k->is_int() && x.k->bits >= 32; });
    if (!v || depth_ > 0) return false;
    const size_t      n = count_of(v.dims);
    const std::string op = wholes[rng_.below(9)], buffer = add_buffer(*v.k, n * programs_, "bits");
    const std::string p = pointers(buffer, *v.k, shifted(linear(v.dims), n)), type = pointer_text(*v.k, v.dims);
    const value       mask = condition(v.dims), zero = whole_constant(*v.k, v.dims, 0);
    const value       old = give("tt.atomic_rmw " + op + ", acq_rel, gpu, " + p + ", " + use(v) + ", " + use(mask) + " : (" + type + ", " + v.type() + ", " +
                                     mask.type() + ") -> " + v.type(), *v.k, v.dims, any_of(*v.k));
    add(give("arith.select " + use(mask) + ", " + use(old) + ", " + zero.name + " : " + (mask.is_scalar() ? "" : mask.type() + ", ") + v.type(), *v.k, v.dims,
             any_of(*v.k)));
    return true;
}

/* Stored and loaded again, of any width; every element has its own place. */
bool maker::atomic_access() {
    const value v = pick([](const value &x) { return !x.is_scalar() && x.k->is_int() && x.k->bits >= 8; });
    if (!v || depth_ > 0) return false;
    const size_t      n = count_of(v.dims);
    const std::string buffer = add_buffer(*v.k, n * programs_, "bits"), order = chance(50) ? "gpu, " : "cta, ";
    const std::string p = pointers(buffer, *v.k, shifted(linear(v.dims), n)), type = pointer_text(*v.k, v.dims);
    const value       mask = condition(v.dims);
    line("tt.atomic_store " + std::string(chance(50) ? "release, " : "relaxed, ") + order + p + ", " + use(v) + ", " + use(mask) + " : " + type);
    add(give("tt.atomic_load " + std::string(chance(50) ? "acquire, " : "relaxed, ") + order + p + " : (" + type + ") -> " + v.type(), *v.k, v.dims, any_of(*v.k)));
    return true;
}

bool maker::compare_and_swap() {
    const value v = pick([](const value &x) { return !x.is_scalar() && x.k->is_int() && x.k->bits >= 32; });
    if (!v || depth_ > 0) return false;
    const size_t      n = count_of(v.dims);
    const std::string buffer = add_buffer(*v.k, n * programs_, "ints -1 1");
    const std::string p = pointers(buffer, *v.k, shifted(linear(v.dims), n)), type = pointer_text(*v.k, v.dims);
    const value       expected = whole_constant(*v.k, v.dims, rng_.between(-1, 1));
    add(give("tt.atomic_cas acq_rel, gpu, " + p + ", " + expected.name + ", " + use(v) + " : (" + type + ", " + v.type() + ", " + v.type() + ") -> " + v.type(),
             *v.k, v.dims, any_of(*v.k)));
    return true;
}

bool maker::atomic() {
    const uint64_t dice = rng_.below(10);
    if (dice == 9) return allowed("tt.atomic_load") && allowed("tt.atomic_store") && atomic_access();
    return dice < 5 ? atomic_add() : dice < 8 && allowed("tt.atomic_rmw") ? atomic_exchange() : allowed("tt.atomic_cas") && compare_and_swap();
}

/* Addresses differ from one machine to the next, their differences do not. */
bool maker::pointer_difference() {
    const kind       &i64 = kind_named("i64");
    const kind       &k = one_of(real_kinds());
    const bool        back = chance(50) && allowed("tt.int_to_ptr");
    const value       at = pick([](const value &v) { return !v.is_scalar() && v.k == &kind_named("i32"); });
    if (!at) return false;
    const value       near = masked(at, 255);
    facts             f;
    const std::string buffer = add_buffer(k, 256, contents(k, f)), p = pointers(buffer, k, near), base = fresh();
    line(base + " = tt.ptr_to_int " + buffer + " : " + pointer_text(k, {}) + " -> i64");
    value first;
    first.name = base;
    first.k = &i64;
    if (back) { /* a pointer made of a number */
        const value       size = whole_constant(i64, {}, k.bits / 8 * 8), eighth = plain("arith.addi", {first, size}, any_of(i64));
        const std::string q = fresh();
        line(q + " = tt.int_to_ptr " + eighth.name + " : i64 -> " + pointer_text(k, {}));
        add(give("tt.load " + q + " : " + pointer_text(k, {}), k, {}, f));
    }
    const value far = give("tt.ptr_to_int " + p + " : " + pointer_text(k, at.dims) + " -> " + type_text(i64, at.dims), i64, at.dims, any_of(i64));
    add(plain("arith.subi", {far, splat(first, at.dims)}, any_of(i64)));
    return true;
}

} // namespace made
