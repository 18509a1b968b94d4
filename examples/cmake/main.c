/* A program of a CMake project: compiles a kernel and, on Apple's systems, lists the GPUs that it could run on. */
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>

#ifdef TMETAL_METAL
static void list_devices(tmetal_arena *arena) {
    const tmetal_device *devices;
    tmetal_problem       problem;
    size_t               i, n;
    if (tmetal_metal_devices(NULL, arena, &devices, &n, &problem) != TMETAL_OK)
        printf("TM%d: %s\n", (int)problem.code, problem.text);
    else
        for (i = 0; i < n; i++) printf("%s, Apple family %u\n", devices[i].name, (unsigned)devices[i].family);
}
#else
static void list_devices(tmetal_arena *arena) {
    (void)arena;
    puts("without the launcher: this is no system of Apple's");
}
#endif

int main(int argc, char **argv) {
    static char   text[1 << 16];
    FILE         *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    size_t        len = file ? fread(text, 1, sizeof text, file) : 0;
    size_t        bytes = tmetal_arena_bound(len) + 65536;
    tmetal_arena  arena = tmetal_arena_on(malloc(bytes), bytes);
    tmetal_result result;
    if (!file) return fputs("usage: app KERNEL.ttir\n", stderr), 2;
    fclose(file);
    if (tmetal_compile(text, len, NULL, &arena, &result) != TMETAL_OK)
        return fputs(tmetal_diag_text(&result.diags[0], &arena), stderr), 1;
    printf("%s: %u threads a program, from macOS %s on\n", result.kernels[0].entry, (unsigned)result.kernels[0].threads,
           result.kernels[0].macos);
    list_devices(&arena);
    free(arena.base);
    return 0;
}
