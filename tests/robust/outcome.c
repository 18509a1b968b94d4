/* A hash of everything that tmetal gives for a text. No C library but for <string.h>: it runs as WebAssembly too. */
#include "outcome.h"
#include "text.h"

#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#    include <sanitizer/asan_interface.h>
#    define OPEN(p, n) __asan_unpoison_memory_region((p), (n))
#else
#    define OPEN(p, n) ((void)(p), (void)(n))
#endif

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

static uint64_t add_reports(uint64_t h, const tmetal_kernel *k) {
    uint32_t i;
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

static void add_result(uint64_t *part, const tmetal_result *r) {
    uint32_t i;
    part[OUTCOME_DIAGS] = add_num(part[OUTCOME_DIAGS], r->code);
    for (i = 0; i < r->n_kernels; i++) {
        part[OUTCOME_METAL] = add_str(add_str(part[OUTCOME_METAL], r->kernels[i].entry), r->kernels[i].msl);
        part[OUTCOME_REPORTS] = add_reports(part[OUTCOME_REPORTS], &r->kernels[i]);
    }
    if (r->n_kernels > 1) part[OUTCOME_METAL] = add_str(part[OUTCOME_METAL], r->msl); /* all in one text */
    for (i = 0; i < r->n_diags; i++) {
        const tmetal_diag *d = &r->diags[i];
        uint64_t           h = add_num(part[OUTCOME_DIAGS], d->code);
        h = add_str(add_str(add_str(h, d->message), d->note), d->help);
        part[OUTCOME_DIAGS] = add_str(add_place(add_place(h, &d->python), &d->ir), d->excerpt);
    }
    for (i = 0; i < r->n_remarks; i++) {
        const tmetal_remark *m = &r->remarks[i];
        uint64_t             h = add_str(add_str(add_num(part[OUTCOME_REMARKS], m->kind), m->about), m->text);
        part[OUTCOME_REMARKS] = add_str(add_place(add_place(h, &m->python), &m->ir), m->kernel);
    }
}

/* Ways to compile: one thing changed in each, and for three chips those that divide the work of a kernel differently. */
static const struct {
    const char *name, *gpu, *layouts, *alias;
    uint32_t    two_stage, threads, plain, mlx, parts, bounds, programs, operands, logging, summary;
} modes[] = {
#define ON(chip, gpu) \
    {chip "two-stage", gpu, NULL, NULL, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0}, \
    {chip "64-threads", gpu, NULL, NULL, 0, 64, 0, 0, 0, 0, 0, 0, 0, 0}, \
    {chip "plain", gpu, NULL, NULL, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, \
    {chip "mlx", gpu, NULL, NULL, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}, \
    {chip "bounds", gpu, NULL, NULL, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0}, \
    {chip "transform", gpu, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
    {"default", NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    ON("", NULL),
    {"tiled", NULL, "TILED", NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"column-major", NULL, "COLUMN_MAJOR", NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"m3-max", "apple-m3-max", NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    ON("m3-max-", "apple-m3-max"),
    {"m5", "apple-m5", NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    ON("m5-", "apple-m5"),
    {"a15", "apple-a15", NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"alias", NULL, NULL, "0=1", 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {"32-threads", NULL, NULL, NULL, 0, 32, 0, 0, 0, 0, 0, 0, 0, 0},
    {"parts", NULL, NULL, NULL, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0},
    {"one-program", NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0},
    {"staged", NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, TMETAL_OPERANDS_STAGED, 0, 0},
    {"direct", "apple-m3", NULL, NULL, 0, 0, 0, 0, 0, 0, 0, TMETAL_OPERANDS_DIRECT, 0, 0},
    {"logging", NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0}, /* and neither fused products nor doubles */
#undef ON
};
enum { MODES = sizeof modes / sizeof *modes };

const char *outcome_mode(int mode) {
    return mode < MODES ? modes[mode].name : NULL;
}

int outcome_is_summary(int mode) {
    return modes[mode].summary != 0;
}

int outcome_own_mode(const char *text, size_t len) {
    return 1 + (int)(hash_more(HASH_START, text, len) % (uint64_t)(MODES - 1));
}

static uint64_t add_summary(uint64_t h, const tmetal_transformation *x, tmetal_arena *arena) {
    return add_str(add_str(h, tmetal_transform_json(x, arena)), x->text);
}

/* The whole of it filled, also what a compile before has closed under the address sanitizer (tests/fuzz/header.c). */
static void fill_memory(void *memory, int fill, size_t bytes) {
    OPEN(memory, bytes);
    memset(memory, fill, bytes);
}

outcome outcome_of(const char *text, size_t len, int mode, void *memory, size_t bytes, int fill) {
    tmetal_options opt;
    tmetal_arena   arena;
    tmetal_result  r;
    tmetal_module *m = NULL;
    tmetal_transformation changed;
    outcome        o;
    const char    *printed;
    size_t         n;
    int            is_list = tmetal_is_ops(text, len), i;
    memset(&opt, 0, sizeof opt);
    opt.reports = 1;
    opt.gpu = modes[mode].gpu, opt.layouts = modes[mode].layouts, opt.alias = modes[mode].alias;
    opt.two_stage = modes[mode].two_stage, opt.threads = modes[mode].threads, opt.plain = modes[mode].plain;
    opt.mlx = modes[mode].mlx, opt.parts = modes[mode].parts, opt.bounds = modes[mode].bounds;
    opt.programs = modes[mode].programs, opt.operands = modes[mode].operands;
    opt.logging = opt.no_fusion = opt.no_fp64 = modes[mode].logging;
    opt.file = is_list ? "file.json" : "file.ttir";
    for (i = 0; i < OUTCOME_PARTS; i++) o.part[i] = HASH_START;
    fill_memory(memory, fill, bytes);
    arena = tmetal_arena_on(memory, bytes);
    o.code = is_list ? tmetal_compile_ops(text, len, &opt, &arena, &r) : tmetal_compile(text, len, &opt, &arena, &r);
    o.peak = arena.peak;
    add_result(o.part, &r);
    if (o.code == TMETAL_OK) o.part[OUTCOME_PLAN] = add_str(o.part[OUTCOME_PLAN], tmetal_plan_json(&r, &arena));
    if (modes[mode].mlx)
        for (i = 0; i < (int)r.n_kernels; i++) o.part[OUTCOME_PLAN] = add_str(o.part[OUTCOME_PLAN], tmetal_mlx_json(&r.kernels[i], &arena));
    fill_memory(memory, fill, bytes);
    arena = tmetal_arena_on(memory, bytes);
    if (modes[mode].summary) {
        if (tmetal_transform(text, len, &opt, &arena, &changed, &r) == TMETAL_OK)
            o.part[OUTCOME_PRINTED] = add_summary(o.part[OUTCOME_PRINTED], &changed, &arena);
    } else if (is_list) {
        if (tmetal_print_ops(text, len, &opt, &arena, &printed, &n, &r) == TMETAL_OK)
            o.part[OUTCOME_PRINTED] = add_str(o.part[OUTCOME_PRINTED], printed);
    } else if (tmetal_parse(text, len, &opt, &arena, &m, &r) == TMETAL_OK) {
        if (tmetal_print(m, &arena, &printed, &n, &r) == TMETAL_OK) o.part[OUTCOME_PRINTED] = add_str(o.part[OUTCOME_PRINTED], printed);
    }
    add_result(o.part, &r);
    for (o.hash = HASH_START, i = 0; i < OUTCOME_PARTS; i++) o.hash = add_num(o.hash, o.part[i]);
    return o;
}

void outcome_key(const char *text, size_t len, char key[TMETAL_KEY_BYTES]) {
    static const tmetal_gpu_limits live = {9, 10, 100, 32768, 512, 32, 128, 1, 2};
    tmetal_options opt;
    memset(&opt, 0, sizeof opt);
    opt.file = "file", opt.gpu = "apple-m2", opt.threads = 256, opt.max_errors = 7, opt.msl = 320;
    opt.no_fusion = opt.no_fp64 = opt.logging = opt.plain = opt.mlx = opt.reports = 1;
    opt.debug_bytes = 0x01020304, opt.alias = "0=1", opt.layouts = "TILED", opt.two_stage = 4;
    opt.live = opt.limits = &live;
    tmetal_key(text, len, &opt, key);
}
