/* What tmetal_detect finds, compared with what a person wrote in the file.
 *
 *   run FILE.ttir...       each must give its lines "// EXPECT ..." and no others, in that order
 *   run --show FILE...     print what is found
 *   run --table FILE...    count reductions by kind and patterns, and name the generic ones
 *
 * A line of a reduction:  reduce KIND VALUE axis A of RANK [inner] count N outputs N TYPE [in TYPE] [...]: remark
 * of a pattern:           KIND VALUE [axis A] [(form, ...)] [eps E] [shared N]; "not KIND VALUE: reason" for a near miss.
 * Multiply-adds are counted in one line: "multiply-add N, not M". */
#define TMETAL_IMPLEMENTATION
#include "../../tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* -- What is found, as lines ---------------------------------------------------------------------- */

typedef struct lines {
    char   text[1 << 16];
    size_t n;
} lines;

static void put(lines *l, const char *s) {
    size_t n = strlen(s);
    if (l->n + n + 1 > sizeof l->text) {
        fputs("detect: too many lines\n", stderr);
        exit(2);
    }
    memcpy(l->text + l->n, s, n + 1);
    l->n += n;
}

static void put_u(lines *l, const char *before, unsigned long long v) {
    char digits[24];
    put(l, before);
    sprintf(digits, "%llu", v);
    put(l, digits);
}

static void put_word(lines *l, const char *before, const char *word) {
    if (!*word) return;
    put(l, before);
    put(l, word);
}

static void put_reduction(lines *l, const tmetal_reduction *r) {
    put_word(l, "reduce ", tmetal_reduce_name(r->kind));
    put_word(l, " ", r->value);
    put_u(l, " axis ", r->axis);
    put_u(l, " of ", r->rank);
    if (r->innermost) put(l, " inner");
    put_u(l, " count ", r->count);
    put_u(l, " outputs ", r->outputs);
    put_word(l, " ", r->type);
    if (strcmp(r->type, r->accumulate) != 0) put_word(l, " in ", r->accumulate);
    if (r->operands > 1) put_u(l, " operands ", r->operands);
    if (r->is_unsigned) put(l, " unsigned");
    put_word(l, " ties ", tmetal_tie_name(r->tie));
    put_word(l, " NaN ", tmetal_nan_name(r->nan));
    if (r->loops) put_u(l, " loops ", r->loops);
    if (r->carried) put(l, " carried");
    put_word(l, ": ", r->reason);
    put(l, "\n");
}

static void put_pattern(lines *l, const tmetal_pattern *p) {
    uint32_t    bit;
    const char *before = " (";
    put_word(l, p->near_miss ? "not " : "", tmetal_pattern_name(p->kind));
    put_word(l, " ", p->value);
    if (p->near_miss) {
        put_word(l, ": ", p->reason);
        put(l, "\n");
        return;
    }
    if (p->kind == TMETAL_PATTERN_SOFTMAX || p->kind == TMETAL_PATTERN_LOG_SOFTMAX || p->kind == TMETAL_PATTERN_LAYER_NORM ||
        p->kind == TMETAL_PATTERN_RMS_NORM || p->kind == TMETAL_PATTERN_ATTENTION)
        put_u(l, " axis ", p->axis);
    put_word(l, " of ", p->input);
    for (bit = 1; bit <= TMETAL_FORM_MINUS; bit *= 2)
        if (p->form & bit) {
            put_word(l, before, tmetal_form_name((tmetal_form)bit));
            before = ", ";
        }
    if (p->form) put(l, ")");
    put_word(l, " eps ", p->eps);
    put_word(l, " scale ", p->scale);
    if (p->shared) put_u(l, " shared ", p->shared);
    put_word(l, ": ", p->reason);
    put(l, "\n");
}

static int detect(const char *path, const char *text, size_t len, tmetal_detection *found) {
    static char     memory[1 << 26];
    tmetal_arena    arena = tmetal_arena_on(memory, sizeof memory);
    tmetal_module  *module;
    tmetal_result   out;
    tmetal_options  opt;
    memset(&opt, 0, sizeof opt);
    opt.file = path;
    if (tmetal_parse(text, len, &opt, &arena, &module, &out) != TMETAL_OK || tmetal_detect(module, &arena, found, &out) != TMETAL_OK) {
        printf("%s", tmetal_diag_text(&out.diags[0], &arena));
        return 0;
    }
    return 1;
}

static void describe(lines *l, const tmetal_detection *d) {
    uint32_t i, n = 0, near = 0;
    l->n = 0;
    l->text[0] = '\0';
    for (i = 0; i < d->n_reductions; i++) put_reduction(l, &d->reductions[i]);
    for (i = 0; i < d->n_patterns; i++)
        if (d->patterns[i].kind != TMETAL_PATTERN_MULTIPLY_ADD) put_pattern(l, &d->patterns[i]);
        else if (d->patterns[i].near_miss) near++;
        else n++;
    if (!l->n && !n && !near) put(l, "nothing\n");
    if (!n && !near) return;
    put_u(l, "multiply-add ", n);
    if (near) put_u(l, ", not ", near);
    put(l, "\n");
}

/* -- Comparing -------------------------------------------------------------------------------------- */

/* The lines behind "// EXPECT", joined as describe() joins them. */
static void expected(lines *l, const char *text) {
    static const char mark[] = "// EXPECT ";
    const char *at = text, *end;
    l->n = 0;
    l->text[0] = '\0';
    while ((at = strstr(at, mark)) != NULL) {
        at += sizeof mark - 1;
        end = strchr(at, '\n');
        if (!end) break;
        if (l->n + (size_t)(end - at) + 2 > sizeof l->text) break;
        memcpy(l->text + l->n, at, (size_t)(end - at) + 1);
        l->n += (size_t)(end - at) + 1;
        l->text[l->n] = '\0';
        at = end;
    }
}

/* The ops of a pattern ascend, end no later than the function, and hold its root. */
static int sound(const tmetal_detection *d) {
    uint32_t i, k;
    for (i = 0; i < d->n_patterns; i++) {
        const tmetal_pattern *p = &d->patterns[i];
        int                   root = 0;
        for (k = 0; k < p->n_ops; k++) {
            if (k && p->ops[k] <= p->ops[k - 1]) return 0;
            root |= p->ops[k] == p->op;
        }
        if (!root || (p->near_miss && !*p->reason)) return 0;
    }
    return 1;
}

static int compare(const char *path) {
    static lines     got, want;
    tmetal_detection d;
    size_t           len;
    char            *text = read_all(path, &len);
    int              ok;
    if (!text || !detect(path, text, len, &d)) {
        printf("%s: cannot be read\n", path);
        free(text);
        return 0;
    }
    describe(&got, &d);
    expected(&want, text);
    ok = strcmp(got.text, want.text) == 0;
    if (!strstr(text, "// EXPECT")) ok = 0, printf("%s: says nothing of what it expects\n", path);
    else if (!ok) printf("%s\nwanted:\n%sfound:\n%s\n", path, want.text, got.text);
    if (!sound(&d)) ok = 0, printf("%s: the ops of a pattern are out of order, or lack its root\n", path);
    free(text);
    return ok;
}

/* -- Modes -------------------------------------------------------------------------------------------- */

static unsigned long n_kind[TMETAL_REDUCE_COUNT], n_pattern[TMETAL_PATTERN_COUNT], n_near[TMETAL_PATTERN_COUNT];

static int count(const char *path) {
    tmetal_detection d;
    size_t           len;
    char            *text = read_all(path, &len);
    uint32_t         i;
    if (!text || !detect(path, text, len, &d)) {
        free(text);
        return 0;
    }
    for (i = 0; i < d.n_reductions; i++) {
        n_kind[d.reductions[i].kind]++;
        if (d.reductions[i].kind == TMETAL_REDUCE_GENERIC) printf("generic: %s %s: %s\n", path, d.reductions[i].value, d.reductions[i].reason);
    }
    for (i = 0; i < d.n_patterns; i++) (d.patterns[i].near_miss ? n_near : n_pattern)[d.patterns[i].kind]++;
    free(text);
    return 1;
}

static void table(void) {
    int           k;
    unsigned long all = 0;
    printf("| reduction | count |\n|---|---|\n");
    for (k = 0; k < TMETAL_REDUCE_COUNT; k++) {
        printf("| %s | %lu |\n", tmetal_reduce_name((tmetal_reduce_kind)k), n_kind[k]);
        all += n_kind[k];
    }
    printf("| all | %lu |\n\n| pattern | found | near misses |\n|---|---|---|\n", all);
    for (k = 0; k < TMETAL_PATTERN_COUNT; k++) printf("| %s | %lu | %lu |\n", tmetal_pattern_name((tmetal_pattern_kind)k), n_pattern[k], n_near[k]);
}

static int show(const char *path) {
    static lines     got;
    tmetal_detection d;
    size_t           len;
    char            *text = read_all(path, &len);
    if (!text || !detect(path, text, len, &d)) return 0;
    describe(&got, &d);
    printf("== %s\n%s", path, got.text);
    free(text);
    return 1;
}

int main(int argc, char **argv) {
    int mode = argc > 1 && strcmp(argv[1], "--show") == 0 ? 1 : argc > 1 && strcmp(argv[1], "--table") == 0 ? 2 : 0;
    int i, bad = 0;
    for (i = 1 + (mode != 0); i < argc; i++) bad += !(mode == 1 ? show(argv[i]) : mode == 2 ? count(argv[i]) : compare(argv[i]));
    if (mode == 2) table();
    else if (mode == 0) printf("detect: %d files, %d wrong\n", argc - 1, bad);
    return bad != 0 || argc < 2;
}
