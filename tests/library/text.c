/* The rows of tmi_fns, from the first of the library proper, and of tmi_externs as text for the other parts of this test.
 *
 *     text metal      all rows, as Metal 3.1
 *     text metal30    those that need no bfloat, as Metal 3.0
 *     text calls      all rows, with a function for each that calls it for an array of operands
 *     text table      the same functions as lines of C++
 *     text externs    the external names as lines of C++
 *     text check      checks the table itself
 *     text symbols FILE    is there an external function for every name and signature of the file?
 *
 * LIBRARY_HEADER says where the header is. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef LIBRARY_HEADER
#define LIBRARY_HEADER "../../tmetal.h"
#endif
#define TMETAL_IMPLEMENTATION
#include LIBRARY_HEADER

typedef struct row {
    const char *name, *signature, *text;
    const tmi_fn *fn;
} row;

static row      rows[1000];
static size_t   n_rows;
static char     memory[1 << 20];
static tmi_fn_index by_name;

static void fill_rows(void) {
    tmetal_arena   arena = tmetal_arena_on(memory, sizeof memory);
    tmetal_options options;
    tmetal_result  result;
    tmi_job        job;
    tmi_text       t;
    uint32_t       i;
    memset(&options, 0, sizeof options);
    tmi_entry_begin(&job, &arena, &options, &result);
    tmi_fn_fill(&by_name);
    for (i = tmi_fn_named("TO_EVEN", 7); i < TMI_FN_COUNT; i++, n_rows++) {
        tmi_text_init(&job, &t);
        tmi_put_fn(&t, &tmi_fns[i]);
        rows[n_rows].text = tmi_text_join(&t, 0);
        rows[n_rows].name = tmi_fns[i].name;
        rows[n_rows].signature = tmi_fns[i].sig;
        rows[n_rows].fn = &tmi_fns[i];
    }
}

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* -- Text ---------------------------------------------------------------------------------------- */

static int has_bfloat(const row *r) { return strstr(r->text, "bfloat") != NULL; }

static void print_metal(int bfloats) {
    size_t i;
    puts("#include <metal_stdlib>\nusing namespace metal;\n");
    for (i = 0; i < n_rows; i++)
        if (bfloats || !has_bfloat(&rows[i])) printf("%s\n", rows[i].text);
}

static const char *type_of(char letter) {
    switch (letter) {
    case 'f': return "float";
    case 'h': return "half";
    case 't': return "bfloat";
    case 'd': case 'm': return "ulong";
    case 'q': return "char";
    case 'c': return "uchar";
    case 's': return "short";
    case 'i': return "int";
    case 'u': return "uint";
    case 'l': return "long";
    case 'b': return "bool";
    default: return NULL;
    }
}

/* `f(ff)`: 2 */
static size_t operands(const char *signature) { return strlen(signature) - 3; }

static void print_calls(void) {
    size_t i, k;
    print_metal(1);
    for (i = 0; i < n_rows; i++) {
        const char *s = rows[i].signature;
        if (!*s) continue;
        printf("extern \"C\" void call_%s(const ulong *in, ulong out, ulong n) {\n", rows[i].name);
        for (k = 0; k < operands(s); k++)
            printf("    device const %s *x%u = (device const %s *)in[%u];\n", type_of(s[2 + k]), (unsigned)k,
                   type_of(s[2 + k]), (unsigned)k);
        printf("    device %s *r = (device %s *)out;\n", type_of(s[0]), type_of(s[0]));
        printf("    for (ulong i = 0; i < n; i++) r[i] = %s(", rows[i].name);
        for (k = 0; k < operands(s); k++) printf("%sx%u[i]", k ? ", " : "", (unsigned)k);
        puts(");\n}");
    }
}

static void print_table(void) {
    size_t i;
    for (i = 0; i < n_rows; i++)
        if (*rows[i].signature) printf("CALL(%s, \"%s\")\n", rows[i].name, rows[i].signature);
}

static void print_externs(void) {
    size_t i;
    for (i = 0; i < TMI_EXTERN_COUNT; i++)
        printf("EXTERN(\"%s\", \"%s\", \"%s\")\n", tmi_externs[i].symbol, tmi_externs[i].sig, tmi_externs[i].callee);
}

/* -- Checks -------------------------------------------------------------------------------------- */

static int wrong;

static void complain(const char *what, const char *name, const char *detail) {
    fprintf(stderr, "library: %s: %s %s\n", name, what, detail);
    wrong = 1;
}

static size_t find_row(const char *name, size_t length) {
    size_t i;
    for (i = 0; i < n_rows; i++)
        if (strlen(rows[i].name) == length && strncmp(rows[i].name, name, length) == 0) return i;
    return n_rows;
}

static int in_list(const char *list, const char *name) {
    size_t      n = strlen(name);
    const char *at;
    for (at = list; (at = strstr(at, name)) != NULL; at++)
        if ((at == list || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return 1;
    return 0;
}

static int good_signature(const char *s) {
    size_t k, n = strlen(s);
    if (n < 4 || s[1] != '(' || s[n - 1] != ')' || !type_of(s[0])) return 0;
    for (k = 2; k + 1 < n; k++)
        if (!type_of(s[k])) return 0;
    return n - 3 <= 4;
}

static void check_lines(const row *r) {
    const char *at, *line = r->text;
    if (strlen(r->text) > 4000) complain("is longer than 4000 characters", r->name, "");
    if (r->text[strlen(r->text) - 1] != '\n') complain("does not end its last line", r->name, "");
    for (at = r->text; (at = strstr(at, "__")) != NULL; at += 2) /* but in how attributes begin and end */
        if (strncmp(at, "__attribute__((", 15) == 0) at += 13;
        else {
            complain("has two underscores in a row", r->name, "");
            break;
        }
    for (at = r->text; *at; at++) {
        if (*at == '\n') {
            if (at - line > 100) complain("has a line of more than 100 columns", r->name, "");
            if (at > line && at[-1] == ' ') complain("has a space at the end of a line", r->name, "");
            line = at + 1;
        } else if ((unsigned char)*at < 32 || (unsigned char)*at > 126) complain("is not plain ASCII", r->name, "");
    }
}

/* Each constant that the row declares is among its names. */
static void check_names(const row *r) {
    const char *at = r->text;
    while ((at = strstr(at, "\nconstant ")) != NULL) {
        const char *name = at + 10 + strcspn(at + 10, " ") + 1;
        if (!tmi_fn_has(r->fn, name, strcspn(name, " [;"))) complain("does not name its constant", r->name, name);
        at++;
    }
}

/* What a text names stands above it. */
static void check_words(const row *r) {
    const char *at = r->text;
    size_t      n;
    for (; (n = tmi_fn_next(&at)) != 0; at += n) {
        uint32_t i = tmi_fn_indexed(&by_name, at, n);
        if (i != tmi_fn_named(at, n)) complain("names what the index has not:", r->name, at);
        if (i < TMI_FN_COUNT && &tmi_fns[i] > r->fn) complain("stands before what it needs:", r->name, tmi_fns[i].name);
    }
}

static void check_externs(void) {
    static const char builtins[] =
        "abs acos acosh asin asinh atan atan2 atanh ceil clz copysign cos cosh cospi divide exp exp10 exp2 fabs "
        "fdim float floor fma fmax fmin fmod hadd ldexp log log10 log2 long max min mulhi popcount pow reverse_bits "
        "rhadd rint round rsqrt sin sinh sinpi sqrt tan tanh trunc ulong as_type<float> as_type<int> as_type<uint>";
    size_t i, k;
    for (i = 0; i < TMI_EXTERN_COUNT; i++) {
        const tmi_extern *e = &tmi_externs[i];
        const char     *call = strrchr(e->callee, ':') ? strrchr(e->callee, ':') + 1 : e->callee;
        const size_t    at = find_row(e->callee, strlen(e->callee));
        if (!good_signature(e->sig)) complain("has a bad signature:", e->symbol, e->sig);
        if (at < n_rows) {
            if (strcmp(rows[at].signature, e->sig) != 0)
                complain("does not have the signature of", e->symbol, rows[at].name);
        } else if (!in_list(builtins, call)) complain("calls what is neither here nor in Metal:", e->symbol, e->callee);
        for (k = 0; k < i; k++)
            if (strcmp(tmi_externs[k].symbol, e->symbol) == 0 && strcmp(tmi_externs[k].sig, e->sig) == 0)
                complain("stands twice", e->symbol, "");
    }
}

static int check(void) {
    size_t i, k;
    for (i = 0; i < n_rows; i++) {
        const row *r = &rows[i];
        if (*r->signature && !good_signature(r->signature)) complain("has a bad signature:", r->name, r->signature);
        for (k = 0; k < i; k++)
            if (strcmp(rows[k].name, r->name) == 0) complain("stands twice", r->name, "");
        check_lines(r);
        check_names(r);
        check_words(r);
    }
    check_externs();
    return wrong;
}

/* Triton IR has integers without a sign; the table says how the function reads them. */
static int same_kinds(const char *in_file, const char *in_table) {
    if (strlen(in_file) != strlen(in_table)) return 0;
    for (; *in_file; in_file++, in_table++) {
        char c = *in_table == 'u' ? 'i' : *in_table == 'm' ? 'l' : *in_table;
        if (c != *in_file) return 0;
    }
    return 1;
}

static int check_symbols(const char *path) {
    char   line[200], name[100], signature[20];
    size_t i, n = 0;
    FILE  *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return 2;
    }
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#' || sscanf(line, "%99s %19s", name, signature) != 2) continue;
        for (i = 0; i < TMI_EXTERN_COUNT; i++)
            if (strcmp(tmi_externs[i].symbol, name) == 0 && same_kinds(signature, tmi_externs[i].sig)) break;
        if (i == TMI_EXTERN_COUNT) complain("is no external function", name, signature);
        n++;
    }
    fclose(f);
    printf("library: %u external names\n", (unsigned)n);
    return wrong || n == 0;
}

int main(int argc, char **argv) {
    const char *what = argc >= 2 ? argv[1] : "";
    fill_rows();
    if (strcmp(what, "metal") == 0) print_metal(1);
    else if (strcmp(what, "metal30") == 0) print_metal(0);
    else if (strcmp(what, "calls") == 0) print_calls();
    else if (strcmp(what, "table") == 0) print_table();
    else if (strcmp(what, "externs") == 0) print_externs();
    else if (strcmp(what, "check") == 0) return check();
    else if (strcmp(what, "symbols") == 0 && argc == 3) return check_symbols(argv[2]);
    else {
        fprintf(stderr, "usage: text metal|metal30|calls|table|externs|check|symbols FILE\n");
        return 2;
    }
    return 0;
}
