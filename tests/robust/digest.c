/* One line a file: a hash of everything that tmetal gives for it - Metal, plan, layouts, remarks,
 * diagnostics and the text printed back - and the memory it took. Two builds (another compiler, other
 * flags, another width of pointers) or two states of the header must print the same lines.
 *
 *     digest [--fill BYTE] [--twice] [--parts] [--key] FILE-OR-DIRECTORY...
 *
 * Files are Triton IR (.ttir) and op lists (.json; build/oplist --write DIR writes those of the tests).
 *
 *   --fill BYTE   what the arena holds before each call (0)
 *   --twice       compile with the arena full of 0x00, then of 0xff; a difference is an error
 *   --parts       a hash each of Metal, plan, reports (layouts, accesses, barriers), remarks, diagnostics, printed text
 *   --key         also print tmetal_key, by options of which each is given: another one for each state of the header
 *   --memory      also print the peak of the arena, which the width of pointers changes */
#include "outcome.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    names  files;
    int    i, part, fill = 0, twice = 0, memory = 0, parts = 0, key = 0, bad = 0;
    size_t k;
    memset(&files, 0, sizeof files);
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--fill") == 0 && i + 1 < argc) fill = (int)strtol(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--twice") == 0) twice = 1;
        else if (strcmp(argv[i], "--memory") == 0) memory = 1;
        else if (strcmp(argv[i], "--parts") == 0) parts = 1;
        else if (strcmp(argv[i], "--key") == 0) key = 1;
        else names_find(&files, argv[i], ".ttir"), names_find(&files, argv[i], ".json");
    }
    names_sort(&files);
    if (!files.n) {
        fputs("usage: digest [--fill BYTE] [--twice] [--parts] [--key] [--memory] FILE-OR-DIRECTORY...\n", stderr);
        return 2;
    }
    for (k = 0; k < files.n; k++) {
        size_t  len, bytes;
        char   *text = read_file(files.name[k], &len), *space;
        outcome o, p;
        bytes = 512 * len + ((size_t)1 << 20); /* filling the bound of a list would take longer than compiling it */
        for (space = (char *)take_memory(bytes); (o = outcome_of(text, len, space, bytes, fill)).code == TMETAL_E_ARENA && bytes >> 30 == 0; ) {
            free(space);
            space = (char *)take_memory(bytes *= 4);
        }
        if (twice) {
            p = outcome_of(text, len, space, bytes, ~fill & 0xff);
            if (p.hash != o.hash || p.peak != o.peak) {
                fprintf(stderr, "%s: the output depends on what the arena held before\n", files.name[k]);
                bad = 1;
            }
        }
        if (o.code == TMETAL_E_BUG || o.code == TMETAL_E_ARENA) {
            fprintf(stderr, "%s: error TM%d\n", files.name[k], (int)o.code);
            bad = 1;
        }
        if (parts)
            for (part = 0; part < OUTCOME_PARTS; part++) printf("%08lx ", (unsigned long)(o.part[part] & 0xffffffffu));
        printf("%08lx%08lx TM%03d", (unsigned long)(o.hash >> 32), (unsigned long)(o.hash & 0xffffffffu), (int)o.code);
        if (memory) printf(" %9lu", (unsigned long)o.peak);
        if (key) {
            char hex[TMETAL_KEY_BYTES];
            outcome_key(text, len, hex);
            printf(" %s", hex);
        }
        printf(" %s\n", files.name[k]);
        free(space);
        free(text);
    }
    names_free(&files);
    return bad;
}
