/* Block pointers and tensor descriptors: a base, sizes and strides, and blocks taken from there.
 *
 * A block pointer's words are base, sizes, strides, offsets; a descriptor's are base, whether its
 * padding is NaN, sizes, strides. */
#include "machine.h"

#include <math.h>

/* One access of a block: for each axis where it starts, its size, its stride, whether it is checked. */
typedef struct access {
    const ti_type *elem;
    unsigned       rank;
    const uint32_t *dims;
    uint64_t       base;
    int64_t        start[TI_MAX_RANK], size[TI_MAX_RANK], stride[TI_MAX_RANK];
    int            checked[TI_MAX_RANK];
} access;

/* Address of element `i` of the block in row-major order; 0 when it lies outside. */
static int element_at(const access *a, size_t i, uint64_t *address) {
    unsigned d;
    *address = a->base;
    for (d = a->rank; d-- > 0;) {
        int64_t at = a->start[d] + (int64_t)(i % a->dims[d]);
        i /= a->dims[d];
        if (a->checked[d] && (at < 0 || at >= a->size[d])) return 0;
        *address += (uint64_t)(at * a->stride[d]) * ti_bytes(a->elem);
    }
    return 1;
}

static ti_array *load_access(ti_machine *m, const ti_op *op, const access *a, size_t n, uint64_t padding) {
    ti_array *out = ti_new(m, n);
    size_t    i;
    uint64_t  address;
    for (i = 0; i < n; i++)
        out->at[i] = element_at(a, i, &address) ? ti_read_memory(m, op, address, ti_bytes(a->elem)) : padding;
    return out;
}

static void store_access(ti_machine *m, const ti_op *op, const access *a, const ti_array *values) {
    size_t   i;
    uint64_t address;
    for (i = 0; i < values->n; i++)
        if (element_at(a, i, &address)) ti_write_memory(m, op, address, ti_bytes(a->elem), values->at[i]);
}

static uint64_t nan_bits(const ti_type *elem) {
    return elem->kind == TI_FLOAT ? ti_encode(elem->format, (double)NAN) : 0;
}

/* -- Block pointers ---------------------------------------------------------------- */

void ti_run_make_pointer(ti_machine *m, ti_frame *f, const ti_op *op) {
    unsigned  rank = op->out_type[0]->to->rank, i;
    ti_array *out = ti_new(m, op->out_type[0]->words);
    for (i = 0; i < op->n_in; i++) out->at[i] = ti_scalar(f, op, i);
    for (i = 0; i < rank; i++) out->at[1 + 2 * rank + i] = (uint64_t)ti_signed(out->at[1 + 2 * rank + i], 32);
    ti_put(m, f, op->out[0], out);
}

void ti_run_advance(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_array *in = ti_in(f, op, 0);
    unsigned        rank = op->out_type[0]->to->rank, i;
    ti_array       *out = ti_new(m, in->n);
    memcpy(out->at, in->at, in->n * sizeof *in->at);
    for (i = 0; i < rank; i++) {
        uint64_t *at = &out->at[1 + 2 * rank + i];
        *at = (uint64_t)ti_signed(*at + ti_scalar(f, op, 1 + i), 32);
    }
    ti_put(m, f, op->out[0], out);
}

static void block_access(const ti_op *op, const ti_array *pointer, access *a) {
    const ti_type      *block = op->in_type[0]->to;
    const ti_attribute *check = ti_attribute_of(op, "boundaryCheck");
    unsigned            d;
    memset(a, 0, sizeof *a);
    a->elem = block;
    a->rank = block->rank;
    a->dims = block->dims;
    a->base = pointer->at[0];
    for (d = 0; d < a->rank; d++) {
        a->size[d] = (int64_t)pointer->at[1 + d];
        a->stride[d] = (int64_t)pointer->at[1 + a->rank + d];
        a->start[d] = (int64_t)pointer->at[1 + 2 * a->rank + d];
    }
    for (d = 0; check && d < check->n_words; d++)
        if (check->words[d] < a->rank) a->checked[check->words[d]] = 1;
}

void ti_load_block(ti_machine *m, ti_frame *f, const ti_op *op) {
    access a;
    block_access(op, ti_in(f, op, 0), &a);
    ti_put(m, f, op->out[0],
           load_access(m, op, &a, op->out_type[0]->count, ti_attribute_int(op, "padding", 1) == 2 ? nan_bits(a.elem) : 0));
}

void ti_store_block(ti_machine *m, ti_frame *f, const ti_op *op) {
    access a;
    block_access(op, ti_in(f, op, 0), &a);
    store_access(m, op, &a, ti_in(f, op, 1));
}

/* -- Descriptors ---------------------------------------------------------------------- */

void ti_run_make_descriptor(ti_machine *m, ti_frame *f, const ti_op *op) {
    unsigned  rank = op->out_type[0]->to->rank, i;
    ti_array *out = ti_new(m, op->out_type[0]->words);
    out->at[0] = ti_scalar(f, op, 0);
    out->at[1] = ti_attribute_int(op, "padding", 1) == 2;
    for (i = 0; i < rank; i++) {
        out->at[2 + i] = (uint64_t)ti_signed(ti_scalar(f, op, 1 + i), 32);
        out->at[2 + rank + i] = ti_scalar(f, op, 1 + rank + i);
    }
    ti_put(m, f, op->out[0], out);
}

/* The block at indices that stand from operand `first` on. The oldest spelling takes a pointer to what
 * only CUDA can make. */
static void descriptor_access(ti_machine *m, const ti_frame *f, const ti_op *op, unsigned first, access *a) {
    const ti_type  *block = op->in_type[0]->to;
    const ti_array *d = ti_in(f, op, 0);
    unsigned        i;
    if (op->in_type[0]->kind != TI_DESC) ti_stop(m, op, TI_UNSUPPORTED, "a descriptor of type %s", op->in_type[0]->text);
    memset(a, 0, sizeof *a);
    a->elem = block;
    a->rank = block->rank;
    a->dims = block->dims;
    a->base = d->at[0];
    for (i = 0; i < a->rank; i++) {
        a->size[i] = (int64_t)d->at[2 + i];
        a->stride[i] = (int64_t)d->at[2 + a->rank + i];
        a->checked[i] = 1;
        if (first) a->start[i] = ti_signed(ti_scalar(f, op, first + i), op->in_type[first + i]->bits);
    }
}

static uint64_t padding_of(const ti_frame *f, const ti_op *op, const access *a) {
    return ti_in(f, op, 0)->at[1] ? nan_bits(a->elem) : 0;
}

void ti_run_descriptor_load(ti_machine *m, ti_frame *f, const ti_op *op) {
    access a;
    descriptor_access(m, f, op, 1, &a);
    ti_put(m, f, op->out[0], load_access(m, op, &a, op->out_type[0]->count, padding_of(f, op, &a)));
}

void ti_run_descriptor_store(ti_machine *m, ti_frame *f, const ti_op *op) {
    access a;
    descriptor_access(m, f, op, 2, &a);
    store_access(m, op, &a, ti_in(f, op, 1));
}

/* Kinds as in Triton's TritonAttrDefs.td, as kinds of atomics; 0: none. */
static int64_t atomic_kind(int64_t kind, const ti_type *elem) {
    switch (kind) {
    case 1: return elem->kind == TI_FLOAT ? 5 : 4;
    case 2: return elem->is_unsigned ? 9 : 7;
    case 3: return elem->is_unsigned ? 8 : 6;
    case 6: return 1;
    case 7: return 2;
    case 8: return 3;
    default: return 0;
    }
}

static uint64_t reduced(ti_machine *m, const ti_op *op, const ti_type *elem, uint64_t old, uint64_t value) {
    double x, y;
    if (elem->kind != TI_FLOAT || op->detail == 1) return ti_rmw_result(m, op, elem, atomic_kind(op->detail, elem), old, value);
    x = ti_decode(elem->format, old);
    y = ti_decode(elem->format, value);
    if (op->detail == 2) return y < x || x != x ? value : old;
    if (op->detail == 3) return y > x || x != x ? value : old;
    return ti_rmw_result(m, op, elem, atomic_kind(op->detail, elem), old, value);
}

void ti_run_descriptor_reduce(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_array *values = ti_in(f, op, 1);
    access          a;
    size_t          i;
    uint64_t        address;
    descriptor_access(m, f, op, 2, &a);
    m->atomic = (int)op->detail;
    for (i = 0; i < values->n; i++)
        if (element_at(&a, i, &address)) {
            uint64_t old;
            m->element = (uint32_t)i + 1;
            old = ti_read_memory(m, op, address, ti_bytes(a.elem));
            ti_write_memory(m, op, address, ti_bytes(a.elem), reduced(m, op, a.elem, old, values->at[i]));
        }
    m->atomic = 0;
}

/* Row i of the tensor is row xs[i] of the memory, from column y on. */
static void row_access(ti_machine *m, const ti_frame *f, const ti_op *op, size_t row, access *a) {
    descriptor_access(m, f, op, 0, a);
    a->start[0] = ti_signed(ti_in(f, op, 1)->at[row], op->in_type[1]->bits);
    a->start[1] = ti_signed(ti_scalar(f, op, 2), op->in_type[2]->bits);
}

void ti_run_descriptor_gather(ti_machine *m, ti_frame *f, const ti_op *op) {
    size_t    rows = ti_in(f, op, 1)->n, columns = op->out_type[0]->count / rows, i, k;
    ti_array *out = ti_new(m, op->out_type[0]->count);
    uint64_t  address;
    access    a;
    for (i = 0; i < rows; i++) {
        row_access(m, f, op, i, &a);
        for (k = 0; k < columns; k++)
            out->at[i * columns + k] =
                element_at(&a, k, &address) ? ti_read_memory(m, op, address, ti_bytes(a.elem)) : padding_of(f, op, &a);
    }
    ti_put(m, f, op->out[0], out);
}

void ti_run_descriptor_scatter(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_array *values = ti_in(f, op, 3);
    size_t          rows = ti_in(f, op, 1)->n, columns = values->n / rows, i, k;
    uint64_t        address;
    access          a;
    for (i = 0; i < rows; i++) {
        row_access(m, f, op, i, &a);
        for (k = 0; k < columns; k++)
            if (element_at(&a, k, &address)) ti_write_memory(m, op, address, ti_bytes(a.elem), values->at[i * columns + k]);
    }
}
