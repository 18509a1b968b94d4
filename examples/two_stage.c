/* Two-stage reduction: a large sum as two kernels, and the COALESCED layout that both of them load in.
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
    tmetal_result r;
    uint32_t      i, k;
    printf("== %s\n", list);
    if (tmetal_compile_ops(list, strlen(list), NULL, arena, &r) != TMETAL_OK) {
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

int main(void) {
    size_t       bytes = tmetal_arena_bound_ops(64);
    tmetal_arena arena = tmetal_arena_on(malloc(bytes), bytes);
    int          fine;
    if (!arena.base) return 1;
    fine = show("tt.sum:[1048576]:0", &arena)    /* one result: 256 threadgroups add 4096 elements each */
           && show("tt.sum:[1024,1024]:1", &arena) /* 1024 results are enough for one stage */
           && show("tt.max:[2,262144]:1", &arena); /* two results are not */
    free(arena.base);
    return fine ? 0 : 1;
}
