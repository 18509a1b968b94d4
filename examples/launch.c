/* Compile a Triton kernel and run it on this machine's GPU: nothing but C and this file.
 *
 *     cc -I. examples/launch.c -o launch && ./launch examples/kernels/vector_add.ttir
 *
 * On systems other than Apple's it says that there is no Metal. docs/launch.md explains each call. */
#define TMETAL_IMPLEMENTATION
#define TMETAL_METAL
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 1000

/* The tests run this by way of their own Metal. */
#ifdef EXAMPLE_SYMBOL
tmetal_function EXAMPLE_SYMBOL(void *user, const char *name);
#else
#    define EXAMPLE_SYMBOL NULL
#endif

static char *read_file(const char *path, size_t *len) {
    FILE *f = fopen(path, "rb");
    char *text = (char *)malloc(1 << 20);
    if (!f || !text) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(2);
    }
    *len = fread(text, 1, 1 << 20, f);
    fclose(f);
    return text;
}

static int run(const tmetal_result *result, tmetal_arena *arena, tmetal_problem *problem) {
    tmetal_metal_options options;
    tmetal_metal        *metal = NULL;
    tmetal_loaded       *loaded = NULL;
    tmetal_launch       *launch = NULL;
    tmetal_buffer        buffer[3];
    tmetal_launch_arg    args[4];
    uint32_t             programs[3] = {(N + 255) / 256, 1, 1};
    int                  i, right = 1;
    memset(&options, 0, sizeof options);
    options.symbol = EXAMPLE_SYMBOL;
    if (tmetal_metal_open(&options, arena, &metal, problem) != TMETAL_OK) return 0;
    printf("on %s\n", tmetal_metal_device(metal)->name);
    if (tmetal_load(metal, result, arena, &loaded, NULL, problem) != TMETAL_OK ||
        tmetal_launch_make(loaded, arena, &launch, problem) != TMETAL_OK)
        return 0;
    for (i = 0; i < 3; i++) {
        if (tmetal_buffer_make(metal, N * sizeof(float), &buffer[i], problem) != TMETAL_OK) return 0;
        args[i] = tmetal_arg_buffer(&buffer[i], 0);
    }
    args[3] = tmetal_arg_int(N);
    for (i = 0; i < N; i++) {
        ((float *)buffer[0].contents)[i] = (float)i;
        ((float *)buffer[1].contents)[i] = 0.5f;
    }
    if (tmetal_launch_run(launch, args, 4, programs, problem) != TMETAL_OK) return 0;
    for (i = 0; i < N; i++) right &= ((float *)buffer[2].contents)[i] == (float)i + 0.5f;
    printf("%d sums, %s, in %.1f us on the GPU\n", N, right ? "all right" : "NOT all right",
           tmetal_launch_seconds(launch) * 1e6);
    tmetal_launch_free(launch);
    for (i = 0; i < 3; i++) tmetal_buffer_free(metal, &buffer[i]);
    tmetal_unload(loaded);
    tmetal_metal_close(metal);
    return right;
}

int main(int argc, char **argv) {
    size_t         len;
    char          *text = read_file(argc > 1 ? argv[1] : "examples/kernels/vector_add.ttir", &len);
    size_t         bytes = tmetal_arena_bound(len) + 65536;
    tmetal_arena   arena = tmetal_arena_on(malloc(bytes), bytes);
    tmetal_result  result;
    tmetal_problem problem;
    if (tmetal_compile(text, len, NULL, &arena, &result) != TMETAL_OK) {
        fputs(tmetal_diag_text(&result.diags[0], &arena), stderr);
        return 1;
    }
    problem.text[0] = '\0';
    if (!run(&result, &arena, &problem)) {
        if (problem.code != TMETAL_OK) fprintf(stderr, "TM%d: %s\n", (int)problem.code, problem.text);
        return 1;
    }
    free(arena.base);
    free(text);
    return 0;
}
