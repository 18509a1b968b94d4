/* Cases whose diagnostics stand in the case itself, each behind the line that it speaks of:
 *
 *   %9 = "tt.reduce"(%8) <{axis = 2 : i32}> ({    // ERROR 204 col 6: tt.reduce over axis 2, but the operand ...
 *
 * Behind "col 6-16" stands what is underlined; "col 6" is one character. "at FILE:LINE:COL" may follow, the place in the user's Python. A diagnostic without a line is
 * expected by "// ERROR 116 nowhere: ..." anywhere. Diagnostics must come in the order of the comments, and no
 * others. A first line "// OPTIONS threads=48 gpu=apple-m2 no-fp64 msl=300 alias=0=1 layouts=TILED mlx" sets options.
 *
 *   run [--show] FILE.ttir...     --show prints what came, in the form above, instead of comparing; lists.txt: op lists
 *   run --mistakes FILE.ttir...   right files: each word in turn is left out, or its last letter; a mistake has one message
 *
 * Every row of the table of diagnostics must be met by a case, but for those in `elsewhere`. */
#include "../../tmetal.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows that another test meets. */
static const int elsewhere[] = {
    TMETAL_E_BUG,  /* our own mistakes: none is known */
    TMETAL_E_PART, /* tests/compile/parts.sh: builds with parts left out */
};

static char seen[1000], *memory;
static const size_t room = (size_t)64 << 20;

typedef struct expectation {
    int         code;
    uint32_t    line, col, last; /* columns of the text that is meant */
    char        python[200];
    const char *message;
    size_t      len;
} expectation;

static void read_options(const char *text, tmetal_options *opt) {
    static char line[400], value[400];
    char       *w;
    memset(opt, 0, sizeof *opt);
    if (strncmp(text, "// OPTIONS ", 11) != 0) return;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
    strcpy(value, line + 11);
    for (w = strtok(value, " "); w; w = strtok(NULL, " ")) {
        if (strncmp(w, "threads=", 8) == 0) opt->threads = (uint32_t)strtoul(w + 8, NULL, 10);
        else if (strncmp(w, "msl=", 4) == 0) opt->msl = (uint32_t)strtoul(w + 4, NULL, 10);
        else if (strncmp(w, "max-errors=", 11) == 0) opt->max_errors = (uint32_t)strtoul(w + 11, NULL, 10);
        else if (strncmp(w, "max-source=", 11) == 0) opt->max_source = (uint32_t)strtoul(w + 11, NULL, 10);
        else if (strncmp(w, "max-ops=", 8) == 0) opt->max_ops = (uint32_t)strtoul(w + 8, NULL, 10);
        else if (strncmp(w, "gpu=", 4) == 0) opt->gpu = w + 4;
        else if (strncmp(w, "alias=", 6) == 0) opt->alias = w + 6;
        else if (strncmp(w, "programs=", 9) == 0) opt->programs = (uint32_t)strtoul(w + 9, NULL, 10);
        else if (strncmp(w, "two-stage=", 10) == 0) opt->two_stage = (uint32_t)strtoul(w + 10, NULL, 10);
        else if (strncmp(w, "operands=", 9) == 0) opt->operands = (uint32_t)strtoul(w + 9, NULL, 10);
        else if (strncmp(w, "layouts=", 8) == 0) opt->layouts = w + 8;
        else if (strcmp(w, "no-fp64") == 0) opt->no_fp64 = 1;
        else if (strcmp(w, "mlx") == 0) opt->mlx = 1;
        else if (strncmp(w, "mlx=", 4) == 0) opt->mlx = (uint32_t)strtoul(w + 4, NULL, 10);
        else if (strcmp(w, "bounds") == 0) opt->bounds = 1;
        else if (strcmp(w, "parts") == 0) opt->parts = 1;
        else {
            fprintf(stderr, "cases: unknown option %s\n", w);
            exit(2);
        }
    }
}

/* The expectations of a case in order; their number. */
static int read_expectations(const char *text, expectation *e, int most) {
    const char *p, *line = text;
    uint32_t    number = 1;
    int         n = 0, used;
    for (p = text; *p; p++) {
        if (*p == '\n') number++, line = p + 1;
        if (strncmp(p, "// ERROR ", 9) != 0 || n == most) continue;
        memset(&e[n], 0, sizeof e[n]);
        used = 0;
        if (sscanf(p, "// ERROR %d nowhere:%n", &e[n].code, &used) == 1 && used) e[n].line = 0;
        else if (sscanf(p, "// ERROR %d col %u%n", &e[n].code, &e[n].col, &used) == 2) {
            int more = 0;
            e[n].line = number;
            e[n].last = e[n].col;
            if (sscanf(p + used, "-%u%n", &e[n].last, &more) == 1) used += more;
            if (strncmp(p + used, " at ", 4) == 0) {
                const char *end = strstr(p + used, ": ");
                snprintf(e[n].python, sizeof e[n].python, "%.*s", end ? (int)(end - p) - used - 4 : 0, p + used + 4);
                used = end ? (int)(end - p) : used;
            }
            used++;
        } else {
            fprintf(stderr, "cases: cannot read '%.*s'\n", (int)strcspn(line, "\n"), line);
            exit(2);
        }
        e[n].message = p + used + 1;
        e[n].len = strcspn(e[n].message, "\n");
        if (e[n].len > 4 && strncmp(e[n].message + e[n].len - 4, " ...", 4) == 0) e[n].len -= 3;
        n++;
    }
    return n;
}

static void python_of(const tmetal_diag *d, char *out, size_t cap) {
    *out = '\0';
    if (d->python.file) snprintf(out, cap, "%s:%u:%u", d->python.file, d->python.line, d->python.col);
}

static void show(const tmetal_diag *d) {
    char python[200], range[20] = "";
    python_of(d, python, sizeof python);
    if (d->cols > 1) snprintf(range, sizeof range, "-%u", d->ir.col + d->cols - 1);
    if (d->ir.line) printf("%u: // ERROR %d col %u%s%s%s: %s\n", d->ir.line, (int)d->code, d->ir.col, range, *python ? " at " : "", python, d->message);
    else printf("// ERROR %d nowhere: %s\n", (int)d->code, d->message);
}

static int is_as_expected(const tmetal_diag *d, const expectation *e) {
    char python[200];
    python_of(d, python, sizeof python);
    if ((int)d->code != e->code || d->ir.line != e->line || (e->line && (d->ir.col != e->col || d->ir.col + d->cols - 1 != e->last)) || strcmp(python, e->python) != 0) return 0;
    return strncmp(d->message, e->message, e->len) == 0 && (e->message[e->len] == '.' || d->message[e->len] == '\0');
}

static int passes(const char *path, const char *text, size_t len, int showing) {
    static expectation want[200];
    tmetal_arena   arena = tmetal_arena_on(memory, room);
    tmetal_options opt;
    tmetal_result  r;
    uint32_t       i;
    int            n = read_expectations(text, want, 200);
    read_options(text, &opt);
    opt.file = path;
    (void)tmetal_compile(text, len, &opt, &arena, &r);
    for (i = 0; i < r.n_diags; i++) {
        if (showing) show(&r.diags[i]);
        else seen[r.diags[i].code % 1000] = 1;
    }
    if (showing) return 1;
    for (i = 0; (int)i < n || i < r.n_diags; i++) {
        if ((int)i < n && i < r.n_diags && is_as_expected(&r.diags[i], &want[i])) continue;
        printf("%s: diagnostic %u\n", path, i + 1);
        if ((int)i < n) printf("  wanted %u: %d col %u %s: %.*s\n", want[i].line, want[i].code, want[i].col, want[i].python, (int)want[i].len, want[i].message);
        else printf("  wanted no more\n");
        if (i < r.n_diags) printf("  came   "), show(&r.diags[i]);
        else printf("  came   none\n");
        return 0;
    }
    return 1;
}

/* -- What is no Triton IR: op lists, calls --------------------------------------------------------------------------- */

typedef struct list_case {
    const char *list;
    int         code;
    uint32_t    line, col, last;
    const char *message;
} list_case;

static const list_case list_cases[] = {
    {"{\"ops\":[1,]}", TMETAL_E_JSON, 1, 11, 11, "JSON: expected a value, found ']'"},
    {"{\"a\":1,\n\"a\":2}", TMETAL_E_JSON_KEY, 2, 2, 2, "key \"a\" stands twice in one object"},
    {"{\"ops\":[]}", TMETAL_E_OPS_NONE, 1, 8, 8, "no list of ops found: {\"ops\": [..]} or lines such as tt.sum:[1024,512]:1"},
    {"{\"ops\":[{\"type\":\"tt.frob\"}]}", TMETAL_E_OPS_UNKNOWN, 1, 18, 24, "unknown op type 'tt.frob'"},
    {"{\"ops\":[{\"type\":\"exp\",\"input_shapes\":[[0]]}]}", TMETAL_E_OPS_KEY, 1, 40, 40, "op 'exp_0': 'input_shapes' wants dimensions from 1 to 2147483647"},
    {"{\"ops\":[{\"type\":\"exp\",\"inputs\":[\"q\"]}]}", TMETAL_E_OPS_INPUT, 1, 34, 34, "op 'exp_0' reads 'q', which is no op and has no shape"},
    {"{\"ops\":[{\"type\":\"exp\",\"id\":\"z\",\"inputs\":[\"z\"]}]}", TMETAL_E_OPS_CYCLE, 1, 9, 9, "op 'z' waits for its own result"},
    {"{\"ops\":[{\"type\":\"exp\"}]}", TMETAL_E_OPS_COUNT, 1, 9, 9, "op 'exp_0' takes 1 input, but has 0"},
    {"matmul:[3,4],[5,6]", TMETAL_E_OPS_SHAPE, 1, 1, 6, "op 'matmul_0': shapes [3,4] and [5,6]: the inner dimensions must be equal"},
    {"tt.sum:[8,8]:2", TMETAL_E_OPS_AXIS, 1, 14, 14, "op 'sum_0': axis 2 of an input of rank 2"},
    {"{\"ops\":[{\"type\":\"exp\",\"dtype\":\"f7\",\"input_shapes\":[[3]]}]}", TMETAL_E_OPS_TYPE, 1, 32, 33, "op 'exp_0': 'f7' is no element type"},
    {"{\"ops\":[{\"type\":\"exp\",\"input_shape\":[[3]]}]}", TMETAL_E_OPS_ARGUMENT, 1, 37, 37, "op 'exp_0' has a key 'input_shape', which means nothing"},
};

static int is_said(const char *what, const tmetal_result *r, const list_case *want) {
    const tmetal_diag *d = r->diags;
    if (r->n_diags == 1) seen[d->code % 1000] = 1;
    if (r->n_diags == 1 && (int)d->code == want->code && d->ir.line == want->line && (!want->line || (d->ir.col == want->col && d->ir.col + d->cols - 1 == want->last)) &&
        strcmp(d->message, want->message) == 0)
        return 1;
    printf("%s: %u diagnostics\n  wanted TM%d %u:%u-%u: %s\n", what, r->n_diags, want->code, want->line, want->col, want->last, want->message);
    if (r->n_diags) printf("  came   TM%d %u:%u-%u: %s\n", (int)d->code, d->ir.line, d->ir.col, d->ir.col + d->cols - 1, d->message);
    return 0;
}

static int lists_pass(void) {
    size_t i;
    int    good = 1;
    for (i = 0; i < sizeof list_cases / sizeof *list_cases; i++) {
        const list_case *c = &list_cases[i];
        tmetal_arena     arena = tmetal_arena_on(memory, room);
        tmetal_result    r;
        (void)tmetal_compile_ops(c->list, strlen(c->list), NULL, &arena, &r);
        good &= is_said(c->list, &r, c);
    }
    return good;
}

/* Op lists that are refused: lists.txt, a list a line, behind it a line `CODE LINE:COLUMN MESSAGE`. */
static int texts_pass(const char *path, char *text, int showing) {
    char *list = text, *want, *next;
    int   good = 1;
    for (; *list; list = next) {
        char           said[600] = "none";
        tmetal_arena   arena = tmetal_arena_on(memory, room);
        tmetal_options opt;
        tmetal_result  r;
        want = strchr(list, '\n');
        if (*list == '#' || !want) { /* a comment */
            next = want ? want + 1 : list + strlen(list);
            if (showing) printf("%.*s", (int)(next - list), list);
            continue;
        }
        *want++ = '\0';
        next = want + strcspn(want, "\n");
        if (*next) *next++ = '\0';
        memset(&opt, 0, sizeof opt);
        (void)tmetal_compile_ops(list, strlen(list), &opt, &arena, &r);
        if (r.n_diags) snprintf(said, sizeof said, "%d %u:%u %s", (int)r.diags[0].code, r.diags[0].ir.line, r.diags[0].ir.col, r.diags[0].message);
        if (showing) printf("%s\n%s\n", list, said);
        else if (r.n_diags != 1 || strcmp(said, want) != 0) good = 0, printf("%s: %s\n  wanted %s\n  came   %s (of %u)\n", path, list, want, said, r.n_diags);
    }
    return good;
}

static int calls_pass(void) {
    static const list_case misuse = {"", TMETAL_E_MISUSE, 0, 0, 0, "no module: it is NULL"}, limit = {"", TMETAL_E_GPU_LIMIT, 0, 0, 0, "limit simd of 64: kernels are made for simdgroups of 32 lanes"};
    static const char      text[] = "tt.func public @k() {\n  tt.return\n}\n";
    tmetal_arena           arena = tmetal_arena_on(memory, room), small = tmetal_arena_on(memory, 1000);
    tmetal_result          r;
    tmetal_options         opt;
    tmetal_gpu_limits      limits;
    int                    good;
    memset(&opt, 0, sizeof opt);
    memset(&limits, 0, sizeof limits);
    (void)tmetal_emit(NULL, &opt, &arena, &r);
    good = is_said("a module that is NULL", &r, &misuse);
    limits.simd = 64;
    opt.limits = &limits;
    arena.used = 0;
    (void)tmetal_compile(text, sizeof text - 1, &opt, &arena, &r);
    good &= is_said("simdgroups of 64", &r, &limit);
    (void)tmetal_compile(text, sizeof text - 1, NULL, &small, &r);
    seen[r.full.code % 1000] = 1;
    if (r.full.code == TMETAL_E_ARENA && strncmp(r.full.message, "arena is full: needs at least ", 30) == 0 && strstr(r.full.message, ", has 1000")) return good;
    printf("an arena of 1000 bytes: TM%d: %s\n", (int)r.full.code, r.full.message);
    return 0;
}

static int every_row_is_met(void) {
    static const int numbers[] = {
#define X(number, name, text) number,
        TMETAL_DIAGS(X)
#undef X
    };
    size_t i, k;
    int    missing = 0;
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int number = numbers[i];
        for (k = 0; k < sizeof elsewhere / sizeof *elsewhere && elsewhere[k] != number; k++) {}
        if (k < sizeof elsewhere / sizeof *elsewhere || seen[number]) continue;
        printf("no case for TM%d: %s\n", number, tmetal_code_text((tmetal_code)number));
        missing++;
    }
    return !missing;
}

/* What 'tmetal explain TM204' and docs/diagnostics.md say of a code. */
static int every_row_is_explained(void) {
    static const int numbers[] = {
#define X(number, name, text) number,
        TMETAL_DIAGS(X) TMETAL_LAUNCH_DIAGS(X) TMETAL_TRITON_DIAGS(X)
#undef X
    };
    size_t i;
    int    missing = 0;
    for (i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        const char *about = tmetal_code_about((tmetal_code)numbers[i]), *cure = tmetal_code_help((tmetal_code)numbers[i]);
        if (*about && about[strlen(about) - 1] == '.' && *cure && cure[strlen(cure) - 1] != '.') continue;
        printf("TM%d is not explained: sentences that end in a full stop, and a way out without one\n", numbers[i]);
        missing++;
    }
    return !missing && !*tmetal_code_about((tmetal_code)999);
}

/* -- One message a mistake -------------------------------------------------------------------------------------------- */

/* The end of the word, string or sign that begins at s. */
static const char *word_end(const char *s) {
    const char *end = s + 1;
    if (*s == '"') {
        while (*end && *end != '"' && *end != '\n') end++;
        return *end == '"' ? end + 1 : end;
    }
    if (!isalnum((unsigned char)*s) && !strchr("%@^!_", *s)) return end;
    while (isalnum((unsigned char)*end) || (*end && strchr("_.$", *end))) end++;
    return end;
}

static uint32_t errors_without(const char *text, size_t len, const char *from, const char *to) {
    static char   changed[1 << 20];
    size_t        n = len - (size_t)(to - from);
    tmetal_arena  arena = tmetal_arena_on(memory, room);
    tmetal_result r;
    memcpy(changed, text, (size_t)(from - text));
    memcpy(changed + (from - text), to, len - (size_t)(to - text));
    (void)tmetal_compile(changed, n, NULL, &arena, &r);
    if (r.n_diags > 1) printf("without '%.*s' at byte %u: %s; %s\n", (int)(to - from), from, (unsigned)(from - text), r.diags[0].message, r.diags[1].message);
    return r.n_diags;
}

/* No mistake has two messages. */
static int mistakes(const char *path, const char *text, size_t len) {
    uint32_t    refused = 0, twice = 0, i, n;
    const char *s = text, *end;
    while (*s) {
        const char *stop = strstr(s, " loc("), *line = strchr(s, '\n');
        if (!line) line = text + len;
        if (*s == '#' || (stop && stop < line)) stop = *s == '#' ? s : stop;
        else stop = line;
        for (; s < stop; s = end) {
            end = word_end(s);
            if (*s == ' ') continue;
            for (i = 0; i < 2; i++) {
                if (i && end == s + 1) break;
                n = errors_without(text, len, i ? end - 1 : s, end);
                refused += n > 0;
                twice += n > 1;
            }
        }
        s = line + (*line == '\n');
    }
    printf("cases: %s: %u mistakes are refused, %u with more than one message\n", path, refused, twice);
    return refused > 100 && !twice;
}

int main(int argc, char **argv) {
    static char text[1 << 20];
    int i, showing = argc > 1 && strcmp(argv[1], "--show") == 0, one = argc > 1 && strcmp(argv[1], "--mistakes") == 0, files = 0, good = 0, all;
    memory = (char *)malloc(room);
    if (!memory) return 2;
    for (i = 1 + showing + one; i < argc; i++, files++) {
        FILE  *f = fopen(argv[i], "rb");
        size_t len = f ? fread(text, 1, sizeof text - 1, f) : 0;
        if (!f) {
            fprintf(stderr, "cases: %s cannot be read\n", argv[i]);
            return 2;
        }
        fclose(f);
        text[len] = '\0';
        if (showing && strstr(argv[i], ".ttir")) printf("== %s\n", argv[i]);
        if (len && strcmp(argv[i] + strlen(argv[i]) - 4, ".txt") == 0) good += texts_pass(argv[i], text, showing);
        else good += one ? mistakes(argv[i], text, len) : passes(argv[i], text, len, showing);
    }
    if (one) return good == files && files ? 0 : 1;
    if (showing) return 0;
    all = lists_pass() & calls_pass();
    all &= every_row_is_met() & every_row_is_explained();
    printf("cases: %d of %d as expected\n", good, files);
    free(memory);
    return good == files && files && all ? 0 : 1;
}
