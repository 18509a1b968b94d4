/* Layouts: the same sum in each layout that can be forced, and what that costs in lines of memory.
 *
 * A layout says which thread holds which element. For reductions a caller may decide it by options.layouts;
 * left alone, the planner takes the COALESCED one. The result is the same up to rounding, the traffic is not.
 * Shows how to force a layout, how to read what came of it, and how to tell that a wish could not be had. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Is a load of this kernel in the layout of its reduction? Then these are the lines a simdgroup touches in it. */
static void print_loads(const tmetal_kernel *k) {
    uint32_t i;
    for (i = 0; i < k->n_layouts; i++) {
        const tmetal_layout_row *row = &k->layouts[i];
        if (row->width && strncmp(row->reason, "stored here", 11) != 0)
            printf("    a lane loads %u at once, a simdgroup touches %u lines, %u the fewest\n", row->width, row->lines, row->fewest);
    }
}

static int show(const char *list, const char *layout, tmetal_arena *arena) {
    tmetal_options opt;
    tmetal_result  r;
    uint32_t       i;
    memset(&opt, 0, sizeof opt);
    opt.reports = 1;
    opt.layouts = layout; /* NULL: the planner picks; "y=TILED": only the reduction that gives y */
    if (tmetal_compile_ops(list, strlen(list), &opt, arena, &r) != TMETAL_OK) {
        printf("%s", tmetal_diag_text(&r.diags[0], arena));
        return 0;
    }
    printf("%s:\n", layout ? layout : "left to the planner");
    for (i = 0; i < r.kernels[0].n_reduce_plans; i++) {
        const tmetal_reduce_plan *p = &r.kernels[0].reduce_plans[i];
        printf("    %s in %s: %u elements a thread, %u lanes, %u simdgroups\n    %s\n", p->type, tmetal_layout_name(p->layout),
               p->elements, p->lanes, p->simdgroups, p->map);
    }
    print_loads(&r.kernels[0]);
    for (i = 0; i < r.n_remarks; i++)
        if (r.remarks[i].kind == TMETAL_MISSED && strcmp(r.remarks[i].about, "layout") == 0) printf("    %s\n", r.remarks[i].text);
    arena->used = 0;
    return 1;
}

int main(void) {
    static const tmetal_layout forced[] = {TMETAL_DEFAULT, TMETAL_ROW_MAJOR, TMETAL_COLUMN_MAJOR, TMETAL_TILED, TMETAL_COALESCED};
    size_t       bytes = tmetal_arena_bound_ops(64);
    tmetal_arena arena = tmetal_arena_on(malloc(bytes), bytes);
    uint32_t     i;
    int          fine;
    if (!arena.base) return 1;
    puts("== the sum of each row of 1024 x 256");
    fine = show("tt.sum:[1024,256]:1", NULL, &arena);
    for (i = 0; i < 5 && fine; i++) fine = show("tt.sum:[1024,256]:1", tmetal_layout_name(forced[i]), &arena);
    puts("== a wish that cannot be had");
    fine = fine && show("tt.sum:[4096]:0", "COLUMN_MAJOR", &arena);
    free(arena.base);
    return fine ? 0 : 1;
}
