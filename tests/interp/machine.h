/* A launch under way: values, memory, and how an operation gets at them. */
#ifndef INTERP_MACHINE_H
#define INTERP_MACHINE_H

#include "program.h"

#include <setjmp.h>

/* The words of a value. Never changed once an operation has given it out, so values share them. */
typedef struct ti_array {
    unsigned refs, size_class;
    size_t   n;
    uint64_t at[];
} ti_array;

struct ti_frame {
    const ti_function *function;
    ti_array         **slot;
    ti_array          *words; /* where the slots lie */
};

struct ti_machine {
    ti_module       *module;
    const ti_launch *launch;
    ti_result       *result;
    uint32_t         program[3];
    unsigned         depth; /* of calls */
    uint32_t         running; /* the program, from 1 on */
    int              atomic;  /* kind of the atomic that is under way, or 0 */
    uint32_t         element; /* of its tile, from 1 on */
    const ti_op     *at;      /* the operation under way, or the last one */
    ti_array        *spare[48];
    void            *chunks;
    size_t           printed_used, printed_room;
    jmp_buf          leave;
};

/* -- Values ------------------------------------------------------------------------ */

ti_array *ti_new(ti_machine *m, size_t n); /* one reference; words are not set */
void      ti_release(ti_machine *m, ti_array *a);

static inline ti_array *ti_in(const ti_frame *f, const ti_op *op, unsigned i) {
    return f->slot[op->in[i]];
}
/* The first word of an operand: a scalar's value. */
static inline uint64_t ti_scalar(const ti_frame *f, const ti_op *op, unsigned i) {
    return f->slot[op->in[i]]->at[0];
}
/* Gives a slot a value, taking over the caller's reference. */
void ti_put(ti_machine *m, ti_frame *f, unsigned slot, ti_array *a);
/* Result i shares the words of a value. */
void ti_share(ti_machine *m, ti_frame *f, const ti_op *op, unsigned i, ti_array *a);

/* -- Running ------------------------------------------------------------------------- */

/* Runs a region from its first block; gives its terminator, whose operands are still there. */
const ti_op *ti_run_region(ti_machine *m, ti_frame *f, const ti_region *r);
void         ti_bind(ti_machine *m, ti_frame *f, unsigned slot, ti_array *a); /* shares */

/* Runs a region of scalars on n elements of each argument; gives n elements of each result, in
 * `results`, with a reference each. */
void ti_map_region(ti_machine *m, ti_frame *f, const ti_op *op, size_t n, ti_array **arguments, unsigned n_arguments,
                   ti_array **results, unsigned n_results);

/* Leaves the launch. `op` may be NULL. */
void ti_stop(ti_machine *m, const ti_op *op, ti_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((noreturn, format(printf, 4, 5)))
#endif
    ;

void ti_print_line(ti_machine *m, const char *line);

#define TI_ANY_KIND 100 /* of atomics whose order shows */

/* -- Memory ---------------------------------------------------------------------------- */

/* Where a buffer seems to lie: 1 TiB apart or more, so that every address tells its buffer; the low bits of one are open
 * above a page's. */
#define TI_BUFFER_SHIFT 40
static inline uint64_t ti_skew(const ti_launch *l) {
    return l->vary % 64 * 0x1a97b3000u;
}
static inline uint64_t ti_address(const ti_launch *l, unsigned buffer, int64_t offset) {
    return ((((uint64_t)buffer + 1) * (1 + l->vary % 3) + 16 * (l->vary % 64)) << TI_BUFFER_SHIFT) + ti_skew(l) + (uint64_t)offset;
}

uint64_t ti_read_memory(ti_machine *m, const ti_op *op, uint64_t address, unsigned bytes);
void     ti_write_memory(ti_machine *m, const ti_op *op, uint64_t address, unsigned bytes, uint64_t value);

/* -- Operations, by file ------------------------------------------------------------------ */

/* elementwise.c */
#define TI_SCALARS(X)                                                                                           \
    X(addi) X(subi) X(muli) X(divsi) X(divui) X(remsi) X(remui) X(ceildivsi) X(ceildivui) X(floordivsi) X(andi) \
    X(ori) X(xori) X(shli) X(shrsi) X(shrui) X(maxsi) X(minsi) X(maxui) X(minui) X(mulhiui) X(cmpi) X(select)   \
    X(extsi) X(extui) X(trunci) X(index_cast) X(index_castui) X(absi) X(ctlz) X(cttz) X(ctpop) X(ipowi)         \
    X(addf) X(subf) X(mulf) X(divf) X(remf) X(negf) X(maxnumf) X(minnumf) X(maximumf) X(minimumf) X(cmpf)       \
    X(clampf) X(convert) X(fp_to_fp) X(sitofp) X(uitofp) X(fptosi) X(fptoui) X(same_bits) X(addptr)             \
    X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan)       \
    X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(sqrt) X(rsqrt) X(cbrt) X(erf) X(erfc) X(floor)         \
    X(ceil) X(trunc) X(round) X(roundeven) X(absf) X(fma) X(powf) X(atan2) X(copysign) X(fpowi) X(isnan) X(isinf)
#define X(name) ti_scalar_fn ti_scalar_##name;
TI_SCALARS(X)
#undef X
ti_run_fn ti_run_elementwise, ti_run_extended;

/* shapes.c */
ti_run_fn ti_run_constant, ti_run_poison, ti_run_range, ti_run_splat, ti_run_same, ti_run_broadcast, ti_run_trans,
    ti_run_join, ti_run_split, ti_run_cat, ti_run_gather, ti_run_histogram;
/* combine.c */
ti_run_fn ti_run_reduce, ti_run_scan, ti_run_map;
/* matrix.c */
ti_run_fn ti_run_dot, ti_run_dot_scaled;
/* memory.c */
ti_run_fn ti_run_load, ti_run_store, ti_run_rmw, ti_run_cas, ti_run_atomic_load, ti_run_atomic_store,
    ti_run_atomic_poll;
/* blocks.c */
ti_run_fn ti_run_make_pointer, ti_run_advance, ti_run_make_descriptor, ti_run_descriptor_load, ti_run_descriptor_store,
    ti_run_descriptor_reduce, ti_run_descriptor_gather, ti_run_descriptor_scatter;
void ti_load_block(ti_machine *m, ti_frame *f, const ti_op *op);
void ti_store_block(ti_machine *m, ti_frame *f, const ti_op *op);
/* The result of an atomic: what memory holds afterwards. */
uint64_t ti_rmw_result(ti_machine *m, const ti_op *op, const ti_type *elem, int64_t kind, uint64_t old, uint64_t value);
/* library.c */
ti_run_fn ti_run_extern;
/* run.c */
ti_run_fn ti_run_nothing, ti_run_assume, ti_run_pid, ti_run_programs, ti_run_call, ti_run_for, ti_run_if, ti_run_while,
    ti_run_execute, ti_run_print, ti_run_assert;

#endif
