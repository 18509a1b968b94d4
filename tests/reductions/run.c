/* Which loops become one reduction, which kernels become two stages or run several programs in a threadgroup: by
 * remarks in the cases themselves.
 *
 *   // OPTIONS two-stage=4                                    as tmetal_options; on a line of its own
 *   // REMARK applied accumulators: each round combines ...   KIND ABOUT: how the text begins
 *
 * A case with such lines must bring about exactly these remarks of the passes below, in any order, and where
 * "two stages" was applied a plan that a host can act on. Cases without them are left out; remarks on short rows
 * and on thin products count where a case has one of them, those on long rows and sweeps always.
 *
 *   run FILE.ttir ...              compares
 *   run --list N FILE.ttir ...     prints the kernels that become two with options.two_stage = N */
#define TMETAL_IMPLEMENTATION
#include "../../tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char        *memory;
static const size_t room = (size_t)96 << 20;

typedef struct expectation {
    const char *text; /* "applied accumulators: each round" */
    size_t      len;
    int         met;
} expectation;

static int is_ours(const tmetal_remark *r, const char *text) {
    if (strcmp(r->about, "short rows") == 0) return strstr(text, " short rows: ") != NULL;
    if (strcmp(r->about, "thin product") == 0) return strstr(text, " thin product: ") != NULL;
    if (strcmp(r->about, "long rows") == 0 || strcmp(r->about, "one sweep") == 0) return 1;
    return strcmp(r->about, "accumulators") == 0 || strcmp(r->about, "two stages") == 0;
}

static void spell(const tmetal_remark *r, char *out, size_t cap) {
    static const char *const kinds[] = {"found", "applied", "missed"};
    snprintf(out, cap, "%s %s: %s", kinds[r->kind], r->about, r->text);
}

/* The expectations of a case; their number. */
static int expectations(const char *text, expectation *e, int most) {
    int         n = 0;
    const char *p = text;
    while (n < most && (p = strstr(p, "// REMARK ")) != NULL) {
        p += 10;
        e[n].text = p;
        e[n].len = strcspn(p, "\n");
        e[n++].met = 0;
    }
    return n;
}

/* Kernels in the text, before one becomes two. */
static uint32_t kernels(const char *text) {
    uint32_t n = 0;
    while ((text = strstr(text, "tt.func public")) != NULL) n++, text++;
    return n;
}

/* 0 and a line when the plan of two stages lacks something. */
static int plan_is_whole(const char *path, const tmetal_result *r, uint32_t parts) {
    uint32_t i, k, times, scratch;
    if (r->n_kernels != 2 || !r->n_scratch) return printf("%s: %u kernels, %u scratch buffers\n", path, r->n_kernels, r->n_scratch), 0;
    for (i = 0; i < r->n_scratch; i++)
        if (r->scratch[i].bytes || r->scratch[i].program_bytes < parts) return printf("%s: scratch %u has no size\n", path, i), 0;
    for (k = 0; k < 2; k++) {
        const tmetal_kernel *n = &r->kernels[k];
        times = n->grid_times[0] * n->grid_times[1] * n->grid_times[2];
        if (times != (k ? 1 : parts) || n->grid[0]) return printf("%s: %s has %u threadgroups a program\n", path, n->entry, times), 0;
        for (scratch = i = 0; i < n->n_args; i++)
            if (n->args[i].kind == TMETAL_ARG_SCRATCH && n->args[i].access == (k ? (uint32_t)TMETAL_READS : (uint32_t)TMETAL_WRITES)) scratch++;
        if (scratch != r->n_scratch) return printf("%s: %s has %u of %u scratch buffers\n", path, n->entry, scratch, r->n_scratch), 0;
    }
    return 1;
}

static int passes(const char *path, const char *text, size_t len, int *skipped) {
    static expectation want[64];
    tmetal_arena       arena = tmetal_arena_on(memory, room);
    tmetal_options     opt;
    tmetal_result      r;
    const char        *o = strstr(text, "// OPTIONS two-stage="), *batch = strstr(text, "// OPTIONS programs="),
                      *gpu = strstr(text, "// OPTIONS gpu=");
    static char        chip[40];
    char               line[400];
    uint32_t           i, split = 0;
    int                n = expectations(text, want, 64), k, fine = 1;
    memset(&opt, 0, sizeof opt);
    opt.reports = 1;
    if (o) opt.two_stage = (uint32_t)strtoul(o + 21, NULL, 10);
    if (batch) opt.programs = (uint32_t)strtoul(batch + 20, NULL, 10);
    if (gpu) {
        snprintf(chip, sizeof chip, "%.*s", (int)strcspn(gpu + 15, "\n"), gpu + 15);
        opt.gpu = chip;
    }
    *skipped = n == 0;
    if (n == 0) return 1;
    if (tmetal_compile(text, len, &opt, &arena, &r) != TMETAL_OK) return printf("%s: %s\n", path, r.diags[0].message), 0;
    for (i = 0; i < r.n_remarks; i++) {
        if (!is_ours(&r.remarks[i], text)) continue;
        spell(&r.remarks[i], line, sizeof line);
        split |= strncmp(line, "applied two stages", 18) == 0;
        for (k = 0; k < n && (want[k].met || strncmp(line, want[k].text, want[k].len) != 0); k++) {}
        if (k < n) want[k].met = 1;
        else fine = 0, printf("%s: not expected: %s\n", path, line);
    }
    for (k = 0; k < n; k++)
        if (!want[k].met) fine = 0, printf("%s: did not come: %.*s\n", path, (int)want[k].len, want[k].text);
    if (split) return plan_is_whole(path, &r, opt.two_stage) && fine;
    if ((r.kernels[0].programs > 1) != (strstr(text, "REMARK applied short rows") != NULL) && strstr(text, " short rows: "))
        return printf("%s: %u programs in a threadgroup\n", path, r.kernels[0].programs), 0;
    if (r.n_kernels != kernels(text) || r.n_scratch) return printf("%s: one stage, but %u kernels\n", path, r.n_kernels), 0;
    return fine;
}

static void list(const char *path, const char *text, size_t len, uint32_t parts) {
    tmetal_arena   arena = tmetal_arena_on(memory, room);
    tmetal_options opt;
    tmetal_result  r;
    const char    *slash = strrchr(path, '/');
    memset(&opt, 0, sizeof opt);
    opt.two_stage = parts;
    if (tmetal_compile(text, len, &opt, &arena, &r) != TMETAL_OK || !r.n_scratch) return;
    printf("%.*s: %u kernels, %u scratch buffers\n", (int)strcspn(slash ? slash + 1 : path, "."), slash ? slash + 1 : path, r.n_kernels, r.n_scratch);
}

int main(int argc, char **argv) {
    int      i, wrong = 0, checked = 0, skipped, first = 1;
    uint32_t parts = 0;
    memory = (char *)malloc(room);
    if (argc > 2 && strcmp(argv[1], "--list") == 0) parts = (uint32_t)strtoul(argv[2], NULL, 10), first = 3;
    for (i = first; i < argc && memory; i++) {
        FILE  *f = fopen(argv[i], "rb");
        char  *text = (char *)malloc((size_t)8 << 20);
        size_t len = f && text ? fread(text, 1, ((size_t)8 << 20) - 1, f) : 0;
        if (!len) return fprintf(stderr, "reductions: cannot read %s\n", argv[i]), 2;
        text[len] = '\0';
        if (parts) list(argv[i], text, len, parts);
        else {
            wrong += !passes(argv[i], text, len, &skipped);
            checked += !skipped;
        }
        fclose(f);
        free(text);
    }
    free(memory);
    if (parts) return 0;
    printf("reductions: %d cases, %d wrong\n", checked, wrong);
    return wrong || !checked;
}
