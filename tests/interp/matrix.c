/* tt.dot and tt.dot_scaled: d = a b + c. Products of floats are summed in double and rounded once. */
#include "machine.h"

#include <math.h>
#include <stdlib.h>

/* [batch][rows][k] times [batch][k][columns]. */
typedef struct extents {
    size_t batch, rows, k, columns;
} extents;

static extents extents_of(const ti_op *op) {
    const ti_type *d = op->out_type[0], *a = op->in_type[0];
    extents        e;
    e.batch = d->rank == 3 ? d->dims[0] : 1;
    e.rows = d->dims[d->rank - 2];
    e.columns = d->dims[d->rank - 1];
    e.k = a->count / (e.batch * e.rows);
    return e;
}

static double *doubles(ti_machine *m, const ti_op *op, size_t n) {
    double *x = (double *)malloc((n ? n : 1) * sizeof *x);
    if (!x) ti_stop(m, op, TI_FAULT, "no memory for %zu numbers", n);
    return x;
}

static double *decoded(ti_machine *m, const ti_op *op, const ti_array *in, const ti_type *t) {
    double *x = doubles(m, op, in->n);
    size_t  i;
    for (i = 0; i < in->n; i++) x[i] = ti_decode(t->format, in->at[i]);
    return x;
}

/* A sum of products, `large` the sum of their magnitudes: rounded on the way, or after a cut to tf32. */
static double varied(const ti_format *f, int cut, double sum, double large) {
    if (!ti_vary || !isfinite(large)) return sum;
    return sum + ((double)(ti_any() % 3) - 1) * ldexp(large, cut ? -10 : -1 - f->fraction);
}

/* A row of sums grows by x times a row, in f32 at least: where a launch varies, each step rounded in some way. */
static void grow(double *row, double *large, double x, const double *y, size_t n, const ti_format *f) {
    size_t j;
    for (j = 0; j < n; j++) {
        row[j] += x * y[j];
        if (!ti_vary) continue;
        row[j] = ti_decode(f, ti_round(f, row[j]));
        large[j] += fabs(x * y[j]);
    }
}

/* Multiplies; `a` and `b` are row-major, and freed here. */
static ti_array *product(ti_machine *m, const ti_op *op, extents e, double *a, double *b, const ti_array *c) {
    const ti_format *format = op->out_type[0]->format, *sums = format->bits == 64 ? format : ti_format_named("f32");
    const int        cut = op->in_type[0]->bits == 32 && ti_attribute_int(op, "inputPrecision", 2) == 0;
    ti_array        *out = ti_new(m, e.batch * e.rows * e.columns);
    double          *row = doubles(m, op, e.columns), *large = doubles(m, op, e.columns);
    size_t           z, i, j, k;
    m->result->steps += e.batch * e.rows * e.columns * e.k / 1024;
    for (z = 0; z < e.batch; z++)
        for (i = 0; i < e.rows; i++) {
            const double *x = &a[(z * e.rows + i) * e.k];
            size_t        first = (z * e.rows + i) * e.columns;
            for (j = 0; j < e.columns; j++) large[j] = 0, row[j] = ti_vary ? ti_decode(format, c->at[first + j]) : 0;
            for (k = 0; k < e.k; k++) grow(row, large, x[k], &b[(z * e.k + k) * e.columns], e.columns, sums);
            for (j = 0; j < e.columns; j++)
                out->at[first + j] = ti_encode(format, varied(format, cut, row[j], large[j]) + (ti_vary ? 0 : ti_decode(format, c->at[first + j])));
        }
    free(row);
    free(large);
    free(a);
    free(b);
    return out;
}

static ti_array *whole_product(ti_machine *m, const ti_op *op, extents e, const ti_array *a, const ti_array *b, const ti_array *c) {
    unsigned  in = op->in_type[0]->bits, bits = op->out_type[0]->bits;
    ti_array *out = ti_new(m, c->n);
    size_t    z, i, j, k;
    for (z = 0; z < e.batch; z++)
        for (i = 0; i < e.rows; i++)
            for (j = 0; j < e.columns; j++) {
                size_t   at = (z * e.rows + i) * e.columns + j;
                uint64_t sum = c->at[at];
                for (k = 0; k < e.k; k++)
                    sum += (uint64_t)ti_signed(a->at[(z * e.rows + i) * e.k + k], in) *
                           (uint64_t)ti_signed(b->at[(z * e.k + k) * e.columns + j], in);
                out->at[at] = sum & ti_mask(bits);
            }
    return out;
}

void ti_run_dot(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_array *a = ti_in(f, op, 0), *b = ti_in(f, op, 1), *c = ti_in(f, op, 2);
    extents         e = extents_of(op);
    ti_array       *out;
    if (op->out_type[0]->kind == TI_INT) out = whole_product(m, op, e, a, b, c);
    else out = product(m, op, e, decoded(m, op, a, op->in_type[0]), decoded(m, op, b, op->in_type[1]), c);
    ti_put(m, f, op->out[0], out);
}

/* -- Scaled ---------------------------------------------------------------------------- */

/* Kinds as in Triton's TritonAttrDefs.td. */
enum { E4M3, E5M2, E2M3, E3M2, E2M1, BF16, FP16 };

static const char *const kind_names[] = {"f8E4M3FN", "f8E5M2", "f6E2M3FN", "f6E3M2FN", "f4E2M1FN", "bf16", "f16"};

/* One side of the product: its elements are [batch][outer][k], whatever the order in the tensor. */
typedef struct side {
    const ti_array *values, *scales; /* scales: [batch][outer][k / factor], or NULL */
    const ti_type  *type, *scale_type;
    const ti_format *format;
    size_t          batch, outer, k;
    int             k_is_last, packed, packed_along_k;
} side;

static double element_of(const side *s, size_t z, size_t o, size_t k) {
    size_t   rows = s->k_is_last ? s->outer : s->k, columns = s->k_is_last ? s->k : s->outer;
    size_t   row = s->k_is_last ? o : k, column = s->k_is_last ? k : o, nibble = 0;
    uint64_t bits;
    if (s->packed) {
        int along_columns = s->packed_along_k == s->k_is_last;
        nibble = (along_columns ? column : row) % 2;
        if (along_columns) columns /= 2, column /= 2;
        else rows /= 2, row /= 2;
    }
    bits = s->values->at[(z * rows + row) * columns + column];
    if (s->packed) bits = bits >> (4 * nibble) & 15;
    return ti_decode(s->format, bits);
}

static double scale_of(const side *s, size_t z, size_t o, size_t k) {
    size_t   n = s->scales->n / (s->batch * s->outer);
    uint64_t bits = s->scales->at[(z * s->outer + o) * n + k * n / s->k];
    if (s->scale_type->kind == TI_FLOAT) return ti_decode(s->scale_type->format, bits);
    return bits == 0xff ? NAN : ldexp(1.0, (int)bits - 127);
}

/* Raised to `in`, scaled there: one rounding each. */
static double scaled_element(const side *s, const ti_format *in, int fast, size_t z, size_t o, size_t k) {
    double x = ti_decode(in, ti_encode(in, element_of(s, z, o, k))), scale;
    if (!s->scales) return x;
    scale = scale_of(s, z, o, k);
    if (isnan(scale) && fast) return ti_vary && ti_any() % 2 ? (double)NAN : x;
    return ti_decode(in, ti_round(in, x * ti_decode(in, ti_round(in, scale)))); /* below 2^-126 both may be flushed */
}

static side side_of(const ti_frame *f, const ti_op *op, unsigned i, extents *e, const ti_array *scales, const ti_type *scale_type) {
    side    s;
    int64_t kind = ti_attribute_int(op, i ? "b_elem_type" : "a_elem_type", 0);
    memset(&s, 0, sizeof s);
    s.values = ti_in(f, op, i);
    s.type = op->in_type[i];
    s.scales = scales;
    s.scale_type = scale_type;
    s.format = ti_format_named(kind_names[kind < 7 ? kind : 0]);
    s.packed = kind == E2M1;
    s.packed_along_k = ti_attribute_int(op, i ? "rhs_k_pack" : "lhs_k_pack", 1) != 0;
    s.k_is_last = i == 0;
    s.batch = e->batch;
    s.outer = i ? e->columns : e->rows;
    s.k = s.values->n * (s.packed ? 2 : 1) / (s.batch * s.outer);
    return s;
}

void ti_run_dot_scaled(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_attribute *sizes = ti_attribute_of(op, "operandSegmentSizes");
    int                 has_a = sizes && sizes->n_words == 5 ? sizes->words[3] != 0 : op->n_in > 3;
    unsigned            at_b = 3 + (unsigned)has_a;
    int                 has_b = op->n_in > at_b, fast = ti_attribute_int(op, "fastMath", 0) != 0;
    extents             e = extents_of(op);
    side                a = side_of(f, op, 0, &e, has_a ? ti_in(f, op, 3) : NULL, has_a ? op->in_type[3] : NULL);
    side                b = side_of(f, op, 1, &e, has_b ? ti_in(f, op, at_b) : NULL, has_b ? op->in_type[at_b] : NULL);
    int64_t             ka = ti_attribute_int(op, "a_elem_type", 0), kb = ti_attribute_int(op, "b_elem_type", 0);
    const ti_format    *in = ti_format_named(ka == FP16 || kb == FP16 ? "f16" : "bf16");
    double             *x, *y;
    size_t              z, i, k;
    if (a.k != b.k) ti_stop(m, op, TI_FAULT, "K is %zu on the left, %zu on the right", a.k, b.k);
    e.k = a.k;
    x = doubles(m, op, e.batch * e.rows * e.k);
    y = doubles(m, op, e.batch * e.k * e.columns);
    for (z = 0; z < e.batch; z++)
        for (k = 0; k < e.k; k++) {
            for (i = 0; i < e.rows; i++) x[(z * e.rows + i) * e.k + k] = scaled_element(&a, in, fast, z, i, k);
            for (i = 0; i < e.columns; i++) y[(z * e.k + k) * e.columns + i] = scaled_element(&b, in, fast, z, i, k);
        }
    ti_put(m, f, op->out[0], product(m, op, e, x, y, ti_in(f, op, 2)));
}
