/* How long tmetal takes and how much memory: recorded files, then modules made to length.
 *
 *     bench [--ops MOST] [--only SHAPE] FILE-OR-DIRECTORY...
 *
 * Prints tables; says where a bar is missed, but a slow machine is no error. */
#define _XOPEN_SOURCE 700
#include "../../tmetal.h"
#include "../robust/text.h"
#include "shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The bars of the project: milliseconds a file, growth of the time an op, bytes of arena a byte of text. */
static const double bar_median = 1.0, bar_p99 = 10.0, bar_growth = 2.0, bar_memory = 64.0;

static double now(void) { /* seconds of CPU: what else the machine does counts less */
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

typedef struct measured {
    double      seconds; /* the best of all runs: what the work itself takes */
    size_t      peak;
    tmetal_code code;
    size_t      msl; /* bytes of Metal */
} measured;

static void *space;
static size_t space_bytes;

/* Compile again and again for at least `least` seconds, three times or more unless one is long. */
static measured measure(const char *text, size_t len, double least, int is_list) {
    measured m;
    double   begin = now();
    int      runs = 0;
    size_t   want = is_list ? tmetal_arena_bound_list(text, len) : tmetal_arena_bound(len);
    if (want > (size_t)3 << 30) want = (size_t)3 << 30;
    if (want > space_bytes) {
        free(space);
        space = take_memory(space_bytes = want);
    }
    memset(&m, 0, sizeof m);
    do {
        tmetal_arena  arena = tmetal_arena_on(space, space_bytes);
        tmetal_result r;
        uint32_t      k;
        double        start = now(), took;
        m.code = (is_list ? tmetal_compile_ops : tmetal_compile)(text, len, NULL, &arena, &r);
        took = now() - start;
        if (!runs || took < m.seconds) m.seconds = took;
        m.peak = arena.peak;
        for (m.msl = 0, k = 0; k < r.n_kernels; k++) m.msl += r.kernels[k].msl_len;
        runs++;
    } while ((runs < 3 && now() - begin < 20) || now() - begin < least);
    return m;
}

typedef struct row {
    const char *name;
    double      ms, memory;
    size_t      len;
} row;

static int by_time(const void *a, const void *b) {
    const row *x = (const row *)a, *y = (const row *)b;
    return x->ms < y->ms ? -1 : x->ms > y->ms;
}

static int by_memory(const void *a, const void *b) {
    const row *x = (const row *)a, *y = (const row *)b;
    return x->memory < y->memory ? -1 : x->memory > y->memory;
}

static const char *verdict(double got, double bar) {
    return got <= bar ? "" : "   MISSED";
}

static void worst(const row *rows, size_t n, size_t n_worst) {
    size_t i;
    for (i = 0; i < n_worst && i < n; i++) {
        const row *r = &rows[n - 1 - i];
        const char *name = strrchr(r->name, '/');
        printf("    %9.3f ms %8lu bytes of text %7.1f bytes of arena a byte  %s\n", r->ms, (unsigned long)r->len, r->memory,
               name ? name + 1 : r->name);
    }
}

static void recorded(const names *files) {
    row   *rows = (row *)take_memory(files->n * sizeof *rows);
    size_t i, n = 0, refused = 0, len;
    double all = 0;
    for (i = 0; i < files->n; i++) {
        char    *text = read_file(files->name[i], &len);
        measured m = measure(text, len, 0, 0);
        free(text);
        if (m.code != TMETAL_OK) {
            refused++;
            continue;
        }
        rows[n].name = files->name[i];
        rows[n].ms = m.seconds * 1e3;
        rows[n].memory = len ? (double)m.peak / (double)len : 0;
        rows[n].len = len;
        all += rows[n++].ms;
    }
    printf("Recorded files: %lu compiled in %.0f ms, %lu refused\n\n", (unsigned long)n, all, (unsigned long)refused);
    if (n) {
        qsort(rows, n, sizeof *rows, by_time);
        printf("  text to Metal, ms       got      bar\n");
        printf("    median           %8.3f %8.3f%s\n", rows[n / 2].ms, bar_median, verdict(rows[n / 2].ms, bar_median));
        printf("    99th percentile  %8.3f %8.3f%s\n", rows[n * 99 / 100].ms, bar_p99, verdict(rows[n * 99 / 100].ms, bar_p99));
        printf("    longest          %8.3f\n", rows[n - 1].ms);
        worst(rows, n, 8);
        qsort(rows, n, sizeof *rows, by_memory);
        printf("\n  peak of the arena over bytes of text\n");
        printf("    median           %8.1f\n", rows[n / 2].memory);
        printf("    largest          %8.1f %8.1f%s\n", rows[n - 1].memory, bar_memory, verdict(rows[n - 1].memory, bar_memory));
        worst(rows, n, 8);
    }
    free(rows);
}

/* Time an op by length: flat when nothing in the compiler grows faster than the module. */
static void made(size_t most, const char *only) {
    static const size_t lengths[] = {100, 1000, 10000, 100000};
    size_t              s, i, ops, len;
    printf("\nMade modules and op lists: microseconds an op, then bytes of arena a byte of text\n\n  %-18s", "ops");
    for (i = 0; i < 4; i++) printf(" %9lu", (unsigned long)lengths[i]);
    printf("    growth |");
    for (i = 0; i < 4; i++) printf(" %7lu", (unsigned long)lengths[i]);
    printf("\n");
    for (s = 0; s < shape_count(); s++) {
        double least = 0, time = 0, memory[4] = {0, 0, 0, 0};
        tmetal_code code = TMETAL_OK;
        if (only && !strstr(shape_name(s), only)) continue;
        printf("  %-18s", shape_name(s));
        for (i = 0; i < 4; i++) {
            char    *text;
            measured m;
            if (lengths[i] > most) {
                printf(" %9s", "-");
                continue;
            }
            text = shape_text(s, lengths[i], &len, &ops);
            m = measure(text, len, 0.05, shape_is_list(s));
            free(text);
            if (m.code != TMETAL_OK) code = m.code;
            time = m.seconds * 1e6 / (double)ops;
            if (i == 0 || time < least) least = time;
            memory[i] = (double)m.peak / (double)len;
            printf(" %9.3f", time);
            fflush(stdout);
        }
        printf(" %8.2fx |", time / least);
        for (i = 0; i < 4; i++) printf(" %7.1f", memory[i]);
        if (code != TMETAL_OK) printf("   error TM%d", (int)code);
        printf("%s\n", verdict(time / least, bar_growth));
    }
}

int main(int argc, char **argv) {
    names       files;
    size_t      most = 100000;
    const char *only = NULL;
    int         i;
    memset(&files, 0, sizeof files);
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--ops") == 0 && i + 1 < argc) most = (size_t)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) only = argv[++i];
        else names_find(&files, argv[i], ".ttir");
    }
    names_sort(&files);
    if (files.n) recorded(&files);
    if (most) made(most, only);
    names_free(&files);
    free(space);
    return 0;
}
