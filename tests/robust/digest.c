/* One line a file: a hash of everything that tmetal gives for it - Metal, plan, layouts, remarks,
 * diagnostics and the text printed back - and the memory it took. Two builds (another compiler, other
 * flags, another width of pointers) or two states of the header must print the same lines.
 *
 *     digest [--fill BYTE] [--twice] [--parts] [--key] [--modes] [--mode NAME|all] [--share I/N]
 *            FILE-OR-DIRECTORY...
 *     digest --against LINES
 *
 * Files are Triton IR (.ttir) and op lists (.json; build/oplist --write DIR writes those of the tests).
 *
 *   --fill BYTE   what the arena holds before each call (0)
 *   --twice       compile with the arena full of 0x00, then of 0xff; a difference is an error
 *   --parts       a hash each of Metal, plan, reports (layouts, accesses, barriers), remarks, diagnostics, printed text
 *   --key         also print tmetal_key, by options of which each is given: another one for each state of the header
 *   --modes       a second line for each file, in one further mode, which its bytes choose: on M1, M3 Max and M5
 *                 two stages, 64 threads, plain, MLX, bounds and the summary of transforming, with the changed IR;
 *                 layouts forced, aliases, 32 threads, parts of a grid, one program per threadgroup, operands
 *                 staged or direct, logging
 *   --mode NAME   a second line in this mode; all: a line in each
 *   --share I/N   only files I, I + N, I + 2 N and so on, from 0
 *   --against F   makes each line of F again (printed with --parts alone) and ends with 3 at the first that is another
 *   --memory      also print the peak of the arena, which the width of pointers changes */
#include "outcome.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct asked {
    int fill, twice, memory, parts, key, modes; /* modes: -1 one by the bytes, -2 all, else that one */
    unsigned share, of;
} asked;

/* The line of a file in a mode. Gives 1 if something is wrong. */
static int line_of(FILE *to, const asked *a, const char *name, const char *text, size_t len, int mode) {
    size_t  bytes = 512 * len + ((size_t)1 << 20); /* filling the bound of a list would take longer than compiling it */
    char   *space;
    outcome o, p;
    int     part, bad = 0;
    if (outcome_is_summary(mode)) bytes *= 2; /* the summary: two compilations */
    for (space = (char *)take_memory(bytes); (o = outcome_of(text, len, mode, space, bytes, a->fill)).code == TMETAL_E_ARENA && bytes >> 30 == 0; ) {
        free(space);
        space = (char *)take_memory(bytes *= 4);
    }
    if (a->twice) {
        p = outcome_of(text, len, mode, space, bytes, ~a->fill & 0xff);
        if (p.hash != o.hash || p.peak != o.peak) {
            fprintf(stderr, "%s: the output depends on what the arena held before\n", name);
            bad = 1;
        }
    }
    if (o.code == TMETAL_E_BUG || o.code == TMETAL_E_ARENA) {
        fprintf(stderr, "%s: error TM%d\n", name, (int)o.code);
        bad = 1;
    }
    if (a->parts)
        for (part = 0; part < OUTCOME_PARTS; part++) fprintf(to, "%08lx ", (unsigned long)(o.part[part] & 0xffffffffu));
    fprintf(to, "%08lx%08lx TM%03d", (unsigned long)(o.hash >> 32), (unsigned long)(o.hash & 0xffffffffu), (int)o.code);
    if (a->memory) fprintf(to, " %9lu", (unsigned long)o.peak);
    if (a->key) {
        char hex[TMETAL_KEY_BYTES];
        outcome_key(text, len, hex);
        fprintf(to, " %s", hex);
    }
    fprintf(to, mode ? " %s@%s\n" : " %s\n", name, outcome_mode(mode));
    free(space);
    return bad;
}

static int mode_named(const char *name) {
    int mode;
    if (strcmp(name, "all") == 0) return -2;
    for (mode = 1; outcome_mode(mode); mode++)
        if (strcmp(outcome_mode(mode), name) == 0) return mode;
    fprintf(stderr, "digest: no mode %s\n", name);
    exit(2);
}

/* The lines of a file, made again. Gives 3 at the first that is another, and prints both. The hash of all parts is not compared. */
static int against(const char *path) {
    static char line[8192], again[8192];
    asked       a;
    FILE       *f = fopen(path, "r");
    memset(&a, 0, sizeof a);
    a.parts = 1;
    if (!f) return 2;
    while (fgets(line, sizeof line, f)) {
        static char name[8192];
        size_t      len;
        char       *text, *at;
        FILE       *to = tmpfile();
        int         mode = 0;
        if (!to || sscanf(line, "%*s %*s %*s %*s %*s %*s %*s %*s %8191[^\n]", name) != 1) exit(2);
        at = strrchr(name, '@');
        if (at) *at = '\0', mode = mode_named(at + 1);
        text = read_file(name, &len);
        if (line_of(to, &a, name, text, len, mode)) return 1;
        rewind(to);
        if (!fgets(again, sizeof again, to)) return 1;
        fclose(to), free(text);
        if (strncmp(line, again, 9 * OUTCOME_PARTS) != 0 || strcmp(line + 9 * OUTCOME_PARTS + 16, again + 9 * OUTCOME_PARTS + 16) != 0) {
            printf("%s%s", line, again);
            return 3;
        }
    }
    fclose(f);
    return 0;
}

int main(int argc, char **argv) {
    names  files;
    asked  a;
    int    i, mode, n_modes = 0, bad = 0;
    size_t k;
    memset(&files, 0, sizeof files);
    memset(&a, 0, sizeof a);
    a.of = 1;
    while (outcome_mode(n_modes)) n_modes++;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--fill") == 0 && i + 1 < argc) a.fill = (int)strtol(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--mode") == 0 && i + 1 < argc) a.modes = mode_named(argv[++i]);
        else if (strcmp(argv[i], "--share") == 0 && i + 1 < argc && sscanf(argv[++i], "%u/%u", &a.share, &a.of) == 2 && a.of) continue;
        else if (strcmp(argv[i], "--against") == 0 && i + 1 < argc) return against(argv[++i]);
        else if (strcmp(argv[i], "--modes") == 0) a.modes = -1;
        else if (strcmp(argv[i], "--twice") == 0) a.twice = 1;
        else if (strcmp(argv[i], "--memory") == 0) a.memory = 1;
        else if (strcmp(argv[i], "--parts") == 0) a.parts = 1;
        else if (strcmp(argv[i], "--key") == 0) a.key = 1;
        else names_find(&files, argv[i], ".ttir"), names_find(&files, argv[i], ".json");
    }
    names_sort(&files);
    if (!files.n) {
        fputs("usage: digest [--fill BYTE] [--twice] [--parts] [--key] [--memory] [--modes] [--mode NAME|all] FILE-OR-DIRECTORY...\n", stderr);
        return 2;
    }
    for (k = a.share; k < files.n; k += a.of) {
        size_t len;
        char  *text = read_file(files.name[k], &len);
        int    own = a.modes == -1 ? outcome_own_mode(text, len) : a.modes;
        bad |= line_of(stdout, &a, files.name[k], text, len, 0);
        for (mode = 1; mode < n_modes; mode++)
            if (mode == own || own == -2) bad |= line_of(stdout, &a, files.name[k], text, len, mode);
        free(text);
    }
    names_free(&files);
    return bad;
}
