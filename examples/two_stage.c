/* Two-stage reduction: a large sum as two kernels, and the COALESCED layout that both of them load in; then a
 * kernel in Triton IR that sums rows (examples/kernels/row_sum.ttir), made two on request.
 *
 * One threadgroup cannot keep a GPU busy. A reduction with few results is therefore cut into parts: the first
 * kernel leaves a partial result a threadgroup in scratch memory, the second combines those. Within each, the
 * elements are combined in a thread, then across the lanes of a simdgroup, then across simdgroups.
 * Shows when that happens, what the plan holds then, and how to read the layout as a map. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements named by a part of a map, e.g. 8 for the lane's "4 8 16": each number is a bit that this level
 * of the machine decides, and 0 means that it decides nothing (the value is repeated). */
static unsigned holds(const char *map, const char *level) {
    const char *at = strstr(map, level);
    unsigned    n = 1;
    if (!at) return n;
    for (at += strlen(level); *at && *at != '|';) {
        char *end;
        unsigned long bit = strtoul(at, &end, 10);
        if (end == at) break;
        if (bit) n *= 2;
        at = end;
    }
    return n;
}

static void print_loads(const tmetal_kernel *k) {
    uint32_t i;
    for (i = 0; i < k->n_layouts; i++) {
        const tmetal_layout_row *l = &k->layouts[i];
        if (!l->width || (l->layout & TMETAL_COALESCED) != TMETAL_COALESCED) continue; /* not loaded so */
        printf("    %s %s is COALESCED\n      %s\n", l->value, l->type, l->map);
        printf("      elements a thread: %u; lanes: %u; simdgroups: %u; 128-byte lines an access: %u, %u the fewest\n",
               holds(l->map, "register"), holds(l->map, "lane"), holds(l->map, "simdgroup"), l->lines, l->fewest);
    }
}

static int show(const char *list, tmetal_arena *arena) {
    tmetal_options opt;
    tmetal_result  r;
    uint32_t       i, k;
    memset(&opt, 0, sizeof opt);
    opt.reports = 1; /* layouts and reductions */
    printf("== %s\n", list);
    if (tmetal_compile_ops(list, strlen(list), &opt, arena, &r) != TMETAL_OK) {
        printf("%s", tmetal_diag_text(&r.diags[0], arena));
        return 0;
    }
    printf("  %u stage%s", r.n_kernels, r.n_kernels > 1 ? "s" : "");
    if (r.n_scratch) printf(", %lu bytes between them", (unsigned long)r.scratch[0].bytes);
    puts("");
    for (i = 0; i < r.n_kernels; i++) {
        const tmetal_kernel *n = &r.kernels[i];
        printf("  %s: threadgroups %u, threads in each %u\n", n->entry, n->grid[0] * n->grid[1] * n->grid[2], n->threads);
        for (k = 0; k < n->n_reductions; k++)
            printf("    %s of tiles of %u elements, accumulated in %s\n", tmetal_reduce_name(n->reductions[k].kind),
                   n->reductions[k].count, n->reductions[k].accumulate);
        print_loads(n);
    }
    arena->used = 0;
    return 1;
}

/* A kernel of ours: how many rows there are only the host knows, so it asks, and sizes grid and scratch. */
static int show_rows(const char *path, const uint32_t programs[3], uint32_t parts, tmetal_arena *arena) {
    static char    text[1 << 16];
    FILE          *f = fopen(path, "rb");
    size_t         len = f ? fread(text, 1, sizeof text, f) : 0;
    tmetal_options opt;
    tmetal_result  r;
    uint32_t       i, k;
    if (f) fclose(f);
    memset(&opt, 0, sizeof opt);
    opt.two_stage = parts;
    printf("== %s: %u programs, %u parts each\n", path, programs[0] * programs[1] * programs[2], parts);
    if (!len || tmetal_compile(text, len, &opt, arena, &r) != TMETAL_OK) return 0;
    for (i = 0; i < r.n_scratch; i++)
        printf("  scratch %u: %lu bytes\n", r.scratch[i].id,
               (unsigned long)(r.scratch[i].bytes + r.scratch[i].program_bytes * programs[0] * programs[1] * programs[2]));
    for (k = 0; k < r.n_kernels; k++) {
        uint32_t grid[3];
        for (i = 0; i < 3; i++) grid[i] = r.kernels[k].grid[i] ? r.kernels[k].grid[i] : programs[i] * r.kernels[k].grid_times[i];
        printf("  %s: threadgroups %u x %u x %u, threads in each %u\n", r.kernels[k].entry, grid[0], grid[1], grid[2], r.kernels[k].threads);
    }
    for (i = 0; i < r.n_remarks; i++)
        if (strcmp(r.remarks[i].about, "two stages") == 0) printf("  %s\n", r.remarks[i].text);
    arena->used = 0;
    return 1;
}

int main(void) {
    static const uint32_t rows[3] = {4, 1, 1};
    size_t       bytes = tmetal_arena_bound_ops(64) + tmetal_arena_bound(1 << 16);
    tmetal_arena arena = tmetal_arena_on(malloc(bytes), bytes);
    int          fine;
    if (!arena.base) return 1;
    fine = show("tt.sum:[1048576]:0", &arena)    /* one result: 256 threadgroups add 4096 elements each */
           && show("tt.sum:[1024,1024]:1", &arena) /* 1024 results are enough for one stage */
           && show("tt.max:[2,262144]:1", &arena)  /* two results are not */
           && show_rows("examples/kernels/row_sum.ttir", rows, 32, &arena)
           && show_rows("examples/kernels/softmax.ttir", rows, 32, &arena); /* needs its row again */
    free(arena.base);
    return fine ? 0 : 1;
}
