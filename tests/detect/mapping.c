/* Tests of what libraries call a pattern, and of what a compiled kernel says it found. */
#define TMETAL_IMPLEMENTATION
#include "../../tmetal.h"

#include <stdio.h>
#include <string.h>

static int n_checks, n_failed;

static void check(int ok, const char *what, int line) {
    n_checks++;
    if (ok) return;
    n_failed++;
    printf("tests/detect/mapping.c:%d: %s\n", line, what);
}
#define CHECK(cond) check((cond) != 0, #cond, __LINE__)

static const tmetal_mapping *of_pattern(tmetal_pattern_kind kind, uint32_t form) {
    tmetal_pattern p;
    memset(&p, 0, sizeof p);
    p.kind = kind;
    p.form = form;
    return tmetal_pattern_mapping(&p);
}

static const tmetal_mapping *of_reduction(tmetal_reduce_kind kind, tmetal_nan_rule nan) {
    tmetal_reduction r;
    memset(&r, 0, sizeof r);
    r.kind = kind;
    r.nan = nan;
    return tmetal_reduction_mapping(&r);
}

static int says(const tmetal_mapping *m, const char *in_mps, const char *in_mlx) {
    return m && strstr(m->mps, in_mps) && strstr(m->mlx, in_mlx);
}

static void the_row_that_wants_most_is_taken(void) {
    uint32_t mask = TMETAL_FORM_MASK, causal = TMETAL_FORM_CAUSAL;
    CHECK(says(of_pattern(TMETAL_PATTERN_ATTENTION, TMETAL_FORM_MAX | TMETAL_FORM_SCALE), "valueTensor:scale:", "scale=scale)"));
    CHECK(says(of_pattern(TMETAL_PATTERN_ATTENTION, mask), "maskTensor:", "mask=mask"));
    CHECK(says(of_pattern(TMETAL_PATTERN_ATTENTION, mask | causal), "maskTensor:", "\"causal\""));
    CHECK(says(of_pattern(TMETAL_PATTERN_ATTENTION, TMETAL_FORM_BIAS), "maskTensor:", "mask=bias"));
    CHECK(says(of_pattern(TMETAL_PATTERN_MATMUL, TMETAL_FORM_LOOP), "MPSMatrixMultiplication", "mx.matmul"));
    CHECK(says(of_pattern(TMETAL_PATTERN_MATMUL, TMETAL_FORM_LOOP | TMETAL_FORM_BIAS), "addition", "mx.addmm"));
    CHECK(says(of_pattern(TMETAL_PATTERN_GELU, TMETAL_FORM_ERF), "erf", "gelu(x)"));
    CHECK(says(of_pattern(TMETAL_PATTERN_GELU, TMETAL_FORM_TANH), "tanh", "mx.tanh"));
    CHECK(says(of_pattern(TMETAL_PATTERN_SOFTMAX, TMETAL_FORM_BASE_2), "softMax", "math.log(2)"));
    CHECK(says(of_pattern(TMETAL_PATTERN_SOFTMAX, TMETAL_FORM_MAX), "softMax", "mx.softmax(x,"));
    CHECK(says(of_reduction(TMETAL_REDUCE_MAX, TMETAL_NAN_WINS), "PropagateNaN", "mx.max"));
    CHECK(says(of_reduction(TMETAL_REDUCE_MAX, TMETAL_NAN_IGNORED), "reductionMaximumWithTensor", "mx.max"));
    CHECK(says(of_reduction(TMETAL_REDUCE_ALL, TMETAL_NAN_NONE), "reductionAnd", "mx.all"));
}

static void what_no_library_has_gets_no_row(void) {
    tmetal_pattern near;
    memset(&near, 0, sizeof near);
    near.kind = TMETAL_PATTERN_SOFTMAX;
    near.near_miss = 1;
    CHECK(tmetal_pattern_mapping(&near) == NULL);
    CHECK(of_reduction(TMETAL_REDUCE_GENERIC, TMETAL_NAN_NONE) == NULL);
    CHECK(of_reduction(TMETAL_REDUCE_XOR, TMETAL_NAN_NONE) == NULL);
    CHECK(of_pattern(TMETAL_PATTERN_SOFTMAX, TMETAL_FORM_BASE_2 | TMETAL_FORM_MASK) == NULL);
    CHECK(of_pattern(TMETAL_PATTERN_RMS_NORM, TMETAL_FORM_BIAS) == NULL);
    CHECK(of_pattern(TMETAL_PATTERN_GELU, 0) == NULL);
}

/* Every row is reached by a form of its own, names both libraries and a source. */
static void every_row_counts(void) {
    size_t i;
    for (i = 0; i < tmetal_mapping_count(); i++) {
        const tmetal_mapping *m = tmetal_mapping_at(i);
        CHECK((m->which == TMETAL_MAPS_REDUCE ? of_reduction((tmetal_reduce_kind)m->kind, m->nan) : of_pattern((tmetal_pattern_kind)m->kind, m->form)) == m);
        CHECK(*m->mps && *m->mlx && *m->source && !(m->form & m->without));
    }
    CHECK(tmetal_mapping_at(i) == NULL);
}

/* -- A kernel says what it found ------------------------------------------------------------------------ */

/* softmax of a row, its maximum by a function that the kernel calls */
static const char source[] =
    "module {\n"
    "  tt.func public @softmax(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {\n"
    "    %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>\n"
    "    %a = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>\n"
    "    %b = tt.addptr %a, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>\n"
    "    %v = tt.load %b : tensor<128x!tt.ptr<f32>>\n"
    "    %m = tt.call @largest(%v) : (tensor<128xf32>) -> f32\n"
    "    %n = tt.splat %m : f32 -> tensor<128xf32>\n"
    "    %t = arith.subf %v, %n : tensor<128xf32>\n"
    "    %e = math.exp %t : tensor<128xf32>\n"
    "    %s = \"tt.reduce\"(%e) <{axis = 0 : i32}> ({\n"
    "    ^bb0(%l: f32, %r: f32):\n"
    "      %q = arith.addf %l, %r : f32\n"
    "      tt.reduce.return %q : f32\n"
    "    }) : (tensor<128xf32>) -> f32\n"
    "    %d = tt.splat %s : f32 -> tensor<128xf32>\n"
    "    %p = arith.divf %e, %d : tensor<128xf32>\n"
    "    %c = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>\n"
    "    %f = tt.addptr %c, %i : tensor<128x!tt.ptr<f32>>, tensor<128xi32>\n"
    "    tt.store %f, %p : tensor<128x!tt.ptr<f32>>\n"
    "    tt.return\n"
    "  }\n"
    "  tt.func private @largest(%v: tensor<128xf32>) -> f32 {\n"
    "    %m = \"tt.reduce\"(%v) <{axis = 0 : i32}> ({\n"
    "    ^bb0(%l: f32, %r: f32):\n"
    "      %q = arith.maxnumf %l, %r : f32\n"
    "      tt.reduce.return %q : f32\n"
    "    }) : (tensor<128xf32>) -> f32\n"
    "    tt.return %m : f32\n"
    "  }\n"
    "}\n";

static char memory[1 << 22];

static void a_kernel_is_found_whole_once_its_calls_are_inlined(void) {
    tmetal_arena         arena = tmetal_arena_on(memory, sizeof memory);
    tmetal_options       opt;
    tmetal_result        out;
    const tmetal_kernel *k;
    memset(&opt, 0, sizeof opt);
    opt.reports = 1;
    CHECK(tmetal_compile(source, sizeof source - 1, &opt, &arena, &out) == TMETAL_OK);
    if (out.code != TMETAL_OK) return;
    k = &out.kernels[0];
    CHECK(k->n_reductions == 2 && k->n_patterns == 1);
    if (k->n_patterns != 1) return;
    CHECK(k->patterns[0].kind == TMETAL_PATTERN_SOFTMAX && k->patterns[0].form == TMETAL_FORM_MAX && !k->patterns[0].near_miss);
    CHECK(strcmp(k->patterns[0].value, "%p") == 0 && strcmp(k->patterns[0].input, "%v") == 0 && k->patterns[0].shared == 0);
    CHECK(k->patterns[0].ir.line == 17);
    CHECK(says(tmetal_pattern_mapping(&k->patterns[0]), "softMaxWithTensor", "mx.softmax"));
}

/* The module as it stands: the function's own reduction is listed under its name, the softmax lacks its maximum. */
static void a_module_is_not_changed(void) {
    tmetal_arena     arena = tmetal_arena_on(memory, sizeof memory);
    tmetal_module   *module, *again;
    tmetal_detection found;
    tmetal_result    out;
    CHECK(tmetal_parse(source, sizeof source - 1, NULL, &arena, &module, &out) == TMETAL_OK);
    CHECK(tmetal_parse(source, sizeof source - 1, NULL, &arena, &again, &out) == TMETAL_OK);
    CHECK(tmetal_detect(module, &arena, &found, &out) == TMETAL_OK);
    CHECK(found.n_reductions == 2 && found.n_patterns == 1);
    CHECK(strcmp(found.reductions[1].function, "largest") == 0 && found.reductions[1].kind == TMETAL_REDUCE_MAX);
    CHECK(found.patterns[0].form == 0);
    CHECK(tmetal_same(module, again, &arena));
}

/* Every arena too small fails cleanly and says how much was missing. */
static void a_small_arena_fails_cleanly(void) {
    static char      small[1 << 20];
    size_t           cap;
    tmetal_module   *module;
    tmetal_detection found;
    tmetal_result    out;
    int              worked = 0;
    for (cap = 0; cap < sizeof small && !worked; cap += 997) {
        tmetal_arena arena = tmetal_arena_on(small, cap);
        if (tmetal_parse(source, sizeof source - 1, NULL, &arena, &module, &out) != TMETAL_OK) continue;
        if (tmetal_detect(module, &arena, &found, &out) == TMETAL_OK) worked = found.n_reductions == 2;
        else CHECK(out.code == TMETAL_E_ARENA && arena.need > cap && found.n_reductions == 0);
    }
    CHECK(worked);
}

int main(void) {
    the_row_that_wants_most_is_taken();
    what_no_library_has_gets_no_row();
    every_row_counts();
    a_kernel_is_found_whole_once_its_calls_are_inlined();
    a_module_is_not_changed();
    a_small_arena_fails_cleanly();
    printf("mapping: %d checks, %d failed\n", n_checks, n_failed);
    return n_failed != 0;
}
