/* Arenas of every size from nothing up: each too small one is refused with TMETAL_E_ARENA and a `need` that
 * is above it; from the first that suffices on, the output is the same. Nothing outside is touched: the
 * arena ends where malloc's memory ends, under a sanitizer. */
#include "../../tmetal.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *one(const char *text, size_t len, size_t bytes, size_t off, char **msl, int *fits) {
    char         *space = (char *)take_memory(bytes + off);
    tmetal_arena  arena = tmetal_arena_on(space + off, bytes);
    tmetal_result r;
    const char   *bad = NULL;
    tmetal_options opt;
    tmetal_code   code;
    memset(&opt, 0, sizeof opt);
    opt.reports = 1;
    code = tmetal_compile(text, len, &opt, &arena, &r);
    *fits = code == TMETAL_OK;
    if (code == TMETAL_E_ARENA) {
        if (arena.need <= bytes) bad = "need is not above the size that failed";
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

int main(int argc, char **argv) {
    int i, bad = 0;
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
