/* MLX: the body, the header and the lists of arrays that mx.fast.metal_kernel takes.
 *
 * MLX writes the kernel's signature itself and counts its grid in threads. Shows how to compile a kernel for
 * it, how each array is found again among the parameters of the Triton function, the grid of a launch, and
 * that what cannot be such a kernel is refused. docs/mlx.md says how the same is called in Python and mlx-c. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[1 << 20];

static void print_array(const tmetal_kernel *k, const tmetal_mlx_array *a) {
    const tmetal_arg *arg = &k->args[a->arg];
    printf("  %-12s mx.%-8s %s of parameter %u, %s\n", a->name, a->dtype, a->is_scalar ? "the number" : "the array", arg->param, arg->name);
}

/* The lines of a text that has some, and no more than `most`. */
static void print_head(const char *what, const char *lines, unsigned most) {
    unsigned n = 0;
    printf("%s\n", what);
    while (*lines) {
        size_t len = strcspn(lines, "\n");
        if (n++ < most) printf("  | %.*s\n", (int)len, lines);
        lines += len + (lines[len] == '\n');
    }
    if (n > most) printf("  | and %u more lines\n", n - most);
    if (!n) puts("  | (nothing)");
}

static int show(const char *name, tmetal_arena *arena) {
    static const uint32_t programs[3] = {128, 1, 1}; /* Triton's grid: a program for each of 128 rows */
    FILE                *file = fopen(name, "rb");
    tmetal_options       opt;
    tmetal_result        r;
    const tmetal_kernel *k;
    int32_t              grid[3];
    size_t               len;
    uint32_t             i;
    if (!file) {
        perror(name);
        return 0;
    }
    len = fread(text, 1, sizeof text, file);
    fclose(file);
    memset(&opt, 0, sizeof opt);
    opt.file = name;
    opt.mlx = 1;
    printf("== %s\n", name);
    if (tmetal_compile(text, len, &opt, arena, &r) != TMETAL_OK) {
        printf("%s", tmetal_diag_text(&r.diags[0], arena));
        arena->used = 0;
        return r.code == TMETAL_E_MLX;
    }
    k = &r.kernels[0];
    puts("inputs:");
    for (i = 0; i < k->mlx->n_inputs; i++) print_array(k, &k->mlx->inputs[i]);
    puts("outputs:");
    for (i = 0; i < k->mlx->n_outputs; i++) print_array(k, &k->mlx->outputs[i]);
    print_head("header:", k->mlx->header, 2);
    print_head("source:", k->mlx->source, 6);
    if (tmetal_mlx_grid(k, programs, grid))
        printf("for %u programs: grid (%d, %d, %d), threadgroup (%u, %u, %u)\n", programs[0], (int)grid[0], (int)grid[1], (int)grid[2],
               k->mlx->threadgroup[0], k->mlx->threadgroup[1], k->mlx->threadgroup[2]);
    arena->used = 0;
    return 1;
}

int main(void) {
    size_t       bytes = (size_t)64 << 20;
    tmetal_arena arena = tmetal_arena_on(malloc(bytes), bytes);
    int          fine;
    if (!arena.base) return 1;
    fine = show("examples/kernels/softmax.ttir", &arena) && show("examples/kernels/vector_add.ttir", &arena) &&
           show("tests/kernels/recorded/atomics-sum_then_add.ttir", &arena); /* read and written: no MLX kernel */
    free(arena.base);
    return fine ? 0 : 1;
}
