#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

void fuzz_fail(const char *what, const char *more) {
    fprintf(stderr, "fuzz: %s: %s\n", what, more ? more : "");
    abort();
}

const char *fuzz_word(size_t i) {
    size_t n = 0;
    if (fuzz_target.word) {
        while (n < i && fuzz_target.word(n)) n++;
        if (n == i && fuzz_target.word(i)) return fuzz_target.word(i);
    }
    if (!fuzz_target.more) return NULL;
    for (i -= n, n = 0; n < i && fuzz_target.more[n]; n++) {}
    return fuzz_target.more[n];
}

/* -- Memory ------------------------------------------------------------------------------------------------ */

static void   *blocks[32768]; /* an input of the longest kind asks for half as many limits */
static size_t  n_blocks;

/* Arenas are kept from input to input, with what they held: large blocks are dear to make, and what was never written
 * must not matter. */
static struct {
    char  *p;
    size_t bytes;
} arenas[8];
static size_t n_arenas;

static uint32_t threadgroup_bytes; /* the most that a kernel may take: Apple's, or what the caller says that there is */

void fuzz_begin(void) {
    while (n_blocks) free(blocks[--n_blocks]);
    n_arenas = 0;
    threadgroup_bytes = 32768;
}

static void *memory(void *p) {
    if (p) return p;
    fprintf(stderr, "fuzz: no memory\n");
    exit(2);
}

void *fuzz_take(size_t bytes) {
    if (n_blocks == sizeof blocks / sizeof *blocks) (void)memory(NULL);
    return blocks[n_blocks++] = memory(malloc(bytes + !bytes));
}

tmetal_arena fuzz_arena(size_t bytes) {
    size_t i = n_arenas++;
    if (i == sizeof arenas / sizeof *arenas) (void)memory(NULL);
    if (fuzz_gap()) bytes *= 2;
    if (arenas[i].bytes < bytes) {
        free(arenas[i].p);
        arenas[i].p = (char *)memory(malloc(bytes));
        arenas[i].bytes = bytes;
    }
    fuzz_close(arenas[i].p, arenas[i].bytes); /* what lies behind it too */
    return tmetal_arena_on(arenas[i].p, bytes);
}

/* -- An input ------------------------------------------------------------------------------------------------ */

const char *fuzz_text(fuzz_in *in) {
    size_t n = fuzz_byte(in);
    char  *s;
    if (!n) return NULL;
    if (--n > in->n) n = in->n;
    s = (char *)fuzz_take(n + 1);
    if (n) memcpy(s, in->p, n);
    s[n] = '\0';
    in->p += n;
    in->n -= n;
    return s;
}

fuzz_parts fuzz_split(const uint8_t *data, size_t size) {
    fuzz_parts x;
    size_t     n = size;
    char      *copy;
    while (n && data[n - 1]) n--;
    x.len = n ? n - 1 : size;
    x.rest.p = n ? data + n : data + size;
    x.rest.n = n ? size - n : 0;
    copy = (char *)fuzz_take(x.len);
    if (x.len) memcpy(copy, data, x.len);
    x.text = copy;
    return x;
}

static const tmetal_gpu_limits *limits_of(fuzz_in *in) {
    tmetal_gpu_limits *l;
    uint32_t           i, v;
    if (!(fuzz_byte(in) & 1)) return NULL;
    l = (tmetal_gpu_limits *)fuzz_take(sizeof *l);
    for (i = 0; i < sizeof *l / 4; i++) {
        v = fuzz_byte(in);
        if (v == 255) v = fuzz_number(in);
        memcpy((char *)l + 4 * i, &v, 4);
    }
    if (l->tg_bytes > threadgroup_bytes) threadgroup_bytes = l->tg_bytes;
    return l;
}

static void traced(void *user, const char *pass, const char *text) {
    *(size_t *)user += strlen(pass) + strlen(text); /* all of it is read */
}

/* Numbers: 0 to 15 as they are, powers of two, any 32 bits. */
static uint32_t setting(fuzz_in *in) {
    uint32_t b = fuzz_byte(in);
    return b < 16 ? b : b < 48 ? (uint32_t)1 << (b - 16) : b < 64 ? fuzz_number(in) : 0;
}

void fuzz_options(fuzz_in *in, tmetal_options *opt) {
    static const char *const gpus[] = {"apple-m1", "apple-m3-max", "apple-a15", "apple-m5", "Apple M4", "apple7"};
    uint32_t *const numbers[] = {&opt->threads, &opt->max_errors, &opt->msl, &opt->no_fusion, &opt->no_fp64, &opt->debug_bytes, &opt->logging, &opt->plain,
                                 &opt->mlx, &opt->two_stage, &opt->parts, &opt->operands, &opt->programs, &opt->reports, &opt->max_source, &opt->max_ops, &opt->max_steps};
    static const uint32_t versions[] = {300, 310, 320, 400, 410, 0};
    static size_t         seen;
    uint32_t              b, i;
    memset(opt, 0, sizeof *opt);
    opt->file = "fuzz";
    while (in->n) {
        b = fuzz_byte(in);
        switch (i = b % 27) {
        case 17: opt->file = fuzz_text(in); break;
        case 18: opt->gpu = fuzz_text(in); break;
        case 19: opt->gpu = gpus[fuzz_below(in, sizeof gpus / sizeof *gpus)]; break;
        case 20: opt->alias = fuzz_text(in); break;
        case 21: opt->layouts = fuzz_text(in); break;
        case 22: opt->live = limits_of(in); break;
        case 23: opt->limits = limits_of(in); break;
        case 24: opt->msl = versions[fuzz_below(in, 6)]; break;
        case 25: opt->trace = traced, opt->trace_user = &seen; break;
        case 26: opt->reports = 1; break;
        default: *numbers[i] = setting(in); break;
        }
    }
}

/* -- What must hold --------------------------------------------------------------------------------------- */

void fuzz_plain(const char *what, const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    if (!text) fuzz_fail(what, "no text");
    for (; *s; s++)
        if ((*s < 32 && *s != '\n' && *s != '\t') || *s == 127) fuzz_fail(what, "a control character");
}

static const unsigned char *json_string(const char *what, const unsigned char *s) {
    for (s++; *s != '"'; s++) {
        if (*s < 32 || *s == 127) fuzz_fail(what, *s ? "a control character in a string" : "a string without end");
        if (*s >= 0x80) { /* one character of UTF-8 */
            int n = *s >= 0xf0 ? 3 : *s >= 0xe0 ? 2 : 1;
            if (*s < 0xc2 || *s > 0xf4) fuzz_fail(what, "no UTF-8");
            if (*s == 0xc2 && s[1] < 0xa0) fuzz_fail(what, "a control character of two bytes");
            while (n--)
                if ((*++s & 0xc0) != 0x80) fuzz_fail(what, "no UTF-8");
        }
        if (*s != '\\') continue;
        s++;
        if (*s == 'u') {
            if (strspn((const char *)s + 1, "0123456789abcdefABCDEF") < 4) fuzz_fail(what, "\\u without four digits");
            s += 4;
        } else if (!*s || !strchr("\"\\/bfnrt", *s)) fuzz_fail(what, "an unknown escape");
    }
    return s + 1;
}

static const unsigned char *json_word(const char *what, const unsigned char *s) {
    static const char *const words[] = {"true", "false", "null"};
    const unsigned char     *from = s;
    size_t                   i;
    for (i = 0; i < 3; i++)
        if (strncmp((const char *)s, words[i], strlen(words[i])) == 0) return s + strlen(words[i]);
    if (*s == '-') s++;
    if (*s == '0' && s[1] >= '0' && s[1] <= '9') fuzz_fail(what, "a number that begins with 0");
    while (*s >= '0' && *s <= '9') s++;
    if (s == from || s[-1] == '-') fuzz_fail(what, "no value of JSON");
    if (*s == '.' || *s == 'e' || *s == 'E') {
        char *end;
        (void)strtod((const char *)from, &end);
        s = (const unsigned char *)end;
        if (s[-1] == '.') fuzz_fail(what, "a number that ends in a dot");
    }
    return s;
}

/* One value of JSON and nothing behind it; without recursion. */
void fuzz_json(const char *what, const char *text) {
    enum { DEEP = 1000 };
    static char          open[DEEP];
    const unsigned char *s = (const unsigned char *)text;
    size_t               depth = 0;
    int                  wants = 'v'; /* v: a value, k: a key, c: a comma or a close; V and K: a close too */
    if (!text) fuzz_fail(what, "no text");
    for (;;) {
        while (*s == ' ' || *s == '\n') s++;
        if (!*s) break;
        if (depth == DEEP) fuzz_fail(what, "nested too deep");
        if ((*s == ']' || *s == '}') && wants != 'v' && wants != 'k') {
            if (!depth || open[--depth] != (*s == ']' ? '[' : '{')) fuzz_fail(what, "a close without its open");
            s++;
            wants = 'c';
        } else if (wants == 'c') {
            if (*s != ',' || !depth) fuzz_fail(what, "no comma where one must stand");
            s++;
            wants = open[depth - 1] == '{' ? 'k' : 'v';
        } else if (wants == 'k' || wants == 'K') {
            if (*s != '"') fuzz_fail(what, "a key that is no string");
            s = json_string(what, s);
            while (*s == ' ') s++;
            if (*s++ != ':') fuzz_fail(what, "a key without a colon");
            wants = 'v';
        } else if (*s == '[' || *s == '{') {
            wants = *s == '{' ? 'K' : 'V';
            open[depth++] = (char)*s++;
        } else {
            s = *s == '"' ? json_string(what, s) : json_word(what, s);
            wants = 'c';
        }
    }
    if (depth || wants != 'c') fuzz_fail(what, "JSON that ends too early");
}

static void check_diag(const tmetal_diag *d, int how) {
    if (d->code == TMETAL_E_BUG) fuzz_fail("a promise broken", d->message);
    if (d->code == TMETAL_E_ARENA && !(how & FUZZ_MAY_BE_FULL)) fuzz_fail("the bound is too small", d->message);
    if (!d->message || !*d->message || !d->note || !d->help || !d->excerpt) fuzz_fail("a diagnostic lacks a part", d->message);
    if (!tmetal_code_text(d->code)[0]) fuzz_fail("a code that is not in the table", d->message);
    if (strchr(d->message, '\n')) fuzz_fail("a message of more than one line", d->message);
    fuzz_plain("a message", d->message), fuzz_plain("a note", d->note);
    fuzz_plain("a help", d->help), fuzz_plain("an excerpt", d->excerpt);
    if ((how & FUZZ_PLACED) && !d->ir.line && d->code != TMETAL_E_ARENA && d->code != TMETAL_E_THREADS && d->code != TMETAL_E_GPU_NAME &&
        d->code != TMETAL_E_OPTION && d->code != TMETAL_E_MSL_VERSION && d->code != TMETAL_E_NO_MODULE && d->code != TMETAL_E_GPU_LIMIT &&
        d->code != TMETAL_E_TOO_LARGE && d->code != TMETAL_E_TOO_MANY)
        fuzz_fail("a refusal without a line", d->message);
}

/* Metal text that no compiler could read is our fault whatever came in. */
static void check_kernel(const tmetal_kernel *k) {
    size_t i;
    long   braces = 0, parens = 0;
    if (!k->name || !k->entry || !*k->entry || !k->msl) fuzz_fail("a kernel lacks a name or text", k->name);
    if (strlen(k->msl) != k->msl_len) fuzz_fail("the length of a text is wrong", k->entry);
    for (i = 0; i < k->msl_len; i++) {
        unsigned char c = (unsigned char)k->msl[i];
        if (c >= 127 || (c < 32 && c != '\n')) fuzz_fail("a character that Metal text may not hold", k->entry);
        if (c == '?' && k->msl[i + 1] == '?' && k->msl[i + 2]) fuzz_fail("a trigraph", k->msl + i);
        if (c == '/' && k->msl[i + 1] == '/')
            for (; i + 1 < k->msl_len && k->msl[i + 1] != '\n'; i++)
                if (k->msl[i + 1] == '\\' && k->msl[i + 2] == '\n') fuzz_fail("a comment that goes on in the next line", k->entry);
        braces += (c == '{') - (c == '}');
        parens += (c == '(') - (c == ')');
        if (braces < 0) fuzz_fail("braces of a kernel do not match", k->entry);
    }
    if (braces || parens) fuzz_fail("braces or parentheses of a kernel do not match", k->entry);
    if (k->threads < 32 || k->threads > 1024 || k->threads % 32) fuzz_fail("a number of threads that Metal refuses", k->entry);
    if (k->threadgroup_bytes > threadgroup_bytes) fuzz_fail("more threadgroup memory than there is", k->entry);
}

void fuzz_result(const tmetal_result *r, int how) {
    uint32_t i;
    if (r->code == TMETAL_OK && r->n_diags) fuzz_fail("a result without error has diagnostics", r->diags[0].message);
    if (r->code != TMETAL_OK && !r->n_diags) fuzz_fail("an error without a diagnostic", NULL);
    if (r->code != TMETAL_OK && r->n_kernels) fuzz_fail("an error beside kernels", NULL);
    if (r->n_diags && r->diags[0].code != r->code) fuzz_fail("the code is not that of the first diagnostic", r->diags[0].message);
    for (i = 0; i < r->n_diags; i++) check_diag(&r->diags[i], how);
    for (i = 0; i < r->n_remarks; i++) fuzz_plain("a remark", r->remarks[i].text);
    for (i = 0; i < r->n_kernels; i++)
        if (r->kernels[i].msl) check_kernel(&r->kernels[i]);
}

void fuzz_reports(const tmetal_result *r, tmetal_arena *arena) {
    uint32_t    i;
    const char *s;
    if (r->code != TMETAL_OK) {
        for (i = 0; i < r->n_diags; i++) fuzz_plain("a diagnostic", tmetal_diag_text(&r->diags[i], arena));
        return;
    }
    if ((s = tmetal_plan_json(r, arena)) != NULL) fuzz_json("the plan", s);
    if ((s = tmetal_explain_json(r, arena)) != NULL) fuzz_json("explain", s);
    else if (r->reports && !arena->need) fuzz_fail("no explanation", NULL);
    if ((s = tmetal_layouts_json(r, arena)) != NULL) fuzz_json("layouts", s);
    for (i = 0; i < r->n_kernels; i++)
        if (r->kernels[i].mlx && (s = tmetal_mlx_json(&r->kernels[i], arena)) != NULL) fuzz_json("mlx", s);
}
