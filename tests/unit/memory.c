/* Every arena size from nothing to enough: each must fail cleanly and say what it lacked, and the first that
 * works must give the bytes that a roomy arena gives. Plain C, so that sanitizers and a hostile build
 * (TMETAL_DEBUG, TMI_FIRST=1) can run it anywhere.
 *
 *   memory [STEP] FILE.ttir...     STEP bytes between two sizes; default 7, a walk from zero to enough */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>

static char *slurp(const char *path, size_t *len) {
    FILE *f = fopen(path, "rb");
    char *s = (char *)malloc((size_t)1 << 20);
    if (!f || !s) {
        fprintf(stderr, "memory: %s cannot be read\n", path);
        exit(2);
    }
    *len = fread(s, 1, (size_t)1 << 20, f);
    fclose(f);
    return s;
}

static char *copy(const char *s) {
    char *c = s ? (char *)malloc(strlen(s) + 1) : NULL;
    return c ? strcpy(c, s) : NULL;
}

/* What a roomy arena gives: the Metal, or the first message of a refusal. */
static char *roomy(const char *text, size_t len, size_t *peak) {
    size_t        bytes = tmetal_arena_bound(len);
    void         *memory = malloc(bytes);
    tmetal_arena  arena = tmetal_arena_on(memory, bytes);
    tmetal_result r;
    tmetal_code   code;
    char         *s;
    if (!memory) exit(2);
    code = tmetal_compile(text, len, NULL, &arena, &r);
    s = copy(code == TMETAL_OK ? r.kernels[0].msl : r.diags[0].message);
    *peak = arena.peak;
    free(memory);
    return s;
}

/* One size; 1 when it was enough. The block is as large as the arena, so a sanitizer sees a step past it. */
static int one(const char *path, const char *text, size_t len, size_t cap, const char *want, size_t peak) {
    void         *memory = malloc(cap ? cap : 1);
    tmetal_arena  arena = tmetal_arena_on(memory, cap);
    tmetal_result r;
    tmetal_code   code = tmetal_compile(text, len, NULL, &arena, &r);
    const char   *got = code == TMETAL_OK ? r.kernels[0].msl : r.diags[0].message;
    int           ok = 1;
    if (code == TMETAL_E_ARENA) {
        if (arena.need <= cap || r.n_kernels || r.n_diags != 1 || arena.used != 0 || !strstr(r.diags[0].message, "needs at least")) ok = 0;
        if (arena.need > peak + TMI_ALIGN) ok = 0; /* "any cap below this fails again" would be untrue */
    } else if (code == TMETAL_E_BUG || strcmp(got, want) != 0) {
        ok = 0;
    }
    if (!ok) {
        fprintf(stderr, "memory: %s in %lu bytes: TM%d, needs %lu, peak %lu: %s\n", path, (unsigned long)cap, (int)code, (unsigned long)arena.need, (unsigned long)peak, r.n_diags ? r.diags[0].message : "other Metal");
        exit(1);
    }
    free(memory);
    return code != TMETAL_E_ARENA;
}

int main(int argc, char **argv) {
    size_t step = 7, cap, len, peak, sizes = 0;
    int    i = 1, files = 0;
    if (argc > 1 && argv[1][0] >= '0' && argv[1][0] <= '9') step = (size_t)strtoul(argv[i++], NULL, 10);
    for (; i < argc; i++, files++) {
        char *text = slurp(argv[i], &len), *want = roomy(text, len, &peak);
        for (cap = 0; !one(argv[i], text, len, cap, want, peak); cap += step) sizes++;
        if (cap > peak + step + 2 * TMI_ALIGN) {
            fprintf(stderr, "memory: %s: %lu bytes were enough, but the peak is %lu\n", argv[i], (unsigned long)cap, (unsigned long)peak);
            return 1;
        }
        free(text);
        free(want);
    }
    printf("memory: %d files, %lu sizes that do not suffice, each refused cleanly\n", files, (unsigned long)sizes);
    return 0;
}
