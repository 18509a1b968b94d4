/* Choosing a chip: from the name that Metal gives, from a family, with limits read from the device.
 *
 * Shows how a host names its GPU, what the table knows of it and how sure that is, and what the choice
 * changes in a kernel. A kernel compiled for no chip in particular is planned for an M1 and runs on all. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[1 << 20];

static void print_gpu(const char *asked, const tmetal_gpu *gpu) {
    if (!gpu) {
        printf("%-24s is not in the table\n", asked);
        return;
    }
    printf("%-24s is %-14s Apple%u, %u cores, ", asked, gpu->name, gpu->family, gpu->cores);
    if (gpu->gbps) printf("%u GB/s\n", gpu->gbps); /* 0 is "unknown" in every figure */
    else puts("bandwidth unknown");
}

/* Every figure comes with its source; tools should show how sure it is. */
static void print_fact(const tmetal_gpu *gpu, const char *figure) {
    static const char *const sure[] = {"unknown", "documented", "measured", "inferred", "given"};
    size_t i;
    for (i = 0; i < tmetal_gpu_fact_count(); i++) {
        tmetal_gpu_fact f = tmetal_gpu_fact_at(gpu, i);
        if (strcmp(f.figure, figure) == 0) printf("  %s %u %s (%s)\n", f.figure, f.value, f.unit, sure[f.confidence]);
    }
}

/* On a Mac: device.name, then what the device itself says, which goes before the table. */
static void resolve(void) {
    tmetal_gpu_limits live;
    tmetal_gpu        gpu;
    memset(&live, 0, sizeof live);
    live.family = 9;
    live.tg_bytes = 32768;
    live.cores = 40;
    if (tmetal_gpu_resolve("Apple M3 Max", &live, NULL, &gpu)) print_gpu("Apple M3 Max, 40 cores", &gpu);
    print_fact(&gpu, "cores");
    print_fact(&gpu, "tg_bytes");
    /* a chip that is newer than the table: its family is enough */
    if (tmetal_gpu_resolve("Apple M99", &live, NULL, &gpu)) printf("an unknown chip of its family: Apple%u, %u lanes\n", gpu.family, gpu.simd);
}

/* What the chip decided, and why: remarks about "chip" and "threads". */
static void print_choices(const tmetal_result *r) {
    size_t i;
    for (i = 0; i < r->n_remarks; i++)
        if (strcmp(r->remarks[i].about, "chip") == 0 || strcmp(r->remarks[i].about, "threads") == 0)
            printf("  %s\n", r->remarks[i].text);
}

static int compile_for(const char *gpu, uint32_t threads, size_t len, tmetal_arena *arena) {
    tmetal_options opt;
    tmetal_result  r;
    memset(&opt, 0, sizeof opt);
    opt.gpu = gpu;
    opt.reports = 1; /* for the remarks */
    opt.threads = threads;
    if (tmetal_compile(text, len, &opt, arena, &r) == TMETAL_OK) {
        printf("for %-12s %u threads a threadgroup, %s, %u bytes of its memory, MSL %u.%u, runs from Apple%u\n", r.gpu,
               r.kernels[0].threads, threads ? "as asked" : "chosen", r.kernels[0].threadgroup_bytes,
               r.kernels[0].msl_version / 100, r.kernels[0].msl_version / 10 % 10, r.kernels[0].family);
        print_choices(&r);
    } else
        printf("for %s: %s", gpu, tmetal_diag_text(&r.diags[0], arena));
    arena->used = 0;
    return r.code == TMETAL_OK;
}

int main(int argc, char **argv) {
    const char  *name = argc > 1 ? argv[1] : "examples/kernels/matmul.ttir";
    FILE        *file = fopen(name, "rb");
    size_t       len, bytes;
    tmetal_arena arena;

    print_gpu("Apple M1", tmetal_gpu_find("Apple M1", 0));        /* MTLDevice.name */
    print_gpu("Apple M1, 7 cores", tmetal_gpu_find("Apple M1", 7));
    print_gpu("apple-m2-pro", tmetal_gpu_find("apple-m2-pro", 0)); /* a row's name */
    print_gpu("apple9", tmetal_gpu_find("apple9", 0));            /* a family without a chip */
    print_gpu("Voodoo 2", tmetal_gpu_find("Voodoo 2", 0));
    resolve();

    if (!file) {
        perror(name);
        return 1;
    }
    len = fread(text, 1, sizeof text, file);
    fclose(file);
    bytes = tmetal_arena_bound(len);
    arena = tmetal_arena_on(malloc(bytes), bytes);
    if (!arena.base) return 1;
    if (!compile_for(NULL, 0, len, &arena) || !compile_for("Apple M4", 0, len, &arena) || !compile_for("apple-m4", 256, len, &arena)) return 1;
    if (compile_for("Voodoo 2", 0, len, &arena)) return 1; /* refused by name */
    free(arena.base);
    return 0;
}
