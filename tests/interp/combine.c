/* Operations with a region of scalars: reduce, scan, map_elementwise. */
#include "machine.h"

#define MOST 64 /* values that a region takes or gives */

/* A tensor around an axis: [outer][length][inner]. */
typedef struct around {
    size_t outer, length, inner;
} around;

static around around_axis(const ti_type *t, unsigned axis) {
    around   a = {1, 1, 1};
    unsigned d;
    for (d = 0; d < t->rank; d++) *(d < axis ? &a.outer : d == axis ? &a.length : &a.inner) *= t->dims[d];
    return a;
}

/* Elements first, first + step, ... along the axis: `count` of them. */
static ti_array *every(ti_machine *m, const ti_array *in, around a, size_t first, size_t step, size_t count) {
    ti_array *out = ti_new(m, a.outer * count * a.inner);
    size_t    o, k, n = 0;
    for (o = 0; o < a.outer; o++)
        for (k = 0; k < count; k++, n++)
            memcpy(&out->at[n * a.inner], &in->at[(o * a.length + first + k * step) * a.inner], a.inner * sizeof *in->at);
    return out;
}

static void check_count(ti_machine *m, const ti_op *op, unsigned n) {
    if (n > MOST) ti_stop(m, op, TI_UNSUPPORTED, "%u values in a region", n);
}

/* Neighbours are combined in pairs until one is left: that keeps their order, and adds floats with
 * little error. */
void ti_run_reduce(ti_machine *m, ti_frame *f, const ti_op *op) {
    around    a = around_axis(op->in_type[0], (unsigned)ti_attribute_int(op, "axis", 0));
    unsigned  n = op->n_in, i;
    ti_array *value[MOST], *pair[2 * MOST];
    check_count(m, op, n);
    for (i = 0; i < n; i++) {
        value[i] = ti_in(f, op, i);
        value[i]->refs++;
    }
    for (; a.length > 1; a.length /= 2) {
        for (i = 0; i < n; i++) {
            pair[i] = every(m, value[i], a, 0, 2, a.length / 2);
            pair[n + i] = every(m, value[i], a, 1, 2, a.length / 2);
            ti_release(m, value[i]);
        }
        ti_map_region(m, f, op, a.outer * (a.length / 2) * a.inner, pair, 2 * n, value, n);
        for (i = 0; i < 2 * n; i++) ti_release(m, pair[i]);
    }
    for (i = 0; i < n; i++) ti_put(m, f, op->out[i], value[i]);
}

static void store_slice(ti_array *out, const ti_array *slice, around a, size_t k) {
    size_t o;
    for (o = 0; o < a.outer; o++)
        memcpy(&out->at[(o * a.length + k) * a.inner], &slice->at[o * a.inner], a.inner * sizeof *slice->at);
}

/* Forward: combine(prefix, next). Reverse: combine(what was gathered from the right, next to the left). */
void ti_run_scan(ti_machine *m, ti_frame *f, const ti_op *op) {
    around    a = around_axis(op->in_type[0], (unsigned)ti_attribute_int(op, "axis", 0));
    int       reverse = ti_attribute_int(op, "reverse", 0) != 0;
    unsigned  n = op->n_in, i;
    size_t    done;
    ti_array *out[MOST], *pair[2 * MOST], *next[MOST];
    check_count(m, op, n);
    for (i = 0; i < n; i++) out[i] = ti_new(m, op->out_type[i]->count);
    for (done = 0; done < a.length; done++) {
        size_t k = reverse ? a.length - 1 - done : done;
        for (i = 0; i < n; i++) pair[n + i] = every(m, ti_in(f, op, i), a, k, 1, 1);
        if (done) {
            ti_map_region(m, f, op, a.outer * a.inner, pair, 2 * n, next, n);
            for (i = 0; i < 2 * n; i++) ti_release(m, pair[i]);
        } else {
            for (i = 0; i < n; i++) next[i] = pair[n + i];
        }
        for (i = 0; i < n; i++) {
            store_slice(out[i], next[i], a, k);
            pair[i] = next[i];
        }
    }
    for (i = 0; i < n; i++) {
        ti_release(m, pair[i]);
        ti_put(m, f, op->out[i], out[i]);
    }
}

/* Groups of `pack` neighbours; arguments and results operand by operand, in a group's order. */
void ti_run_map(ti_machine *m, ti_frame *f, const ti_op *op) {
    unsigned  pack = (unsigned)ti_attribute_int(op, "pack", 1), i, k;
    size_t    groups = ti_in(f, op, 0)->n / pack, g;
    ti_array *arguments[MOST], *results[MOST], *out;
    check_count(m, op, op->n_in * pack);
    check_count(m, op, op->n_out * pack);
    for (i = 0; i < op->n_in; i++)
        for (k = 0; k < pack; k++) {
            arguments[i * pack + k] = ti_new(m, groups);
            for (g = 0; g < groups; g++) arguments[i * pack + k]->at[g] = ti_in(f, op, i)->at[g * pack + k];
        }
    ti_map_region(m, f, op, groups, arguments, op->n_in * pack, results, op->n_out * pack);
    for (i = 0; i < op->n_out; i++) {
        out = ti_new(m, groups * pack);
        for (k = 0; k < pack; k++)
            for (g = 0; g < groups; g++) out->at[g * pack + k] = results[i * pack + k]->at[g];
        ti_put(m, f, op->out[i], out);
    }
    for (i = 0; i < op->n_in * pack; i++) ti_release(m, arguments[i]);
    for (i = 0; i < op->n_out * pack; i++) ti_release(m, results[i]);
}
