/* What a column of the GPU table changes in the text: with the feature and without it, and nothing else.
 *
 *     choices FILE.ttir...
 *
 * Each FILE is compiled for two GPUs, and for the first with the columns of the second: the same bytes must
 * come out, or something else than a column decided. Exits 1 when a check fails. */
#define TMETAL_IMPLEMENTATION
#include "../../tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_checks, n_failed, n_compared;

static void check(int ok, const char *what, const char *which, const char *why) {
    n_checks++;
    if (ok) return;
    n_failed++;
    printf("tests/chips/choices.c: %s: %s%s\n", what, which, why);
}

typedef struct source {
    char  *text;
    size_t len;
} source;

static int read_source(const char *path, source *s) {
    FILE *f = fopen(path, "rb");
    long  n;
    if (!f || fseek(f, 0, SEEK_END) != 0 || (n = ftell(f)) < 0) return 0;
    rewind(f);
    s->len = (size_t)n;
    s->text = (char *)malloc(s->len + 1);
    n = s->text && fread(s->text, 1, s->len, f) == s->len;
    fclose(f);
    return n != 0;
}

/* A compilation with memory of its own. */
typedef struct made {
    tmetal_arena  arena;
    tmetal_result r;
} made;

static uint32_t asked, version; /* of options.operands, .msl */

static int compile(const source *s, const char *gpu, const tmetal_gpu_limits *limits, made *m) {
    tmetal_options opt;
    size_t         bytes = tmetal_arena_bound(s->len);
    memset(&opt, 0, sizeof opt);
    opt.gpu = gpu;
    opt.reports = 1; /* remarks say what was chosen */
    opt.limits = limits;
    opt.operands = asked;
    opt.msl = version;
    m->arena = tmetal_arena_on(malloc(bytes), bytes);
    if (!m->arena.base) exit(2);
    return tmetal_compile(s->text, s->len, &opt, &m->arena, &m->r) == TMETAL_OK;
}

static int has_remark(const tmetal_result *r, const char *topic, const char *part) {
    size_t i;
    for (i = 0; i < r->n_remarks; i++)
        if (strcmp(r->remarks[i].about, topic) == 0 && strstr(r->remarks[i].text, part)) return 1;
    return 0;
}

/* The columns of one GPU as limits for another. */
static void columns_of(const tmetal_gpu *from, const tmetal_gpu *to, tmetal_gpu_limits *l) {
    memset(l, 0, sizeof *l);
    l->cores = from->cores;
    l->gbps = from->gbps;
    l->tg_bytes = from->tg_bytes;
    l->threads = from->threads;
    l->registers = from->registers;
    l->features = from->features & ~to->features;
    l->lacks = to->features & ~from->features;
}

static void only_columns_decide(const char *path, const char *one, const char *other) {
    source            s;
    made              a, b;
    tmetal_gpu_limits l;
    int               ok_a, ok_b;
    if (!read_source(path, &s)) exit(2);
    columns_of(tmetal_gpu_find(other, 0), tmetal_gpu_find(one, 0), &l);
    ok_a = compile(&s, one, &l, &a);
    ok_b = compile(&s, other, NULL, &b);
    n_compared += ok_b;
    check(ok_a == ok_b && (!ok_a || strcmp(a.r.msl, b.r.msl) == 0), "something else than a column decided", path, "");
    free(a.arena.base);
    free(b.arena.base);
    free(s.text);
}

typedef struct row {
    uint32_t    feature;
    const char *name, *path, *without_gpu, *with_gpu; /* with_gpu NULL: every row of the table has it; it is taken away */
    const char *with, *without;                       /* what stands in one text alone */
} row;

#define RECORDED "tests/kernels/recorded/"
static const row rows[] = {
    {TMETAL_GPU_DIRECT_DOT, "DIRECT_DOT", "tests/kernels/lookalikes/thin_product.ttir", "apple-m1", "apple-m3", "thread_elements()[0] = a.x", "a_read["},
    {TMETAL_GPU_DIRECT_DOT, "DIRECT_DOT", "tests/kernels/lookalikes/thin_product_turned.ttir", "apple-m2", "apple-m4", "thread_elements()[0] = a.x", "b_read["},
    {TMETAL_GPU_SHUFFLE_FILL, "SHUFFLE_FILL", RECORDED "scans-max_i32_reverse.ttir", "apple-m1", "apple-m2", "simd_shuffle_and_fill_down(", "lane < 16 ? max("},
    {TMETAL_GPU_SHUFFLE_FILL, "SHUFFLE_FILL", "tests/kernels/lookalikes/scan_i8_wraps.ttir", "apple-a14", "apple-a15", "simd_shuffle_and_fill_up(", "lane >= 1 ? char("},
    {TMETAL_GPU_BF16_MATH, "BF16_MATH", RECORDED "arithmetic-ops_bf16.ttir", "apple-m2", "apple-m3", " = x + y;", "float4(*(device const bfloat4 *)"},
    {TMETAL_GPU_ATOMIC_64, "ATOMIC_64", "tests/chips/kernels/umax_64.ttir", "apple-a16", "apple-m2", "atomic_max_explicit((device atomic_ulong *)", "threadgroup_barrier("},
    {TMETAL_GPU_FLOAT_ATOMICS, "FLOAT_ATOMICS", RECORDED "atomics-add_f32.ttir", "apple-m1", NULL, "atomic_fetch_add_explicit((device atomic_float *)", "fetch_fadd_f32("},
    {TMETAL_GPU_SIMD_REDUCE, "SIMD_REDUCE", RECORDED "reductions-sum_bf16.ttir", "apple-m1", NULL, "simd_sum(", "simd_shuffle_xor("},
    {TMETAL_GPU_SIMD_MATRIX, "SIMD_MATRIX", RECORDED "dots-f32_ieee.ttir", "apple-m1", NULL, "simdgroup_multiply_accumulate(", " = fma("},
};

/* With and without: either text has its own way and not the other's, says so, and is the one that the other
 * GPU's text becomes when this one column is changed. */
static void a_feature_changes_the_text(const row *r) {
    source            s;
    made              with, without, changed;
    tmetal_gpu_limits gone;
    char              has[80], lacks[80];
    int               kernel_uses = r->feature != TMETAL_GPU_DIRECT_DOT && r->feature != TMETAL_GPU_SIMD_MATRIX;
    if (!read_source(r->path, &s)) {
        check(0, r->path, "cannot be read", "");
        return;
    }
    memset(&gone, 0, sizeof gone);
    gone.lacks = r->feature;
    check(compile(&s, r->with_gpu ? r->with_gpu : r->without_gpu, NULL, &with), r->name, "does not compile with it: ", r->path);
    check(compile(&s, r->without_gpu, &gone, &without), r->name, "does not compile without it: ", r->path);
    if (with.r.code == TMETAL_OK && without.r.code == TMETAL_OK) {
        check(strstr(with.r.msl, r->with) != NULL, r->name, "the text with it lacks ", r->with);
        check(strstr(with.r.msl, r->without) == NULL, r->name, "the text with it still has ", r->without);
        check(strstr(without.r.msl, r->with) == NULL, r->name, "the text without it has ", r->with);
        check(strstr(without.r.msl, r->without) != NULL, r->name, "the text without it lacks ", r->without);
        sprintf(has, "has %s", r->name);
        sprintf(lacks, "lacks %s", r->name);
        check(!(r->feature != TMETAL_GPU_SIMD_MATRIX) || has_remark(&with.r, "chip", has), r->name, "no remark says that the GPU has it: ", r->path);
        check(!kernel_uses || has_remark(&without.r, "chip", lacks), r->name, "no remark says that the GPU lacks it: ", r->path);
    }
    if (r->with_gpu) { /* the row's own GPU without it, and the other with it */
        tmetal_gpu_limits given;
        made              plain;
        memset(&given, 0, sizeof given);
        given.features = r->feature;
        check(compile(&s, r->without_gpu, NULL, &plain) && strcmp(plain.r.msl, without.r.msl) == 0, r->name, "its own row lacks it, yet taking it away changes the text of ", r->without_gpu);
        check(compile(&s, r->without_gpu, &given, &changed) && strcmp(changed.r.msl, with.r.msl) == 0, r->name, "this one column does not make the text of ", r->with_gpu);
        free(plain.arena.base);
        free(changed.arena.base);
    }
    free(with.arena.base);
    free(without.arena.base);
    free(s.text);
}

/* Operands that several simdgroups read are staged on every GPU, unless the caller wants them direct; those of one
 * simdgroup alone as the GPU likes it. */
static void operands_are_shared_or_direct(void) {
    static const struct { const char *path, *gpu; uint32_t operands; int staged; } ways[] = {
        {RECORDED "dots-dot_accumulator.ttir", "apple-m3", TMETAL_OPERANDS_AUTO, 1},
        {RECORDED "dots-dot_accumulator.ttir", "apple-m3", TMETAL_OPERANDS_DIRECT, 0},
        {RECORDED "dots-dot_accumulator.ttir", "apple-m1", TMETAL_OPERANDS_DIRECT, 0},
        {RECORDED "dots-batched.ttir", "apple-m3", TMETAL_OPERANDS_AUTO, 0}, /* a simdgroup a batch */
        {RECORDED "dots-epilogue.ttir", "apple-m3", TMETAL_OPERANDS_AUTO, 0},
        {RECORDED "dots-epilogue.ttir", "apple-m3", TMETAL_OPERANDS_STAGED, 1},
        {RECORDED "dots-epilogue.ttir", "apple-m1", TMETAL_OPERANDS_AUTO, 0},
        {RECORDED "dots-dot_accumulator.ttir", "apple-m1", TMETAL_OPERANDS_AUTO, 1}};
    size_t i;
    for (i = 0; i < sizeof ways / sizeof *ways; i++) {
        source s;
        made   m;
        if (!read_source(ways[i].path, &s)) exit(2);
        asked = ways[i].operands;
        check(compile(&s, ways[i].gpu, NULL, &m), "does not compile for", ways[i].gpu, ways[i].path);
        check(m.r.n_kernels && (strstr(m.r.msl, "b_read[") != NULL) == ways[i].staged, "operands go the other way", ways[i].gpu, ways[i].path);
        free(m.arena.base);
        free(s.text);
    }
    asked = TMETAL_OPERANDS_AUTO;
}

/* Accumulators of a simdgroup: 16, fewer where registers are. */
static void simdgroups_follow_cores_and_registers(void) {
    static const struct { const char *gpu; uint32_t registers, threads; } sizes[] = {
        {"apple-m1", 0, 128}, {"apple-m1", 64, 256}, {"apple-m1-pro", 0, 128}, {"apple-m1-pro", 64, 256}, {"apple-m3", 0, 128}, {"apple-m3", 64, 256}};
    source            s;
    size_t            i;
    tmetal_gpu_limits l;
    made              m;
    if (!read_source("tests/kernels/recorded/dots-sixteen_warps.ttir", &s)) exit(2);
    for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(&l, 0, sizeof l);
        l.registers = sizes[i].registers;
        check(compile(&s, sizes[i].gpu, &l, &m), "does not compile for", sizes[i].gpu, "");
        check(m.r.n_kernels == 1 && m.r.kernels[0].threads == sizes[i].threads, "other threads than wanted on", sizes[i].gpu, "");
        if (m.r.n_kernels && m.r.kernels[0].threads != sizes[i].threads) printf("  %u\n", m.r.kernels[0].threads);
        free(m.arena.base);
    }
    free(s.text);
}

/* The plan names the first family that runs the text; what only pays does not count. */
static void the_plan_names_the_family_that_the_text_needs(void) {
    static const struct { const char *path, *gpu; uint32_t family; } needs[] = {
        {RECORDED "scans-max_i32_reverse.ttir", "apple-m1", 7}, {RECORDED "scans-max_i32_reverse.ttir", "apple-m4", 8},
        {"tests/chips/kernels/umax_64.ttir", "apple-m1", 7},    {"tests/chips/kernels/umax_64.ttir", "apple-m2", 8},
        {"tests/chips/kernels/umax_64.ttir", "apple-a18", 9},   {RECORDED "dots-raw_matmul.ttir", "apple-m5", 7},
        {RECORDED "arithmetic-ops_bf16.ttir", "apple-m3", 7}};
    size_t i;
    for (i = 0; i < sizeof needs / sizeof *needs; i++) {
        source s;
        made   m;
        if (!read_source(needs[i].path, &s)) exit(2);
        check(compile(&s, needs[i].gpu, NULL, &m) && m.r.kernels[0].family == needs[i].family, "another family than the text needs", needs[i].path, needs[i].gpu);
        free(m.arena.base);
        free(s.text);
    }
}

/* What we do not print is said. */
static void matrix_units_are_missed_aloud(void) {
    source s;
    made   m;
    if (!read_source(RECORDED "dots-raw_matmul.ttir", &s)) exit(2);
    check(compile(&s, "apple-m5", NULL, &m) && has_remark(&m.r, "chip", "MATRIX_UNIT") && !strstr(m.r.msl, "matmul2d"), "matrix units", "no remark", "");
    free(m.arena.base);
    check(compile(&s, "apple-m4", NULL, &m) && !has_remark(&m.r, "chip", "MATRIX_UNIT"), "matrix units", "a remark where there are none", "");
    free(m.arena.base);
    free(s.text);
}

/* Products by matmul2d: those that its types and shapes allow, on a GPU that is said to have TENSOR_OPS, and then the
 * plan asks for the language and the system that have it. */
static void tensor_operations_where_they_fit(void) {
    static const struct { const char *path, *with, *macos, *why; } ways[] = {
        {RECORDED "dots-raw_matmul.ttir", "execution_simdgroup>", "26.0", NULL},
        {RECORDED "dots-dot_transposed.ttir", ".run(", "26.0", NULL},
        {RECORDED "dots-i8.ttir", "int32_t>()", "26.0", NULL},
        {RECORDED "dots-f32_ieee.ttir", "false, false, false", "26.0", NULL},
        {RECORDED "dots-f32_tf32.ttir", "false, false, true", "26.0", NULL}, /* may lose bits */
        {RECORDED "dots-f32_tf32x3.ttir", "false, false, false", "26.0", NULL},
        {RECORDED "dots-computed_operand.ttir", ".run(", "26.0", NULL},
        {RECORDED "dots-batched.ttir", NULL, "13.0", "a batch"},
        {RECORDED "dots-f64.ttir", NULL, "13.0", "types"},
        {RECORDED "dots-dot_accumulator_i32.ttir", ".run(", "26.0", NULL},
        {"tests/chips/kernels/dot_8.ttir", NULL, "13.0", "16 or more"},
        {"tests/chips/kernels/dot_bf16.ttir", "remove_addrspace_t<", "26.1", NULL}};
    tmetal_gpu_limits has;
    source s;
    made   m;
    size_t i;
    memset(&has, 0, sizeof has);
    has.features = TMETAL_GPU_TENSOR_OPS;
    for (i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (!read_source(ways[i].path, &s)) exit(2);
        check(compile(&s, "apple-m5", &has, &m), "does not compile with TENSOR_OPS: ", ways[i].path, "");
        if (m.r.n_kernels) {
            check((strstr(m.r.msl, ".run(") != NULL) == (ways[i].with != NULL), "TENSOR_OPS", ways[i].path, ": the other way");
            check(!ways[i].with || strstr(m.r.msl, ways[i].with), "TENSOR_OPS: the text lacks ", ways[i].with ? ways[i].with : "", ways[i].path);
            check(!ways[i].with || !strstr(m.r.msl, "simdgroup_multiply"), "TENSOR_OPS: and simdgroup_matrix", ways[i].path, "");
            check(!ways[i].why || has_remark(&m.r, "dot", ways[i].why), "TENSOR_OPS: no remark says why not ", ways[i].path, "");
            check(strcmp(m.r.kernels[0].macos, ways[i].macos) == 0, "TENSOR_OPS: another system ", m.r.kernels[0].macos, ways[i].path);
            check(m.r.kernels[0].msl_version == (ways[i].with ? 400u : 300u) && strcmp(m.r.kernels[0].math_mode, "safe") == 0, "TENSOR_OPS: another language than the text's, ", ways[i].path, "");
        }
        free(m.arena.base);
        check(compile(&s, "apple-m5", NULL, &m) && !strstr(m.r.msl, "__HAVE_TENSOR__"), "tensors though no device has run them: ", ways[i].path, "");
        free(m.arena.base);
        if (i == 0) { /* a caller who wants another language, a GPU that cannot */
            version = 320;
            check(compile(&s, "apple-m5", &has, &m) && !strstr(m.r.msl, ".run(") && has_remark(&m.r, "chip", "before 4.0"), "TENSOR_OPS: with language 3.2", "", "");
            free(m.arena.base);
            version = 0;
            has.lacks = TMETAL_GPU_TENSOR_API;
            check(!compile(&s, "apple-m5", &has, &m) && m.r.code == TMETAL_E_GPU_LIMIT, "TENSOR_OPS without TENSOR_API", "", "");
            free(m.arena.base);
            has.lacks = 0;
        }
        free(s.text);
    }
}

int main(int argc, char **argv) {
    size_t k;
    int    i;
    for (k = 0; k < sizeof rows / sizeof *rows; k++) a_feature_changes_the_text(&rows[k]);
    operands_are_shared_or_direct();
    simdgroups_follow_cores_and_registers();
    the_plan_names_the_family_that_the_text_needs();
    matrix_units_are_missed_aloud();
    tensor_operations_where_they_fit();
    for (i = 1; i < argc; i++) {
        only_columns_decide(argv[i], "apple-m1", "apple-m3-max");
        only_columns_decide(argv[i], "apple-m5", "apple-a15");
    }
    check(n_compared >= 2 * (argc - 1) * 9 / 10, "texts compared", "most files did not compile", "");
    printf("choices: %d checks, %d failed; %d texts made from another GPU's columns\n", n_checks, n_failed, n_compared);
    return n_failed != 0;
}
