/* A kernel from its source: the row sum that build_ir.c makes call by call, read from examples/kernels/row_sum.py.
 *
 *     cc -std=c99 -I. examples/from_python.c -o from_python && ./from_python
 *
 * Shows tmetal_triton_kernels, what a file holds, and tmetal_compile_triton, a kernel for what a launch passes. There is
 * no Python in it; docs/triton.md says what `args` and `consts` may hold. */
#define TMETAL_IMPLEMENTATION
#define TMETAL_TRITON
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>

static char text[1 << 20];

int main(int argc, char **argv) {
    const char                 *name = argc > 1 ? argv[1] : "examples/kernels/row_sum.py";
    FILE                       *file = fopen(name, "rb");
    size_t                      len, bytes = (size_t)32 << 20;
    tmetal_arena                arena = tmetal_arena_on(malloc(bytes), bytes);
    tmetal_options              opt = {0};
    tmetal_triton_call          call = {0};
    tmetal_result               r;
    const tmetal_triton_kernel *kernels;
    uint32_t                    n, i, k;

    if (!file || !arena.base) return 1;
    len = fread(text, 1, sizeof text, file);
    fclose(file);

    opt.file = name; /* what messages call it */
    if (tmetal_triton_kernels(text, len, &opt, &arena, &kernels, &n, &r) != TMETAL_OK) return 1;
    for (i = 0; i < n; i++) {
        printf("%s, line %u:", kernels[i].name, kernels[i].line);
        for (k = 0; k < kernels[i].n_params; k++) printf(" %s", kernels[i].params[k].name);
        printf("\n\n");
    }

    call.kernel = "row_sum";
    call.args = "*fp32:16, *fp32:16, i32"; /* two tensors at multiples of 16 bytes, and a number */
    if (tmetal_compile_triton(text, len, &call, &opt, &arena, &r) != TMETAL_OK) /* BLOCK is missing: it says so */
        printf("%s\n", tmetal_diag_text(&r.diags[0], &arena));

    call.consts = "BLOCK=256";
    if (tmetal_compile_triton(text, len, &call, &opt, &arena, &r) != TMETAL_OK) {
        fputs(tmetal_diag_text(&r.diags[0], &arena), stderr);
        return 1;
    }
    printf("%s", r.kernels[0].msl);
    free(arena.base);
    return 0;
}
