/* Hello: one kernel from Triton IR to Metal, and what a host needs to launch it.
 *
 *     cc -std=c99 -I. examples/hello.c -o hello && ./hello examples/kernels/vector_add.ttir
 *
 * Shows the whole of the ordinary use: a text, an arena, one call, the Metal, the arguments in order. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>

static char text[1 << 20]; /* the TTIR; kernels are a few dozen kilobytes */

/* What to bind where, in words: a host makes one setBuffer or setBytes of each. */
static void print_argument(const tmetal_arg *a) {
    if (a->kind == TMETAL_ARG_BUFFER)
        printf("  [[buffer(%u)]] %-8s a buffer of %s, %s%s, address a multiple of %u\n", a->index, a->name, a->type,
               a->access & TMETAL_READS ? "read" : "", a->access & TMETAL_WRITES ? "written" : "", a->align);
    else
        printf("  [[buffer(%u)]] %-8s %u bytes at %u, the %s\n", a->index, a->name, a->size, a->offset, a->type);
}

int main(int argc, char **argv) {
    const char   *name = argc > 1 ? argv[1] : "examples/kernels/vector_add.ttir";
    FILE         *file = fopen(name, "rb");
    size_t        len, bytes;
    tmetal_arena  arena;
    tmetal_result r;
    int           status = 1;

    if (!file) {
        perror(name);
        return 1;
    }
    len = fread(text, 1, sizeof text, file);
    fclose(file);

    bytes = tmetal_arena_bound(len); /* always enough; what was needed is arena.peak */
    arena = tmetal_arena_on(malloc(bytes), bytes);
    if (!arena.base) {
        fprintf(stderr, "no %lu bytes of memory\n", (unsigned long)bytes);
        return 1;
    }

    if (tmetal_compile(text, len, NULL, &arena, &r) != TMETAL_OK) {
        fputs(tmetal_diag_text(&r.diags[0], &arena), stderr);
    } else {
        const tmetal_kernel *k = &r.kernels[0];
        uint32_t             i;
        printf("%s", k->msl);
        printf("\nentry %s: %u threads a threadgroup, ", k->entry, k->threads);
        puts(k->grid[0] ? "a grid of its own" : "one threadgroup a Triton program");
        for (i = 0; i < k->n_args; i++) print_argument(&k->args[i]);
        status = 0;
    }
    free(arena.base);
    return status;
}
