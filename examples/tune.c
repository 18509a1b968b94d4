/* A reduction, tuned: the sum over rows in each layout that can be forced on it, then the fastest way to compile it,
 * found by timing a few candidates, and kept for later.
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

static const char list[] = "tt.sum:[4096,2048]:1";

/* Lines, barriers and threadgroups of all kernels, as if they were nanoseconds. */
static double clock_of(const tmetal_options *options, tmetal_arena *arena) {
    tmetal_options opt = *options;
    tmetal_result  r;
    double         ns = 0;
    uint32_t       k, i;
    opt.reports = 1;
    arena->used = 0;
    if (tmetal_compile_ops(list, strlen(list), &opt, arena, &r) != TMETAL_OK) return 0; /* a trial that failed */
    for (k = 0; k < r.n_kernels; k++) {
        const tmetal_kernel *n = &r.kernels[k];
        double               lines = 0, groups = (double)n->grid[0] * n->grid[1] * n->grid[2];
        for (i = 0; i < n->n_accesses; i++) lines += (double)n->accesses[i].most_lines * (n->accesses[i].repeats ? n->accesses[i].repeats : 1);
        ns += groups * (lines * n->threads / 32 + 20.0 * n->n_barriers + 10.0);
    }
    return ns * 1e-9;
}

static void compare_layouts(tmetal_arena *arena) {
    static const char *const layouts[] = {"DEFAULT", "ROW_MAJOR", "COLUMN_MAJOR", "TILED", "COALESCED"};
    tmetal_options           opt;
    uint32_t                 i;
    memset(&opt, 0, sizeof opt);
    opt.gpu = "apple-m3-max";
    for (i = 0; i < 5; i++) {
        opt.layouts = layouts[i];
        printf("  %-12s %8.0f counts\n", layouts[i], clock_of(&opt, arena) * 1e9);
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
    printf("%s\n", list);
    compare_layouts(&work);

    if (tmetal_tune_begin(list, strlen(list), &opt, NULL, &arena, &tune, &r) != TMETAL_OK) return 1;
    while (tmetal_tune_at(tune, n)) n++;
    printf("%u candidates\n", n);
    for (; (c = tmetal_tune_next(tune)) != NULL; trials++) {
        double seconds = clock_of(&c->options, &work);
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
