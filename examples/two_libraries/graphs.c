/* The second library: op lists in, through another private copy of tmetal.h. */
#define TMETAL_STATIC
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include "libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int graphs_describe(const char *ops, char *text, size_t bytes) {
    size_t        len = strlen(ops), room = tmetal_arena_bound_list(ops, len);
    tmetal_arena  arena = tmetal_arena_on(malloc(room), room);
    tmetal_result r;
    int           fine;
    if (!arena.base) return 0;
    fine = tmetal_compile_ops(ops, len, NULL, &arena, &r) == TMETAL_OK;
    if (fine) snprintf(text, bytes, "%u parameters, %u kernels, the first %s\n", r.n_params, r.n_kernels, r.kernels[0].entry);
    else snprintf(text, bytes, "%s\n", r.diags[0].message);
    free(arena.base); /* what `r` points at goes with it; the text was copied */
    return fine;
}
