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

/* Groups of `group` elements become one each: neighbours, or elements that lie as far apart as there are groups. Each of
 * a group is combined with what came before, or the other way round. */
static void fold(ti_machine *m, ti_frame *f, const ti_op *op, around a, size_t group, int apart, int turned, ti_array **value) {
    unsigned  n = op->n_in, i;
    size_t    count = a.length / group, step = apart ? 1 : group, k;
    ti_array *pair[2 * MOST], *sum[MOST];
    for (i = 0; i < n; i++) sum[i] = every(m, value[i], a, 0, step, count);
    for (k = 1; k < group; k++) {
        for (i = 0; i < n; i++) {
            pair[turned ? n + i : i] = sum[i];
            pair[turned ? i : n + i] = every(m, value[i], a, apart ? k * count : k, step, count);
        }
        ti_map_region(m, f, op, a.outer * count * a.inner, pair, 2 * n, sum, n);
        for (i = 0; i < 2 * n; i++) ti_release(m, pair[i]);
    }
    for (i = 0; i < n; i++) {
        ti_release(m, value[i]);
        value[i] = sum[i];
    }
}

/* Neighbours are combined in pairs until one is left: that keeps their order, and adds floats with
 * little error. Where what is open varies, in other groups and orders. */
void ti_run_reduce(ti_machine *m, ti_frame *f, const ti_op *op) {
    around    a = around_axis(op->in_type[0], (unsigned)ti_attribute_int(op, "axis", 0));
    unsigned  i;
    size_t    group;
    ti_array *value[MOST];
    check_count(m, op, op->n_in);
    for (i = 0; i < op->n_in; i++) {
        value[i] = ti_in(f, op, i);
        value[i]->refs++;
    }
    for (; a.length > 1; a.length /= group) {
        uint64_t how = ti_vary ? ti_any() : 0;
        for (group = (size_t)2 << how % 4; group > a.length || a.length % group; group /= 2) {}
        fold(m, f, op, a, group, (how & 16) != 0, (how & 32) != 0, value);
    }
    for (i = 0; i < op->n_in; i++) ti_put(m, f, op->out[i], value[i]);
}

static void store_slice(ti_array *out, const ti_array *slice, around a, size_t k) {
    size_t o;
    for (o = 0; o < a.outer; o++)
        memcpy(&out->at[(o * a.length + k) * a.inner], &slice->at[o * a.inner], a.inner * sizeof *slice->at);
}

/* The same by doubling: combine(what ends d before, what ends here) for d = 1, 2, 4, ... */
static void scan_by_doubling(ti_machine *m, ti_frame *f, const ti_op *op, around a, int reverse) {
    unsigned  n = op->n_in, i;
    size_t    d, k, o;
    ti_array *value[MOST], *pair[2 * MOST], *sum[MOST], *next;
    for (i = 0; i < n; i++) {
        value[i] = ti_in(f, op, i);
        value[i]->refs++;
    }
    for (d = 1; d < a.length; d *= 2) {
        for (i = 0; i < n; i++) {
            pair[i] = every(m, value[i], a, reverse ? d : 0, 1, a.length - d);
            pair[n + i] = every(m, value[i], a, reverse ? 0 : d, 1, a.length - d);
        }
        ti_map_region(m, f, op, a.outer * (a.length - d) * a.inner, pair, 2 * n, sum, n);
        for (i = 0; i < n; i++) {
            next = every(m, value[i], a, 0, 1, a.length);
            for (o = 0; o < a.outer; o++)
                for (k = 0; k < a.length - d; k++)
                    memcpy(&next->at[(o * a.length + k + (reverse ? 0 : d)) * a.inner], &sum[i]->at[(o * (a.length - d) + k) * a.inner],
                           a.inner * sizeof *next->at);
            ti_release(m, pair[i]);
            ti_release(m, pair[n + i]);
            ti_release(m, sum[i]);
            ti_release(m, value[i]);
            value[i] = next;
        }
    }
    for (i = 0; i < n; i++) ti_put(m, f, op->out[i], value[i]);
}

/* Forward: combine(prefix, next). Reverse: combine(what was gathered from the right, next to the left). */
void ti_run_scan(ti_machine *m, ti_frame *f, const ti_op *op) {
    around    a = around_axis(op->in_type[0], (unsigned)ti_attribute_int(op, "axis", 0));
    int       reverse = ti_attribute_int(op, "reverse", 0) != 0;
    unsigned  n = op->n_in, i;
    size_t    done;
    ti_array *out[MOST], *pair[2 * MOST], *next[MOST];
    check_count(m, op, n);
    if (m->launch->vary % 2) {
        scan_by_doubling(m, f, op, a, reverse);
        return;
    }
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
