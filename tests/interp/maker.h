/* Random modules of Triton IR: what the makers of operations share.
 *
 * A module is grown one operation after the other. The pool holds the values that may be read where the
 * next operation will stand; every value carries facts about its elements, and an operation is made only
 * where the facts say that every right compiler must give the same result, or how far two right results
 * may lie apart. So integers compare equal, floats too unless `error` says otherwise. */
#ifndef INTERP_MAKER_H
#define INTERP_MAKER_H

#include "interp.h"
#include "made.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace made {

typedef std::vector<uint32_t> shape;

size_t count_of(const shape &dims);

struct kind {
    const char *name;
    unsigned    bits;
    bool        is_float;
    int         precision; /* of floats: binary digits */
    int         least;     /* multiples of 2^least that are no larger than `most` can be relied on */
    double      most;

    bool is_int() const { return !is_float; }
    bool is_byte_float() const { return is_float && bits == 8; }
    /* The largest error of a rounding, relative. */
    double unit() const;
};

const kind &kind_named(const std::string &name);
/* A literal makes no temporary: GCC 13 doubts a reference that came through one. */
const kind &kind_named(const char *name);
/* Integers, or floats in which arithmetic is done. */
const std::vector<const kind *> &whole_kinds();
const std::vector<const kind *> &real_kinds();

/* -- Facts ---------------------------------------------------------------------------------------- */

const int any_grain = -100000;

struct facts {
    double most = 0;         /* no element is larger, in magnitude; integers taken as signed */
    int    grain = 0;        /* floats: elements are multiples of 2^grain, or any_grain */
    double error = 0;        /* floats: how far two right evaluations may lie apart */
    bool   product = false;  /* floats: a rounded product; a sum that reads it may fuse with it */
    bool   loose_zero = false; /* floats: the sign of a zero is left open */
    bool   wild = false;     /* floats: any bits, NaN and denormals too: may be moved, no more */

    bool sure() const { return error == 0 && !wild; }
};

facts whole(double most, const kind &k); /* of integers; capped by the type's range */
facts any_of(const kind &k);             /* of integers with any bits */
/* Is every multiple of the grain up to `most` a number of the type? */
bool  is_exact(const kind &k, const facts &f);
facts join(const facts &a, const facts &b);
/* The result of an operation that rounds once, from what it would be without rounding; false when it may
 * overflow, is too small, or known too badly to test anything. */
bool  round_once(const kind &k, facts &f);
bool  sum_of(const kind &k, const facts &a, const facts &b, facts &r);
bool  product_of(const kind &k, const facts &a, const facts &b, facts &r);

/* -- Values --------------------------------------------------------------------------------------------- */

struct value {
    std::string name; /* "%v7"; empty: no value */
    const kind *k = nullptr;
    shape       dims; /* empty: a scalar */
    facts       f;

    explicit operator bool() const { return k != nullptr; }
    bool     is_scalar() const { return dims.empty(); }
    std::string type() const;
};

std::string type_text(const kind &k, const shape &dims);
std::string pointer_text(const kind &k, const shape &dims);

class maker {
public:
    maker(uint64_t seed, const std::set<std::string> &without);
    std::string run();

private:
    numbers                     rng_;
    const std::set<std::string> without_; /* operations that are not to be made */
    uint64_t                    seed_;
    const bool                  more_; /* what came later too: not in seeds that were chosen by what they are */
    std::string                 text_, head_, parameters_, functions_;
    unsigned                    indent_ = 2, names_ = 0, parameter_count_ = 0, programs_ = 1, function_count_ = 0;
    size_t                      largest_ = 1024; /* elements of a tensor */
    std::vector<value>          pool_;
    std::set<std::string>       read_;         /* names that something reads */
    std::string                 program_;      /* number of the program, i32 */
    bool                        in_region_ = false; /* scalars only, no memory */
    unsigned                    depth_ = 0;    /* of loops and ifs */
    std::vector<ti_table_row>   elementwise_;

    /* -- Text: maker.cc -- */
    void        line(const std::string &s);
    std::string fresh();
    bool        allowed(const std::string &op) const { return without_.count(op) == 0; }
    value       add(const value &v); /* to the pool */
    value       give(const std::string &op_text, const kind &k, const shape &dims, const facts &f);
    const std::string &use(const value &v);
    /* `%r = OP %a, %b : T`, all of one type; not added to the pool */
    value plain(const std::string &op, const std::vector<value> &in, const facts &f);
    value constant(const kind &k, const shape &dims, double x);
    value whole_constant(const kind &k, const shape &dims, int64_t x);
    value any_constant(const kind &k, const shape &dims);
    value splat(const value &scalar, const shape &dims);

    /* -- Choosing: maker.cc -- */
    bool        chance(unsigned percent) { return rng_.below(100) < percent; }
    const kind &one_of(const std::vector<const kind *> &kinds) { return *kinds[rng_.below(kinds.size())]; }
    shape       random_dims(size_t most);
    shape       split_count(size_t count, unsigned rank);
    value       pick(const std::function<bool(const value &)> &fits);
    value       pick_whole(bool booleans_too = true);
    value       pick_real(bool sure);
    /* Another value of the same type, from the pool or new. */
    value       like(const value &v, const std::function<bool(const value &)> &fits);
    value       like(const value &v);
    value       condition(const shape &dims);
    value       divisor(const value &a, bool is_signed);
    value       masked(const value &a, int64_t mask); /* a & mask */
    value       clamped(const value &a, double low, double high);
    value       away_from_zero(const value &a); /* |a| + 1 */
    value       as_i32(const value &a);

    /* -- make_elementwise.cc -- */
    bool elementwise();
    bool whole_op(const ti_table_row &row);
    bool real_op(const ti_table_row &row);
    bool real_function(const std::string &op);
    bool division(const std::string &op, const value &a);
    bool fused(const value &a);
    bool compare(const ti_table_row &row, bool reals);
    bool select();
    bool change_width(const ti_table_row &row);
    bool change_real(const ti_table_row &row);
    bool to_real(const ti_table_row &row);
    bool to_whole(const ti_table_row &row);
    bool change_nothing(const ti_table_row &row);
    bool index_round_trip(const std::string &op);
    bool extended(const ti_table_row &row);
    bool class_test(const std::string &op);
    bool real_power(const std::string &op), real_power_of_whole(const std::string &op);
    bool external();
    bool map_region();

    /* -- make_shapes.cc -- */
    bool reshape(), transpose(), expand(), broadcast(), splat_scalar(), join_two(), split_pair(), range(), concatenate(),
        unsplat(), gather(), histogram();
    bool reduce(), scan();
    bool reduce_single(const value &v, bool is_scan), reduce_pair(const value &v, bool is_scan), scan_affine(const value &v),
        reduce_several(const value &v, bool is_scan);
    bool dot(), dot_scaled();
    void emit_region(const std::string &op, const std::vector<value> &in, const std::vector<std::string> &body,
                     const std::vector<std::string> &results, unsigned axis, bool is_scan, bool reverse, const std::vector<facts> &out);
    bool combined(const kind &k, const facts &f, const std::string &op, size_t n, facts &r);
    std::string combiner(const kind &k, const facts &f, size_t n, facts &r);

    /* -- make_memory.cc -- */
    std::string add_buffer(const kind &k, size_t count, const std::string &contents);
    std::string add_parameter(const std::string &type, const std::string &attributes, const std::string &head);
    std::string contents(const kind &k, facts &f);
    const kind &memory_kind(const kind &k) const;
    value       linear(const shape &dims);            /* row-major offsets, i32 */
    value       strided(const shape &dims, size_t stride); /* rows of `stride` elements */
    value       shifted(const value &offsets, size_t by_program);
    std::string pointers(const std::string &base, const kind &k, const value &offsets);
    value       from_memory(const std::string &name, const kind &k, const kind &stored, const shape &dims, const facts &f);
    value       load(const kind &k, const shape &dims);
    value       load_at(const kind &k, const shape &dims, const value &offsets, size_t count, const value &mask);
    value       load_tail(const kind &k, const shape &dims);
    value       load_block(const kind &k, const shape &dims);
    value       load_described(const kind &k, const shape &dims);
    bool        load_some();
    value       to_memory(const value &v, const kind &stored);
    bool        store(const value &v);
    bool        store_block(const value &v);
    bool        store_described();
    std::string descriptor(const std::string &buffer, const kind &k, size_t rows, size_t stride, const shape &block);
    bool        store_some();
    bool        atomic();
    bool        atomic_add(), atomic_exchange(), atomic_access(), compare_and_swap();
    bool        pointer_difference();

    /* -- make_control.cc -- */
    void statement();
    void statements(unsigned n);
    void store_what_is_unread();
    bool if_else(), for_loop(), while_loop(), pointer_loop(), execute_region(), call(), early_return();
    bool cycle_of_blocks(), through_memory();
    bool assert_true(), print_some(), assume(), barrier(), poison();
    value always_true(const value &a);
    value       bound(const kind &k, int64_t low, int64_t high);
    std::vector<value> carried(unsigned most);
    std::vector<value> arguments_for(const std::vector<value> &inits);
    value       fit(const value &v, const value &argument);
    std::vector<value> yields(const std::vector<value> &arguments, size_t from);
    std::string names_of(const std::vector<value> &all);
    void        add_results(const std::string &name, const std::vector<value> &of);
    void        body(unsigned n); /* of a region: statements, now and then a store */
    std::string function_of(const std::vector<value> &arguments, value &result);
};

} // namespace made

#endif
