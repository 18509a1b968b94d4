/* The first library: Triton IR in, through a private copy of tmetal.h. */
#define TMETAL_STATIC
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include "libraries.h"

#include <stdlib.h>
#include <string.h>

unsigned kernels_count(const char *ttir) {
    size_t        len = strlen(ttir), bytes = tmetal_arena_bound(len);
    tmetal_arena  arena = tmetal_arena_on(malloc(bytes), bytes);
    tmetal_result r;
    unsigned      n = 0;
    if (arena.base && tmetal_compile(ttir, len, NULL, &arena, &r) == TMETAL_OK) n = r.n_kernels;
    free(arena.base);
    return n;
}
