/* Operations that make tensors or move elements about. */
#include "machine.h"

void ti_run_constant(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_attribute *value = ti_attribute_of(op, "value");
    const ti_type      *t = op->out_type[0];
    ti_array           *out = ti_new(m, t->words);
    size_t              i;
    for (i = 0; i < out->n; i++) {
        uint64_t x = value->n_words ? value->words[value->n_words == 1 ? 0 : i] : (uint64_t)value->value;
        out->at[i] = x & ti_mask(t->bits);
    }
    ti_put(m, f, op->out[0], out);
}

void ti_run_poison(ti_machine *m, ti_frame *f, const ti_op *op) {
    ti_array *out = ti_new(m, op->out_type[0]->words);
    size_t    i;
    for (i = 0; i < out->n; i++) out->at[i] = ti_open(0) & ti_mask(op->out_type[0]->bits);
    ti_put(m, f, op->out[0], out);
}

void ti_run_range(ti_machine *m, ti_frame *f, const ti_op *op) {
    int64_t   start = ti_attribute_int(op, "start", 0);
    ti_array *out = ti_new(m, op->out_type[0]->count);
    size_t    i;
    for (i = 0; i < out->n; i++) out->at[i] = (uint64_t)(start + (int64_t)i) & 0xffffffffu;
    ti_put(m, f, op->out[0], out);
}

void ti_run_splat(ti_machine *m, ti_frame *f, const ti_op *op) {
    uint64_t  x = ti_scalar(f, op, 0);
    ti_array *out = ti_new(m, op->out_type[0]->count);
    size_t    i;
    for (i = 0; i < out->n; i++) out->at[i] = x;
    ti_put(m, f, op->out[0], out);
}

/* The elements stay in their order: reshape, expand_dims, unsplat. */
void ti_run_same(ti_machine *m, ti_frame *f, const ti_op *op) {
    ti_share(m, f, op, 0, ti_in(f, op, 0));
}

/* Where in row-major order of `t` the element at these coordinates stands. */
static size_t offset_of(const ti_type *t, const uint32_t *at) {
    size_t   offset = 0;
    unsigned d;
    for (d = 0; d < t->rank; d++) offset = offset * t->dims[d] + at[d];
    return offset;
}

/* The next coordinates in row-major order. */
static void step(const ti_type *t, uint32_t *at) {
    unsigned d;
    for (d = t->rank; d-- > 0;) {
        if (++at[d] < t->dims[d]) return;
        at[d] = 0;
    }
}

void ti_run_broadcast(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_type  *from = op->in_type[0], *to = op->out_type[0];
    const ti_array *in = ti_in(f, op, 0);
    ti_array       *out = ti_new(m, to->count);
    uint32_t        at[TI_MAX_RANK] = {0}, source[TI_MAX_RANK] = {0};
    unsigned        d;
    size_t          i;
    for (i = 0; i < out->n; i++, step(to, at)) {
        for (d = 0; d < to->rank; d++) source[d] = from->dims[d] == 1 ? 0 : at[d];
        out->at[i] = in->at[offset_of(from, source)];
    }
    ti_put(m, f, op->out[0], out);
}

/* result[i0, i1, ...] = source[j] with j[order[k]] = i[k]. */
void ti_run_trans(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_attribute *order = ti_attribute_of(op, "order");
    const ti_type      *from = op->in_type[0], *to = op->out_type[0];
    const ti_array     *in = ti_in(f, op, 0);
    ti_array           *out = ti_new(m, to->count);
    uint32_t            at[TI_MAX_RANK] = {0}, source[TI_MAX_RANK] = {0};
    unsigned            d;
    size_t              i;
    for (i = 0; i < out->n; i++, step(to, at)) {
        for (d = 0; d < to->rank; d++) source[order->words[d]] = at[d];
        out->at[i] = in->at[offset_of(from, source)];
    }
    ti_put(m, f, op->out[0], out);
}

void ti_run_join(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_array *a = ti_in(f, op, 0), *b = ti_in(f, op, 1);
    ti_array       *out = ti_new(m, 2 * a->n);
    size_t          i;
    for (i = 0; i < a->n; i++) {
        out->at[2 * i] = a->at[i];
        out->at[2 * i + 1] = b->at[i];
    }
    ti_put(m, f, op->out[0], out);
}

void ti_run_split(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_array *in = ti_in(f, op, 0);
    ti_array       *a = ti_new(m, in->n / 2), *b = ti_new(m, in->n / 2);
    size_t          i;
    for (i = 0; i < a->n; i++) {
        a->at[i] = in->at[2 * i];
        b->at[i] = in->at[2 * i + 1];
    }
    ti_put(m, f, op->out[0], a);
    ti_put(m, f, op->out[1], b);
}

void ti_run_cat(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_array *a = ti_in(f, op, 0), *b = ti_in(f, op, 1);
    ti_array       *out = ti_new(m, a->n + b->n);
    memcpy(out->at, a->at, a->n * sizeof *a->at);
    memcpy(out->at + a->n, b->at, b->n * sizeof *b->at);
    ti_put(m, f, op->out[0], out);
}

void ti_run_gather(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_type  *from = op->in_type[0], *to = op->out_type[0];
    const ti_array *in = ti_in(f, op, 0), *index = ti_in(f, op, 1);
    unsigned        axis = (unsigned)ti_attribute_int(op, "axis", 0);
    ti_array       *out = ti_new(m, to->count);
    uint32_t        at[TI_MAX_RANK] = {0}, source[TI_MAX_RANK] = {0};
    size_t          i;
    for (i = 0; i < out->n; i++, step(to, at)) {
        uint32_t k = (uint32_t)index->at[i];
        memcpy(source, at, sizeof source);
        source[axis] = k < from->dims[axis] ? k : from->dims[axis] - 1;
        out->at[i] = ti_vary && k >= from->dims[axis] ? ti_open(0) & ti_mask(from->bits) : in->at[offset_of(from, source)];
    }
    ti_put(m, f, op->out[0], out);
}

void ti_run_histogram(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_array *in = ti_in(f, op, 0), *mask = op->n_in > 1 ? ti_in(f, op, 1) : NULL;
    ti_array       *out = ti_new(m, op->out_type[0]->count);
    size_t          i;
    memset(out->at, 0, out->n * sizeof *out->at);
    for (i = 0; i < in->n; i++)
        if ((!mask || mask->at[i]) && in->at[i] < out->n) out->at[in->at[i]]++;
    ti_put(m, f, op->out[0], out);
}
