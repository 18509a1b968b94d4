/* A plain interpreter of Triton IR: the referee of what a kernel must leave in memory.
 *
 * It reads a module with tmetal.h's reader, and from there on shares nothing with tmetal: every
 * operation is carried out as the language describes it, one after the other, each tensor as an
 * array of its elements in row-major order, each program of the grid to its end before the next.
 *
 *   ti_module *m = ti_read(text, len, why, sizeof why);
 *   ti_run(m, &launch, &result);
 *   ti_free(m);
 *
 * What the language leaves open is settled like this: elements that a mask keeps from being loaded
 * are 0 without `other`; poison is 0; float to integer conversions saturate and turn NaN into 0; a
 * shift by the width or more gives 0 (or the sign); dividing by zero gives all ones, its remainder
 * the dividend; gather clamps its index. Sums of floats in tt.dot are taken in double and rounded
 * once; tt.reduce combines neighbours in pairs. Products are not fused with sums. `vary` settles it otherwise. */
#ifndef INTERP_H
#define INTERP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ti_module ti_module;

/* NULL with a message when tmetal refuses the text. */
ti_module *ti_read(const char *text, size_t len, char *why, size_t why_size);
void       ti_free(ti_module *m);

typedef struct ti_buffer {
    uint8_t *bytes;
    size_t   size;
    int      written; /* set when a program stored to it */
    struct ti_mark *marks; /* one a byte, zeroed, or NULL: then races are not looked for */
} ti_buffer;

/* Who touched a byte last: programs from 1 on, UINT32_MAX for several; the operation that wrote it; which element of a
 * tile was the atomic one's, likewise. */
typedef struct ti_mark {
    uint32_t writer, reader, atomic, element;
    int      kind; /* of the atomics; TI_ANY_KIND (machine.h) where their order shows */
    uint64_t wrote;
} ti_mark;

typedef struct ti_argument {
    int      is_pointer; /* into a buffer; else `bits` is the value */
    unsigned buffer;
    int64_t  offset;     /* in bytes */
    uint64_t bits;
    int      nan_padding; /* of a tensor descriptor that points there */
} ti_argument;

typedef struct ti_launch {
    const char        *kernel; /* its name; NULL: the only public function */
    uint32_t           grid[3];
    ti_buffer         *buffers;
    size_t             n_buffers;
    const ti_argument *arguments; /* one a parameter of the function */
    size_t             n_arguments;
    uint64_t           max_steps; /* operations, over all programs, one for each 1024 elements; 0: no bound */
    int                facts;     /* hold each integer and pointer to what tmetal's >>analyse says of it */
    uint64_t           vary;      /* not 0: a seed by which what the language leaves open is settled another way: values
                                   * that are open, the order of programs and of what collides in memory, and how results
                                   * of floats are rounded. What comes out the same by several seeds is certain. */
} ti_launch;

typedef enum ti_status {
    TI_DONE,
    TI_UNSUPPORTED, /* an operation that is not carried out */
    TI_FAULT,       /* a program broke a rule */
    TI_OUTSIDE,     /* it touched what lies outside every buffer */
    TI_UNALIGNED,   /* it touched an element at an address that is no multiple of its size */
    TI_PROMISE,     /* what the module says of its arguments and values does not hold */
    TI_ASSERTED,    /* tt.assert on something false */
    TI_TOO_LONG,    /* max_steps */
    TI_MISFIT,      /* launch and module do not fit */
    TI_FALSE_FACT   /* what tmetal takes to be known of a value does not hold */
} ti_status;

/* Why what a launch leaves is open, as far as a run tells: several bits. */
enum {
    TI_RACE = 1,  /* programs touch what another wrote, or a byte is written twice */
    TI_ORDER = 2, /* a region is combined whose result depends on how its operands are grouped or ordered */
    TI_VALUE = 4  /* a value that nothing defines was made; seen only where the launch varies */
};

typedef struct ti_result {
    ti_status status;
    char      text[400]; /* what happened and where; empty when done */
    char     *printed;   /* lines of tt.print; from malloc, NULL when there are none */
    uint64_t  steps;
    unsigned  open; /* TI_RACE, ... */
} ti_result;

void ti_run(ti_module *m, const ti_launch *launch, ti_result *result);

/* -- Asking a module ----------------------------------------------------------- */

/* Parameters of a kernel, to match a case with them; -1 when there is no such function. */
int ti_parameters(const ti_module *m, const char *kernel);
/* Rank of the block when the parameter is a tensor descriptor, else 0. */
int ti_descriptor_rank(const ti_module *m, const char *kernel, unsigned parameter);
/* What a pointer points to, "f32"; "" for others. */
const char *ti_pointee(const ti_module *m, const char *kernel, unsigned parameter);
/* Type of a scalar parameter as text, "i32"; "" for others. */
const char *ti_scalar_type(const ti_module *m, const char *kernel, unsigned parameter);

/* The rows of tmetal's op table. Returns 0 past the end. */
typedef struct ti_table_row {
    const char *name, *group, *types, *text;
    unsigned    in, out; /* 255: any number */
    int         pure, elementwise, inner;
} ti_table_row;
int ti_table_at(unsigned index, ti_table_row *row);

/* 1 when the interpreter carries the operation out. */
int ti_supports(const char *op);

/* parse(print(x)) is x: 1, or 0 with what went wrong. */
int ti_round_trip(const char *text, size_t len, char *why, size_t why_size);
/* The module as tmetal prints it, from malloc; NULL with a message. */
char *ti_reprint(const char *text, size_t len, char *why, size_t why_size);

#ifdef __cplusplus
}
#endif

#endif
