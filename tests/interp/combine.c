/* Operations with a region of scalars: reduce, scan, map_elementwise. */
#include "machine.h"

#include <math.h>

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

/* -- Whether the order shows ------------------------------------------------------------------------- */

/* Triton combines neighbours in any grouping, and what it reduces in any order. A region for which f(f(a, b), c) is not
 * f(a, f(b, c)), or, in a reduction, f(a, b) not f(b, a), has no one result. That is tried on the values that are there:
 * neighbours, then what pairs of them give, fours, ... Each side is computed SAMPLES times, rounded in other ways. */
enum { SAMPLES = 3 };

typedef struct row_of { /* values along the axis, one array an operand */
    ti_array *value[MOST];
    size_t    length;
} row_of;

/* f(x[at_x + k], y[at_y + k]) for k < count. */
static row_of combined(ti_machine *m, ti_frame *f, const ti_op *op, around a, const row_of *x, size_t at_x, const row_of *y, size_t at_y, size_t count) {
    ti_array *pair[2 * MOST];
    unsigned  n = op->n_in, i;
    row_of    out;
    for (i = 0; i < n; i++) {
        a.length = x->length;
        pair[i] = every(m, x->value[i], a, at_x, 1, count);
        a.length = y->length;
        pair[n + i] = every(m, y->value[i], a, at_y, 1, count);
    }
    ti_map_region(m, f, op, a.outer * count * a.inner, pair, 2 * n, out.value, n);
    for (i = 0; i < 2 * n; i++) ti_release(m, pair[i]);
    out.length = count;
    return out;
}

static void drop(ti_machine *m, unsigned n, row_of *x) {
    while (n-- > 0) ti_release(m, x->value[n]);
}

/* 0: the two sides agree, as far as their rounding goes; 1: only one overflows; 2: they differ. `large`: magnitude of
 * what they were made of. */
static int differ(const ti_type *t, const uint64_t *x, const uint64_t *y, double large) {
    double   near = INFINITY, spread = 0, a, b, c;
    unsigned i, k;
    if (t->kind != TI_FLOAT) {
        for (i = 1; i < SAMPLES; i++)
            if (x[i] != x[0] || y[i] != y[0]) return 0;
        return x[0] != y[0] ? 2 : 0;
    }
    for (i = 0; i < SAMPLES; i++)
        for (k = 0; k < SAMPLES; k++) {
            a = ti_decode(t->format, x[i]), b = ti_decode(t->format, y[k]), c = ti_decode(t->format, x[k]);
            if ((isnan(a) && isnan(b)) || a == b) return 0;
            if (!isfinite(a) || !isfinite(b)) return 1;
            near = fmin(near, fabs(a - b));
            spread = fmax(spread, fmax(fabs(a - c), fabs(b - ti_decode(t->format, y[i]))));
            large = fmax(large, fmax(fabs(a), fabs(b)));
        }
    return near > 8 * spread + ldexp(large, 4 - t->format->fraction) + 0x1p-125 ? 2 : 0;
}

/* Notes in `open` in which lines two sides differ; a number that does in one of them, not overflowing, opens all when it
 * is the grouping that shows. */
static void note_differences(const ti_op *op, around a, const row_of *x, const row_of *side[2][SAMPLES], int grouping, ti_array **open) {
    size_t   count = side[0][0]->length, o, k, in, line;
    uint64_t value[2][SAMPLES];
    unsigned i, s, d;
    for (i = 0; i < op->n_in; i++) {
        const ti_type *t = op->in_type[i];
        for (o = 0; o < a.outer * count * a.inner; o++) {
            double large = 0;
            int    how;
            in = o % a.inner, k = o / a.inner % count, line = o / a.inner / count;
            for (d = 0; t->kind == TI_FLOAT && d < 3 && k + d < x->length; d++) {
                double z = fabs(ti_decode(t->format, x->value[i]->at[(line * x->length + k + d) * a.inner + in]));
                if (isfinite(z)) large = fmax(large, z);
            }
            for (s = 0; s < SAMPLES; s++) value[0][s] = side[0][s]->value[i]->at[o], value[1][s] = side[1][s]->value[i]->at[o];
            how = differ(t, value[0], value[1], large);
            if (how) open[i]->at[line * a.inner + in] = 1;
            if (how == 2 && grouping) open[i]->at[a.outer * a.inner] = 1;
        }
    }
}

static void try_neighbours(ti_machine *m, ti_frame *f, const ti_op *op, around a, const row_of *x, int commutes, ti_array **open) {
    row_of        pairs[SAMPLES], turned[SAMPLES], left[SAMPLES], right[SAMPLES];
    const row_of *exchanged[2][SAMPLES], *grouped[2][SAMPLES];
    const size_t  c = x->length;
    unsigned      s, n = op->n_in;
    for (s = 0; s < SAMPLES; s++) {
        exchanged[0][s] = &pairs[s], exchanged[1][s] = &turned[s], grouped[0][s] = &left[s], grouped[1][s] = &right[s];
        pairs[s] = combined(m, f, op, a, x, 0, x, 1, c - 1);
        turned[s] = combined(m, f, op, a, x, 1, x, 0, commutes ? c - 1 : 0);
        left[s] = combined(m, f, op, a, &pairs[s], 0, x, 2, c - 2);
        right[s] = combined(m, f, op, a, x, 0, &pairs[s], 1, c - 2);
    }
    if (commutes) note_differences(op, a, x, exchanged, 0, open);
    note_differences(op, a, x, grouped, 1, open);
    for (s = 0; s < SAMPLES; s++) drop(m, n, &pairs[s]), drop(m, n, &turned[s]), drop(m, n, &left[s]), drop(m, n, &right[s]);
}

/* For each operand an array of truths, one a line around the axis, and behind them one for all. */
static void try_orders(ti_machine *m, ti_frame *f, const ti_op *op, around a, ti_array **value, int commutes, ti_array **open) {
    unsigned i;
    row_of   x;
    x.length = a.length;
    for (i = 0; i < op->n_in; i++) {
        open[i] = ti_new(m, a.outer * a.inner + 1);
        memset(open[i]->at, 0, open[i]->n * sizeof *open[i]->at);
        x.value[i] = value[i];
        value[i]->refs++;
    }
    for (; x.length > 1; x.length /= 2, a.length = x.length) {
        try_neighbours(m, f, op, a, &x, commutes, open);
        a.length = x.length;
        fold(m, f, op, a, 2, 0, 0, x.value);
    }
    drop(m, op->n_in, &x);
}

/* Gives what is open in a result any value: elements from `first` on along an axis as long as `length`. */
static ti_array *opened(ti_machine *m, ti_array *in, around a, size_t length, size_t first, const ti_type *t, const ti_array *open) {
    const size_t lines = a.outer * a.inner;
    ti_array    *out;
    size_t       i, k, some = 0;
    for (i = 0; i <= lines; i++) some += open->at[i];
    if (!some || length <= first) return in;
    m->result->open |= TI_ORDER;
    out = ti_new(m, in->n);
    memcpy(out->at, in->at, in->n * sizeof *in->at);
    for (i = 0; i < lines; i++)
        for (k = first; k < length && (open->at[i] || open->at[lines]); k++)
            out->at[(i / a.inner * length + k) * a.inner + i % a.inner] = ti_open(0) & ti_mask(t->bits);
    ti_release(m, in);
    return out;
}

static int is_tried(const ti_machine *m) {
    return m->launch->vary != 0;
}

/* Neighbours are combined in pairs until one is left: that keeps their order, and adds floats with
 * little error. Where what is open varies, in other groups and orders: up to 256 one after another, as a thread may. */
void ti_run_reduce(ti_machine *m, ti_frame *f, const ti_op *op) {
    around    a = around_axis(op->in_type[0], (unsigned)ti_attribute_int(op, "axis", 0));
    const int tried = is_tried(m);
    unsigned  i;
    size_t    group;
    ti_array *value[MOST], *open[MOST];
    check_count(m, op, op->n_in);
    for (i = 0; i < op->n_in; i++) {
        value[i] = ti_in(f, op, i);
        value[i]->refs++;
    }
    if (tried) try_orders(m, f, op, a, value, 1, open);
    for (; a.length > 1; a.length /= group) {
        uint64_t how = ti_vary ? ti_any() : 0;
        for (group = (size_t)2 << how % 8; group > a.length || a.length % group; group /= 2) {}
        fold(m, f, op, a, group, (how & 256) != 0, (how & 512) != 0, value);
    }
    for (i = 0; i < op->n_in; i++) {
        if (tried) value[i] = opened(m, value[i], a, 1, 0, op->in_type[i], open[i]), ti_release(m, open[i]);
        ti_put(m, f, op->out[i], value[i]);
    }
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

/* Along the axis the other way round. */
static ti_array *turned_round(ti_machine *m, const ti_array *in, around a) {
    ti_array *out = ti_new(m, in->n);
    size_t    i, k;
    for (i = 0; i < a.outer; i++)
        for (k = 0; k < a.length; k++)
            memcpy(&out->at[(i * a.length + k) * a.inner], &in->at[((i + 1) * a.length - 1 - k) * a.inner], a.inner * sizeof *in->at);
    return out;
}

/* What a scan gives is settled for its first two elements, whatever the order. */
static void open_scan(ti_machine *m, ti_frame *f, const ti_op *op, around a, int reverse) {
    ti_array *value[MOST], *open[MOST], *out;
    unsigned  i;
    for (i = 0; i < op->n_in; i++) {
        value[i] = ti_in(f, op, i);
        if (reverse) value[i] = turned_round(m, value[i], a);
        else value[i]->refs++;
    }
    try_orders(m, f, op, a, value, 0, open);
    for (i = 0; i < op->n_in; i++) {
        out = reverse ? turned_round(m, f->slot[op->out[i]], a) : f->slot[op->out[i]];
        if (!reverse) out->refs++;
        out = opened(m, out, a, a.length, 2, op->in_type[i], open[i]);
        ti_put(m, f, op->out[i], reverse ? turned_round(m, out, a) : out);
        if (reverse) ti_release(m, out);
        ti_release(m, value[i]);
        ti_release(m, open[i]);
    }
}

/* Forward: combine(prefix, next). Reverse: combine(what was gathered from the right, next to the left). */
static void scan_in_order(ti_machine *m, ti_frame *f, const ti_op *op, around a, int reverse) {
    unsigned  n = op->n_in, i;
    size_t    done;
    ti_array *out[MOST], *pair[2 * MOST], *next[MOST];
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

void ti_run_scan(ti_machine *m, ti_frame *f, const ti_op *op) {
    around a = around_axis(op->in_type[0], (unsigned)ti_attribute_int(op, "axis", 0));
    int    reverse = ti_attribute_int(op, "reverse", 0) != 0;
    check_count(m, op, op->n_in);
    if (m->launch->vary % 2) scan_by_doubling(m, f, op, a, reverse);
    else scan_in_order(m, f, op, a, reverse);
    if (is_tried(m)) open_scan(m, f, op, a, reverse);
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
