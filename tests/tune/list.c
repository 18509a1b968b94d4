/* The candidates of a program as files, and a guided search over a table of times that were taken of them.
 *
 *     list [OPTIONS] FILE OUTDIR            writes OUTDIR/NAME.LABEL.metal, a file a candidate that is launched as the
 *                                           planned one is, and OUTDIR/NAME.candidates: label, name, what the model
 *                                           predicts in seconds, threads, kernels, programs a threadgroup
 *     list [OPTIONS] --replay TIMES FILE    TIMES has lines "NAME.LABEL SECONDS" (or LABEL; "failed" for seconds): how
 *                                           many trials the search took, and how far its best is from the best of all
 *     --gpu NAME  --programs X[,Y[,Z]]  --ints PARAMETER=VALUE,...  --strategy guided|random|model  --seed N  -v
 *
 * A label is the name with '-' for ',' and '_' for '='. Candidates that are not in the table cost no trial. */
#define TMETAL_IMPLEMENTATION
#define TMETAL_TUNE
#include "../../tmetal.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_INTS 64

typedef struct request {
    const char         *times, *file, *dir;
    char                base[256]; /* FILE's name without folder and ending */
    tmetal_options      opt;
    tmetal_tune_options how;
    int64_t             ints[MOST_INTS];
    int                 verbose;
    char               *src;
    size_t              len;
    tmetal_arena        arena;
    uint32_t            n_kernels, n_args, programs; /* of the planned one */
} request;

static int fail(const char *what, const char *which) {
    fprintf(stderr, "tune-list: %s %s\n", what, which);
    return 0;
}

static char *read_file(const char *path, size_t *len) {
    FILE  *f = fopen(path, "rb");
    char  *text = NULL;
    size_t cap = 0, n = 0, got = 1;
    while (f && got) {
        if (n + 65536 + 1 > cap) text = (char *)realloc(text, cap = 2 * cap + 65537);
        if (!text) exit(2);
        n += got = fread(text + n, 1, 65536, f);
    }
    if (f) fclose(f);
    if (text) text[*len = n] = '\0';
    return text;
}

static int read_option(request *r, const char *name, const char *value) {
    unsigned i;
    char    *end;
    if (strcmp(name, "--gpu") == 0) r->opt.gpu = value;
    else if (strcmp(name, "--replay") == 0) r->times = value;
    else if (strcmp(name, "--seed") == 0) r->how.seed = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(name, "--programs") == 0)
        for (i = 0; i < 3 && *value; i++, value = *end == ',' ? end + 1 : end) r->how.programs[i] = (uint32_t)strtoul(value, &end, 10);
    else if (strcmp(name, "--strategy") == 0)
        r->how.strategy = *value == 'r' ? TMETAL_TUNE_RANDOM : *value == 'm' ? TMETAL_TUNE_MODEL : TMETAL_TUNE_GUIDED;
    else if (strcmp(name, "--ints") == 0) {
        r->how.ints = r->ints;
        while (*value) {
            unsigned long at = strtoul(value, &end, 10);
            if (*end != '=' || at >= MOST_INTS) return fail("not PARAMETER=VALUE:", value);
            r->ints[at] = strtoll(end + 1, &end, 10);
            if (at + 1 > r->how.n_ints) r->how.n_ints = (uint32_t)at + 1;
            value = *end == ',' ? end + 1 : end;
        }
    } else return fail("unknown option", name);
    return 1;
}

static int read_line(request *r, int argc, char **argv) {
    const char *slash;
    int         i;
    memset(r, 0, sizeof *r);
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0) r->verbose = 1;
        else if (argv[i][0] == '-' && i + 1 < argc) {
            if (!read_option(r, argv[i], argv[i + 1])) return 0;
            i++;
        } else if (!r->file) r->file = argv[i];
        else r->dir = argv[i];
    }
    if (!r->file || !r->dir == !r->times) return fail("wanted [OPTIONS] FILE OUTDIR or [OPTIONS] --replay TIMES FILE", "");
    slash = strrchr(r->file, '/');
    snprintf(r->base, sizeof r->base, "%s", slash ? slash + 1 : r->file);
    if (strrchr(r->base, '.')) *strrchr(r->base, '.') = '\0';
    r->src = read_file(r->file, &r->len);
    return r->src ? 1 : fail("cannot read", r->file);
}

static void label_of(const tmetal_candidate *c, char *label, size_t cap) {
    snprintf(label, cap, "%s", c->name);
    for (; *label; label++) *label = *label == ',' ? '-' : *label == '=' ? '_' : *label;
}

/* -- Files ------------------------------------------------------------------------------------------------- */

static int write_one(request *r, const tmetal_candidate *c, FILE *index) {
    char          label[256], path[1024];
    size_t        used = r->arena.used;
    tmetal_result out;
    FILE         *f;
    label_of(c, label, sizeof label);
    if ((tmetal_is_ops(r->src, r->len) ? tmetal_compile_ops : tmetal_compile)(r->src, r->len, &c->options, &r->arena, &out) != TMETAL_OK)
        return fail("does not compile again:", c->name);
    fprintf(index, "%s.%s %s %.4g %u %u %u\n", r->base, label, c->name, c->predicted, c->threads, out.n_kernels, out.kernels[0].programs);
    if (c->index == 0) r->n_kernels = out.n_kernels, r->n_args = out.kernels[0].n_args, r->programs = out.kernels[0].programs;
    if (r->n_kernels == out.n_kernels && r->n_args == out.kernels[0].n_args && r->programs == out.kernels[0].programs) {
        /* every file says its threads: 32 need not be said to Metal */
        const char *head = strstr(out.msl, "max_total_threads") ? NULL : strstr(out.msl, "\nkernel void ");
        int         before = head ? (int)(head + 1 - out.msl) : 0;
        snprintf(path, sizeof path, "%s/%s.%s.metal", r->dir, r->base, label);
        f = fopen(path, "wb");
        if (f && head) fprintf(f, "%.*s[[max_total_threads_per_threadgroup(%u)]]\n", before, out.msl, c->threads);
        if (!f || fputs(out.msl + before, f) < 0 || fclose(f) != 0) return fail("cannot write", path);
    }
    r->arena.used = used;
    return 1;
}

static int write_all(request *r, const tmetal_tune *tune) {
    const tmetal_candidate *c;
    char                    path[1024];
    FILE                   *index;
    uint32_t                i;
    snprintf(path, sizeof path, "%s/%s.candidates", r->dir, r->base);
    index = fopen(path, "w");
    if (!index) return fail("cannot write", path);
    for (i = 0; (c = tmetal_tune_at(tune, i)) != NULL; i++)
        if (!write_one(r, c, index)) return 0;
    printf("%s: %u candidates; the model's choice is %s\n", r->base, (unsigned)i, tmetal_tune_best(tune)->name);
    return fclose(index) == 0;
}

/* -- Replay ------------------------------------------------------------------------------------------------ */

/* Seconds of a candidate; 0: it failed; -1: it is not in the table. */
static double time_of(const char *table, const char *base, const tmetal_candidate *c) {
    char        label[256], want[600];
    const char *line;
    size_t      n;
    int         whole;
    label_of(c, label, sizeof label);
    for (whole = 1; whole >= 0; whole--) {
        n = (size_t)snprintf(want, sizeof want, "%s%s%s ", whole ? base : "", whole ? "." : "", label);
        for (line = table; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
            if (strncmp(line, want, n) == 0) return strtod(line + n, NULL);
    }
    return -1;
}

static int replay(request *r, tmetal_tune *tune) {
    const tmetal_candidate *c;
    size_t                  len;
    char                   *table = read_file(r->times, &len);
    double                  t, best = 0, planned = 0, model = 0, found = 0;
    uint32_t                i, n = 0, trials = 0, within = 0, quarter;
    if (!table) return fail("cannot read", r->times);
    for (i = 0; (c = tmetal_tune_at(tune, i)) != NULL; i++) {
        t = time_of(table, r->base, c);
        n += t >= 0;
        if (t < 0) tune->row[i].is_tried = 1; /* as if there were no such candidate */
        if (t > 0 && (best == 0 || t < best)) best = t;
        if (i == 0) planned = t;
        if (c == tmetal_tune_best(tune)) model = t;
        if (r->verbose) printf("  %-48s model %8.1f us, table %8.1f us\n", c->name, c->predicted * 1e6, t * 1e6);
    }
    if (best == 0) return free(table), fail("the table has no time of", r->base);
    quarter = (n + 3) / 4 < 3 ? 3 : (n + 3) / 4;
    while (r->how.strategy != TMETAL_TUNE_MODEL && trials < quarter && (c = tmetal_tune_next(tune)) != NULL) {
        t = time_of(table, r->base, c);
        tmetal_tune_record(tune, c->index, t);
        trials++;
        if (t > 0 && (found == 0 || t < found)) found = t;
        if (found > 0 && found <= 1.03 * best && !within) within = trials;
        if (r->verbose) printf("  trial %2u %-40s %8.1f us\n", trials, c->name, t * 1e6);
    }
    if (r->how.strategy == TMETAL_TUNE_MODEL) found = model;
    printf("%-48s %3u candidates, %2u trials, within 3 %% after %2u; best %.1f us, found +%.1f %%, planned +%.1f %%, model +%.1f %%%s\n", r->base, n, trials, within,
           best * 1e6, 100 * (found / best - 1), 100 * (planned / best - 1), 100 * (model / best - 1), found <= 1.03 * best ? "" : "  MISSED");
    free(table);
    return 1;
}

int main(int argc, char **argv) {
    request       r;
    tmetal_tune  *tune;
    tmetal_result out;
    size_t        room;
    int           good;
    if (!read_line(&r, argc, argv)) return 2;
    room = tmetal_tune_bound(r.src, r.len);
    r.arena = tmetal_arena_on(malloc(room), room);
    if (r.times) r.how.trials = TMI_TUNE_MOST; /* the table says how many a quarter is */
    if (tmetal_tune_begin(r.src, r.len, &r.opt, &r.how, &r.arena, &tune, &out) != TMETAL_OK) {
        fprintf(stderr, "tune-list: %s: %s\n", r.file, out.n_diags ? out.diags[0].message : "");
        return 1;
    }
    good = r.times ? replay(&r, tune) : write_all(&r, tune);
    free(r.arena.base);
    free(r.src);
    return !good;
}
