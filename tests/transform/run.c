/* What tmetal_transform says of labelled kernels.
 *
 *   run FUSIONS.txt DIRECTORY...   for each line "what: takers | others" the kernels of the directories are transformed:
 *                                  a taker's summary must have a row of that name that was applied, the others' none.
 *                                  Of each kernel, too: the changed IR compiles, transforms again, and then stays as
 *                                  it is; the trace names every pass; the JSON has a row for each change. */
#define TMETAL_IMPLEMENTATION
#include "../../tmetal.h"

#include <stdio.h>
#include <stdlib.h>

static unsigned n_passes; /* without those that only options.bounds wants */
static int            n_wrong;

static void wrong(const char *file, const char *what) {
    printf("%s: %s\n", file, what);
    n_wrong++;
}

static char *read_all(const char *path, size_t *len) {
    FILE  *f = fopen(path, "rb");
    char  *text = NULL;
    size_t n = 0, cap = 0, got;
    if (!f) return NULL;
    do {
        if (n + 4096 > cap) text = (char *)realloc(text, cap = (cap + 4096) * 2);
        if (!text) return NULL;
        n += got = fread(text + n, 1, 4095, f);
    } while (got);
    fclose(f);
    text[n] = '\0';
    *len = n;
    return text;
}

static size_t count(const char *text, const char *word) {
    size_t n = 0;
    for (; (text = strstr(text, word)) != NULL; text += strlen(word)) n++;
    return n;
}

/* -- Kernels, transformed once each ------------------------------------------------------------- */

typedef struct kernel {
    char                  name[128];
    tmetal_transformation x;
    void                 *memory;
} kernel;

static kernel kernels[512];
static int    n_kernels;

typedef struct heard {
    unsigned passes, texts;
} heard;

static void hear(void *user, const char *pass, const char *text) {
    heard *h = (heard *)user;
    if (strcmp(pass, "read") != 0 && strcmp(pass, "calls") != 0) h->passes++;
    if (strstr(text, "module") && strstr(text, "tt.func")) h->texts++;
}

static void check_rows(const char *name, const tmetal_transformation *x, const tmetal_result *r, tmetal_arena *arena) {
    const char *json = tmetal_transform_json(x, arena);
    unsigned    i, barriers = 0, passes = 0;
    if (x->n_kernels != r->n_kernels) wrong(name, "kernels of the summary are not those of the result");
    if (!json || count(json, "\"kind\":") != x->n_changes) wrong(name, "the JSON has not a row for each change");
    for (i = 0; i < x->n_changes; i++) {
        const tmetal_change *c = &x->changes[i];
        if (!*c->reason || !*c->what || !*c->kernel) wrong(name, "a row without a name, a kernel or a reason");
        passes += strncmp(c->what, "pass ", 5) == 0;
        barriers += strcmp(c->what, "barriers") == 0;
    }
    if (barriers != x->n_kernels || passes != n_passes * x->n_kernels) wrong(name, "not every pass, or not the barriers, of each kernel");
}

/* The changed IR is as good as the IR, and transforming it again finds nothing more for the passes to do. */
static void check_again(const char *name, const tmetal_transformation *x) {
    size_t                bytes = tmetal_transform_bound(x->text, x->text_len);
    tmetal_arena          arena = tmetal_arena_on(malloc(bytes), bytes);
    tmetal_transformation again;
    tmetal_result         r;
    unsigned              i;
    if (tmetal_transform(x->text, x->text_len, NULL, &arena, &again, &r) != TMETAL_OK) {
        wrong(name, "the changed IR is refused:");
        printf("%s", tmetal_diag_text(&r.diags[0], &arena));
    } else {
        if (again.after.ops != again.before.ops) wrong(name, "the changed IR changes once more");
        for (i = 0; i < again.n_kernels && i < x->n_kernels; i++)
            if (again.kernels[i].after.barriers != x->kernels[i].after.barriers || again.kernels[i].after.bytes_written != x->kernels[i].after.bytes_written)
                wrong(name, "the changed IR costs something else");
        if (again.n_kernels != x->n_kernels) wrong(name, "the changed IR has other kernels");
        for (i = 0; i < again.n_changes; i++)
            if (strncmp(again.changes[i].what, "pass ", 5) == 0 && again.changes[i].kind == TMETAL_APPLIED) wrong(name, again.changes[i].what);
    }
    free(arena.base);
}

static const tmetal_transformation *transformed(const char *name, char **dirs, int n_dirs) {
    char           path[512];
    char          *text = NULL;
    size_t         len = 0, bytes;
    kernel        *k = &kernels[n_kernels];
    tmetal_arena   arena;
    tmetal_result  r;
    tmetal_options opt;
    heard          h = {0, 0};
    int            i;
    for (i = 0; i < n_kernels; i++)
        if (strcmp(kernels[i].name, name) == 0) return &kernels[i].x;
    for (i = 0; i < n_dirs && !text; i++) {
        sprintf(path, "%s/%s.ttir", dirs[i], name);
        text = read_all(path, &len);
    }
    if (!text) return NULL;
    memset(&opt, 0, sizeof opt);
    opt.trace = hear;
    opt.trace_user = &h;
    bytes = tmetal_transform_bound(text, len);
    k->memory = malloc(bytes);
    arena = tmetal_arena_on(k->memory, bytes);
    if (tmetal_transform(text, len, &opt, &arena, &k->x, &r) != TMETAL_OK) {
        wrong(name, "is refused");
        return NULL;
    }
    strcpy(k->name, name);
    n_kernels++;
    if (h.passes != n_passes * k->x.n_kernels || h.texts != 1 + (n_passes + 1) * k->x.n_kernels) wrong(name, "the trace does not name every pass");
    check_rows(name, &k->x, &r, &arena);
    check_again(name, &k->x);
    free(text);
    return &k->x;
}

/* -- Arenas that are too small ----------------------------------------------------------------------- */

static void check_full(const char *list) {
    size_t                len = strlen(list), most = tmetal_transform_bound(list, len), peak, cap;
    tmetal_arena          arena = tmetal_arena_on(malloc(most), most);
    tmetal_transformation x;
    tmetal_result         r;
    if (tmetal_transform(list, len, NULL, &arena, &x, &r) != TMETAL_OK) wrong(list, "is refused");
    peak = arena.peak;
    for (cap = 0; cap < peak; cap += peak / 61 + 1) {
        tmetal_arena small = tmetal_arena_on(arena.base, cap);
        if (tmetal_transform(list, len, NULL, &small, &x, &r) != TMETAL_E_ARENA || x.text || small.used || small.need <= cap) wrong(list, "a full arena is not told of");
    }
    free(arena.base);
}

/* -- Op lists ------------------------------------------------------------------------------------------ */

/* Nothing of these shapes is masked: every byte is known. */
static void check_list(const char *list, const char *what, uint64_t read, uint64_t written) {
    size_t                bytes = tmetal_transform_bound(list, strlen(list));
    tmetal_arena          arena = tmetal_arena_on(malloc(bytes), bytes);
    tmetal_transformation x;
    tmetal_result         r;
    unsigned              i, rows = 0;
    if (tmetal_transform(list, strlen(list), NULL, &arena, &x, &r) != TMETAL_OK) {
        wrong(list, "is refused");
    } else {
        if (x.after.bytes_read != read || x.after.bytes_written != written || x.after.notes) {
            wrong(list, "other bytes");
            printf("    %llu read, %llu written\n", (unsigned long long)x.after.bytes_read, (unsigned long long)x.after.bytes_written);
        }
        for (i = 0; i < x.n_kernels; i++) rows += x.kernels[i].programs == 0;
        if (rows || !x.n_kernels) wrong(list, "a kernel without programs");
        for (rows = i = 0; i < x.n_changes; i++) rows += x.changes[i].kind == TMETAL_APPLIED && strcmp(x.changes[i].what, what) == 0;
        if (*what && !rows) wrong(list, what);
        check_rows(list, &x, &r, &arena);
        check_again(list, &x);
    }
    free(arena.base);
}

/* Loops of more rounds than 64 bits count: the most, not what is left of them. */
static void check_endless(void) {
    static const char text[] =
        "module {\ntt.func public @k(%x: !tt.ptr<f32>) {\n  %a = arith.constant 0 : i64\n  %b = arith.constant 1 : i64\n  %c = arith.constant 2147483648 : i64\n"
        "  scf.for %i = %a to %c step %b : i64 {\n    scf.for %j = %a to %c step %b : i64 {\n      %p = tt.addptr %x, %j : !tt.ptr<f32>, i64\n"
        "      %v = tt.load %p {isVolatile = true} : !tt.ptr<f32>\n      tt.store %p, %v : !tt.ptr<f32>\n    }\n  }\n  tt.return\n}\n}\n";
    size_t                bytes = tmetal_transform_bound(text, sizeof text - 1);
    tmetal_arena          arena = tmetal_arena_on(malloc(bytes), bytes);
    tmetal_transformation x;
    tmetal_result         r;
    if (tmetal_transform(text, sizeof text - 1, NULL, &arena, &x, &r) != TMETAL_OK) wrong(text, "is refused");
    else if (x.after.bytes_read != UINT64_MAX || x.after.bytes_written != UINT64_MAX) wrong(text, "bytes wrap");
    free(arena.base);
}

/* -- Fusions --------------------------------------------------------------------------------------- */

static int applies(const tmetal_transformation *x, const char *what) {
    unsigned i;
    for (i = 0; i < x->n_changes; i++)
        if (x->changes[i].kind == TMETAL_APPLIED && strcmp(x->changes[i].what, what) == 0) return 1;
    return 0;
}

static void check_line(char *line, char **dirs, int n_dirs) {
    char *colon = strchr(line, ':'), *word, text[1100];
    int   takes = 1, n[2] = {0, 0};
    if (line[0] == '#' || !colon) return;
    *colon = '\0';
    for (word = strtok(colon + 1, " \n"); word; word = strtok(NULL, " \n")) {
        const tmetal_transformation *x;
        if (strcmp(word, "|") == 0) {
            takes = 0;
            continue;
        }
        x = transformed(word, dirs, n_dirs);
        n[takes]++;
        sprintf(text, takes ? "does not take %s" : "takes %s", line);
        if (!x) wrong(word, "cannot be read");
        else if (applies(x, line) != takes) wrong(word, text);
    }
    if (n[1] < 1 || n[0] < 3) wrong(line, "wants a kernel that takes it and three that do not");
}

int main(int argc, char **argv) {
    char  line[1024];
    FILE *f = argc > 2 ? fopen(argv[1], "r") : NULL;
    int   fusions = 0, i;
    for (i = 0; i < (int)(sizeof tmi_passes / sizeof *tmi_passes); i++) n_passes += tmi_passes[i].needed != 2;
    if (!f) {
        fputs("usage: run FUSIONS.txt DIRECTORY...\n", stderr);
        return 2;
    }
    while (fgets(line, sizeof line, f)) {
        fusions += line[0] != '#' && strchr(line, ':') != NULL;
        check_line(line, argv + 2, argc - 2);
    }
    fclose(f);
    check_endless();
    check_full("tt.softmax:[64,128]:1\n");
    check_list("tt.sum:[512,512]:1\n", "", 512 * 512 * 4, 512 * 4);
    check_list("{\"ops\":[{\"type\":\"tt.mul\",\"id\":\"m\",\"input_shapes\":[[512,512],[512,512]]},{\"type\":\"tt.sum\",\"id\":\"s\",\"inputs\":[\"m\"],\"args\":{\"axis\":1}}]}",
               "list loads", 2 * 512 * 512 * 4, 512 * 4);
    for (i = 0; i < n_kernels; i++) free(kernels[i].memory);
    printf("transform: %d fusions in %d kernels, %d wrong\n", fusions, n_kernels, n_wrong);
    return n_wrong != 0 || !fusions;
}
