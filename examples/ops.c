/* An op list to kernels: a small network as JSON in, Metal kernels and one launch plan out.
 *
 * Shows tmetal_compile_ops: what the list becomes, which ops share a kernel, and all that a host needs to
 * run it: the parameters, the memory between kernels, and what to bind for each launch in order. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* y = softmax(gelu(x w1 + b1) w2): seven lines of NumPy, one object an op. */
static const char network[] =
    "{\"ops\":[\n"
    " {\"type\":\"tt.matmul\",\"id\":\"h\",\"inputs\":[\"x\",\"w1\"],\"input_shapes\":[[64,256],[256,512]],\"dtype\":\"f16\"},\n"
    " {\"type\":\"tt.add\",\"id\":\"hb\",\"inputs\":[\"h\",\"b1\"],\"input_shapes\":[null,[512]],\"dtype\":\"f16\"},\n"
    " {\"type\":\"tt.gelu\",\"id\":\"g\",\"inputs\":[\"hb\"],\"args\":{\"approximate\":\"tanh\"}},\n"
    " {\"type\":\"tt.matmul\",\"id\":\"o\",\"inputs\":[\"g\",\"w2\"],\"input_shapes\":[null,[512,128]],\"dtype\":\"f16\"},\n"
    " {\"type\":\"tt.softmax\",\"id\":\"y\",\"inputs\":[\"o\"],\"args\":{\"axis\":-1}}]}\n";

/* The same op in the short form, and one whose shapes do not fit. */
static const char brief[] = "tt.sum:[1024,512]:1\n";
static const char wrong[] = "tt.matmul:[64,256],[128,512]\n";

static void print_params(const tmetal_result *r) {
    uint32_t i, k;
    for (i = 0; i < r->n_params; i++) {
        printf("  param %u  %-6s %s", i, r->params[i].is_result ? "result" : "input", r->params[i].name);
        printf(" %s[", r->params[i].type);
        for (k = 0; k < r->params[i].n_dims; k++) printf(k ? ",%u" : "%u", r->params[i].dims[k]);
        puts("]");
    }
    for (i = 0; i < r->n_scratch; i++) /* the host makes one buffer of each, and may pool them */
        printf("  scratch %u, %lu bytes\n", r->scratch[i].id, (unsigned long)r->scratch[i].bytes);
}

/* As a host would issue it: each launch after the one before is complete. */
static void print_launches(const tmetal_result *r) {
    uint32_t i, k;
    for (i = 0; i < r->n_kernels; i++) {
        const tmetal_kernel *n = &r->kernels[i];
        printf("  launch %s: %u x %u x %u threadgroups of %u threads\n", n->entry, n->grid[0], n->grid[1], n->grid[2], n->threads);
        for (k = 0; k < n->n_args; k++)
            printf("    [[buffer(%u)]] %s %u\n", n->args[k].index,
                   n->args[k].kind == TMETAL_ARG_SCRATCH ? "scratch" : "param", n->args[k].param);
    }
}

static int show(const char *title, const char *list, tmetal_arena *arena) {
    tmetal_result r;
    printf("== %s\n", title);
    if (tmetal_compile_ops(list, strlen(list), NULL, arena, &r) == TMETAL_OK) {
        print_params(&r);
        print_launches(&r);
        printf("  one Metal text for all: %s\n", strstr(r.msl, "kernel void ") ? "yes" : "no");
    } else {
        printf("%s", tmetal_diag_text(&r.diags[0], arena));
    }
    arena->used = 0;
    return r.code == TMETAL_OK;
}

int main(void) {
    size_t       bytes = tmetal_arena_bound_ops(sizeof network);
    tmetal_arena arena = tmetal_arena_on(malloc(bytes), bytes);
    int          fine;
    if (!arena.base) return 1;
    fine = show("a network", network, &arena) && show("a sum, in the short form", brief, &arena) &&
           !show("shapes that do not fit", wrong, &arena);
    free(arena.base);
    return fine ? 0 : 1;
}
