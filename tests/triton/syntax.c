/* The tree that >>python makes of Python, as text: one line a statement of the module. The names of files are read
 * from stdin; syntax.py compares with Python's own trees.
 *
 *   syntax < NAMES          every mistake is told, as in a decorated function
 *   syntax --quiet < NAMES  as kernels are read: what does not parse outside decorated functions is passed over
 *
 * A node is (KIND@at:to op text children...); lists stand in brackets. In f-strings places are left out: Python 3.11
 * does not know them. */
#define TMETAL_IMPLEMENTATION
#define TMETAL_TRITON
#include "../../tmetal.h"

#include <stdio.h>
#include <stdlib.h>

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

static int placeless;

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

static int read_one(const char *path, const char *text, size_t len, int quiet) {
    static tmi_job  job;
    static tmi_py   py;
    tmi_strings     strings;
    tmetal_arena    arena = tmetal_arena_on(arena_memory, room);
    tmetal_result   out;
    tmetal_options  opt;
    tmi_note       *note;
    uint32_t        i;
    memset(&opt, 0, sizeof opt);
    memset(&job, 0, sizeof job);
    memset(&out, 0, sizeof out);
    job.arena = &arena;
    job.opt = job.asked = &opt;
    job.out = &out;
    job.top = job.end = room;
    job.src = text;
    job.src_len = len;
    job.file = path;
    job.section = "";
    tmi_strings_init(&job, &strings);
    (void)tmi_py_read_as(&job, &py, &strings, text, (uint32_t)len, !quiet);
    printf("== %s %u %u\n", path, py.n_body, (unsigned)((arena.peak > arena.used ? arena.peak : arena.used) / (len + 1)));
    for (i = 0; i < py.n_body; i++) {
        put_node(&py, TMI_PY_ID(&py, py.body + i));
        printf("\n");
    }
    for (note = job.first_note; note; note = note->next) {
        const tmetal_diag *d = &note->diag;
        printf("error %u:%u TM%d %s", d->ir.line, d->ir.col, (int)d->code, d->message);
        printf(*d->note ? " | %s" : "", d->note);
        printf(*d->help ? " | %s\n" : "\n", d->help);
    }
    return job.n_errors == 0;
}

int main(int argc, char **argv) {
    static char path[4096];
    int         quiet = argc > 1 && strcmp(argv[1], "--quiet") == 0;
    arena_memory = malloc(room);
    while (arena_memory && fgets(path, sizeof path, stdin)) {
        FILE  *f;
        char  *text;
        long   len;
        path[strcspn(path, "\n")] = '\0';
        f = fopen(path, "rb");
        if (!f || fseek(f, 0, SEEK_END) != 0 || (len = ftell(f)) < 0) return 2;
        rewind(f);
        text = (char *)malloc((size_t)len + !len); /* no byte more: what reads behind it is found */
        if (!text || fread(text, 1, (size_t)len, f) != (size_t)len) return 2;
        fclose(f);
        (void)read_one(path, text, (size_t)len, quiet);
        free(text);
    }
    return 0;
}
