/* Reductions: ways to write one, the layouts that can be forced on one, and the fastest way to compile it, found by
 * timing a few candidates and kept for later.
 *
 *     cc -std=c99 -I. examples/reduction_example.c -o reduction_example -lm && ./reduction_example
 *
 * There is no GPU in this example: its clock counts. It adds up the 128-byte lines that the emitted kernels touch and
 * what a barrier and a threadgroup cost, by the reports. With a GPU, clock_of() would launch and take the time, as
 * 'tmetal tune' does; all else would stay. docs/tuning.md explains each call. */
#define TMETAL_IMPLEMENTATION
#define TMETAL_TUNE
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIST "tt.sum:[4096,2048]:1" /* the one that is tuned */

static const char list[] = LIST;

/* Lines, barriers and threadgroups of all kernels, as if they were nanoseconds; 0 when it is refused. */
static double clock_of(const char *ops, const tmetal_options *options, tmetal_arena *arena, uint32_t *kernels) {
    tmetal_options opt = *options;
    tmetal_result  r;
    double         ns = 0;
    uint32_t       k, i;
    opt.reports = 1;
    arena->used = 0;
    if (tmetal_compile_ops(ops, strlen(ops), &opt, arena, &r) != TMETAL_OK) return 0; /* a trial that failed */
    for (k = 0; k < r.n_kernels; k++) {
        const tmetal_kernel *n = &r.kernels[k];
        double               lines = 0, groups = (double)n->grid[0] * n->grid[1] * n->grid[2];
        for (i = 0; i < n->n_accesses; i++) lines += (double)n->accesses[i].most_lines * (n->accesses[i].repeats ? n->accesses[i].repeats : 1);
        ns += groups * (lines * n->threads / 32 + 20.0 * n->n_barriers + 10.0);
    }
    if (kernels) *kernels = r.n_kernels;
    return ns * 1e-9;
}

/* Eight million numbers each: to a number a row, to a number a column, to one number, and two reductions of a row. */
static void compare_ways(const tmetal_options *opt, tmetal_arena *arena) {
    static const char *const ways[] = {LIST, "tt.sum:[4096,2048]:0", "tt.sum:[8388608]:0", "tt.argmax:[4096,2048]:1", "tt.softmax:[4096,2048]:1"};
    uint32_t                 i, kernels = 0;
    for (i = 0; i < 5; i++) {
        double seconds = clock_of(ways[i], opt, arena, &kernels);
        printf("  %-26s %8.0f counts, kernels: %u\n", ways[i], seconds * 1e9, kernels);
    }
}

static void compare_layouts(const tmetal_options *options, tmetal_arena *arena) {
    static const char *const layouts[] = {"DEFAULT", "ROW_MAJOR", "COLUMN_MAJOR", "TILED", "COALESCED"};
    tmetal_options           opt = *options;
    uint32_t                 i;
    for (i = 0; i < 5; i++) {
        opt.layouts = layouts[i];
        printf("  %-26s %8.0f counts\n", layouts[i], clock_of(list, &opt, arena, NULL) * 1e9);
    }
}

int main(void) {
    size_t                  bytes = tmetal_tune_bound(list, strlen(list)), len;
    tmetal_arena            arena = tmetal_arena_on(malloc(bytes), bytes), work = tmetal_arena_on(malloc(bytes), bytes);
    tmetal_options          opt, tuned;
    tmetal_tune            *tune;
    tmetal_result           r;
    const tmetal_candidate *c;
    const char             *cache;
    uint32_t                n = 0, trials = 0;
    memset(&opt, 0, sizeof opt);
    opt.gpu = "apple-m3-max";
    printf("ways to reduce\n");
    compare_ways(&opt, &work);
    printf("layouts of %s\n", list);
    compare_layouts(&opt, &work);

    printf("tuning it\n");
    if (tmetal_tune_begin(list, strlen(list), &opt, NULL, &arena, &tune, &r) != TMETAL_OK) return 1;
    while (tmetal_tune_at(tune, n)) n++;
    printf("  %u candidates\n", n);
    for (; (c = tmetal_tune_next(tune)) != NULL; trials++) {
        double seconds = clock_of(list, &c->options, &work, NULL);
        printf("  trial %-34s %8.0f counts\n", c->name, seconds * 1e9);
        tmetal_tune_record(tune, c->index, seconds);
    }
    c = tmetal_tune_best(tune);
    printf("best of %u: %s, %.2f times as fast as planned\n", trials, c->name, tmetal_tune_at(tune, 0)->seconds / c->seconds);

    /* What was found is a text: a file, or a string in a program. */
    if (tmetal_tune_end(tune, &arena, &cache, &len, &r) != TMETAL_OK) return 1;
    if (!tmetal_tune_find(cache, len, list, strlen(list), &opt, NULL, &arena, &tuned, &r)) return 1;
    printf("from the cache: %s\n", r.remarks[0].text);
    work.used = 0;
    if (tmetal_compile_ops(list, strlen(list), &tuned, &work, &r) != TMETAL_OK) return 1;
    printf("compiled so: %u threads\n", r.kernels[0].threads);
    free(arena.base);
    free(work.base);
    return 0;
}
