/* tmetal: the command line. A thin user of tmetal.h: whatever it prints, a C program can have as data.
 *
 *   build   cc -O2 -o tmetal examples/tmetal.c
 *   use     tmetal compile softmax.ttir --emit msl
 *
 * Exit codes: 0 everything asked for was done; 1 the input was refused; 2 the command was wrong.
 *
 * Each subcommand is a row of the table `commands` near the end, each option a row of OPTIONS: its --help,
 * and what it takes, follow from the rows. To add one: a function of a request, a row, its test in tests/cli. */
#ifndef _WIN32
#    define _XOPEN_SOURCE 700 /* isatty, popen, realpath */
#endif
#define TMETAL_IMPLEMENTATION
#include "../tmetal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef _WIN32
#    include <io.h>
#    define isatty _isatty
#    define popen  _popen
#    define pclose _pclose
#else
#    include <sys/stat.h>
#    include <sys/wait.h>
#    include <unistd.h>
#endif

/* -- What may be asked ----------------------------------------------------------------------------- */

/* One row an option: id, spelling, another spelling, what its value is called ("" for a switch), its help. One
 * spelling may have several rows: a command names the rows that it takes. */
#define OPTIONS(X)                                                                                               \
    X(OUT, "-o", "--output", "OUT", "write to OUT, whole or not at all (default: standard output)")              \
    X(JSON, "--json", "", "", "as JSON")                                                                         \
    X(RESULTS, "-o", "--output", "OUT", "write the results as JSON to OUT, whole or not at all; - is standard output")     \
    X(OP_LIST, "--json", "", "FILE", "read an op list from FILE")                                                \
    X(OPERATION, "--operation", "", "TEXT", "an operation, e.g. \"tt.sum:[1024,1024]:1\"")                       \
    X(LARGE, "--large", "", "", "more operations: types, sizes, axes, a block of a network")                     \
    X(SEED, "--seed", "", "N", "order of threadgroups and threads (default 1)")                                  \
    X(VERBOSE, "-v", "--verbose", "", "more of each: where it lies, and why")                                    \
    X(VERSION, "--version", "", "", "the version")                                                               \
    X(EMIT, "--emit", "", "WHAT", "msl (default), plan, ir, layouts, remarks or all of these; or mlx:\n"         \
                                  "what mx.fast.metal_kernel takes, as JSON")                                    \
    X(GPU, "--gpu", "", "NAME", "a row of the GPU table, e.g. apple-m2 (default apple-m1)")                      \
    X(THREADS, "--threads", "", "N", "threads a threadgroup, a power of two from 32 to 1024")                    \
    X(HAS, "--has", "", "FEATURE,...", "features that the GPU has beside its row's, e.g. DIRECT_DOT (docs/hardware.md)") \
    X(LACKS, "--lacks", "", "FEATURE,...", "features that it lacks in spite of its row")                        \
    X(MSL, "--msl", "", "VERSION", "newest Metal version that may be used, e.g. 3.1")                            \
    X(ALIAS, "--alias", "", "P=Q,...", "parameters launched on overlapping memory")                              \
    X(NO_FUSION, "--no-fusion", "", "", "a*b+c keeps two roundings")                                             \
    X(LOGGING, "--logging", "", "", "tt.print by MSL 3.2 logging instead of a debug buffer")                     \
    X(NO_FP64, "--no-fp64", "", "", "refuse arithmetic on fp64 instead of computing it in software")             \
    X(PLAIN, "--plain", "", "", "no optimisation, for comparing results")

typedef enum option_id {
#define X(id, name, other, value, help) OPT_##id,
    OPTIONS(X)
#undef X
    OPTION_COUNT
} option_id;

typedef struct option {
    const char *name, *other, *value, *help;
} option;

static const option options[] = {
#define X(id, name, other, value, help) {name, other, value, help},
    OPTIONS(X)
#undef X
};

/* Rows that a command takes, as a set. */
#define TAKES(id) ((uint64_t)1 << OPT_##id)
typedef char options_fit_a_set[OPTION_COUNT <= 64 ? 1 : -1];

/* What decides for which GPU and how is compiled: all commands that compile take these. */
#define TAKES_TARGET (TAKES(GPU) | TAKES(HAS) | TAKES(LACKS) | TAKES(THREADS) | TAKES(MSL) | TAKES(NO_FP64))
#define TAKES_COMPILE (TAKES_TARGET | TAKES(ALIAS) | TAKES(NO_FUSION) | TAKES(LOGGING) | TAKES(PLAIN))

/* A command line that was read. */
typedef struct request {
    const char           *self; /* argv[0] */
    const struct command *command;
    const char           *value[OPTION_COUNT]; /* as given; "" for a switch; NULL: not given */
    tmetal_options        opt;                 /* from those of TAKES_COMPILE */
    tmetal_gpu_limits     limits;              /* from --has and --lacks */
    char                **files;               /* what is no option */
    int                   n_files;
    int                   colour;              /* 1: standard output is a terminal that shows colours */
    int                   error_colour;        /* 1: standard error is */
    int                   progress;            /* 1: standard error is a terminal */
} request;

typedef struct command {
    const char *name, *operands, *what;
    int         fewest, most; /* operands; -1: any number */
    uint64_t    options;
    int (*run)(request *r);   /* returns the exit code */
    const char *more;         /* further lines of --help; "" */
} command;

static int misuse(const request *r, const char *what, const char *which) {
    fprintf(stderr, "tmetal: %s%s%s\nTry 'tmetal %s%s--help'.\n", what, which ? " " : "", which ? which : "",
            r && r->command ? r->command->name : "", r && r->command ? " " : "");
    return 2;
}

/* -- Reading and writing ---------------------------------------------------------------------------- */

/* A whole stream in memory, with a NUL behind it; NULL after a message. */
static char *read_stream(FILE *f, const char *path, size_t *len) {
    char  *text = NULL, *more;
    size_t cap = 0, n = 0, got;
    do {
        if (n + 1 >= cap) {
            cap = cap ? cap * 2 : 65536;
            more = (char *)realloc(text, cap);
            if (!more) {
                fprintf(stderr, "tmetal: %s: out of memory\n", path);
                free(text);
                return NULL;
            }
            text = more;
        }
        got = fread(text + n, 1, cap - n - 1, f);
        n += got;
    } while (got);
    if (ferror(f)) {
        fprintf(stderr, "tmetal: %s: %s\n", path, strerror(errno));
        free(text);
        return NULL;
    }
    text[n] = '\0';
    *len = n;
    return text;
}

static char *read_all(const char *path, size_t *len) {
    FILE *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char *text;
    if (!f) {
        fprintf(stderr, "tmetal: %s: %s\n", path, strerror(errno));
        return NULL;
    }
    text = read_stream(f, path, len);
    if (f != stdin) fclose(f);
    return text;
}

/* Devices and pipes are written as they are; only a plain file can be replaced. */
static int is_special(const char *path) {
#ifdef _WIN32
    (void)path;
    return 0;
#else
    struct stat s;
    return stat(path, &s) == 0 && !S_ISREG(s.st_mode);
#endif
}

/* The file that a link leads to, so that the link stays; the caller frees it. NULL: path itself. */
static char *end_of_links(const char *path) {
#ifdef _WIN32
    (void)path;
    return NULL;
#else
    return realpath(path, NULL);
#endif
}

static int write_to(FILE *f, const char *text, size_t len) {
    return fwrite(text, 1, len, f) == len && fflush(f) == 0;
}

/* A file beside the target, then renamed: a reader never sees half of it, and what was there stays when
 * something fails. */
static int replace_file(const char *path, const char *text, size_t len) {
    char *beside = (char *)malloc(strlen(path) + 8);
    FILE *f;
    int   ok, closed;
    if (!beside) return 0;
    sprintf(beside, "%s.part", path);
    f = fopen(beside, "wb");
    ok = f && write_to(f, text, len);
    closed = f && fclose(f) == 0;
    ok = ok && closed && rename(beside, path) == 0;
    if (f && !ok) {
        int why = errno;
        remove(beside);
        errno = why;
    }
    free(beside);
    return ok;
}

static int write_all(const char *path, const char *text, size_t len) {
    char *end;
    FILE *f;
    int   ok;
    if (!path || strcmp(path, "-") == 0) {
        ok = write_to(stdout, text, len);
        path = "standard output";
    } else if (is_special(path)) {
        f = fopen(path, "wb");
        ok = f && write_to(f, text, len);
        if (f && fclose(f) != 0) ok = 0;
    } else {
        end = end_of_links(path);
        ok = replace_file(end ? end : path, text, len);
        free(end);
    }
    if (!ok) fprintf(stderr, "tmetal: %s: %s\n", path, strerror(errno));
    return ok ? 0 : 1;
}

/* Text that grows: the output is complete before any of it is written. */
typedef struct buffer {
    char  *text;
    size_t n, cap;
    int    failed;
} buffer;

static void put_n(buffer *b, const char *s, size_t len) {
    if (b->failed) return;
    if (b->n + len + 1 > b->cap) {
        size_t cap = (b->n + len + 1) * 2;
        char  *more = (char *)realloc(b->text, cap);
        if (!more) {
            b->failed = 1;
            return;
        }
        b->text = more;
        b->cap = cap;
    }
    memcpy(b->text + b->n, s, len);
    b->n += len;
    b->text[b->n] = '\0';
}

static void put(buffer *b, const char *s) { put_n(b, s, strlen(s)); }

/* For numbers and short texts: what is longer than 1023 bytes goes through put(). */
static void putf(buffer *b, const char *format, ...) {
    char    text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put(b, text);
}

/* Bytes of the UTF-8 character at s; 0 when there is none. */
static size_t utf8_length(const unsigned char *s) {
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0, i;
    for (i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F)) return 0;
    return n;
}

/* A JSON string. Bytes that are no UTF-8, as file names may hold, become U+FFFD. */
static void put_json_text(buffer *b, const char *s) {
    const unsigned char *c = (const unsigned char *)s;
    put(b, "\"");
    while (*c) {
        size_t n = utf8_length(c);
        if (n == 0) put(b, "\\ufffd");
        else if (*c < 32 || *c == 127) putf(b, "\\u%04x", *c);
        else if (*c == '"' || *c == '\\') putf(b, "\\%c", *c);
        else put_n(b, (const char *)c, n);
        c += n ? n : 1;
    }
    put(b, "\"");
}

/* Text in a colour where standard output is a terminal: "1" bold, "31" red, "32" green, "33" yellow, "36" cyan. */
static void paint(const request *r, buffer *b, const char *colour, const char *text) {
    if (r->colour) put(b, "\033["), put(b, colour), put(b, "m");
    put(b, text);
    if (r->colour) put(b, "\033[0m");
}

/* Write what was gathered to -o; gives the exit code. Frees it. */
static int write_buffer(const request *r, buffer *b) {
    int bad = 1;
    if (b->failed) fprintf(stderr, "tmetal: out of memory\n");
    else bad = write_all(r->value[OPT_OUT] ? r->value[OPT_OUT] : r->value[OPT_RESULTS], b->text ? b->text : "", b->n);
    free(b->text);
    memset(b, 0, sizeof *b);
    return bad;
}

/* A line on standard error that the next one replaces; NULL wipes it. Nothing unless that is a terminal. */
static void show_progress(const request *r, const char *what, size_t done, size_t all) {
    if (!r->progress) return;
    if (!what) fprintf(stderr, "\r\033[K");
    else if (all) fprintf(stderr, "\r\033[K%lu/%lu %.60s", (unsigned long)done, (unsigned long)all, what);
    else fprintf(stderr, "\r\033[K%lu %.60s", (unsigned long)done, what);
    fflush(stderr);
}

static void print_diags(const request *r, const tmetal_result *result, tmetal_arena *arena) {
    unsigned i;
    show_progress(r, NULL, 0, 0);
    for (i = 0; i < result->n_diags; i++) {
        const char *text = tmetal_diag_text(&result->diags[i], arena);
        const char *error = text && r->error_colour ? strstr(text, "error[") : NULL;
        if (error) fprintf(stderr, "%.*s\033[31m%.*s\033[0m%s", (int)(error - text), text, (int)strcspn(error, ":"), error, error + strcspn(error, ":"));
        else fputs(text ? text : result->diags[i].message, stderr);
        if (!text) fputc('\n', stderr);
    }
}

/* An arena of malloc'ed bytes; base is NULL after a message. */
static tmetal_arena arena_of(size_t bytes) {
    tmetal_arena arena = tmetal_arena_on(malloc(bytes), bytes);
    if (!arena.base) fprintf(stderr, "tmetal: no memory for an arena of %lu bytes\n", (unsigned long)bytes);
    return arena;
}

/* -- One input, compiled ---------------------------------------------------------------------------- */

/* An op list: JSON, or a first word that is followed by ':' as in tt.sum:[8,8]:1. */
static int is_op_list(const char *src, size_t len) {
    size_t i = 0, start;
    while (i < len && (src[i] == ' ' || src[i] == '\t' || src[i] == '\n' || src[i] == '\r')) i++;
    if (i < len && (src[i] == '{' || src[i] == '[')) return 1;
    for (start = i; i < len && (src[i] == '.' || src[i] == '_' || (src[i] >= 'a' && src[i] <= 'z') || (src[i] >= 'A' && src[i] <= 'Z') || (src[i] >= '0' && src[i] <= '9')); i++) {}
    while (i > start && i < len && src[i] == ' ') i++;
    return i > start && i < len && src[i] == ':';
}

/* An input and what came of it; close_job frees both. */
typedef struct job {
    const char   *path;
    char         *src;
    size_t        len;
    int           is_ops; /* an op list, not Triton IR */
    tmetal_arena  arena;
    tmetal_result result;
} job;

/* The bound for op lists is for the worst of them: begin with less, and double it where it is not enough. */
static tmetal_code compile_list(job *j, const tmetal_options *opt) {
    size_t      most = tmetal_arena_bound_ops(j->len);
    tmetal_code code = tmetal_compile_ops(j->src, j->len, opt, &j->arena, &j->result);
    while (code == TMETAL_E_ARENA && j->arena.cap < most) {
        size_t bytes = j->arena.cap < most / 2 ? j->arena.cap * 2 : most;
        void  *more = realloc(j->arena.base, bytes);
        if (!more) break;
        j->arena = tmetal_arena_on(more, bytes);
        code = tmetal_compile_ops(j->src, j->len, opt, &j->arena, &j->result);
    }
    return code;
}

/* Compile text that is at hand; j->src is the caller's. Prints nothing. 0 when there is no memory. */
static int compile_text(job *j, const tmetal_options *opt) {
    j->is_ops = is_op_list(j->src, j->len);
    j->arena = arena_of(j->is_ops ? (size_t)16 << 20 : tmetal_arena_bound(j->len));
    if (!j->arena.base) return 0;
    if (j->is_ops) compile_list(j, opt);
    else tmetal_compile(j->src, j->len, opt, &j->arena, &j->result);
    return 1;
}

/* Read and compile. 1: j->result holds what came of it, kernels or diagnostics, not yet printed. 0 after a message. */
static int open_job(const request *r, const char *path, job *j) {
    tmetal_options opt = r->opt;
    size_t         n = strlen(path);
    memset(j, 0, sizeof *j);
    if (n > 3 && strcmp(path + n - 3, ".py") == 0) {
        fprintf(stderr, "tmetal: %s: Python; give what Triton makes of it: the text of kernel.asm[\"ttir\"]\n", path);
        return 0;
    }
    j->path = path;
    j->src = read_all(path, &j->len);
    if (!j->src) return 0;
    opt.file = strcmp(path, "-") == 0 ? "<stdin>" : path;
    if (compile_text(j, &opt)) return 1;
    free(j->src);
    return 0;
}

static void close_job(job *j) {
    free(j->src);
    free(j->arena.base);
}

/* -- compile ---------------------------------------------------------------------------------------------- */

static void put_place(buffer *b, const tmetal_place *python, const tmetal_place *ir) {
    const tmetal_place *p = python->file ? python : ir;
    char text[64];
    if (!p->file || !p->line) return;
    put(b, p->file);
    sprintf(text, ":%u:%u: ", p->line, p->col);
    put(b, text);
}

static void put_layout_name(buffer *b, unsigned layout) {
    static const struct {
        unsigned    bit;
        const char *name;
    } names[] = {{TMETAL_ROW_MAJOR, "ROW_MAJOR"}, {TMETAL_COLUMN_MAJOR, "COLUMN_MAJOR"}, {TMETAL_TILED, "TILED"}, {TMETAL_COALESCED, "COALESCED"}};
    unsigned n, any = 0;
    for (n = 0; n < sizeof names / sizeof *names; n++)
        if (layout & names[n].bit) put(b, any++ ? "+" : ""), put(b, names[n].name);
    if (!any) put(b, "DEFAULT");
}

static void put_layouts(buffer *b, const tmetal_result *r) {
    unsigned k, i;
    for (k = 0; k < r->n_kernels; k++)
        for (i = 0; i < r->kernels[k].n_layouts; i++) {
            const tmetal_layout_row *l = &r->kernels[k].layouts[i];
            put_place(b, &l->python, &l->ir);
            put(b, l->value);
            put(b, " ");
            put(b, l->type);
            put(b, ": ");
            put_layout_name(b, (unsigned)l->layout);
            put(b, ", ");
            put(b, l->reason);
            if (*l->map) put(b, "\n    "), put(b, l->map);
            if (l->width) putf(b, "\n    %u elements an access; %u lines touched by a simdgroup, %u the fewest", l->width, l->lines, l->fewest);
            put(b, "\n");
        }
}

static void put_remarks(buffer *b, const tmetal_result *r) {
    static const char *const kinds[] = {"found", "applied", "missed"};
    unsigned i;
    for (i = 0; i < r->n_remarks; i++) {
        const tmetal_remark *m = &r->remarks[i];
        put_place(b, &m->python, &m->ir);
        put(b, kinds[m->kind]);
        put(b, " [");
        put(b, m->about);
        put(b, "] ");
        put(b, m->text);
        put(b, "\n");
    }
}

static int wants(const request *r, const char *what) {
    const char *emit = r->value[OPT_EMIT];
    return strcmp(emit, what) == 0 || strcmp(emit, "all") == 0;
}

static void put_part(const request *r, buffer *b, const char *what) {
    if (strcmp(r->value[OPT_EMIT], "all") != 0) return;
    put(b, b->n ? "\n// ---- " : "// ---- ");
    put(b, what);
    put(b, " ----\n");
}

/* The module as text, in an arena whose results are no longer wanted. */
static int put_ir(const request *r, job *j, buffer *b) {
    tmetal_module *m;
    const char    *text;
    size_t         n;
    tmetal_code    code;
    tmetal_options opt = r->opt;
    opt.file = strcmp(j->path, "-") == 0 ? "<stdin>" : j->path;
    j->arena.used = 0;
    code = j->is_ops ? tmetal_module_ops(j->src, j->len, &opt, &j->arena, &m, &j->result)
                     : tmetal_parse(j->src, j->len, &opt, &j->arena, &m, &j->result);
    if (code != TMETAL_OK || tmetal_print(m, &j->arena, &text, &n, &j->result) != TMETAL_OK) {
        print_diags(r, &j->result, &j->arena);
        return 1;
    }
    put_part(r, b, "ir");
    put(b, text);
    return 0;
}

/* What --emit names; 1 after a message. */
static int put_parts(const request *r, job *j, buffer *b) {
    const tmetal_result *result = &j->result;
    const char          *text = "";
    if (wants(r, "msl")) put_part(r, b, "msl"), put(b, result->msl);
    if (wants(r, "plan")) text = tmetal_plan_json(result, &j->arena), put_part(r, b, "plan"), put(b, text ? text : "");
    if (r->opt.mlx) text = result->n_kernels ? tmetal_mlx_json(&result->kernels[0], &j->arena) : NULL, put(b, text ? text : "");
    if (!text) return fprintf(stderr, "tmetal: %s: out of memory\n", j->path), 1;
    if (wants(r, "layouts")) put_part(r, b, "layouts"), put_layouts(b, result);
    if (wants(r, "remarks")) put_part(r, b, "remarks"), put_remarks(b, result);
    return 0;
}

static int compile_command(request *r) {
    static const char *const known[] = {"msl", "plan", "ir", "layouts", "remarks", "all", "mlx"};
    unsigned k;
    int      bad = 0;
    job      j;
    buffer   b;
    memset(&b, 0, sizeof b);
    if (!r->value[OPT_EMIT]) r->value[OPT_EMIT] = "msl";
    for (k = 0; k < 7 && strcmp(known[k], r->value[OPT_EMIT]) != 0; k++) {}
    if (k == 7) return misuse(r, "--emit knows msl, plan, ir, layouts, remarks, all and mlx, not", r->value[OPT_EMIT]);
    r->opt.mlx = strcmp(r->value[OPT_EMIT], "mlx") == 0;
    if (!open_job(r, r->files[0], &j)) return 1;
    if (strcmp(r->value[OPT_EMIT], "ir") != 0) {
        if (j.result.code != TMETAL_OK) print_diags(r, &j.result, &j.arena), bad = 1;
        else bad = put_parts(r, &j, &b);
    }
    if (!bad && wants(r, "ir")) bad = put_ir(r, &j, &b);
    if (!bad) bad = write_buffer(r, &b);
    free(b.text);
    close_job(&j);
    return bad;
}

/* -- census: what of a tree of files does not compile -------------------------------------------------- */

/* One kind of refusal: a code and its message, which names the op. */
typedef struct finding {
    tmetal_code code;
    char       *message, *help;
    char      **places; /* "file:line:col", and the place in Python where there is one */
    size_t      n, cap, files, last_file;
} finding;

typedef struct census {
    finding *found;
    size_t   n, cap, files, refused, refusals;
    int      failed; /* out of memory */
} census;

static char *copy_text(census *c, const char *s) {
    char *copy = (char *)malloc(strlen(s) + 1);
    if (copy) strcpy(copy, s);
    else c->failed = 1;
    return copy;
}

static finding *finding_of(census *c, const tmetal_diag *d) {
    size_t i;
    for (i = 0; i < c->n; i++) /* kinds are few: some dozens */
        if (c->found[i].code == d->code && strcmp(c->found[i].message, d->message) == 0) return &c->found[i];
    if (c->n == c->cap) {
        finding *more = (finding *)realloc(c->found, (c->cap * 2 + 16) * sizeof *more);
        if (!more) {
            c->failed = 1;
            return NULL;
        }
        c->found = more;
        c->cap = c->cap * 2 + 16;
    }
    memset(&c->found[c->n], 0, sizeof *c->found);
    c->found[c->n].code = d->code;
    c->found[c->n].message = copy_text(c, d->message);
    c->found[c->n].help = copy_text(c, d->help);
    return c->failed ? NULL : &c->found[c->n++];
}

static void census_add(census *c, const char *file, const tmetal_diag *d) {
    finding *f = finding_of(c, d);
    char     place[4200], *text;
    if (!f) return;
    snprintf(place, sizeof place, "%.3900s:%u:%u", file, d->ir.line, d->ir.col);
    if (d->python.file) snprintf(place + strlen(place), sizeof place - strlen(place), " (%.200s:%u)", d->python.file, d->python.line);
    text = copy_text(c, place);
    if (f->n == f->cap && text) {
        char **more = (char **)realloc(f->places, (f->cap * 2 + 16) * sizeof *more);
        if (!more) {
            free(text);
            c->failed = 1;
            return;
        }
        f->places = more;
        f->cap = f->cap * 2 + 16;
    }
    if (!text) return;
    f->places[f->n++] = text;
    if (f->last_file != c->files) f->files++, f->last_file = c->files;
    c->refusals++;
}

static int census_file(void *what, const request *asked, const char *path) {
    census        *c = (census *)what;
    tmetal_options opt = asked->opt;
    tmetal_result  r;
    tmetal_arena   arena;
    size_t         len, bytes;
    char          *text = read_all(path, &len);
    unsigned       i;
    if (!text) return 0;
    show_progress(asked, path, c->files + 1, 0);
    bytes = tmetal_arena_bound(len);
    arena = tmetal_arena_on(malloc(bytes), bytes);
    opt.file = path;
    opt.max_errors = 1000000; /* all of them */
    c->files++;
    if (!arena.base) c->failed = 1;
    else if (tmetal_compile(text, len, &opt, &arena, &r) != TMETAL_OK) {
        c->refused++;
        for (i = 0; i < r.n_diags; i++) census_add(c, path, &r.diags[i]);
    }
    free(arena.base);
    free(text);
    return !c->failed;
}

static int by_count(const void *a, const void *b) { /* codes in order; the most frequent first */
    const finding *x = (const finding *)a, *y = (const finding *)b;
    if (x->code != y->code) return x->code < y->code ? -1 : 1;
    if (x->n != y->n) return x->n > y->n ? -1 : 1;
    return strcmp(x->message, y->message);
}

static void census_json(const census *c, buffer *b) {
    char   text[160];
    size_t i, k;
    sprintf(text, "{\"tmetal_census\":1,\"files\":%lu,\"refused\":%lu,\"findings\":[", (unsigned long)c->files, (unsigned long)c->refused);
    put(b, text);
    for (i = 0; i < c->n; i++) {
        const finding *f = &c->found[i];
        sprintf(text, "%s\n {\"code\":%d,\"count\":%lu,\"files\":%lu,\"message\":", i ? "," : "", (int)f->code, (unsigned long)f->n, (unsigned long)f->files);
        put(b, text);
        put_json_text(b, f->message);
        put(b, ",\"way_out\":");
        put_json_text(b, f->help);
        put(b, ",\"places\":[");
        for (k = 0; k < f->n; k++) {
            if (k) put(b, ",");
            put_json_text(b, f->places[k]);
        }
        put(b, "]}");
    }
    put(b, c->n ? "\n]}\n" : "]}\n");
}

static void census_text(const request *r, const census *c, buffer *b) {
    char   text[160];
    size_t i, k;
    sprintf(text, "%lu files: %lu compile, %lu do not\n", (unsigned long)c->files, (unsigned long)(c->files - c->refused), (unsigned long)c->refused);
    put(b, text);
    for (i = 0; i < c->n; i++) {
        const finding *f = &c->found[i];
        sprintf(text, "TM%d", (int)f->code);
        put(b, "\n");
        paint(r, b, "31", text);
        sprintf(text, "  %lu time%s in %lu file%s: ", (unsigned long)f->n, f->n > 1 ? "s" : "", (unsigned long)f->files, f->files > 1 ? "s" : "");
        put(b, text);
        put(b, f->message);
        for (k = 0; k < f->n && k < 3; k++) {
            put(b, "\n    at   ");
            put(b, f->places[k]);
        }
        if (k < f->n) {
            sprintf(text, "\n         and %lu more (--json names all)", (unsigned long)(f->n - k));
            put(b, text);
        }
        if (*f->help) {
            put(b, "\n    help ");
            put(b, f->help);
        }
        put(b, "\n");
    }
}

static void census_free(census *c) {
    size_t i, k;
    for (i = 0; i < c->n; i++) {
        for (k = 0; k < c->found[i].n; k++) free(c->found[i].places[k]);
        free(c->found[i].places);
        free(c->found[i].message);
        free(c->found[i].help);
    }
    free(c->found);
}

/* Calls `each` with every name: operands, and for "-" the lines of standard input. 0 when one call gave 0. */
static int for_each_name(const request *r, int (*each)(void *what, const request *r, const char *name), void *what) {
    char line[4096];
    int  i, ok = 1;
    for (i = 0; i < r->n_files; i++) {
        if (strcmp(r->files[i], "-") != 0) {
            ok &= each(what, r, r->files[i]);
            continue;
        }
        while (fgets(line, sizeof line, stdin)) {
            line[strcspn(line, "\r\n")] = '\0';
            if (*line) ok &= each(what, r, line);
        }
    }
    return ok;
}

/* Exit code 0 when every file compiles, 1 when some do not or cannot be read. */
static int census_command(request *r) {
    census c;
    buffer b;
    int    ok;
    memset(&c, 0, sizeof c);
    memset(&b, 0, sizeof b);
    ok = for_each_name(r, census_file, &c);
    show_progress(r, NULL, 0, 0);
    if (c.n) qsort(c.found, c.n, sizeof *c.found, by_count);
    if (r->value[OPT_JSON]) census_json(&c, &b);
    else census_text(r, &c, &b);
    b.failed |= c.failed;
    ok &= write_buffer(r, &b) == 0;
    ok &= c.refused == 0;
    census_free(&c);
    return ok ? 0 : 1;
}

/* -- The simulator ---------------------------------------------------------------------------------------- */

/* Other programs get files in a folder of their own, which is removed behind them. */
typedef struct workshop {
    char   folder[1024];
    buffer names; /* of the files in it, a NUL behind each */
} workshop;

/* 0 after a message. */
static int open_workshop(workshop *w) {
    const char *tmp = getenv("TMPDIR");
    memset(w, 0, sizeof *w);
#ifdef _WIN32
    (void)tmp;
    fprintf(stderr, "tmetal: the simulator runs on Linux and macOS\n");
    return 0;
#else
    snprintf(w->folder, sizeof w->folder, "%.900s/tmetal-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(w->folder)) return 1;
    fprintf(stderr, "tmetal: %s: %s\n", w->folder, strerror(errno));
    return 0;
#endif
}

/* The path of a file in it; the text stays until close_workshop. */
static const char *workshop_path(workshop *w, char path[1280], const char *name) {
    snprintf(path, 1280, "%s/%.200s", w->folder, name);
    put_n(&w->names, path, strlen(path) + 1);
    return path;
}

static int workshop_file(workshop *w, const char *name, const char *bytes, size_t n) {
    char  path[1280];
    FILE *f = fopen(workshop_path(w, path, name), "wb");
    int   ok = f && write_to(f, bytes, n);
    if (f && fclose(f) != 0) ok = 0;
    if (!ok) fprintf(stderr, "tmetal: %s: %s\n", path, strerror(errno));
    return ok;
}

static void close_workshop(workshop *w) {
    size_t i;
    for (i = 0; i < w->names.n; i += strlen(w->names.text + i) + 1) remove(w->names.text + i);
    free(w->names.text);
#ifndef _WIN32
    rmdir(w->folder);
#endif
}

/* A word of a shell's command line. */
static void put_word(buffer *b, const char *s) {
    put(b, " '");
    for (; *s; s++) {
        if (*s == '\'') put(b, "'\\''");
        else put_n(b, s, 1);
    }
    put(b, "'");
}

/* What a command prints; *status its exit code, -1 when it was ended by a signal. NULL: it cannot be run. */
static char *output_of(const char *line, int *status) {
    char  *text;
    size_t n;
    FILE  *f;
    fflush(stdout);
    f = popen(line, "r");
    *status = -1;
    if (!f) return NULL;
    text = read_stream(f, line, &n);
    *status = pclose(f);
#ifndef _WIN32
    *status = WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
#endif
    return text;
}

static int is_program(const char *path) {
#ifdef _WIN32
    return _access(path, 0) == 0;
#else
    return access(path, X_OK) == 0;
#endif
}

/* The simulator stands beside this program, as make builds both: beside `self`, argv[0], or where PATH has it. */
static int find_simulator(const char *self, char path[1280]) {
    const char *slash = strrchr(self, '/'), *from = getenv("PATH");
    size_t      n;
    if (slash) {
        snprintf(path, 1280, "%.*s/sim", (int)(slash - self), self);
        return slash - self < 1200 && is_program(path);
    }
    for (; from && *from; from += n + (from[n] == ':')) {
        n = strcspn(from, ":");
        snprintf(path, 1280, "%.*s/%.200s", n > 1000 ? 1000 : (int)n, from, self);
        if (!is_program(path)) continue;
        snprintf(path, 1280, "%.*s/sim", n > 1000 ? 1000 : (int)n, from);
        return is_program(path);
    }
    return 0;
}

static int no_simulator(const request *r) {
    fprintf(stderr, "tmetal: %s: the simulator is not built: no 'sim' beside %s\n"
                    "help: 'make sim' builds it; it needs g++, clang 16 or newer and nlohmann-json ('make deps' installs them)\n",
            r->command->name, r->self);
    return 1;
}

/* Runs what was compiled, with the buffers of a case, and gives what the simulator prints. `flags`: of build/sim.
 * NULL after a message. */
static char *simulate(const request *r, workshop *w, job *j, const char *recorded, const char *flags, int *status) {
    char        sim[1280], path[1280], *text;
    const char *plan = tmetal_plan_json(&j->result, &j->arena);
    buffer      line;
    memset(&line, 0, sizeof line);
    if (!find_simulator(r->self, sim)) return no_simulator(r), (char *)NULL;
    if (!plan || !workshop_file(w, "kernel.metal", j->result.msl, j->result.msl_len) || !workshop_file(w, "plan.json", plan, strlen(plan))) return NULL;
    put_word(&line, sim);
    put_word(&line, workshop_path(w, path, "kernel.metal"));
    put(&line, " --plan");
    put_word(&line, workshop_path(w, path, "plan.json"));
    put(&line, " --case");
    put_word(&line, recorded);
    put(&line, flags);
    if (r->value[OPT_NO_FUSION]) put(&line, " --no-contract");
    text = line.failed ? NULL : output_of(line.text, status);
    if (!text || *status < 0) fprintf(stderr, "tmetal: %s: it cannot be run, or was stopped\n", sim), free(text), text = NULL;
    free(line.text);
    return text;
}

/* -- run: one recorded launch ------------------------------------------------------------------------------- */

static int run_command(request *r) {
    const char *name = r->files[0];
    size_t      n = strlen(name);
    char       *ttir = (char *)malloc(n + 6), *text = NULL, flags[64];
    const char *seed = r->value[OPT_SEED] ? r->value[OPT_SEED] : "1";
    workshop    w;
    buffer      b;
    job         j;
    int         status = 1;
    memset(&b, 0, sizeof b);
    if (!ttir || n < 6 || strcmp(name + n - 5, ".case") != 0 || strspn(seed, "0123456789") != strlen(seed) || !*seed || strlen(seed) > 18) {
        free(ttir);
        return n < 6 || strcmp(name + n - 5, ".case") != 0 ? misuse(r, "not a .case file:", name) : misuse(r, "not a number:", seed);
    }
    sprintf(ttir, "%.*s.ttir", (int)(n - 5), name);
    if (!open_job(r, ttir, &j)) return free(ttir), 1;
    snprintf(flags, sizeof flags, " --seed %s %s", seed, r->value[OPT_JSON] ? "--json" : "--counters");
    if (j.result.code != TMETAL_OK) print_diags(r, &j.result, &j.arena);
    else if (open_workshop(&w)) {
        text = simulate(r, &w, &j, name, flags, &status);
        close_workshop(&w);
    }
    if (text && status < 2) {
        put(&b, text);
        if (write_buffer(r, &b) != 0) status = 1;
    }
    free(text);
    free(ttir);
    close_job(&j);
    return status ? 1 : 0;
}

/* -- analyze: which reductions get COALESCED -------------------------------------------------------------------- */

/* What it sums up, where the reductions of the text and those that are emitted are the same ones; else "". */
static const char *kind_of_plan(const tmetal_kernel *k, unsigned i) {
    const tmetal_reduction *r = &k->reductions[i];
    if (k->n_reductions != k->n_reduce_plans || r->axis != k->reduce_plans[i].axis || r->ir.line != k->reduce_plans[i].ir.line || r->ir.col != k->reduce_plans[i].ir.col) return "";
    return tmetal_reduce_name(r->kind);
}

typedef struct analysis {
    buffer text, json;
    size_t files, reductions, coalesced;
    int    refused;
} analysis;

static void analysis_json_row(analysis *a, const tmetal_kernel *k, unsigned i) {
    const tmetal_reduce_plan *p = &k->reduce_plans[i];
    buffer                   *b = &a->json;
    putf(b, "%s\n   {\"value\":", i ? "," : "");
    put_json_text(b, *p->value == '%' ? p->value : ""); /* not "(made on the way)" */
    put(b, ",\"kind\":");
    put_json_text(b, kind_of_plan(k, i));
    put(b, ",\"type\":");
    put_json_text(b, p->type);
    putf(b, ",\"axis\":%u,\"layout\":%u,\"layout_name\":\"", p->axis, (unsigned)p->layout);
    put_layout_name(b, (unsigned)p->layout);
    putf(b, "\",\"is_coalesced\":%s,\"elements\":%u,\"lanes\":%u,\"simdgroups\":%u,\"map\":", p->layout & TMETAL_COALESCED ? "true" : "false", p->elements, p->lanes, p->simdgroups);
    put_json_text(b, p->map);
    put(b, ",\"reason\":");
    put_json_text(b, p->reason);
    put(b, ",\"file\":");
    put_json_text(b, p->python.file ? p->python.file : p->ir.file ? p->ir.file : "");
    putf(b, ",\"line\":%u}", p->python.file ? p->python.line : p->ir.line);
}

static void analysis_text_row(const request *r, analysis *a, const tmetal_kernel *k, unsigned i) {
    const tmetal_reduce_plan *p = &k->reduce_plans[i];
    const char               *kind = kind_of_plan(k, i);
    buffer                   *b = &a->text, layout;
    memset(&layout, 0, sizeof layout);
    put_layout_name(&layout, (unsigned)p->layout);
    put(b, "  ");
    put_place(b, &p->python, &p->ir);
    putf(b, "%.200s: %s over axis %u of %.200s%s%.100s: ", k->name, *kind ? kind : "reduction", p->axis, p->type, *p->value == '%' ? " to " : "", *p->value == '%' ? p->value : "");
    paint(r, b, p->layout & TMETAL_COALESCED ? "32" : "33", layout.text ? layout.text : "");
    put(b, "\n");
    free(layout.text);
    if (!r->value[OPT_VERBOSE]) return;
    putf(b, "      %u element%s in each thread, %u lane%s, %u simdgroup%s%s\n      %.400s\n      %.400s\n", p->elements, p->elements > 1 ? "s" : "", p->lanes, p->lanes > 1 ? "s" : "",
         p->simdgroups, p->simdgroups > 1 ? "s" : "", p->simdgroups > 1 ? " through threadgroup memory" : "", p->map, p->reason);
}

static void analysis_add(const request *r, analysis *a, job *j) {
    unsigned i, n;
    putf(&a->json, "%s\n {\"file\":", a->files++ ? "," : "");
    put_json_text(&a->json, j->path);
    paint(r, &a->text, "1", j->path);
    put(&a->text, "\n");
    if (j->result.code != TMETAL_OK) {
        a->refused = 1;
        print_diags(r, &j->result, &j->arena);
        putf(&a->json, ",\"code\":%d,\"message\":", (int)j->result.code);
        put_json_text(&a->json, j->result.n_diags ? j->result.diags[0].message : j->result.full.message ? j->result.full.message : "");
        put(&a->json, ",\"kernels\":[]}");
        put(&a->text, "  refused\n");
        return;
    }
    put(&a->json, ",\"code\":0,\"kernels\":[");
    for (i = 0; i < j->result.n_kernels; i++) {
        const tmetal_kernel *k = &j->result.kernels[i];
        putf(&a->json, "%s\n  {\"kernel\":", i ? "," : "");
        put_json_text(&a->json, k->name);
        putf(&a->json, ",\"threads\":%u,\"reductions\":[", k->threads);
        if (!k->n_reduce_plans && r->value[OPT_VERBOSE]) putf(&a->text, "  %.200s: no reduction\n", k->name);
        for (n = 0; n < k->n_reduce_plans; n++) {
            analysis_json_row(a, k, n);
            analysis_text_row(r, a, k, n);
            a->reductions++;
            a->coalesced += (k->reduce_plans[n].layout & TMETAL_COALESCED) == TMETAL_COALESCED;
        }
        put(&a->json, "]}");
    }
    put(&a->json, "]}");
}

static int analyze_file(void *what, const request *r, const char *path) {
    analysis *a = (analysis *)what;
    job       j;
    show_progress(r, path, a->files + 1, 0);
    if (!open_job(r, path, &j)) return 0;
    analysis_add(r, a, &j);
    close_job(&j);
    return 1;
}

/* An op list that was given on the command line. */
static int analyze_text(analysis *a, const request *r, const char *text) {
    tmetal_options opt = r->opt;
    job            j;
    int            ok;
    memset(&j, 0, sizeof j);
    opt.file = j.path = "--operation";
    j.len = strlen(text);
    j.src = (char *)malloc(j.len + 1);
    if (!j.src) return 0;
    memcpy(j.src, text, j.len + 1);
    ok = compile_text(&j, &opt);
    if (ok) analysis_add(r, a, &j);
    close_job(&j);
    return ok;
}

static int analyze_command(request *r) {
    const char *operation = r->value[OPT_OPERATION], *list = r->value[OPT_OP_LIST];
    analysis    a;
    int         ok = 1, json = r->value[OPT_RESULTS] != NULL;
    if (r->value[OPT_VERSION]) return puts("tmetal " TMETAL_VERSION) < 0;
    if (!operation && !list && !r->n_files) return misuse(r, "nothing to analyse: give --json FILE, --operation TEXT or files", NULL);
    memset(&a, 0, sizeof a);
    put(&a.json, "{\"tmetal_analysis\":1,\"files\":[");
    if (list) ok &= analyze_file(&a, r, list);
    if (operation) ok &= analyze_text(&a, r, operation);
    ok &= for_each_name(r, analyze_file, &a);
    show_progress(r, NULL, 0, 0);
    putf(&a.json, "\n],\"reductions\":%lu,\"coalesced\":%lu}\n", (unsigned long)a.reductions, (unsigned long)a.coalesced);
    putf(&a.text, "%lu of %lu reduction%s in the COALESCED layout\n", (unsigned long)a.coalesced, (unsigned long)a.reductions, a.reductions == 1 ? "" : "s");
    ok &= write_buffer(r, json ? &a.json : &a.text) == 0;
    free(a.json.text);
    free(a.text.text);
    return ok && !a.refused ? 0 : 1;
}

/* -- sample-ops: op lists to try things on ----------------------------------------------------------------------- */

/* type, id, input shapes, args, further keys */
#define SAMPLE_OPS(X)                                                                            \
    X("tt.reduce", "sum_reduce_1d", "[1024]", "\"axis\": 0", "")                                   \
    X("tt.sum", "sum_reduce_2d", "[512, 512]", "\"axis\": 1", "")                                  \
    X("tt.mean", "mean_reduce", "[256, 1024]", "\"axis\": 1", "")                                  \
    X("tt.max", "max_reduce", "[128, 256, 64]", "\"axis\": 2", "")                                 \
    X("tt.min", "min_reduce_columns", "[1024, 256]", "\"axis\": 0", "")                            \
    X("tt.argmax", "argmax_reduce", "[64, 2048]", "\"axis\": 1", "")                               \
    X("tt.argmin", "argmin_reduce", "[2048]", "\"axis\": 0", "")                                   \
    X("tt.any", "any_reduce", "[256, 256]", "\"axis\": 1", ", \"dtype\": \"bool\"")                \
    X("tt.all", "all_reduce", "[256, 256]", "\"axis\": 0", ", \"dtype\": \"bool\"")                \
    X("tt.sum", "sum_multi_axis", "[32, 64, 128]", "\"axis\": [1, 2]", "")                         \
    X("tt.matmul", "matmul", "[128, 256], [256, 64]", "", "")                                      \
    X("tt.add", "elementwise_add", "[1024, 1024], [1024, 1024]", "", "")                           \
    X("tt.exp", "elementwise_exp", "[4096]", "", "")

static void put_sample(buffer *b, const char *type, const char *id, const char *shapes, const char *args, const char *more) {
    putf(b, "%s\n    {\"type\": \"%s\", \"id\": \"%s\"%s, \"input_shapes\": [%s]", b->text[b->n - 1] == '[' ? "" : ",", type, id, more, shapes);
    putf(b, *args ? ", \"args\": {%s}}" : "}", args);
}

/* Every reduction at growing sizes along both axes in three types; then a block of a network, whose ops read one another. */
static void put_large_samples(buffer *b) {
    static const char *const kinds[] = {"sum", "mean", "max", "min", "argmax", "argmin"}, *const types[] = {"f32", "f16", "bf16"};
    static const unsigned    sizes[][2] = {{64, 64}, {128, 1024}, {512, 1024}, {16, 65536}};
    char     type[32], id[64], shape[64], axis[32], dtype[32];
    unsigned k, s, a, n = 0;
    for (k = 0; k < 6; k++)
        for (s = 0; s < 4; s++)
            for (a = 0; a < 2; a++, n++) {
                sprintf(type, "tt.%s", kinds[k]);
                sprintf(id, "%s_%ux%u_axis%u", kinds[k], sizes[s][0], sizes[s][1], a);
                sprintf(shape, "[%u, %u]", sizes[s][0], sizes[s][1]);
                sprintf(axis, "\"axis\": %u", a);
                sprintf(dtype, ", \"dtype\": \"%s\"", types[n % 3]);
                put_sample(b, type, id, shape, axis, dtype);
            }
    put_sample(b, "tt.layer_norm", "norm", "[128, 512], [512], [512]", "\"axis\": -1", ", \"inputs\": [\"x\", \"gamma\", \"beta\"]");
    put_sample(b, "tt.matmul", "hidden", "null, [512, 1024]", "", ", \"inputs\": [\"norm\", \"w1\"]");
    put_sample(b, "tt.gelu", "active", "null", "", ", \"inputs\": [\"hidden\"]");
    put_sample(b, "tt.matmul", "back", "null, [1024, 512]", "", ", \"inputs\": [\"active\", \"w2\"]");
    put_sample(b, "tt.add", "residual", "null, null", "", ", \"inputs\": [\"back\", \"x\"]");
    put_sample(b, "tt.softmax", "weights", "null", "\"axis\": -1", ", \"inputs\": [\"residual\"]");
}

static int sample_ops_command(request *r) {
    buffer b;
    memset(&b, 0, sizeof b);
    put(&b, "{\n  \"ops\": [");
#define X(type, id, shapes, args, more) put_sample(&b, type, id, shapes, args, more);
    SAMPLE_OPS(X)
#undef X
    if (r->value[OPT_LARGE]) put_large_samples(&b);
    put(&b, "\n  ]\n}\n");
    return write_buffer(r, &b);
}

/* -- gpus, ops: the tables ---------------------------------------------------------------------------------- */

static void gpus_json(buffer *b) {
    size_t i, k;
    put(b, "{\"tmetal_gpus\":1,\"gpus\":[");
    for (i = 0; i < tmetal_gpu_count(); i++) {
        const tmetal_gpu *g = tmetal_gpu_at(i);
        putf(b, "%s\n {\"name\":", i ? "," : "");
        put_json_text(b, g->name);
        put(b, ",\"device\":");
        put_json_text(b, g->device);
        for (k = 0; k < tmetal_gpu_fact_count(); k++) {
            tmetal_gpu_fact f = tmetal_gpu_fact_at(g, k);
            putf(b, ",\"%s\":", f.figure);
            if (*f.text) put_json_text(b, f.text);
            else putf(b, "%u", f.value);
        }
        put(b, "}");
    }
    put(b, "\n]}\n");
}

static int gpus_command(request *r) {
    size_t i;
    buffer b;
    memset(&b, 0, sizeof b);
    if (r->value[OPT_JSON]) {
        gpus_json(&b);
        return write_buffer(r, &b);
    }
    putf(&b, "%-18s %-16s %6s %5s %5s %9s %8s\n", "name", "MTLDevice.name", "family", "cores", "GB/s", "tg bytes", "threads");
    for (i = 0; i < tmetal_gpu_count(); i++) {
        const tmetal_gpu *g = tmetal_gpu_at(i);
        putf(&b, "%-18s %-16s %6u %5u %5u %9u %8u\n", g->name, g->device, g->family, g->cores, g->gbps, g->tg_bytes, g->threads);
    }
    return write_buffer(r, &b);
}

static int ops_command(request *r) {
    size_t i;
    int    json = r->value[OPT_JSON] != NULL;
    buffer b;
    memset(&b, 0, sizeof b);
    if (json) put(&b, "{\"tmetal_ops\":1,\"ops\":[");
    for (i = 0; i < tmetal_op_count(); i++) {
        tmetal_op_info op = tmetal_op_at(i);
        if (json) putf(&b, "%s\n {\"name\":\"%s\",\"group\":\"%s\",\"compiled\":%s}", i ? "," : "", op.name, op.group, op.lowered ? "true" : "false");
        else putf(&b, "%-44s %-18s %s\n", op.name, op.group, op.lowered ? "compiled" : "read and printed");
    }
    if (json) put(&b, "\n]}\n");
    return write_buffer(r, &b);
}

/* -- The subcommands ------------------------------------------------------------------------------------------ */

static const command commands[] = {
    {"compile", "FILE|-", "a .ttir file or an op list to Metal", 1, 1,
     TAKES(OUT) | TAKES(EMIT) | TAKES_COMPILE, compile_command,
     "FILE is Triton IR or an op list (.json, or \"tt.sum:[1024,512]:1\" a line); - reads standard input.\n"},
    {"census", "FILES...|-", "what of these .ttir files does not compile", 1, -1,
     TAKES(OUT) | TAKES(JSON) | TAKES_TARGET, census_command,
     "By code, count, place and way out. - reads names from standard input, one a line:\n"
     "    find . -name '*.ttir' | tmetal census -\n"
     "--json gives every place.\n"},
    {"run", "FILE.case", "compile a recorded launch, run it in the simulator, compare", 1, 1,
     TAKES(OUT) | TAKES(JSON) | TAKES(SEED) | TAKES_COMPILE, run_command,
     "The kernel is FILE.ttir beside it. Shows errors, each buffer, and what each line of the Metal reads and writes.\n"},
    {"analyze", "[FILES...|-]", "which reductions get the COALESCED layout", 0, -1,
     TAKES(RESULTS) | TAKES(OP_LIST) | TAKES(OPERATION) | TAKES(VERBOSE) | TAKES(VERSION) | TAKES_COMPILE, analyze_command,
     "FILES are Triton IR or op lists; - reads their names from standard input, one a line.\n"},
    {"sample-ops", "", "op lists to try the others on", 0, 0, TAKES(OUT) | TAKES(LARGE), sample_ops_command, ""},
    {"gpus", "", "the GPU table", 0, 0, TAKES(OUT) | TAKES(JSON), gpus_command, ""},
    {"ops", "", "the operations of Triton IR", 0, 0, TAKES(OUT) | TAKES(JSON), ops_command, ""},
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

/* -- The command line ------------------------------------------------------------------------------------------ */

static int print_usage(FILE *f) {
    unsigned i;
    fprintf(f, "tmetal " TMETAL_VERSION ": Triton IR to Metal\n\n");
    for (i = 0; i < COMMAND_COUNT; i++) fprintf(f, "  tmetal %-10s %-13s %s\n", commands[i].name, commands[i].operands, commands[i].what);
    fprintf(f, "  tmetal COMMAND --help           what it takes\n"
               "  tmetal --version\n"
               "\n"
               "- is standard input or output. Exit codes: 0 done, 1 refused, 2 the command line is wrong.\n");
    return ferror(f) ? 1 : 0;
}

static void print_option(const option *o) {
    char        left[80];
    const char *help = o->help, *end;
    snprintf(left, sizeof left, "%s%s%s%s%s", o->name, *o->other ? ", " : "", o->other, *o->value ? " " : "", o->value);
    printf("  %-22s ", left);
    if (strlen(left) > 22) printf("\n%25s", "");
    for (; (end = strchr(help, '\n')) != NULL; help = end + 1) printf("%.*s\n%25s", (int)(end - help), help, "");
    printf("%s\n", help);
}

static int print_help(const command *c) {
    unsigned i;
    printf("tmetal %s%s%s%s: %s\n", c->name, c->options ? " [options]" : "", *c->operands ? " " : "", c->operands, c->what);
    if (*c->more) printf("\n%s", c->more);
    printf("\n");
    for (i = 0; i < OPTION_COUNT; i++)
        if (c->options & ((uint64_t)1 << i)) print_option(&options[i]);
    printf("  %-22s %s\n", "--help", "this text");
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}

static uint32_t msl_number(const char *s) { /* "3.1" to 310; 0 when it is none */
    if (s[0] < '3' || s[0] > '4' || s[1] != '.' || s[2] < '0' || s[2] > '9' || s[3]) return 0;
    return (uint32_t)(s[0] - '0') * 100u + (uint32_t)(s[2] - '0') * 10u;
}

/* The row of the command's options that `arg` names; `n` is the length of the name. OPTION_COUNT: none. */
static unsigned find_option(const command *c, const char *arg, size_t n) {
    unsigned i;
    for (i = 0; i < OPTION_COUNT; i++) {
        if (!(c->options & ((uint64_t)1 << i))) continue;
        if (strlen(options[i].name) == n && strncmp(options[i].name, arg, n) == 0) return i;
        if (n && strlen(options[i].other) == n && strncmp(options[i].other, arg, n) == 0) return i;
    }
    return OPTION_COUNT;
}

/* One option at argv[i]: how many arguments it took; -1 after a message. */
static int read_option(request *r, int argc, char **argv, int i) {
    const char *arg = argv[i], *equals = strncmp(arg, "--", 2) == 0 ? strchr(arg, '=') : NULL;
    unsigned    which = find_option(r->command, arg, equals ? (size_t)(equals - arg) : strlen(arg));
    if (which == OPTION_COUNT) return misuse(r, "unknown option", arg), -1;
    if (!*options[which].value) {
        if (equals) return misuse(r, "takes no value:", arg), -1;
        r->value[which] = "";
        return 1;
    }
    if (!equals && i + 1 == argc) return misuse(r, "a value must follow", arg), -1;
    r->value[which] = equals ? equals + 1 : argv[i + 1];
    return equals ? 1 : 2;
}

/* "DIRECT_DOT,BF16_MATH" as a sum of tmetal_gpu_feature; 0, or 2 after a message. */
static int read_features(const request *r, const char *list, uint32_t *bits) {
    while (list && *list) {
        size_t n = strcspn(list, ","), i;
        for (i = 0; i < tmetal_gpu_feature_count(); i++) {
            tmetal_gpu_feature_info f = tmetal_gpu_feature_at(i);
            if (strlen(f.name) == n && strncmp(f.name, list, n) == 0) break;
        }
        if (i == tmetal_gpu_feature_count()) return misuse(r, "not a feature of the GPU table:", list);
        *bits |= tmetal_gpu_feature_at(i).bit;
        list += n + (list[n] == ',');
    }
    return 0;
}

/* 0, or 2 after a message. */
static int read_target(request *r) {
    const char *threads = r->value[OPT_THREADS], *msl = r->value[OPT_MSL];
    char       *end;
    if (read_features(r, r->value[OPT_HAS], &r->limits.features) || read_features(r, r->value[OPT_LACKS], &r->limits.lacks)) return 2;
    if (r->limits.features || r->limits.lacks) r->opt.limits = &r->limits;
    if (threads) {
        unsigned long n = strtoul(threads, &end, 10);
        if (*end || !*threads || n > 4096) return misuse(r, "not a number of threads:", threads);
        r->opt.threads = (uint32_t)n;
    }
    if (msl) {
        r->opt.msl = msl_number(msl);
        if (!r->opt.msl) return misuse(r, "not a Metal version such as 3.1:", msl);
    }
    r->opt.gpu = r->value[OPT_GPU];
    r->opt.alias = r->value[OPT_ALIAS];
    r->opt.no_fusion = r->value[OPT_NO_FUSION] != NULL;
    r->opt.logging = r->value[OPT_LOGGING] != NULL;
    r->opt.no_fp64 = r->value[OPT_NO_FP64] != NULL;
    r->opt.plain = r->value[OPT_PLAIN] != NULL;
    return 0;
}

/* Options and operands in any order; operands are moved to the front of argv + 2. 0; 2 after a message. */
static int read_line(request *r, int argc, char **argv) {
    int i, took, only_names = 0;
    r->files = argv + 2;
    for (i = 2; i < argc; i += took) {
        took = 1;
        if (only_names || argv[i][0] != '-' || !argv[i][1]) r->files[r->n_files++] = argv[i];
        else if (strcmp(argv[i], "--") == 0) only_names = 1;
        else took = read_option(r, argc, argv, i);
        if (took < 0) return 2;
    }
    if (r->n_files < r->command->fewest) return misuse(r, "no file given", NULL);
    if (r->command->most == 0 && r->n_files) return misuse(r, "takes no file:", r->files[0]);
    if (r->command->most > 0 && r->n_files > r->command->most) return misuse(r, "more than one file:", r->files[r->command->most]);
    return read_target(r);
}

static int wants_help(int argc, char **argv) {
    int i;
    for (i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return 1;
    return 0;
}

/* Colours unless they are unwanted: https://no-color.org. */
static int shows_colours(int fd) {
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(fd) && !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

int main(int argc, char **argv) {
    request  r;
    unsigned i;
    int      bad;
    memset(&r, 0, sizeof r);
    r.self = argv[0];
    if (argc < 2) return print_usage(stderr), 2;
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return print_usage(stdout);
    if (strcmp(argv[1], "--version") == 0) return puts("tmetal " TMETAL_VERSION) < 0;
    for (i = 0; i < COMMAND_COUNT && strcmp(commands[i].name, argv[1]) != 0; i++) {}
    if (i == COMMAND_COUNT) return misuse(&r, "unknown command", argv[1]);
    r.command = &commands[i];
    if (wants_help(argc, argv)) return print_help(r.command);
    bad = read_line(&r, argc, argv);
    if (bad) return bad;
    r.error_colour = shows_colours(2);
    r.progress = isatty(2);
    r.colour = shows_colours(1) && (!r.value[OPT_OUT] || strcmp(r.value[OPT_OUT], "-") == 0);
    return r.command->run(&r);
}
