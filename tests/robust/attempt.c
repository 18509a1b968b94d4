#include "attempt.h"

#include "../../tmetal.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char report[512];

static const char *say(const char *what, const char *more) {
    snprintf(report, sizeof report, "%s: %s", what, more ? more : "");
    return report;
}

/* A refusal has a code, a reason and, unless an option is at fault, a line of the text. */
static const char *check_diags(const tmetal_result *r, size_t len) {
    uint32_t i;
    if (r->code == TMETAL_OK) return r->n_diags ? say("a result without error has diagnostics", r->diags[0].message) : NULL;
    if (!r->n_diags) return "an error without a diagnostic";
    if (r->n_kernels) return "an error beside kernels";
    if (r->diags[0].code != r->code) return "the code is not that of the first diagnostic";
    for (i = 0; i < r->n_diags; i++) {
        const tmetal_diag *d = &r->diags[i];
        if (d->code == TMETAL_E_BUG) return say("a promise broken", d->message);
        if (d->code == TMETAL_E_ARENA) return say("tmetal_arena_bound() is too small", d->message);
        if (!d->message || !*d->message) return "a diagnostic without a message";
        if (!tmetal_code_text(d->code)[0]) return say("a code that is not in the table", d->message);
        if (!d->note || !d->help || !d->excerpt) return say("a diagnostic with a NULL part", d->message);
        if (strchr(d->message, '\n')) return say("a message of more than one line", d->message);
        if (!d->ir.line && len && d->code != TMETAL_E_THREADS && d->code != TMETAL_E_GPU_NAME && d->code != TMETAL_E_OPTION &&
            d->code != TMETAL_E_MSL_VERSION && d->code != TMETAL_E_NO_MODULE)
            return say("a refusal without a line", d->message);
    }
    return NULL;
}

/* Metal text that no compiler could read is our fault whatever came in. */
static const char *check_kernel(const tmetal_kernel *k) {
    size_t i;
    long   braces = 0, parens = 0;
    if (!k->name || !k->entry || !*k->entry || !k->msl) return "a kernel without a name or text";
    if (strlen(k->msl) != k->msl_len) return "the length of a text is wrong";
    for (i = 0; i < k->msl_len; i++) {
        unsigned char c = (unsigned char)k->msl[i];
        if (c >= 127 || (c < 32 && c != '\n')) return say("a character that Metal text may not hold", k->entry);
        if (c == '/' && k->msl[i + 1] == '/')
            while (i + 1 < k->msl_len && k->msl[i + 1] != '\n') i++;
        braces += (c == '{') - (c == '}');
        parens += (c == '(') - (c == ')');
        if (braces < 0) return say("braces of a kernel do not match", k->entry);
    }
    if (braces || parens) return say("braces or parentheses of a kernel do not match", k->entry);
    if (k->threads < 32 || k->threads > 1024 || k->threads % 32) return "a number of threads that Metal refuses";
    if (k->threadgroup_bytes > 32768) return "more threadgroup memory than there is";
    return NULL;
}

/* Read, print, read again: the same module, and the same text printed. */
static const char *round_trip(const char *text, size_t len, const tmetal_options *opt, void *memory, size_t bytes, outcomes *sum) {
    tmetal_arena   arena = tmetal_arena_on(memory, bytes), other;
    tmetal_result  r;
    tmetal_module *m, *again;
    const char    *printed, *twice, *bad;
    size_t         n, n2;
    void          *more;
    if (tmetal_parse(text, len, opt, &arena, &m, &r) != TMETAL_OK) return check_diags(&r, len);
    sum->parsed++;
    if (tmetal_verify(m, opt, &arena, &r) != TMETAL_OK) return "verified when read, but not when asked again";
    if (tmetal_print(m, &arena, &printed, &n, &r) != TMETAL_OK) return r.code == TMETAL_E_ARENA ? NULL : "what was read is not printed";
    more = take_memory(tmetal_arena_bound(n));
    other = tmetal_arena_on(more, tmetal_arena_bound(n));
    bad = NULL;
    if (tmetal_parse(printed, n, opt, &other, &again, &r) != TMETAL_OK) bad = say("what was printed is not read", r.diags[0].message);
    else if (!tmetal_same(m, again, &other)) bad = "what was printed is read as another module";
    else if (tmetal_print(again, &other, &twice, &n2, &r) == TMETAL_OK && (n != n2 || memcmp(printed, twice, n) != 0)) bad = "printed twice, differently";
    free(more);
    return bad;
}

static const char *compile(const char *text, size_t len, const tmetal_options *opt, void *memory, size_t bytes, outcomes *sum) {
    tmetal_arena  arena = tmetal_arena_on(memory, bytes);
    tmetal_result r;
    const char   *bad;
    uint32_t      i;
    (void)tmetal_compile(text, len, opt, &arena, &r);
    bad = check_diags(&r, len);
    if (bad) return bad;
    if (r.code != TMETAL_OK) {
        sum->refused++;
        for (i = 0; i < r.n_diags; i++)
            if (!tmetal_diag_text(&r.diags[i], &arena)) return arena.need ? NULL : "a diagnostic without text";
        return NULL;
    }
    sum->compiled++;
    for (i = 0; i < r.n_kernels; i++)
        if ((bad = check_kernel(&r.kernels[i])) != NULL) return bad;
    return tmetal_plan_json(&r, &arena) || arena.need ? NULL : "a plan without JSON";
}

const char *attempt(const char *text, size_t len, uint64_t choice, outcomes *sum) {
    static const char *const gpus[] = {NULL, NULL, "apple-m1", "apple-m2", "apple-m4"};
    size_t         bytes = tmetal_arena_bound(len);
    void          *memory = take_memory(bytes);
    tmetal_options opt;
    const char    *bad;
    memset(&opt, 0, sizeof opt);
    opt.file = "fuzz.ttir";
    bad = round_trip(text, len, &opt, memory, bytes, sum);
    if (!bad) {
        opt.gpu = gpus[choice % 5];
        if (choice >> 8 & 1) opt.threads = 32u << (choice >> 9) % 6;
        opt.no_fusion = choice >> 16 & 1;
        opt.reports = (choice >> 24 & 3) != 0;
        opt.parts = choice >> 26 & 1;
        opt.no_fp64 = (choice >> 17 & 7) == 0;
        bad = compile(text, len, &opt, memory, bytes, sum);
    }
    free(memory);
    return bad;
}
