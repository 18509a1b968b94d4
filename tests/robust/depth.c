/* Inputs whose shape is hostile: graphs with more ways than ops, chains longer than a stack is deep. Each compiles, or
 * is refused by a diagnostic, on a thread with a small stack and within a time that does not know the number of ways.
 *
 *     depth [--only NAME]
 *
 * Prints what missed its bar; the exit status says whether any did. */
#define _XOPEN_SOURCE 700
#include "../../tmetal.h"
#include "../bench/shapes.h"
#include "text.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STACK = 256 << 10 }; /* bytes; a thread of its own on macOS has 512 KiB, on musl 128 KiB */

typedef struct attempt {
    const char *name, *text;
    size_t      len, bytes; /* of the arena */
    int         is_list;
    double      most;       /* seconds of CPU; 0: any */
    double      took;
    tmetal_code code;
    char        said[200];
} attempt;

static void *compile(void *of) {
    attempt      *a = (attempt *)of;
    void         *space = take_memory(a->bytes);
    tmetal_arena  arena = tmetal_arena_on(space, a->bytes);
    tmetal_result r;
    clock_t       start = clock();
    a->code = (a->is_list ? tmetal_compile_ops : tmetal_compile)(a->text, a->len, NULL, &arena, &r);
    a->took = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (r.n_diags) {
        strncpy(a->said, r.diags[0].message, sizeof a->said - 1);
        a->said[sizeof a->said - 1] = '\0';
    }
    free(space);
    return NULL;
}

/* 1: it missed its bar. A stack that overflows ends the program, with the name printed before. */
static int run(attempt *a, const char *only) {
    pthread_attr_t attr;
    pthread_t      thread;
    if (only && !strstr(a->name, only)) return 0;
    printf("%s%c", a->name, '\r');
    fflush(stdout);
    if (!a->bytes) a->bytes = a->is_list ? tmetal_arena_bound_ops(a->len) : tmetal_arena_bound(a->len);
    if (pthread_attr_init(&attr) != 0 || pthread_attr_setstacksize(&attr, STACK) != 0 || pthread_create(&thread, &attr, compile, a) != 0) {
        fprintf(stderr, "no thread of %d bytes of stack\n", STACK);
        exit(2);
    }
    pthread_join(thread, NULL);
    if (a->code != TMETAL_OK) printf("%s: TM%d: %s\n", a->name, (int)a->code, a->said);
    else if (a->most != 0 && a->took > a->most) printf("%s: %.2f s, at most %.2f allowed\n", a->name, a->took, a->most);
    else return 0;
    return 1;
}

/* Lists of the shapes of the bench: 200 layers or so, then as long as a list gets. */
static int lists(const char *only) {
    static const size_t lengths[] = {200, 1000, 20000};
    size_t s, i, made;
    int    bad = 0;
    for (s = 0; s < shape_count(); s++)
        for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            attempt a;
            char    name[80];
            char   *text;
            if (!shape_is_list(s)) continue;
            memset(&a, 0, sizeof a);
            sprintf(name, "%s of %lu", shape_name(s), (unsigned long)lengths[i]);
            a.name = name;
            a.text = text = shape_text(s, lengths[i], &a.len, &made);
            a.is_list = 1;
            a.most = 1;
            bad += run(&a, only);
            free(text);
        }
    return bad;
}

int main(int argc, char **argv) {
    const char *only = argc > 2 && strcmp(argv[1], "--only") == 0 ? argv[2] : NULL;
    int         bad = lists(only);
    printf("%-60s\n", bad ? "some missed their bar" : "depth: all within their bars");
    return bad != 0;
}
