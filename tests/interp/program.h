/* A module as the interpreter runs it: operations linked to what carries them out. */
#ifndef INTERP_PROGRAM_H
#define INTERP_PROGRAM_H

#include "interp.h"
#include "numbers.h"

#define TI_MAX_RANK 24

typedef enum ti_kind { TI_NOTHING, TI_INT, TI_FLOAT, TI_PTR, TI_BLOCK_PTR, TI_DESC } ti_kind;

typedef struct ti_type {
    ti_kind               kind; /* of an element */
    unsigned              bits; /* of an element; pointers have 64 */
    int                   is_unsigned; /* ui8 and the like, in descriptors */
    const ti_format      *format;
    const struct ti_type *to; /* pointee, or the block of a block pointer or descriptor */
    int                   is_tensor;
    unsigned              rank;
    uint32_t              dims[TI_MAX_RANK];
    size_t                count; /* of elements; 1 for scalars */
    size_t                words; /* that a value takes: count, more for block pointers */
    char                  text[96];
} ti_type;

/* Bytes that one element takes in memory. */
static inline unsigned ti_bytes(const ti_type *t) {
    return t->bits <= 8 ? 1 : t->bits / 8;
}

typedef struct ti_attribute {
    const char     *name;
    int64_t         value;   /* of numbers, booleans, units */
    const char     *text;    /* of strings and symbols, else "" */
    size_t          n_words; /* of dense<> and array<> */
    const uint64_t *words;
} ti_attribute;

typedef struct ti_machine ti_machine;
typedef struct ti_frame   ti_frame;
typedef struct ti_op      ti_op;
typedef struct ti_block   ti_block;

typedef void     ti_run_fn(ti_machine *, ti_frame *, const ti_op *);
typedef uint64_t ti_scalar_fn(const ti_op *, uint64_t a, uint64_t b, uint64_t c);

/* What an operation does: `run` on whole values, or `scalar` on one element of each operand. */
typedef struct ti_row {
    const char   *name;
    ti_run_fn    *run;
    ti_scalar_fn *scalar;
} ti_row;

const ti_row *ti_row_named(const char *name); /* NULL: not supported */

typedef struct ti_region {
    ti_block *first;
    int       elementwise; /* one block of elementwise operations: may run on many elements at once */
} ti_region;

struct ti_block {
    unsigned  n_args, *args; /* slots */
    ti_op    *first;
    ti_block *next;
};

typedef struct ti_target {
    ti_block *block;
    unsigned  n, *values;
} ti_target;

struct ti_op {
    const char      *name;
    const ti_row    *row; /* NULL: not supported */
    unsigned         n_in, n_out, n_regions, n_targets, n_attributes, n_ends;
    unsigned        *in, *out; /* slots of the frame */
    const ti_type  **in_type, **out_type;
    ti_region       *regions;
    ti_target       *targets;
    ti_attribute    *attributes;
    unsigned        *ends; /* slots that nothing reads after this operation */
    int64_t          detail; /* predicate, axis, kind: read once, by ti_detail_of */
    int              ends_block;
    unsigned         line, column;
    const char      *file; /* of the Python source; NULL when unknown */
    unsigned         file_line;
    struct ti_function *callee;
    ti_op           *next;
};

/* What tmetal's >>analyse says of a value along one dimension, as log2, as Triton's AxisInfo has it: runs that grow by
 * one element, divisor of each run's first element (pointers: of the byte address), runs of equal elements. */
typedef struct ti_axis {
    unsigned grows, divides, equal;
} ti_axis;

typedef struct ti_fact {
    const ti_type *type; /* NULL: nothing is said */
    ti_axis       *axis; /* one a dimension; a scalar has one */
} ti_fact;

typedef struct ti_function {
    const char     *name;
    int             is_public;
    unsigned        n_parameters, n_slots;
    const ti_type **parameter_type;
    int64_t        *divides; /* what tt.divisibility says of each parameter */
    ti_block       *body; /* NULL: a declaration */
    ti_fact        *facts; /* by slot */
    struct ti_function *next;
} ti_function;

struct ti_module {
    ti_function *functions;
    ti_type    **types; /* by tmetal's number */
    void        *chunks; /* memory */
};

const ti_attribute *ti_attribute_of(const ti_op *op, const char *name);
int64_t             ti_attribute_int(const ti_op *op, const char *name, int64_t missing);
ti_function        *ti_function_named(const ti_module *m, const char *name);

#endif
