/* Arenas of every size from nothing up: each too small one is refused with TMETAL_E_ARENA, a least size that
 * is above it and a `need` that suffices; from the first that suffices on, the output is the same. Nothing outside is touched: the
 * arena ends where malloc's memory ends, under a sanitizer.
 *
 *     arenas FILE...           every size up to 4,096 bytes, then in steps
 *     arenas --near FILE...    from nothing by the least size that the message says, and the bytes just below and
 *                              above each of these sizes */
#include "../../tmetal.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t least, enough; /* what the last arena said that was too small: in its message, and in `need` */

static const char *one(const char *text, size_t len, size_t bytes, size_t off, char **msl, int *fits) {
    char         *space = (char *)take_memory(bytes + off);
    tmetal_arena  arena = tmetal_arena_on(space + off, bytes);
    tmetal_result r;
    const char   *bad = NULL;
    tmetal_options opt;
    tmetal_code   code;
    memset(&opt, 0, sizeof opt);
    opt.reports = 1;
    code = (tmetal_is_ops(text, len) ? tmetal_compile_ops : tmetal_compile)(text, len, &opt, &arena, &r);
    *fits = code == TMETAL_OK;
    if (code == TMETAL_E_ARENA) {
        const char *said = strstr(r.diags[0].message, "at least ");
        least = said ? strtoul(said + 9, NULL, 10) : 0;
        enough = arena.need;
        if (least <= bytes) bad = "the least size is not above the one that failed";
        else if (arena.need < least) bad = "`need` is below the least size";
        else if (r.n_diags != 1 || r.n_kernels || arena.used) bad = "a full arena leaves things behind";
    } else if (code != TMETAL_OK) {
        bad = r.diags[0].message;
    } else if (arena.used > bytes || arena.peak > bytes) {
        bad = "more used than there is";
    } else if (!*msl) {
        *msl = (char *)take_memory(r.kernels[0].msl_len + 1);
        strcpy(*msl, r.kernels[0].msl);
    } else if (strcmp(*msl, r.kernels[0].msl) != 0) {
        bad = "the output depends on the size of the arena";
    }
    free(space);
    return bad;
}

/* By what the message says, until it suffices: gives how often it said so, or what is wrong. What `need` says
 * must suffice at once. */
static const char *climb(const char *text, size_t len, unsigned *tries, size_t *first, char **msl) {
    size_t      bytes = 0, next;
    const char *what;
    int         fits = 0, below;
    for (*tries = 0; !fits; bytes = next, ++*tries) {
        if ((what = one(text, len, bytes, *tries % 16, msl, &fits)) != NULL) return what;
        *first = bytes;
        if (fits) break;
        next = least;
        if (*tries % 8 == 0) {
            if ((what = one(text, len, enough, *tries % 16, msl, &below)) != NULL) return what;
            if (!below) return "what `need` says does not suffice";
        }
        if (next > bytes + 1 && (what = one(text, len, next - 1, *tries % 16, msl, &below)) != NULL) return what;
        if (next > bytes + 1 && below) return "an arena below the least size suffices";
        if (*tries > 100000) return "the least size grows too slowly";
    }
    for (next = *first > 3 ? *first - 3 : 0; next < *first + 20; next++) {
        if ((what = one(text, len, next, 0, msl, &fits)) != NULL) return what;
        if (next >= *first + 15 && !fits) return "a larger arena does not suffice where a smaller did";
    }
    return NULL;
}

static int near(int n, char **names) {
    unsigned most = 0, tries, bad = 0;
    size_t   len, first;
    int      i;
    for (i = 0; i < n; i++) {
        char       *text = read_file(names[i], &len), *msl = NULL;
        const char *what = climb(text, len, &tries, &first, &msl);
        if (what) printf("%s: %s\n", names[i], what), bad++;
        if (tries > most) most = tries;
        free(msl);
        free(text);
    }
    printf("arenas: %d files from nothing up by the least size, `need` suffices; at most %u times; %u wrong\n", n, most, bad);
    return bad != 0;
}

int main(int argc, char **argv) {
    int i, bad = 0;
    if (argc > 1 && strcmp(argv[1], "--near") == 0) return near(argc - 2, argv + 2);
    for (i = 1; i < argc; i++) {
        size_t      len, bytes, first = 0, tried = 0;
        char       *text = read_file(argv[i], &len), *msl = NULL;
        const char *what = NULL;
        int         fits = 0;
        for (bytes = 0; !what; bytes += bytes < 4096 ? 1 : first ? 4099 : 61) {
            what = one(text, len, bytes, bytes % 16, &msl, &fits);
            tried++;
            if (fits && !first) first = bytes;
            if (!what && first && !fits) what = "a larger arena does not suffice where a smaller did";
            if (first && bytes > 2 * first) break;
        }
        printf("%s: %lu sizes, %lu bytes suffice%s%s\n", argv[i], (unsigned long)tried, (unsigned long)first, what ? ": " : "", what ? what : "");
        bad |= what != NULL;
        free(msl);
        free(text);
    }
    return bad;
}
