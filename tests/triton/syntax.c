/* The tree that >>python makes of Python, as text: one line a statement of the module. The names of files are read
 * from stdin; syntax.py compares with Python's own trees.
 *
 *   syntax < NAMES          every mistake is told, as in a decorated function
 *   syntax --quiet < NAMES  as kernels are read: what does not parse outside decorated functions is passed over
 *   syntax --errors < NAMES the same, and only what is said of them
 *   syntax --lazy < NAMES   bodies of functions are skimmed first, and read afterwards
 *   syntax --scale          half a megabyte each of what is nested, long or never closed
 *
 * A node is (KIND@at:to op text children...); lists stand in brackets. In f-strings places are left out: Python 3.11
 * does not know them. */
#define TMETAL_IMPLEMENTATION
#define TMETAL_TRITON
#include "../../tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../robust/grows.h"

static const char *const kinds[] = {
#define X(name) #name,
    TMI_PY_KINDS(X)
#undef X
};

static const char *const ops[] = {"",
#define X(name, text, binds) #name,
    TMI_PY_OPS(X)
#undef X
};

static int placeless, lazy;

static void put_text(const tmi_py *py, uint32_t id) {
    const tmi_string *s = TMI_AT(&py->strings->item, tmi_string, id);
    uint32_t          i;
    putchar('"');
    for (i = 0; i < s->len; i++) {
        unsigned char c = (unsigned char)s->p[i];
        if (c < 33 || c > 126 || c == '"' || c == '\\') printf("\\%02x", c);
        else putchar(c);
    }
    putchar('"');
}

static void put_node(const tmi_py *py, uint32_t id);

static void put_list(const tmi_py *py, uint32_t at, uint32_t n) {
    uint32_t i;
    printf(" [");
    for (i = 0; i < n; i++) put_node(py, TMI_PY_ID(py, at + i));
    printf("]");
}

/* Those whose place is compared: expressions. */
static int has_place(int kind) {
    return kind >= TMI_PY_NAME && kind <= TMI_PY_YIELD && kind != TMI_PY_FIELD && kind != TMI_PY_OTHERCOMP &&
           kind != TMI_PY_COMPFOR && kind != TMI_PY_CMP && kind != TMI_PY_KEYWORD && kind != TMI_PY_DOUBLESTAR;
}

static void put_node(const tmi_py *py, uint32_t id) {
    const tmi_py_node *n = TMI_PY(py, id);
    int                has_op = n->kind == TMI_PY_BINOP || n->kind == TMI_PY_UNARY || n->kind == TMI_PY_CMP || n->kind == TMI_PY_BOOLOP || n->kind == TMI_PY_AUGASSIGN;
    int                pieces = n->kind == TMI_PY_FSTRING || n->kind == TMI_PY_GLOBAL || n->kind == TMI_PY_NONLOCAL;
    if (!id) {
        printf(" 0");
        return;
    }
    printf(" (%s", kinds[n->kind]);
    if (has_place(n->kind) && !placeless) printf("@%u:%u", n->at, n->to);
    if (has_op) printf(" %s", ops[n->op]);
    else if (n->op) printf(" %u", n->op & ~2u);
    if (n->text) putchar(' '), put_text(py, n->text);
    if (n->kind == TMI_PY_INT) printf(" %llu", (unsigned long long)n->v.i);
    if (n->kind == TMI_PY_FLOAT) printf(" %a", n->v.f);
    if (n->kind == TMI_PY_ALIAS && n->v.i) putchar(' '), put_text(py, (uint32_t)n->v.i);
    placeless += pieces;
    if (n->kind == TMI_PY_TUPLE && n->n == 0) printf(" []");
    if (n->a) put_node(py, n->a);
    placeless += n->kind == TMI_PY_BLOCK;
    if (n->b && n->kind != TMI_PY_FUNCTION && n->kind != TMI_PY_CLASS) printf(" b"), put_node(py, n->b);
    else if (n->b) printf(" b (TUPLE"), put_list(py, TMI_PY(py, n->b)->list, TMI_PY(py, n->b)->n), putchar(')');
    placeless -= n->kind == TMI_PY_BLOCK;
    if (n->c && n->kind != TMI_PY_FUNCTION) printf(" c"), put_node(py, n->c);
    if (n->n) put_list(py, n->list, n->n);
    if (n->n2) printf(" then"), put_list(py, n->list2, n->n2);
    placeless -= pieces;
    printf(")");
}

static void *arena_memory;
static const size_t room = (size_t)1 << 30;

typedef struct reading {
    tmi_job        job;
    tmi_py         py;
    tmi_strings    strings;
    tmetal_arena   arena;
    tmetal_result  out;
    tmetal_options opt;
} reading;

static int read_text(reading *r, const char *path, const char *text, size_t len, int quiet) {
    uint32_t id;
    memset(r, 0, sizeof *r);
    r->arena = tmetal_arena_on(arena_memory, room);
    r->job.arena = &r->arena;
    r->job.opt = r->job.asked = &r->opt;
    r->job.out = &r->out;
    r->job.top = r->job.end = room;
    r->job.text = &r->job.given;
    r->job.file = path;
    r->job.section = "";
    tmi_strings_init(&r->job, &r->strings);
    if (!lazy) return tmi_py_read_as(&r->job, &r->py, &r->strings, text, (uint32_t)len, path, !quiet, 0);
    (void)tmi_py_read(&r->job, &r->py, &r->strings, text, (uint32_t)len, path);
    for (id = 1; id < r->py.node.n; id++)
        if (TMI_PY(&r->py, id)->kind == TMI_PY_FUNCTION) tmi_py_body(&r->py, id);
    return !r->job.n_errors;
}

static void print_errors(reading *r) {
    tmi_note *note;
    for (note = r->job.first_note; note; note = note->next) {
        tmi_text text;
        tmi_text_init(&r->job, &text);
        tmi_entry_put_diag(&text, &note->diag);
        printf("%s\n", tmi_text_join(&text, 1));
    }
}

static void print_tree(reading *r, const char *path, size_t len) {
    uint32_t i;
    size_t   peak = r->arena.peak > r->arena.used ? r->arena.peak : r->arena.used;
    printf("== %s %u %u\n", path, r->py.n_body, (unsigned)(peak / (len + 1)));
    for (i = 0; i < r->py.n_body; i++) {
        put_node(&r->py, TMI_PY_ID(&r->py, r->py.body + i));
        printf("\n");
    }
    print_errors(r);
}

static char *load(const char *path, size_t *len) {
    FILE *f = fopen(path, "rb");
    char *text;
    long  n;
    if (!f || fseek(f, 0, SEEK_END) != 0 || (n = ftell(f)) < 0) exit(2);
    rewind(f);
    text = (char *)malloc((size_t)n + !n); /* no byte more: what reads behind it is found */
    if (!text || fread(text, 1, (size_t)n, f) != (size_t)n) exit(2);
    fclose(f);
    *len = (size_t)n;
    return text;
}

/* -- What must not crash, hang, or take longer than its length allows ----------------------------- */

/* Every node's range and children are those of the tree. */
static void check(const reading *r) {
    uint32_t id, i, nodes = r->py.node.n, ids = r->py.ids.n;
    for (id = 1; id < nodes; id++) {
        const tmi_py_node *n = TMI_PY(&r->py, id);
        if (n->kind >= TMI_PY_KIND_COUNT || n->at > n->to || n->to > r->py.text.len || n->text >= r->strings.item.n) abort();
        if (n->a >= nodes || n->b >= nodes || n->c >= nodes || n->list + n->n > ids || n->list2 + n->n2 > ids) abort();
    }
    for (i = 0; i < ids; i++)
        if (TMI_PY_ID(&r->py, i) >= nodes) abort();
    if (r->job.depth) abort();
}

static void attempt(const char *text, size_t len) {
    static reading r;
    int            quiet;
    for (quiet = 0; quiet < 3; quiet++) {
        int good;
        lazy = quiet == 2;
        good = read_text(&r, "scale.py", text, len, quiet);
        if (good != !r.job.n_errors) abort();
        check(&r);
    }
}

static const size_t length = (size_t)1 << 19;

/* Seconds to read the text `of[1]` repeated up to `most` bytes, after `of[0]`. */
static double seconds_of(void *of, size_t most) {
    const char *head = ((const char **)of)[0], *unit = ((const char **)of)[1];
    size_t      len = strlen(head), k = strlen(unit);
    char       *text = (char *)malloc(len + most + k);
    clock_t     begin = clock();
    memcpy(text, head, len);
    while (len < most) memcpy(text + len, unit, k), len += k;
    attempt(text, len);
    free(text);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

/* Half a megabyte takes longer than its length allows. */
static int is_slow(const char *head, const char *unit) {
    const char  *of[] = {head, unit};
    const double s = seconds_of(of, length);
    const int    slow = grows(seconds_of, of, length, s, 1);
    if (slow) printf("scale: '%.20s' '%.20s': %.1f s for half a megabyte, twice\n", head, unit, s);
    return slow;
}

static int scale(void) {
    static const char *const units[] = {
        "(", "[", "{", "((((\n", "f(\n", "x = (1,\n", " ", "\n", "\\\n", "# c\n", "a+", "a.", "a()", "a[0]", "a<", "a and ", "not ", "- ",
        "~", "2**", "a if b else ", "lambda: ", "x, ", "x = ", "x: ", "f'{", "f'{x:{", "\"\"\"\n", "'''\n\"\"\"\n", "\"\"\"'''\n",
        "r'''\\\n", "'", "'a' ", "f'{a}' ", "b'a' ", "if x:\n pass\nelif y:\n pass\n", "if x: pass\nelif ", "if x:\n", "@a\n",
        "@a\ndef f(\n", "@f(\ndef f():\n", "def f():\n", "class A:\n", "def f(x, ", "with (", "with (a, b):\n x\n", "with (a as b,\n",
        "match x:\n case y:\n  pass\n", "match (", "match x:\n", "type X = ", "try:\n x\nexcept a:\n y\n", "import a, ", "import a.",
        "from . import (a, ", "for x in y: ", "for x in y:\n for z in w:\n  pass\n", "global a, ", "1_", "0x", "9", "1.e", "\t x\n", "\f\n",
        "async ", "\r", "\xff", "\xe2\x80\x9c", "[x for x in ", "[x for x in y if ", "{a: b, ", "a[b:c, ", "print(x; ", "*a, ", "a = *b, ",
        "return ", "yield ", "await ", ";", "a;", "a b\n", "  a b\n b\n", "x = '''\n", "x = (\ny = [\n", "}", ")\n", "x := "};
    const size_t n_units = sizeof units / sizeof *units;
    size_t       i, len = 0, n, k;
    int          slow = 0;
    char        *text = (char *)malloc(2 * length);
    for (i = 0; i < n_units; i++) slow += is_slow("", units[i]) + is_slow("@a.b\ndef f(x):\n ", units[i]);
    for (n = 0; len < length; n++) { /* indentation that grows */
        for (k = 0; k < n % 1200; k++) text[len++] = ' ';
        memcpy(text + len, "if x:\n", 6), len += 6;
    }
    attempt(text, len);
    free(text);
    printf("scale: %u long texts read, %d slowly\n", (unsigned)(n_units * 2 + 1), slow);
    return slow;
}

int main(int argc, char **argv) {
    static char    path[4096];
    static reading r;
    int            errors = argc > 1 && strcmp(argv[1], "--errors") == 0, quiet = errors || (argc > 1 && strcmp(argv[1], "--quiet") == 0);
    lazy = argc > 1 && strcmp(argv[1], "--lazy") == 0;
    arena_memory = malloc(room);
    if (!arena_memory) return 2;
    if (argc > 1 && strcmp(argv[1], "--scale") == 0) return scale() != 0;
    while (fgets(path, sizeof path, stdin)) {
        size_t len;
        char  *text;
        path[strcspn(path, "\n")] = '\0';
        text = load(path, &len);
        (void)read_text(&r, path, text, len, quiet);
        if (errors) print_errors(&r);
        else print_tree(&r, path, len);
        free(text);
    }
    return 0;
}
