/* What Metal leaves undefined and a compiler may build on: signed overflow, and an index outside of
 * an array. Clang's undefined-behaviour instrumentation calls these, in place of its runtime. */
#include "machine.h"

#include <cinttypes>
#include <cstdio>

namespace {

/* As clang lays them out. */
struct source_location {
    const char *file;
    uint32_t    line, column;
};
struct type_descriptor {
    uint16_t kind, info; /* info of integers: log2 of the width, times 2, plus 1 if signed */
    char     name[1];
};
struct overflow_data {
    source_location        at;
    const type_descriptor *type;
};
struct bounds_data {
    source_location        at;
    const type_descriptor *array, *index;
};

unsigned packed_place(const source_location &at) { return at.line << 12 | (at.column & 4095u); }

/* Operands of up to 64 bits come as they are. */
int64_t operand(const type_descriptor *type, unsigned long word) {
    const unsigned width = 1u << (type->info >> 1);
    if (width >= 64) return static_cast<int64_t>(word);
    const unsigned shift = 64 - width;
    return (type->info & 1) ? static_cast<int64_t>(word << shift) >> shift
                            : static_cast<int64_t>(word << shift >> shift);
}

void overflow(const overflow_data *d, unsigned long a, const char *op, unsigned long b) {
    sim::violate_at(sim::violation_kind::UNDEFINED, packed_place(d->at),
                    "signed overflow: %" PRId64 " %s %" PRId64 " in type %s", operand(d->type, a),
                    op, operand(d->type, b), d->type->name);
}

} // namespace

extern "C" {

void __ubsan_handle_add_overflow(overflow_data *d, unsigned long a, unsigned long b) {
    overflow(d, a, "+", b);
}
void __ubsan_handle_sub_overflow(overflow_data *d, unsigned long a, unsigned long b) {
    overflow(d, a, "-", b);
}
void __ubsan_handle_mul_overflow(overflow_data *d, unsigned long a, unsigned long b) {
    overflow(d, a, "*", b);
}
void __ubsan_handle_negate_overflow(overflow_data *d, unsigned long a) { overflow(d, 0, "-", a); }
/* TMI_CHECK_RANGES: the text says what it was built on. */
void sim_outside(long value, long lo, long hi, unsigned at) {
    sim::violate_at(sim::violation_kind::UNDEFINED, at,
                    "the value %ld is outside of its range, %ld to %ld", value, lo, hi);
}
/* Division is watched by sim/core.h; this is for what stands in macros of the standard library. */
void __ubsan_handle_divrem_overflow(overflow_data *d, unsigned long a, unsigned long b) {
    overflow(d, a, "/", b);
}

/* The access would spoil whatever lies there, often the simulator's own stacks: stop. */
void __ubsan_handle_out_of_bounds(bounds_data *d, unsigned long index) {
    sim::violate_at(sim::violation_kind::BOUNDS, packed_place(d->at),
                    "index %" PRId64 " is outside of %s", operand(d->index, index), d->array->name);
    sim::stop_dispatch();
}
}
