/* A hash of everything that tmetal gives for a text. No C library but for <string.h>: it runs as WebAssembly too. */
#include "outcome.h"
#include "text.h"

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
    for (i = 0; i < k->n_accesses; i++) {
        const tmetal_access *a = &k->accesses[i];
        h = add_str(add_str(add_str(add_str(add_num(add_num(h, a->kind), a->access), a->value), a->buffer), a->type), a->reason);
        h = add_num(add_num(add_num(add_num(add_num(add_num(h, a->width), a->lanes), a->stride), a->run), a->lines), a->most_lines);
        h = add_num(add_num(add_num(add_num(add_num(h, a->fewest), a->bytes), a->repeats), a->is_masked), a->line);
        h = add_place(add_place(h, &a->python), &a->ir);
    }
    for (i = 0; i < k->n_barriers; i++) {
        const tmetal_barrier *b = &k->barriers[i];
        h = add_str(add_str(add_str(add_num(add_num(add_num(h, b->threadgroup), b->device), b->line), b->before), b->after), b->reason);
        h = add_place(add_place(h, &b->python), &b->ir);
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
        h = add_str(add_place(add_place(add_str(add_str(add_num(h, m->kind), m->about), m->text), &m->python), &m->ir), m->kernel);
    }
    return h;
}

outcome outcome_of(const char *text, size_t len, void *memory, size_t bytes, int fill) {
    tmetal_options opt;
    tmetal_arena   arena;
    tmetal_result  r;
    tmetal_module *m = NULL;
    outcome        o;
    const char    *json;
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
