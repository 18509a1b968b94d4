/* Tests of the GPU table: lookups, overrides, sources. Exits 1 when a check fails. */
#define TMETAL_IMPLEMENTATION
#include "../../tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int n_checks, n_failed;

static void check(int ok, const char *what, int line) {
    n_checks++;
    if (ok) return;
    n_failed++;
    printf("tests/chips/test.c:%d: %s\n", line, what);
}
#define CHECK(cond) check((cond) != 0, #cond, __LINE__)

static int named(const char *text, uint32_t cores, const char *row) {
    const tmetal_gpu *g = tmetal_gpu_find(text, cores);
    return g ? row && strcmp(g->name, row) == 0 : !row;
}

static void every_text_of_a_host_finds_its_chip(void) {
    CHECK(named("apple-m2", 0, "apple-m2"));
    CHECK(named("Apple M1", 0, "apple-m1"));
    CHECK(named("Apple M1", 7, "apple-m1-7"));
    CHECK(named("Apple M1 Pro", 0, "apple-m1-pro"));
    CHECK(named("Apple M3 Max", 30, "apple-m3-max-30"));
    CHECK(named("Apple M3 Max", 40, "apple-m3-max"));
    CHECK(named("apple-m3-max", 30, "apple-m3-max-30"));
    CHECK(named("Apple M3 Max", 33, "apple-m3-max")); /* no such bin: the full one */
    CHECK(named("Apple A17 Pro GPU", 0, "apple-a17-pro"));
    CHECK(named("Apple M4 GPU", 9, "apple-m4-9"));
    CHECK(named("applegpu_g13s", 0, "apple-m1-pro")); /* the smallest that reports it */
    CHECK(named("applegpu_g13s", 24, "apple-m1-max-24"));
    CHECK(named("applegpu_g17p", 0, "apple-a18"));
    CHECK(named("applegpu_g17g", 0, "apple-m5"));
    CHECK(named("apple9", 0, "apple9"));
    CHECK(named("apple12", 0, NULL));
    CHECK(named("Apple M9", 0, NULL));
    CHECK(named("Apple M", 0, NULL));
    CHECK(named("Apple M1 Pro Max", 0, NULL));
    CHECK(named("Apple Paravirtual device", 0, NULL));
    CHECK(named("", 0, NULL)); /* rows without an architecture do not answer to "" */
    CHECK(tmetal_gpu_find(NULL, 0) == NULL);
}

static void what_is_nearer_the_caller_wins(void) {
    tmetal_gpu_limits live, own;
    tmetal_gpu        g;
    memset(&live, 0, sizeof live);
    memset(&own, 0, sizeof own);
    CHECK(tmetal_gpu_resolve("apple-m2", NULL, NULL, &g) && g.gbps == 100 && g.tg_bytes == 32768);
    live.gbps = 90;
    live.tg_bytes = 65536;
    CHECK(tmetal_gpu_resolve("apple-m2", &live, NULL, &g) && g.gbps == 90 && g.tg_bytes == 65536 && g.cores == 10);
    own.tg_bytes = 16384;
    CHECK(tmetal_gpu_resolve("apple-m2", &live, &own, &g) && g.gbps == 90 && g.tg_bytes == 16384);
    live.cores = 8;
    CHECK(tmetal_gpu_resolve("apple-m2", &live, &own, &g) && strcmp(g.name, "apple-m2-8") == 0);
    own.cores = 10;
    CHECK(tmetal_gpu_resolve("apple-m2", &live, &own, &g) && strcmp(g.name, "apple-m2") == 0);
}

/* The same chip in an iPad: of Apple8 Macs alone have 64-bit atomics. */
static void an_ipad_is_no_mac(void) {
    tmetal_gpu mac, ipad;
    CHECK(tmetal_gpu_resolve("Apple M2", NULL, NULL, &mac) && mac.mac && (mac.features & TMETAL_GPU_ATOMIC_64));
    CHECK(tmetal_gpu_resolve("Apple M2 GPU", NULL, NULL, &ipad) && !ipad.mac && strcmp(ipad.name, "apple-m2") == 0);
    CHECK(ipad.features == (mac.features & ~(uint32_t)TMETAL_GPU_ATOMIC_64));
    CHECK(tmetal_gpu_resolve("Apple M4", NULL, NULL, &mac) && tmetal_gpu_resolve("Apple M4 GPU", NULL, NULL, &ipad));
    CHECK(!ipad.mac && ipad.features == mac.features);
}

static void an_unknown_chip_is_its_family(void) {
    tmetal_gpu_limits live;
    tmetal_gpu        g;
    memset(&live, 0, sizeof live);
    CHECK(!tmetal_gpu_resolve("Apple M9", NULL, NULL, &g) && g.family == 7);
    CHECK(!tmetal_gpu_resolve(NULL, NULL, NULL, &g));
    live.family = 9;
    CHECK(tmetal_gpu_resolve("Apple M9", &live, NULL, &g) && g.family == 9 && g.cores == 0 && g.gbps == 0);
    live.family = 14;
    CHECK(tmetal_gpu_resolve("Apple M9", &live, NULL, &g) && g.family == 11);
    live.family = 3;
    CHECK(!tmetal_gpu_resolve("Apple A10", &live, NULL, &g));
    live.family = 10; /* the device knows its own family better than the table does */
    CHECK(tmetal_gpu_resolve("apple-m3", &live, NULL, &g) && g.family == 10 && (g.features & TMETAL_GPU_MATRIX_UNIT) &&
          g.cores == 10 && strcmp(g.name, "apple-m3") == 0);
}

static void features_begin_where_the_list_says(void) {
    size_t i, k;
    for (i = 0; i < tmetal_gpu_count(); i++) {
        const tmetal_gpu *g = tmetal_gpu_at(i);
        for (k = 0; k < tmetal_gpu_feature_count(); k++) {
            tmetal_gpu_feature_info f = tmetal_gpu_feature_at(k);
            uint32_t                first = g->mac ? f.mac_family : f.family;
            CHECK(((g->features & f.bit) != 0) == (first && g->family >= first)); /* 0: none is known to */
        }
        CHECK(g->bf16 == ((g->features & TMETAL_GPU_BF16_MATH) != 0));
    }
    CHECK(tmetal_gpu_find("apple-m2", 0)->features & TMETAL_GPU_ATOMIC_64);
    CHECK(!(tmetal_gpu_find("apple-a15", 0)->features & TMETAL_GPU_ATOMIC_64));
    CHECK(!(tmetal_gpu_find("apple-m4", 0)->features & TMETAL_GPU_MATRIX_UNIT));
}

static void features_can_be_given_and_taken(void) {
    tmetal_gpu_limits own;
    tmetal_gpu        g;
    memset(&own, 0, sizeof own);
    own.features = TMETAL_GPU_ATOMIC_64;
    own.lacks = TMETAL_GPU_BF16_MATH;
    CHECK(tmetal_gpu_resolve("apple-m3", NULL, &own, &g) && !(g.features & TMETAL_GPU_BF16_MATH) && !g.bf16);
    CHECK(tmetal_gpu_resolve("apple-m1", NULL, &own, &g) && (g.features & TMETAL_GPU_ATOMIC_64));
}

/* Unknown figures are 0, known ones are not; every one names its source. */
static void every_figure_has_a_source(void) {
    size_t i, k;
    for (i = 0; i < tmetal_gpu_count(); i++)
        for (k = 0; k < tmetal_gpu_fact_count(); k++) {
            tmetal_gpu_fact f = tmetal_gpu_fact_at(tmetal_gpu_at(i), k);
            int             empty = !f.value && !*f.text;
            CHECK((f.confidence == TMETAL_UNKNOWN) == empty);
            CHECK(*f.source && f.confidence != TMETAL_GIVEN);
        }
    CHECK(tmetal_gpu_fact_at(tmetal_gpu_at(0), 999).figure == NULL);
}

static void a_figure_that_was_given_says_so(void) {
    tmetal_gpu_limits own;
    tmetal_gpu        g;
    size_t            k;
    memset(&own, 0, sizeof own);
    own.tg_bytes = 65536;
    CHECK(tmetal_gpu_resolve("apple-m3", NULL, &own, &g));
    for (k = 0; k < tmetal_gpu_fact_count(); k++) {
        tmetal_gpu_fact f = tmetal_gpu_fact_at(&g, k);
        CHECK((f.confidence == TMETAL_GIVEN) == (strcmp(f.figure, "tg_bytes") == 0));
    }
}

static void rows_are_in_order_and_unlike(void) {
    size_t i, k;
    for (i = 0; i < tmetal_gpu_count(); i++)
        for (k = i + 1; k < tmetal_gpu_count(); k++) {
            const tmetal_gpu *a = tmetal_gpu_at(i), *b = tmetal_gpu_at(k);
            CHECK(strcmp(a->name, b->name) != 0);
            if (strcmp(a->device, b->device) == 0) CHECK(a->cores > b->cores && a->family == b->family);
        }
    CHECK(tmetal_gpu_at(tmetal_gpu_count()) == NULL);
}

/* -- Compiling for them ------------------------------------------------------------------------------- */

static const char copy[] =
    "module {\n"
    "  tt.func public @copy(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {\n"
    "    %i = tt.make_range {end = 1024 : i32, start = 0 : i32} : tensor<1024xi32>\n"
    "    %a = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>\n"
    "    %b = tt.addptr %a, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>\n"
    "    %v = tt.load %b : tensor<1024x!tt.ptr<f32>>\n"
    "    %c = tt.splat %y : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>\n"
    "    %d = tt.addptr %c, %i : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>\n"
    "    tt.store %d, %v : tensor<1024x!tt.ptr<f32>>\n"
    "    tt.return\n"
    "  }\n"
    "}\n";

static tmetal_code compile(const tmetal_options *opt, tmetal_result *out) {
    static char  memory[1 << 22];
    tmetal_arena arena = tmetal_arena_on(memory, sizeof memory);
    return tmetal_compile(copy, sizeof copy - 1, opt, &arena, out);
}

static void limits_reach_the_plan(void) {
    tmetal_options    opt;
    tmetal_gpu_limits own, live;
    tmetal_result     out;
    memset(&opt, 0, sizeof opt);
    memset(&own, 0, sizeof own);
    memset(&live, 0, sizeof live);
    opt.gpu = "Apple M3 Max";
    opt.limits = &own;
    CHECK(compile(&opt, &out) == TMETAL_OK && strcmp(out.gpu, "apple-m3-max") == 0 && out.kernels[0].threads == 128);
    own.threads = 100;
    CHECK(compile(&opt, &out) == TMETAL_OK && out.kernels[0].threads == 64);
    own.threads = 16;
    CHECK(compile(&opt, &out) == TMETAL_E_GPU_LIMIT);
    own.threads = 0;
    own.simd = 16;
    CHECK(compile(&opt, &out) == TMETAL_E_GPU_LIMIT);
    own.simd = 0;
    opt.gpu = "Apple M9";
    CHECK(compile(&opt, &out) == TMETAL_E_GPU_NAME);
    live.family = 10;
    opt.live = &live;
    CHECK(compile(&opt, &out) == TMETAL_OK && strcmp(out.gpu, "apple10") == 0);
    opt.gpu = NULL;
    CHECK(compile(&opt, &out) == TMETAL_OK && strcmp(out.gpu, "apple10") == 0);
}

int main(void) {
    every_text_of_a_host_finds_its_chip();
    what_is_nearer_the_caller_wins();
    an_ipad_is_no_mac();
    an_unknown_chip_is_its_family();
    features_begin_where_the_list_says();
    features_can_be_given_and_taken();
    every_figure_has_a_source();
    a_figure_that_was_given_says_so();
    rows_are_in_order_and_unlike();
    limits_reach_the_plan();
    printf("chips: %d checks, %d failed\n", n_checks, n_failed);
    return n_failed != 0;
}
