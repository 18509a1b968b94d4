/* tmetal: the command line. A thin user of tmetal.h: whatever it prints, a C program can have as data.
 *
 *   build   cc -O2 -o tmetal examples/tmetal.c
 *   use     tmetal compile softmax.ttir --emit msl
 *
 * Exit codes: 0 everything asked for was written; 1 the input was refused; 2 the command was wrong. */
#define TMETAL_IMPLEMENTATION
#include "../tmetal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "tmetal " TMETAL_VERSION ": Triton IR to Metal\n"
    "\n"
    "  tmetal compile FILE|-   compile a .ttir file or an op list (.json, or \"tt.sum:[1024,512]:1\" a line);\n"
    "                          - reads standard input\n"
    "      -o OUT              write to OUT, whole or not at all (default: standard output)\n"
    "      --gpu NAME          a row of the GPU table, e.g. apple-m2 (default apple-m1)\n"
    "      --threads N         threads a threadgroup, a power of two from 32 to 1024\n"
    "      --msl VERSION       newest Metal version that may be used, e.g. 3.1\n"
    "      --alias P=Q,...     parameters launched on overlapping memory\n"
    "      --no-fusion         a*b+c keeps two roundings\n"
    "      --logging           tt.print by MSL 3.2 logging instead of a debug buffer\n"
    "      --no-fp64           refuse arithmetic on fp64 instead of computing it in software\n"
    "      --plain             no optimisation, for comparing results\n"
    "      --two-stage N       kernels that only reduce a row become two, N threadgroups a row; 1: as the GPU asks for\n"
    "      --emit WHAT         msl (default), plan, ir, layouts, remarks or all of these; or mlx: what\n"
    "                          mx.fast.metal_kernel takes, as JSON\n"
    "  tmetal census FILES...  what of these .ttir files does not compile: by code, count, place and way out;\n"
    "                          - reads names from standard input, one a line (find . -name '*.ttir' | ...)\n"
    "      --json              as JSON, with every place\n"
    "      --gpu, --msl, --threads, --no-fp64   as for compile\n"
    "  tmetal gpus             the GPU table\n"
    "  tmetal ops              the operations of Triton IR\n"
    "  tmetal --version\n";

typedef struct command {
    const char    *file, *out, *emit;
    tmetal_options opt;
} command;

static int misuse(const char *what, const char *which) {
    fprintf(stderr, "tmetal: %s%s%s\nTry 'tmetal --help'.\n", what, which ? " " : "", which ? which : "");
    return 2;
}

/* A whole stream in memory; NULL after a message. */
static char *read_all(const char *path, size_t *len) {
    FILE  *f = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    char  *text = NULL, *more;
    size_t cap = 0, n = 0, got;
    if (!f) {
        fprintf(stderr, "tmetal: %s: %s\n", path, strerror(errno));
        return NULL;
    }
    do {
        if (n == cap) {
            cap = cap ? cap * 2 : 65536;
            more = (char *)realloc(text, cap);
            if (!more) {
                fprintf(stderr, "tmetal: %s: out of memory\n", path);
                free(text);
                text = NULL;
                break;
            }
            text = more;
        }
        got = fread(text + n, 1, cap - n, f);
        n += got;
    } while (got);
    if (text && ferror(f)) {
        fprintf(stderr, "tmetal: %s: %s\n", path, strerror(errno));
        free(text);
        text = NULL;
    }
    if (f != stdin) fclose(f);
    *len = n;
    return text;
}

/* Write to a file beside the target and rename: a reader never sees half of it. */
static int write_all(const char *path, const char *text, size_t len) {
    char  name[4096];
    FILE *f;
    int   ok;
    if (!path) return fwrite(text, 1, len, stdout) == len && fflush(stdout) == 0 ? 0 : 1;
    if (strlen(path) + 8 > sizeof name) {
        fprintf(stderr, "tmetal: %s: name too long\n", path);
        return 1;
    }
    sprintf(name, "%s.tmp", path);
    f = fopen(name, "wb");
    ok = f && fwrite(text, 1, len, f) == len;
    ok = f && fclose(f) == 0 && ok;
    if (ok && rename(name, path) != 0) ok = 0;
    if (ok) return 0;
    fprintf(stderr, "tmetal: %s: %s\n", path, strerror(errno));
    if (f) remove(name);
    return 1;
}

/* Text that grows: the output is complete before any of it is written. */
typedef struct buffer {
    char  *text;
    size_t n, cap;
    int    failed;
} buffer;

static void put(buffer *b, const char *s) {
    size_t len = strlen(s);
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
    memcpy(b->text + b->n, s, len + 1);
    b->n += len;
}

static void put_place(buffer *b, const tmetal_place *python, const tmetal_place *ir) {
    const tmetal_place *p = python->file ? python : ir;
    char text[64];
    if (!p->file || !p->line) return;
    put(b, p->file);
    sprintf(text, ":%u:%u: ", p->line, p->col);
    put(b, text);
}

static void put_layouts(buffer *b, const tmetal_result *r) {
    static const struct {
        unsigned    bit;
        const char *name;
    } names[] = {{TMETAL_ROW_MAJOR, "ROW_MAJOR"}, {TMETAL_COLUMN_MAJOR, "COLUMN_MAJOR"}, {TMETAL_TILED, "TILED"}, {TMETAL_COALESCED, "COALESCED"}};
    unsigned k, i, n;
    char     text[128];
    for (k = 0; k < r->n_kernels; k++)
        for (i = 0; i < r->kernels[k].n_layouts; i++) {
            const tmetal_layout_row *l = &r->kernels[k].layouts[i];
            int any = 0;
            put_place(b, &l->python, &l->ir);
            put(b, l->value);
            put(b, " ");
            put(b, l->type);
            put(b, ": ");
            for (n = 0; n < sizeof names / sizeof *names; n++)
                if ((l->layout & names[n].bit) == names[n].bit) {
                    put(b, any++ ? "+" : "");
                    put(b, names[n].name);
                }
            if (!any) put(b, "DEFAULT");
            put(b, ", ");
            put(b, l->reason);
            if (*l->map) put(b, "\n    "), put(b, l->map);
            if (l->width) {
                sprintf(text, "\n    %u elements an access; %u lines touched by a simdgroup, %u the fewest", l->width, l->lines, l->fewest);
                put(b, text);
            }
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

static int wants(const command *c, const char *what) {
    return strcmp(c->emit, what) == 0 || strcmp(c->emit, "all") == 0;
}

static void put_part(const command *c, buffer *b, const char *what) {
    if (strcmp(c->emit, "all") != 0) return;
    put(b, b->n ? "\n// ---- " : "// ---- ");
    put(b, what);
    put(b, " ----\n");
}

static void print_diags(const tmetal_result *r, tmetal_arena *arena) {
    unsigned i;
    for (i = 0; i < r->n_diags; i++) {
        const char *text = tmetal_diag_text(&r->diags[i], arena);
        fputs(text ? text : r->diags[i].message, stderr);
        if (!text) fputc('\n', stderr);
    }
}

/* An op list: JSON, or a first word that is followed by ':' as in tt.sum:[8,8]:1. */
static int is_op_list(const char *src, size_t len) {
    size_t i = 0, start;
    while (i < len && (src[i] == ' ' || src[i] == '\t' || src[i] == '\n' || src[i] == '\r')) i++;
    if (i < len && (src[i] == '{' || src[i] == '[')) return 1;
    for (start = i; i < len && (src[i] == '.' || src[i] == '_' || (src[i] >= 'a' && src[i] <= 'z') || (src[i] >= 'A' && src[i] <= 'Z') || (src[i] >= '0' && src[i] <= '9')); i++) {}
    while (i > start && i < len && src[i] == ' ') i++;
    return i > start && i < len && src[i] == ':';
}

static int compile_ir(const char *src, size_t len, const command *c, tmetal_arena *arena, buffer *b) {
    tmetal_result  r;
    tmetal_module *m;
    const char    *text;
    size_t         n;
    tmetal_code    code = is_op_list(src, len) ? tmetal_module_ops(src, len, &c->opt, arena, &m, &r) : tmetal_parse(src, len, &c->opt, arena, &m, &r);
    if (code != TMETAL_OK || tmetal_print(m, arena, &text, &n, &r) != TMETAL_OK) {
        print_diags(&r, arena);
        return 1;
    }
    put_part(c, b, "ir");
    put(b, text);
    return 0;
}

/* The bound for op lists is for the worst of them: begin with less, and double it where it is not enough. */
static tmetal_code compile_list(const char *src, size_t len, const command *c, tmetal_arena *arena, tmetal_result *r) {
    size_t      most = tmetal_arena_bound_ops(len);
    tmetal_code code = tmetal_compile_ops(src, len, &c->opt, arena, r);
    while (code == TMETAL_E_ARENA && arena->cap < most) {
        size_t bytes = arena->cap < most / 2 ? arena->cap * 2 : most;
        void  *more = realloc(arena->base, bytes);
        if (!more) break;
        *arena = tmetal_arena_on(more, bytes);
        code = tmetal_compile_ops(src, len, &c->opt, arena, r);
    }
    return code;
}

static int compile(const command *c, const char *src, size_t len) {
    int           ops = is_op_list(src, len);
    size_t        bytes = ops ? (size_t)16 << 20 : tmetal_arena_bound(len);
    tmetal_arena  arena = tmetal_arena_on(malloc(bytes), bytes);
    tmetal_result r;
    tmetal_code   code;
    buffer        b;
    int           bad = 0;
    memset(&b, 0, sizeof b);
    if (!arena.base) {
        fprintf(stderr, "tmetal: no memory for an arena of %lu bytes\n", (unsigned long)bytes);
        return 1;
    }
    code = ops ? compile_list(src, len, c, &arena, &r) : tmetal_compile(src, len, &c->opt, &arena, &r);
    if (code != TMETAL_OK && strcmp(c->emit, "ir") != 0) {
        print_diags(&r, &arena);
        bad = 1;
    }
    if (!bad && wants(c, "msl")) {
        put_part(c, &b, "msl");
        put(&b, r.msl);
    }
    if (!bad && wants(c, "plan")) {
        const char *plan = tmetal_plan_json(&r, &arena);
        put_part(c, &b, "plan");
        if (plan) put(&b, plan);
        else bad = 1;
    }
    if (!bad && strcmp(c->emit, "mlx") == 0) {
        const char *mlx = r.n_kernels ? tmetal_mlx_json(&r.kernels[0], &arena) : NULL;
        if (mlx) put(&b, mlx);
        else bad = 1;
    }
    if (!bad && wants(c, "layouts")) put_part(c, &b, "layouts"), put_layouts(&b, &r);
    if (!bad && wants(c, "remarks")) put_part(c, &b, "remarks"), put_remarks(&b, &r);
    if (!bad && wants(c, "ir")) {
        arena.used = 0;
        bad = compile_ir(src, len, c, &arena, &b);
    }
    if (b.failed) bad = 1;
    if (!bad) bad = write_all(c->out, b.text ? b.text : "", b.n);
    free(b.text);
    free(arena.base);
    return bad;
}

/* -- Census: what of a tree of files does not compile --------------------------------------------- */

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

static int census_file(census *c, const char *path, const tmetal_options *asked) {
    tmetal_options opt = *asked;
    tmetal_result  r;
    tmetal_arena   arena;
    size_t         len, bytes;
    char          *text = read_all(path, &len);
    unsigned       i;
    if (!text) return 0;
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

static void put_json_text(buffer *b, const char *s) {
    char one[8];
    put(b, "\"");
    for (; *s; s++) {
        unsigned char ch = (unsigned char)*s;
        if (ch < 32) sprintf(one, "\\u%04x", ch);
        else sprintf(one, ch == '"' || ch == '\\' ? "\\%c" : "%c", ch);
        put(b, one);
    }
    put(b, "\"");
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

static void census_text(const census *c, buffer *b) {
    char   text[160];
    size_t i, k;
    sprintf(text, "%lu files: %lu compile, %lu do not\n", (unsigned long)c->files, (unsigned long)(c->files - c->refused), (unsigned long)c->refused);
    put(b, text);
    for (i = 0; i < c->n; i++) {
        const finding *f = &c->found[i];
        sprintf(text, "\nTM%d  %lu time%s in %lu file%s: ", (int)f->code, (unsigned long)f->n, f->n > 1 ? "s" : "", (unsigned long)f->files, f->files > 1 ? "s" : "");
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

/* Exit code 0 when every file compiles, 1 when some do not or cannot be read. */
static int run_census(char **files, int n_files, int as_json, const command *cmd) {
    census c;
    buffer b;
    char   line[4096];
    int    i, ok = 1;
    memset(&c, 0, sizeof c);
    memset(&b, 0, sizeof b);
    for (i = 0; i < n_files; i++) {
        if (strcmp(files[i], "-") != 0) {
            ok &= census_file(&c, files[i], &cmd->opt);
            continue;
        }
        while (fgets(line, sizeof line, stdin)) {
            line[strcspn(line, "\r\n")] = '\0';
            if (*line) ok &= census_file(&c, line, &cmd->opt);
        }
    }
    if (c.n) qsort(c.found, c.n, sizeof *c.found, by_count);
    if (as_json) census_json(&c, &b);
    else census_text(&c, &b);
    if (c.failed || b.failed) {
        fprintf(stderr, "tmetal: census: out of memory\n");
        ok = 0;
    } else if (write_all(cmd->out, b.text, b.n) != 0) {
        ok = 0;
    }
    ok &= c.refused == 0;
    census_free(&c);
    free(b.text);
    return ok ? 0 : 1;
}

static uint32_t msl_number(const char *s) { /* "3.1" to 310; 0 when it is none */
    if (s[0] < '3' || s[0] > '4' || s[1] != '.' || s[2] < '0' || s[2] > '9' || s[3]) return 0;
    return (uint32_t)(s[0] - '0') * 100u + (uint32_t)(s[2] - '0') * 10u;
}

/* One option at argv[i]: how many arguments it took, 0 when it is none, -1 after a message. */
static int read_option(int argc, char **argv, int i, command *c) {
    const char *a = argv[i], *v = i + 1 < argc ? argv[i + 1] : NULL;
    int takes = strcmp(a, "-o") == 0 || strcmp(a, "--gpu") == 0 || strcmp(a, "--threads") == 0 || strcmp(a, "--emit") == 0 ||
                strcmp(a, "--msl") == 0 || strcmp(a, "--alias") == 0 || strcmp(a, "--two-stage") == 0;
    if (takes && !v) return misuse("a value must follow", a), -1;
    if (strcmp(a, "-o") == 0) c->out = v;
    else if (strcmp(a, "--gpu") == 0) c->opt.gpu = v;
    else if (strcmp(a, "--alias") == 0) c->opt.alias = v;
    else if (strcmp(a, "--threads") == 0) {
        char *end;
        unsigned long n = strtoul(v, &end, 10);
        if (*end || !*v || n > 4096) return misuse("not a number of threads:", v), -1;
        c->opt.threads = (uint32_t)n;
    } else if (strcmp(a, "--two-stage") == 0) {
        char *end;
        unsigned long n = strtoul(v, &end, 10);
        if (*end || !*v || n > 512) return misuse("not a number of parts up to 512:", v), -1;
        c->opt.two_stage = (uint32_t)n;
    } else if (strcmp(a, "--msl") == 0) {
        c->opt.msl = msl_number(v);
        if (!c->opt.msl) return misuse("not a Metal version such as 3.1:", v), -1;
    } else if (strcmp(a, "--emit") == 0) {
        static const char *const known[] = {"msl", "plan", "ir", "layouts", "remarks", "all", "mlx"};
        unsigned k;
        for (k = 0; k < 7 && strcmp(known[k], v) != 0; k++) {}
        if (k == 7) return misuse("--emit knows msl, plan, ir, layouts, remarks, all and mlx, not", v), -1;
        c->emit = v;
        c->opt.mlx = strcmp(v, "mlx") == 0;
    } else if (strcmp(a, "--no-fusion") == 0) c->opt.no_fusion = 1;
    else if (strcmp(a, "--logging") == 0) c->opt.logging = 1;
    else if (strcmp(a, "--no-fp64") == 0) c->opt.no_fp64 = 1;
    else if (strcmp(a, "--plain") == 0) c->opt.plain = 1;
    else if (a[0] == '-' && a[1]) return misuse("unknown option", a), -1;
    else return 0;
    return 1 + takes;
}

static int read_options(int argc, char **argv, command *c) {
    int i, took;
    memset(c, 0, sizeof *c);
    c->emit = "msl";
    for (i = 2; i < argc; i += took ? took : 1) {
        took = read_option(argc, argv, i, c);
        if (took < 0) return 2;
        if (took) continue;
        if (c->file) return misuse("more than one file:", argv[i]);
        c->file = argv[i];
    }
    if (!c->file) return misuse("no file given", NULL);
    c->opt.file = strcmp(c->file, "-") == 0 ? "<stdin>" : c->file;
    return 0;
}

/* Options and file names in any order; the names are moved to the front of argv + 2. */
static int census_command(int argc, char **argv) {
    command c;
    int     i, took, n = 0, as_json = 0;
    memset(&c, 0, sizeof c);
    c.emit = "msl";
    for (i = 2; i < argc; i += took ? took : 1) {
        took = 0;
        if (strcmp(argv[i], "--json") == 0) {
            as_json = 1;
            continue;
        }
        took = read_option(argc, argv, i, &c);
        if (took < 0) return 2;
        if (!took) argv[2 + n++] = argv[i];
    }
    if (!n) return misuse("no file given", NULL);
    return run_census(argv + 2, n, as_json, &c);
}

static int list_gpus(void) {
    size_t i;
    printf("%-18s %-16s %6s %5s %5s %9s %8s\n", "name", "MTLDevice.name", "family", "cores", "GB/s", "tg bytes", "threads");
    for (i = 0; i < tmetal_gpu_count(); i++) {
        const tmetal_gpu *g = tmetal_gpu_at(i);
        printf("%-18s %-16s %6u %5u %5u %9u %8u\n", g->name, g->device, g->family, g->cores, g->gbps, g->tg_bytes, g->threads);
    }
    return 0;
}

static int list_ops(void) {
    size_t i;
    for (i = 0; i < tmetal_op_count(); i++) {
        tmetal_op_info op = tmetal_op_at(i);
        printf("%-44s %-18s %s\n", op.name, op.group, op.lowered ? "compiled" : "read and printed");
    }
    return 0;
}

int main(int argc, char **argv) {
    command c;
    size_t  len;
    char   *src;
    int     bad;
    if (argc < 2) {
        fputs(usage, stderr);
        return 2;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return fputs(usage, stdout) < 0;
    if (strcmp(argv[1], "--version") == 0) return puts("tmetal " TMETAL_VERSION) < 0;
    if (strcmp(argv[1], "gpus") == 0) return list_gpus();
    if (strcmp(argv[1], "ops") == 0) return list_ops();
    if (argc > 2 && strcmp(argv[2], "--help") == 0) return fputs(usage, stdout) < 0;
    if (strcmp(argv[1], "census") == 0) return census_command(argc, argv);
    if (strcmp(argv[1], "compile") != 0) return misuse("unknown command", argv[1]);
    bad = read_options(argc, argv, &c);
    if (bad) return bad;
    src = read_all(c.file, &len);
    if (!src) return 1;
    bad = compile(&c, src, len);
    free(src);
    return bad;
}
