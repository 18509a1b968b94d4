/* The median of the microseconds that texts take to compile, the best of five runs each: for builds with parts
 * left out, which lack what bench.c measures too.
 *
 *     median FILE-OR-DIRECTORY... */
#define _XOPEN_SOURCE 700
#include "../../tmetal.h"
#include "../robust/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) { /* microseconds */
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    names   files;
    size_t  i, n = 0, len, bytes = (size_t)256 << 20;
    void   *memory = take_memory(bytes);
    double *took;
    memset(&files, 0, sizeof files);
    for (i = 1; i < (size_t)argc; i++) names_find(&files, argv[i], ".ttir");
    took = (double *)take_memory((files.n + 1) * sizeof *took);
    for (i = 0; i < files.n; i++) {
        char         *text = read_file(files.name[i], &len);
        double        best = 0;
        int           run;
        tmetal_result r;
        for (run = 0; run < 5; run++) {
            tmetal_arena arena = tmetal_arena_on(memory, bytes);
            double       start = now(), t;
            (void)tmetal_compile(text, len, NULL, &arena, &r);
            t = now() - start;
            if (!run || t < best) best = t;
        }
        if (r.code == TMETAL_OK) took[n++] = best;
        free(text);
    }
    qsort(took, n, sizeof *took, compare);
    printf("%.0f\n", n ? took[n / 2] : 0.0);
    return n ? 0 : 1;
}
