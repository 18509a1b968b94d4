/* One line a file: a hash of everything that tmetal gives for it - Metal, plan, layouts, remarks,
 * diagnostics and the text printed back - and the memory it took. Two builds (another compiler, other
 * flags, another width of pointers) or two states of the header must print the same lines.
 *
 *     digest [--fill BYTE] [--twice] FILE-OR-DIRECTORY...
 *
 *   --fill BYTE   what the arena holds before each call (0)
 *   --twice       compile with the arena full of 0x00, then of 0xff; a difference is an error
 *   --memory      also print the peak of the arena, which the width of pointers changes */
#include "../../tmetal.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t add_str(uint64_t h, const char *s) {
    return s ? hash_more(h, s, strlen(s) + 1) : hash_more(h, "\1", 1);
}

static uint64_t add_num(uint64_t h, uint64_t n) {
    unsigned char b[8];
    int           i;
    for (i = 0; i < 8; i++) b[i] = (unsigned char)(n >> (8 * i));
    return hash_more(h, b, 8);
}

static uint64_t add_place(uint64_t h, const tmetal_place *p) {
    return add_num(add_num(add_str(h, p->file), p->line), p->col);
}

static uint64_t add_kernel(uint64_t h, const tmetal_kernel *k) {
    uint32_t i;
    h = add_str(add_str(h, k->entry), k->msl);
    for (i = 0; i < k->n_layouts; i++) {
        const tmetal_layout_row *l = &k->layouts[i];
        h = add_str(add_str(add_str(add_str(h, l->value), l->type), l->map), l->reason);
        h = add_num(add_num(add_num(add_num(h, l->layout), l->width), l->lines), l->fewest);
        h = add_place(add_place(h, &l->python), &l->ir);
    }
    return h;
}

static uint64_t add_result(uint64_t h, const tmetal_result *r) {
    uint32_t i;
    h = add_num(h, r->code);
    for (i = 0; i < r->n_kernels; i++) h = add_kernel(h, &r->kernels[i]);
    for (i = 0; i < r->n_diags; i++) {
        const tmetal_diag *d = &r->diags[i];
        h = add_str(add_str(add_str(add_num(h, d->code), d->message), d->note), d->help);
        h = add_str(add_place(add_place(h, &d->python), &d->ir), d->excerpt);
    }
    for (i = 0; i < r->n_remarks; i++) {
        const tmetal_remark *m = &r->remarks[i];
        h = add_place(add_place(add_str(add_str(add_num(h, m->kind), m->about), m->text), &m->python), &m->ir);
    }
    return h;
}

typedef struct outcome {
    uint64_t    hash;
    tmetal_code code;
    size_t      peak;
} outcome;

static outcome digest(const char *text, size_t len, const char *name, void *memory, size_t bytes, int fill) {
    tmetal_options opt;
    tmetal_arena   arena;
    tmetal_result  r;
    tmetal_module *m = NULL;
    outcome        o;
    const char    *json;
    (void)name;
    memset(&opt, 0, sizeof opt);
    opt.file = "file.ttir";
    memset(memory, fill, bytes);
    arena = tmetal_arena_on(memory, bytes);
    o.code = tmetal_compile(text, len, &opt, &arena, &r);
    o.peak = arena.peak;
    o.hash = add_result(HASH_START, &r);
    if (o.code == TMETAL_OK) {
        json = tmetal_plan_json(&r, &arena);
        o.hash = add_str(o.hash, json);
    }
    memset(memory, fill, bytes);
    arena = tmetal_arena_on(memory, bytes);
    if (tmetal_parse(text, len, &opt, &arena, &m, &r) == TMETAL_OK) {
        const char *printed;
        size_t      n;
        if (tmetal_print(m, &arena, &printed, &n, &r) == TMETAL_OK) o.hash = add_str(o.hash, printed);
    }
    o.hash = add_result(o.hash, &r);
    return o;
}

int main(int argc, char **argv) {
    names  files;
    int    i, fill = 0, twice = 0, memory = 0, bad = 0;
    size_t k;
    memset(&files, 0, sizeof files);
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--fill") == 0 && i + 1 < argc) fill = (int)strtol(argv[++i], NULL, 0);
        else if (strcmp(argv[i], "--twice") == 0) twice = 1;
        else if (strcmp(argv[i], "--memory") == 0) memory = 1;
        else names_find(&files, argv[i], ".ttir");
    }
    names_sort(&files);
    if (!files.n) {
        fputs("usage: digest [--fill BYTE] [--twice] [--memory] FILE-OR-DIRECTORY...\n", stderr);
        return 2;
    }
    for (k = 0; k < files.n; k++) {
        size_t  len, bytes;
        char   *text = read_file(files.name[k], &len), *space;
        outcome o, p;
        bytes = tmetal_arena_bound(len);
        if (bytes > ((size_t)64 << 20)) bytes = (size_t)64 << 20;
        if (bytes < 512 * len) bytes = 512 * len;
        space = (char *)take_memory(bytes);
        o = digest(text, len, files.name[k], space, bytes, fill);
        if (twice) {
            p = digest(text, len, files.name[k], space, bytes, ~fill & 0xff);
            if (p.hash != o.hash || p.peak != o.peak) {
                fprintf(stderr, "%s: the output depends on what the arena held before\n", files.name[k]);
                bad = 1;
            }
        }
        if (o.code == TMETAL_E_BUG || o.code == TMETAL_E_ARENA) {
            fprintf(stderr, "%s: error TM%d\n", files.name[k], (int)o.code);
            bad = 1;
        }
        printf("%08lx%08lx TM%03d", (unsigned long)(o.hash >> 32), (unsigned long)(o.hash & 0xffffffffu), (int)o.code);
        if (memory) printf(" %9lu", (unsigned long)o.peak);
        printf(" %s\n", files.name[k]);
        free(space);
        free(text);
    }
    names_free(&files);
    return bad;
}
