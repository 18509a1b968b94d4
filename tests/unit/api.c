/* The public functions: what they promise, and what they say to wrong calls. */
#define TMETAL_TRITON
#include "unit.h"
#include "../robust/grows.h"

#include <pthread.h>
#include <time.h>

static const char scale[] =
    "tt.func public @scale(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %a: f32) {\n"
    "  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>\n"
    "  %px = tt.splat %x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>\n"
    "  %qx = tt.addptr %px, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>\n"
    "  %v = tt.load %qx : tensor<256x!tt.ptr<f32>>\n"
    "  %s = tt.splat %a : f32 -> tensor<256xf32>\n"
    "  %w = arith.mulf %v, %s : tensor<256xf32>\n"
    "  %py = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>\n"
    "  %qy = tt.addptr %py, %i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>\n"
    "  tt.store %qy, %w : tensor<256x!tt.ptr<f32>>\n"
    "  tt.return\n"
    "}\n";

static tmetal_code compile(const char *text, const tmetal_options *opt, tmetal_arena *arena, tmetal_result *r) { return tmetal_compile(text, strlen(text), opt, arena, r); }

static void refused(const char *text, const tmetal_options *opt, tmetal_code code) {
    tmetal_arena  arena = arena_at(0);
    tmetal_result r;
    tmetal_code   got = compile(text, opt, &arena, &r);
    ck_assert_msg(got == code, "TM%d, wanted TM%d: %s", (int)got, (int)code, r.n_diags ? r.diags[0].message : "");
    ck_assert_int_eq(r.code, code);
    ck_assert_uint_eq(r.n_kernels, 0);
    ck_assert_uint_ge(r.n_diags, 1);
    ck_assert_int_eq(r.diags[0].code, code);
    ck_assert_ptr_nonnull(r.diags[0].note);
    ck_assert_ptr_nonnull(r.diags[0].help);
}

/* -- Results --------------------------------------------------------------------------------- */

START_TEST(a_kernel_comes_with_all_that_a_launch_needs) {
    tmetal_arena  arena = arena_at(0);
    tmetal_result r;
    const tmetal_kernel *k;
    uint32_t i, loads = 0;
    says_ok(compile(scale, asking(), &arena, &r), &r);
    ck_assert_uint_eq(r.n_kernels, 1);
    ck_assert_str_eq(r.gpu, "apple-m1");
    k = &r.kernels[0];
    ck_assert_str_eq(k->name, "scale");
    ck_assert_uint_eq(strlen(k->msl), k->msl_len);
    ck_assert_ptr_nonnull(strstr(k->msl, k->entry));
    ck_assert_uint_eq(k->threads, 32);
    ck_assert_uint_eq(k->grid[0] | k->grid[1] | k->grid[2], 0);
    ck_assert_uint_eq(k->n_args, 3);
    ck_assert_uint_eq(k->args[0].access, TMETAL_READS);
    ck_assert_uint_eq(k->args[0].align, 16);
    ck_assert_uint_eq(k->args[1].access, TMETAL_WRITES);
    ck_assert_int_eq(k->args[2].kind, TMETAL_ARG_BYTES);
    ck_assert_uint_eq(k->args[2].size, 4);
    ck_assert_str_eq(k->args[2].type, "f32");
    for (i = 0; i < k->n_layouts; i++) {
        const tmetal_layout_row *l = &k->layouts[i];
        ck_assert(*l->reason && *l->type && *l->value && l->map);
        if (strcmp(l->value, "%v") != 0) continue;
        loads++;
        ck_assert_int_eq(l->layout, TMETAL_ROW_MAJOR);
        ck_assert_str_eq(l->map, "register 1 2 128 | lane 4 8 16 32 64");
        ck_assert_uint_eq(l->width, 4);
        ck_assert_uint_eq(l->lines, 4);
        ck_assert_uint_eq(l->fewest, 4);
        ck_assert_uint_eq(l->ir.line, 5);
        ck_assert_uint_eq(l->ir.col, 8);
    }
    ck_assert_uint_eq(loads, 1);
}
END_TEST

static const tmetal_remark *remark(const tmetal_result *r, tmetal_remark_kind kind, const char *about, const char *part) {
    uint32_t i;
    for (i = 0; i < r->n_remarks; i++)
        if (r->remarks[i].kind == kind && strcmp(r->remarks[i].about, about) == 0 && strstr(r->remarks[i].text, part)) return &r->remarks[i];
    return NULL;
}

START_TEST(remarks_say_what_was_chosen_and_why) {
    static const struct {
        const char        *file;
        tmetal_remark_kind kind;
        const char        *about, *part;
    } rows[] = {
        {"examples/kernels/softmax.ttir", TMETAL_APPLIED, "threads", "256 elements"},
        {"examples/kernels/softmax.ttir", TMETAL_FOUND, "reduce", "axis 0 of tensor<256xf32>"},
        {"examples/kernels/attention.ttir", TMETAL_APPLIED, "memory", "of threadgroup memory"},
        {"examples/kernels/matmul.ttir", TMETAL_APPLIED, "dot", "32 x 32 x 32 on simdgroup_matrix"},
        {"examples/kernels/transpose.ttir", TMETAL_APPLIED, "exchange", "through threadgroup memory"},
        {"examples/kernels/attention.ttir", TMETAL_APPLIED, "access", "4 neighbours at once"},
        {"examples/kernels/layer_norm.ttir", TMETAL_FOUND, "access", "mask may change between neighbours"},
        {"tests/kernels/lookalikes/product_shorts.ttir", TMETAL_MISSED, "dot", "scalar multiply-adds: simdgroup_matrix takes f16, bf16 and f32, not i16"},
        {"tests/kernels/recorded/control-early_returns_in_a_row.ttir", TMETAL_APPLIED, "control", "early returns are flattened"},
    };
    tmetal_arena  arena = arena_at(0);
    tmetal_result r;
    size_t        n;
    char         *text = slurp(rows[_i].file, &n);
    says_ok(tmetal_compile(text, n, asking(), &arena, &r), &r);
    free(text);
    ck_assert_msg(remark(&r, rows[_i].kind, rows[_i].about, rows[_i].part) != NULL, "%s: no remark [%s] '%s'", rows[_i].file, rows[_i].about, rows[_i].part);
}
END_TEST

/* A tile of 64 by 64 that is summed along its rows and of which the columns' largest are taken. */
static const char two_reductions[] =
    "tt.func public @two(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {\n"
    "  %i = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>\n"
    "  %row = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>\n"
    "  %col = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>\n"
    "  %c64 = arith.constant dense<64> : tensor<64x1xi32>\n"
    "  %rows = arith.muli %row, %c64 : tensor<64x1xi32>\n"
    "  %r = tt.broadcast %rows : tensor<64x1xi32> -> tensor<64x64xi32>\n"
    "  %c = tt.broadcast %col : tensor<1x64xi32> -> tensor<64x64xi32>\n"
    "  %at = arith.addi %r, %c : tensor<64x64xi32>\n"
    "  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>\n"
    "  %p = tt.addptr %xs, %at : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>\n"
    "  %v = tt.load %p : tensor<64x64x!tt.ptr<f32>>\n"
    "  %sum = \"tt.reduce\"(%v) <{axis = 1 : i32}> ({\n"
    "  ^bb0(%a: f32, %b: f32):\n"
    "    %s = arith.addf %a, %b : f32\n"
    "    tt.reduce.return %s : f32\n"
    "  }) : (tensor<64x64xf32>) -> tensor<64xf32>\n"
    "  %max = \"tt.reduce\"(%v) <{axis = 0 : i32}> ({\n"
    "  ^bb0(%a: f32, %b: f32):\n"
    "    %m = arith.maxnumf %a, %b : f32\n"
    "    tt.reduce.return %m : f32\n"
    "  }) : (tensor<64x64xf32>) -> tensor<64xf32>\n"
    "  %both = arith.addf %sum, %max : tensor<64xf32>\n"
    "  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n"
    "  %q = tt.addptr %ys, %i : tensor<64x!tt.ptr<f32>>, tensor<64xi32>\n"
    "  tt.store %q, %both : tensor<64x!tt.ptr<f32>>\n"
    "  tt.return\n"
    "}\n";

static const tmetal_layout_row *row_of(const tmetal_kernel *k, const char *value, const char *reason) {
    uint32_t i;
    for (i = 0; i < k->n_layouts; i++)
        if (strcmp(k->layouts[i].value, value) == 0 && strstr(k->layouts[i].reason, reason)) return &k->layouts[i];
    return NULL;
}

START_TEST(a_forced_layout_deals_the_input_of_a_reduction) {
    static const struct {
        const char *layouts;
        unsigned    layout; /* of the load */
        const char *map;
        unsigned    width, lines, fewest;
        const char *other; /* map of the copy for %max where it has its own */
    } rows[] = {
        {"DEFAULT", TMETAL_DEFAULT, "register 256 512 1024 2048 | lane 1 2 4 8 16 | simdgroup 32 64 128", 1, 1, 1, NULL},
        {"ROW_MAJOR", TMETAL_ROW_MAJOR | TMETAL_COALESCED, "register 1 2 1024 2048 | lane 4 8 16 32 64 | simdgroup 128 256 512", 4, 4, 4, NULL},
        {"COLUMN_MAJOR", TMETAL_COLUMN_MAJOR, "register 2048 8 16 32 | lane 64 128 256 512 1024 | simdgroup 1 2 4", 1, 32, 1, NULL},
        {"TILED", TMETAL_ROW_MAJOR | TMETAL_TILED, "register 1 512 1024 2048 | lane 2 64 128 4 256 | simdgroup 8 16 32", 2, 8, 2, NULL},
        {"COALESCED", TMETAL_ROW_MAJOR | TMETAL_COALESCED, "register 1 2 1024 2048 | lane 4 8 16 32 64 | simdgroup 128 256 512", 4, 4, 4, NULL},
        {"%sum=COLUMN_MAJOR", TMETAL_COLUMN_MAJOR, "register 2048 8 16 32 | lane 64 128 256 512 1024 | simdgroup 1 2 4", 1, 32, 1, NULL},
        {"TILED,max=COLUMN_MAJOR", TMETAL_ROW_MAJOR | TMETAL_TILED, "register 1 512 1024 2048 | lane 2 64 128 4 256 | simdgroup 8 16 32", 2, 8, 2,
         "register 2048 8 16 32 | lane 64 128 256 512 1024 | simdgroup 1 2 4"},
    };
    tmetal_arena   arena = arena_at(0);
    tmetal_result  r;
    tmetal_options opt;
    const tmetal_layout_row *l;
    memset(&opt, 0, sizeof opt);
    opt.layouts = rows[_i].layouts;
    opt.reports = 1;
    says_ok(compile(two_reductions, &opt, &arena, &r), &r);
    l = row_of(&r.kernels[0], "%v", "forced by the caller");
    ck_assert_ptr_nonnull(l);
    ck_assert_uint_eq(l->layout, rows[_i].layout);
    ck_assert_str_eq(l->map, rows[_i].map);
    ck_assert_uint_eq(l->width, rows[_i].width);
    ck_assert_uint_eq(l->lines, rows[_i].lines);
    ck_assert_uint_eq(l->fewest, rows[_i].fewest);
    l = row_of(&r.kernels[0], "%v", "for a reduction that reads it");
    ck_assert_int_eq(l != NULL, rows[_i].other != NULL);
    if (l) ck_assert_str_eq(l->map, rows[_i].other);
    ck_assert_ptr_nonnull(remark(&r, TMETAL_APPLIED, "layout", "which the caller wants"));
    ck_assert_ptr_null(remark(&r, TMETAL_MISSED, "layout", ""));
}
END_TEST

START_TEST(a_layout_that_cannot_be_is_missed_with_a_reason) {
    static const char text[] =
        "tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {\n"
        "  %i = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>\n"
        "  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>\n"
        "  %p = tt.addptr %xs, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>\n"
        "  %v = tt.load %p : tensor<16x!tt.ptr<f32>>\n"
        "  %sum = \"tt.reduce\"(%v) <{axis = 0 : i32}> ({\n"
        "  ^bb0(%a: f32, %b: f32):\n"
        "    %s = arith.addf %a, %b : f32\n"
        "    tt.reduce.return %s : f32\n"
        "  }) : (tensor<16xf32>) -> f32\n"
        "  %gone = \"tt.reduce\"(%v) <{axis = 0 : i32}> ({\n"
        "  ^bb0(%a: f32, %b: f32):\n"
        "    %s = arith.mulf %a, %b : f32\n"
        "    tt.reduce.return %s : f32\n"
        "  }) : (tensor<16xf32>) -> f32\n"
        "  tt.store %y, %sum : !tt.ptr<f32>\n"
        "  tt.return\n"
        "}\n";
    static const struct {
        const char *layouts, *why;
    } rows[] = {{"TILED", "8 or more"}, {"COLUMN_MAJOR", "a tensor of one axis"}, {"%gone=COALESCED", "no reduction any more"}};
    tmetal_arena   arena = arena_at(0);
    tmetal_result  r;
    tmetal_options opt;
    memset(&opt, 0, sizeof opt);
    opt.layouts = rows[_i].layouts;
    opt.reports = 1;
    says_ok(compile(text, &opt, &arena, &r), &r);
    ck_assert_ptr_nonnull(remark(&r, TMETAL_MISSED, "layout", rows[_i].why));
}
END_TEST

/* A row of 1024 in one tile: threads, lanes and simdgroups share it out without a rest, forced or not. */
START_TEST(reductions_are_shared_out_to_the_last_element) {
    static const char *const layouts[] = {NULL, "DEFAULT", "ROW_MAJOR", "COALESCED"};
    static const char        list[] = "tt.softmax:[128,1024]";
    tmetal_arena             arena = arena_at(0);
    tmetal_options           opt;
    tmetal_result            r;
    uint32_t                 i;
    memset(&opt, 0, sizeof opt);
    opt.layouts = layouts[_i];
    opt.reports = 1;
    says_ok(tmetal_compile_ops(list, strlen(list), &opt, &arena, &r), &r);
    ck_assert_uint_eq(r.n_kernels, 1);
    ck_assert_uint_eq(r.kernels[0].n_reductions, 2);
    ck_assert_uint_eq(r.kernels[0].n_reduce_plans, 2);
    for (i = 0; i < 2; i++) {
        const tmetal_reduce_plan *p = &r.kernels[0].reduce_plans[i];
        ck_assert_ptr_nonnull(strstr(p->type, "1024xf32"));
        ck_assert_uint_eq(p->elements * p->lanes * p->simdgroups, 1024);
        ck_assert_uint_eq(p->axis, r.kernels[0].reductions[i].axis);
        ck_assert_uint_eq(p->python.line, 1); /* of the list */
        ck_assert_int_eq((p->layout & TMETAL_COALESCED) != 0, _i != 1);
        ck_assert(*p->map && *p->reason);
    }
}
END_TEST

/* Threads by what each has to load and fold; scans, sorts and transposes keep four elements a thread. */
START_TEST(threads_follow_from_bytes_and_folds) {
    static const struct {
        const char *op, *args, *shape, *dtype;
        uint32_t    threads;
    } rows[] = {
        {"softmax", "", "128,1024", "f32", 64},
        {"softmax", "", "128,1024", "f16", 64},
        {"softmax", "", "128,4096", "f32", 256},
        {"softmax", "", "128,512", "f32", 64}, /* two rows: a simdgroup each */
        {"sum", ",\"args\":{\"axis\":1}", "4096,1024", "f32", 128}, /* rows of a tile: two */
        {"argmax", ",\"args\":{\"axis\":1}", "4096,1024", "f32", 128},
        {"sum", ",\"args\":{\"axis\":1}", "1024,65536", "f16", 256}, /* tiles of 4096 in a loop */
        {"cumsum", ",\"args\":{\"axis\":1}", "128,1024", "f32", 256},
        {"cumsum", ",\"args\":{\"axis\":1}", "128,1024", "f16", 128}, /* 16 bytes a lane, side by side */
        {"sort", "", "128,1024", "f32", 256},
        {"transpose", "", "1024,1024", "f16", 128}, /* 16 bytes a lane, no more */
        {"gelu", "", "32768", "f32", 128}, /* 32 bytes a lane */
        {"gelu", "", "32768", "f16", 128},
        {"gelu", "", "65536", "f16", 256}, /* a tile of 2048 */
    };
    tmetal_arena  arena = arena_at(0);
    tmetal_result r;
    char          list[256];
    int           n = snprintf(list, sizeof list, "{\"ops\":[{\"type\":\"tt.%s\",\"id\":\"y\",\"inputs\":[\"x\"],\"input_shapes\":[[%s]],\"dtype\":\"%s\"%s}]}",
                               rows[_i].op, rows[_i].shape, rows[_i].dtype, rows[_i].args);
    says_ok(tmetal_compile_ops(list, (size_t)n, NULL, &arena, &r), &r);
    ck_assert_uint_eq(r.n_kernels, 1);
    ck_assert_msg(r.kernels[0].threads == rows[_i].threads, "%s of [%s] %s: %u threads, not %u", rows[_i].op, rows[_i].shape, rows[_i].dtype, r.kernels[0].threads, rows[_i].threads);
}
END_TEST

/* Eight neighbours of a reverse scan stand in two vectors: the index in one of them is a remainder. */
START_TEST(a_reverse_scan_stays_in_its_vectors) {
    static const char text[] =
        "tt.func public @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {\n"
        "  %i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>\n"
        "  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>\n"
        "  %xp = tt.addptr %xs, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>\n"
        "  %v = tt.load %xp : tensor<1024x!tt.ptr<f16>>\n"
        "  %s = \"tt.scan\"(%v) <{axis = 0 : i32, reverse = true}> ({\n"
        "  ^bb0(%a: f16, %b: f16):\n"
        "    %c = arith.mulf %a, %b : f16\n"
        "    tt.scan.return %c : f16\n"
        "  }) : (tensor<1024xf16>) -> tensor<1024xf16>\n"
        "  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<1024x!tt.ptr<f16>>\n"
        "  %yp = tt.addptr %ys, %i : tensor<1024x!tt.ptr<f16>>, tensor<1024xi32>\n"
        "  tt.store %yp, %s : tensor<1024x!tt.ptr<f16>>\n"
        "  tt.return\n"
        "}\n";
    tmetal_arena  arena = arena_at(0);
    tmetal_result r;
    says_ok(compile(text, NULL, &arena, &r), &r);
    ck_assert_uint_eq(r.kernels[0].threads, 128);
    ck_assert_msg(strstr(r.kernels[0].msl, "[(7 - j) / 4][(7 - j) % 4]") != NULL, "%s", r.kernels[0].msl);
}
END_TEST

/* Triton says of a tile in two dimensions one number for each, as dense<[rows, columns]>. */
START_TEST(hints_of_a_tile_are_one_for_each_axis) {
    static const struct {
        const char *hints, *has; /* along rows, along both, down columns, along none */
    } rows[] = {{"dense<[1, 64]>", "= *(device const float4 *)(x + rem"}, {"dense<64>", "= *(device const float4 *)(x + rem"},
                {"dense<[64, 1]>", "v_shared["}, {"dense<1>", " = x[rem"}};
    tmetal_arena  arena = arena_at(0);
    tmetal_result r;
    char          text[1600];
    const char   *hints = rows[_i].hints;
    (void)snprintf(text, sizeof text,
                   "tt.func public @k(%%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %%y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %%n: i32) {\n"
                   "  %%i = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>\n"
                   "  %%t = tt.reshape %%i : tensor<1024xi32> -> tensor<16x64xi32>\n"
                   "  %%ns = tt.splat %%n : i32 -> tensor<16x64xi32>\n"
                   "  %%o = arith.remsi %%t, %%ns {tt.contiguity = %s : tensor<2xi32>, tt.divisibility = %s : tensor<2xi32>} : tensor<16x64xi32>\n"
                   "  %%xs = tt.splat %%x : !tt.ptr<f32> -> tensor<16x64x!tt.ptr<f32>>\n"
                   "  %%xp = tt.addptr %%xs, %%o : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>\n"
                   "  %%v = tt.load %%xp : tensor<16x64x!tt.ptr<f32>>\n"
                   "  %%ys = tt.splat %%y : !tt.ptr<f32> -> tensor<16x64x!tt.ptr<f32>>\n"
                   "  %%yp = tt.addptr %%ys, %%t : tensor<16x64x!tt.ptr<f32>>, tensor<16x64xi32>\n"
                   "  tt.store %%yp, %%v : tensor<16x64x!tt.ptr<f32>>\n"
                   "  tt.return\n"
                   "}\n",
                   hints, hints);
    says_ok(compile(text, NULL, &arena, &r), &r);
    ck_assert_msg(strstr(r.kernels[0].msl, rows[_i].has) != NULL, "%s: %s", hints, r.kernels[0].msl);
}
END_TEST

/* More factors than the search for gates looks at: x0 x1 ... x15, as a tree. */
START_TEST(a_product_of_sixteen_factors_is_no_gate) {
    tmetal_arena   arena = arena_at(0);
    tmetal_options opt;
    tmetal_result  r;
    char           text[4096] = "tt.func public @k(%y: !tt.ptr<f32>";
    size_t         n = strlen(text);
    int            i;
    memset(&opt, 0, sizeof opt);
    opt.reports = 1;
    for (i = 0; i < 16; i++) n += (size_t)snprintf(text + n, sizeof text - n, ", %%v%d: f32", i);
    n += (size_t)snprintf(text + n, sizeof text - n, ") {\n");
    for (i = 0; i < 15; i++) n += (size_t)snprintf(text + n, sizeof text - n, "  %%v%d = arith.mulf %%v%d, %%v%d : f32\n", 16 + i, 2 * i, 2 * i + 1);
    (void)snprintf(text + n, sizeof text - n, "  %%e = math.exp %%v30 : f32\n  %%z = arith.mulf %%v30, %%e : f32\n  tt.store %%y, %%z : !tt.ptr<f32>\n  tt.return\n}\n");
    says_ok(compile(text, &opt, &arena, &r), &r);
    ck_assert_msg(strstr(r.kernels[0].msl, "v0 * v1") != NULL, "%s", r.kernels[0].msl);
}
END_TEST

/* MLX starts a grid of threads: the threadgroup has three sizes, of which a kernel of ours fills one. */
START_TEST(threads_for_mlx_stand_in_one_row) {
    tmetal_arena   arena = arena_at(0);
    tmetal_options opt;
    tmetal_result  r;
    static const char large[] = "tt.exp:[1048576,65536]";
    static const char in_turn[] = "tt.func public @k(%p: !tt.ptr<i64>, %q: !tt.ptr<i64>) {\n"
                                  "  %i = tt.get_program_id x : i32\n"
                                  "  %c = arith.constant 1 : i64\n"
                                  "  %t = arith.constant true\n"
                                  "  %o = tt.atomic_rmw add, acq_rel, gpu, %p, %c, %t : (!tt.ptr<i64>, i64, i1) -> i64\n"
                                  "  %a = tt.addptr %q, %i : !tt.ptr<i64>, i32\n"
                                  "  tt.store %a, %o : !tt.ptr<i64>\n"
                                  "  tt.return\n"
                                  "}\n";
    static const uint32_t few[3] = {65535, 32768, 1}, many[3] = {65536, 32768, 1};
    const char    *said;
    int32_t        grid[3];
    memset(&opt, 0, sizeof opt);
    opt.mlx = 1;
    says_ok(compile(scale, &opt, &arena, &r), &r);
    ck_assert_ptr_nonnull(r.kernels[0].mlx);
    ck_assert_uint_eq(r.kernels[0].mlx->threadgroup[0], r.kernels[0].threads);
    ck_assert_uint_eq(r.kernels[0].mlx->threadgroup[1], 1);
    ck_assert_uint_eq(r.kernels[0].mlx->threadgroup[2], 1);
    says_ok(tmetal_compile_ops(large, strlen(large), &opt, &arena, &r), &r); /* 2^33 threads: not 0 of them */
    said = tmetal_mlx_json(&r.kernels[0], &arena);
    ck_assert_msg(said && strstr(said, "\"grid\":[8589934592,1,1]"), "%s", said ? said : "");
    ck_assert_int_eq(tmetal_mlx_grid(&r.kernels[0], NULL, grid), 0);
    opt.mlx = 0;
    says_ok(compile(in_turn, &opt, &arena, &r), &r); /* one threadgroup, which counts its programs in 32 bits */
    ck_assert_int_eq(tmetal_mlx_grid(&r.kernels[0], few, grid), 1);
    ck_assert_int_eq(tmetal_mlx_grid(&r.kernels[0], many, grid), 0);
}
END_TEST

/* Of the planner's threads each would hold too much: more of them, unless the caller asks for so many. */
START_TEST(a_thread_holds_no_more_than_it_may) {
    static const struct {
        const char        *file;
        uint32_t           asked, threads, least, most; /* registers */
        tmetal_remark_kind kind;
        const char        *about, *part;
    } rows[] = {
        {"tests/kernels/recorded/dots-renamed_reordered.ttir", 0, 64, 90, 128, TMETAL_APPLIED, "threads", "of 32 each would hold too much"},
        {"tests/kernels/recorded/attentions-wide_values.ttir", 128, 128, 130, 260, TMETAL_MISSED, "registers", "more than the 128 that apple-m1"},
        {"examples/kernels/attention.ttir", 0, 64, 20, 128, TMETAL_FOUND, "registers", "at once"},
        {"examples/kernels/matmul.ttir", 0, 32, 80, 128, TMETAL_FOUND, "registers", "at once"},
        {"examples/kernels/softmax.ttir", 0, 32, 8, 32, TMETAL_FOUND, "registers", "at once"},
        {"examples/kernels/vector_add.ttir", 0, 64, 2, 32, TMETAL_FOUND, "registers", "at once"},
    };
    tmetal_arena   arena = arena_at(0);
    tmetal_result  r;
    tmetal_options opt;
    size_t         n;
    char          *text = slurp(rows[_i].file, &n);
    memset(&opt, 0, sizeof opt);
    opt.reports = 1;
    opt.threads = rows[_i].asked;
    says_ok(tmetal_compile(text, n, &opt, &arena, &r), &r);
    free(text);
    ck_assert_uint_eq(r.kernels[0].threads, rows[_i].threads);
    ck_assert_uint_ge(r.kernels[0].registers, rows[_i].least);
    ck_assert_uint_le(r.kernels[0].registers, rows[_i].most);
    ck_assert_msg(remark(&r, rows[_i].kind, rows[_i].about, rows[_i].part) != NULL, "%s: no remark [%s] '%s'", rows[_i].file, rows[_i].about, rows[_i].part);
}
END_TEST

START_TEST(a_remark_tells_of_fp64_in_software) {
    static const char text[] = "tt.func @k(%p: !tt.ptr<f64>, %x: f64) {\n  %y = arith.mulf %x, %x : f64\n  tt.store %p, %y : !tt.ptr<f64>\n  tt.return\n}\n";
    tmetal_arena   arena = arena_at(0);
    tmetal_options opt;
    tmetal_result  r;
    memset(&opt, 0, sizeof opt);
    says_ok(compile(text, NULL, &arena, &r), &r);
    ck_assert_ptr_nonnull(remark(&r, TMETAL_APPLIED, "fp64", "1 operation on f64 in software"));
    opt.no_fp64 = 1;
    refused(text, &opt, TMETAL_E_FP64);
}
END_TEST

/* -- The parts on their own ---------------------------------------------------------------------- */

START_TEST(parts_make_what_compile_makes_and_leave_the_module_alone) {
    tmetal_arena   arena = arena_at(0), other = arena_at(1), third = arena_at(2);
    tmetal_module *m, *again;
    tmetal_result  whole, r, plan;
    const char    *before, *after;
    size_t         n, n2, len;
    char          *text = slurp("examples/kernels/attention.ttir", &len);
    int            i;
    says_ok(tmetal_compile(text, len, asking(), &other, &whole), &whole);
    says_ok(tmetal_parse(text, len, NULL, &arena, &m, &r), &r);
    says_ok(tmetal_parse(text, len, NULL, &arena, &again, &r), &r);
    memset(text, 'x', len); /* the module keeps what it needs */
    free(text);
    says_ok(tmetal_print(m, &arena, &before, &n, &r), &r);
    for (i = 0; i < 2; i++) {
        says_ok(tmetal_verify(m, NULL, &third, &r), &r);
        says_ok(tmetal_plan(m, asking(), &third, &plan), &plan);
        says_ok(tmetal_emit(m, asking(), &third, &r), &r);
        same_text("Metal of the parts and of the whole", r.kernels[0].msl, whole.kernels[0].msl);
        ck_assert_uint_eq(r.n_remarks, whole.n_remarks);
        ck_assert_uint_eq(r.kernels[0].n_layouts, whole.kernels[0].n_layouts);
        ck_assert_uint_eq(r.remarks[0].ir.line, whole.remarks[0].ir.line);
        ck_assert_ptr_null(plan.kernels[0].msl);
        ck_assert_ptr_null(plan.msl);
        ck_assert_uint_eq(plan.kernels[0].threads, r.kernels[0].threads);
        ck_assert_uint_eq(plan.kernels[0].n_args, r.kernels[0].n_args);
        ck_assert_uint_eq(plan.kernels[0].n_layouts, r.kernels[0].n_layouts);
        same_text("plans", tmetal_plan_json(&plan, &third), tmetal_plan_json(&r, &third));
    }
    says_ok(tmetal_print(m, &arena, &after, &n2, &r), &r);
    same_text("the module before and after", before, after);
    ck_assert(tmetal_same(m, again, &arena));
}
END_TEST

START_TEST(modules_that_differ_are_not_the_same) {
    static const char *const pairs[][2] = {
        {"arith.mulf", "arith.addf"}, {"@scale", "@scala"}, {"divisibility = 16", "divisibility = 8"}, {"%v, %s", "%v, %v"},
        {"tt.load %qx", "tt.load %qx cacheModifier = cg"}, {"  tt.return", "  tt.return loc(\"a.py\":1:1)"}, {"%a: f32)", "%b: f32)"},
    };
    tmetal_arena   arena = arena_at(0);
    tmetal_module *m, *other;
    tmetal_result  r;
    char           text[sizeof scale + 40];
    const char    *at = strstr(scale, pairs[_i][0]);
    ck_assert_ptr_nonnull(at);
    sprintf(text, "%.*s%s%s", (int)(at - scale), scale, pairs[_i][1], at + strlen(pairs[_i][0]));
    says_ok(tmetal_parse(scale, strlen(scale), NULL, &arena, &m, &r), &r);
    ck_assert(tmetal_same(m, m, &arena));
    at = strstr(text, "tt.splat %a"); /* the renamed argument's use */
    if (_i == 6) text[at - text + 10] = 'b';
    says_ok(tmetal_parse(text, strlen(text), NULL, &arena, &other, &r), &r);
    ck_assert_msg(!tmetal_same(m, other, &arena), "'%s' is taken for '%s'", pairs[_i][0], pairs[_i][1]);
}
END_TEST

START_TEST(a_full_arena_leaves_the_module_alone) {
    tmetal_arena   arena = arena_at(0), tight, third = arena_at(2);
    tmetal_module *m;
    tmetal_result  r, whole;
    size_t         cap;
    says_ok(tmetal_parse(scale, strlen(scale), NULL, &arena, &m, &r), &r);
    says_ok(tmetal_emit(m, NULL, &third, &whole), &whole);
    for (cap = 0; cap < 60000; cap += 1009) {
        tight = tmetal_arena_on(unit_memory + ROOM, cap);
        if (tmetal_emit(m, NULL, &tight, &r) == TMETAL_OK) break;
        ck_assert_int_eq(r.code, TMETAL_E_ARENA);
        memset(unit_memory + ROOM, 0xDD, cap); /* nothing of the module may lie there */
    }
    ck_assert_uint_gt(cap, 1009);
    says_ok(tmetal_emit(m, NULL, &arena, &r), &r);
    same_text("Metal", r.kernels[0].msl, whole.kernels[0].msl);
}
END_TEST

START_TEST(diagnostics_of_a_module_find_their_lines) {
    static const char text[] = "tt.func @k(%p: !tt.ptr<f64>, %x: f64) {\n  %y = arith.mulf %x, %x : f64 loc(\"k.py\":4:8)\n  tt.store %p, %y : !tt.ptr<f64>\n  tt.return\n}\n";
    tmetal_arena   arena = arena_at(0);
    tmetal_module *m;
    tmetal_options opt;
    tmetal_result  r;
    memset(&opt, 0, sizeof opt);
    opt.file = "k.ttir";
    says_ok(tmetal_parse(text, strlen(text), &opt, &arena, &m, &r), &r);
    opt.file = NULL;
    opt.no_fp64 = 1;
    ck_assert_int_eq(tmetal_emit(m, &opt, &arena, &r), TMETAL_E_FP64);
    ck_assert_str_eq(tmetal_diag_text(&r.diags[0], &arena), "k.py:4:9: error[TM303]: arith.mulf needs fp64, which Apple GPUs lack\n"
                                                           "   --> k.ttir:2:8\n 2 |   %y = arith.mulf %x, %x : f64 loc(\"k.py\":4:8)\n   |        ^~~~~~~~~~\n"
                                                           "help: compute it in f32, or let doubles be computed in software where they can be (docs/limits.md)\n");
}
END_TEST

/* -- Options -------------------------------------------------------------------------------------- */

/* Kernels of one module are compiled apart: each gives what it gives alone with the functions that it calls,
 * and a mistake in each is told. `@pick` has branches that go back, and calls on. */
static const char shared_text[] =
    "tt.func private @twice(%x: f32) -> f32 {\n  %y = arith.addf %x, %x : f32\n  tt.return %y : f32\n}\n"
    "tt.func private @pick(%n: i32, %x: f32) -> f32 {\n  %zero = arith.constant 0 : i32\n  %one = arith.constant 1 : i32\n"
    "  cf.br ^loop(%n, %x : i32, f32)\n^loop(%i: i32, %v: f32):\n  %more = arith.cmpi sgt, %i, %zero : i32\n"
    "  cf.cond_br %more, ^round, ^end(%v : f32)\n^round:\n  %w = tt.call @twice(%v) : (f32) -> f32\n"
    "  %j = arith.subi %i, %one : i32\n  cf.br ^loop(%j, %w : i32, f32)\n^end(%r: f32):\n  tt.return %r : f32\n}\n";
static const char *const kernel_texts[] = {
    "tt.func public @a(%p: !tt.ptr<f32>, %n: i32, %x: f32) {\n  %y = tt.call @pick(%n, %x) : (i32, f32) -> f32\n  tt.store %p, %y : !tt.ptr<f32>\n  tt.return\n}\n",
    "tt.func public @b(%p: !tt.ptr<f32>, %x: f32) {\n  tt.store %p, %x : !tt.ptr<f32>\n  tt.return\n}\n",
    "tt.func public @c(%p: !tt.ptr<f32>, %n: i32, %x: f32) {\n  %y = tt.call @pick(%n, %x) : (i32, f32) -> f32\n  %z = tt.call @twice(%y) : (f32) -> f32\n"
    "  tt.store %p, %z : !tt.ptr<f32>\n  tt.return\n}\n"};

START_TEST(kernels_of_a_module_are_what_they_are_alone) {
    tmetal_arena  arena = arena_at(0);
    char          all[8192], alone[8192];
    tmetal_result r, one;
    unsigned      i;
    snprintf(all, sizeof all, "%s%s%s%s", kernel_texts[0], shared_text, kernel_texts[1], kernel_texts[2]);
    ck_assert_int_eq(compile(all, NULL, &arena, &r), TMETAL_OK);
    ck_assert_uint_eq(r.n_kernels, 3);
    for (i = 0; i < 3; i++) {
        snprintf(alone, sizeof alone, "%s%s", shared_text, kernel_texts[i]);
        ck_assert_int_eq(compile(alone, NULL, &arena, &one), TMETAL_OK);
        ck_assert_uint_eq(one.n_kernels, 1);
        ck_assert_str_eq(r.kernels[i].msl, one.kernels[0].msl);
        ck_assert_uint_eq(r.kernels[i].n_args, one.kernels[0].n_args);
    }
    for (i = 0; all[i]; i++) /* a function that is not there, in two kernels */
        if (memcmp(&all[i], "call @pick", 10) == 0) all[i + 6] = 'l';
    ck_assert_int_ne(compile(all, NULL, &arena, &r), TMETAL_OK);
    ck_assert_uint_eq(r.n_kernels, 0);
    ck_assert_uint_eq(r.n_diags, 2);
}
END_TEST

/* Names that are one when they are cut short, or when underscores meet; a table's, which begins with its kernel's, and
 * what another kernel is called. */
START_TEST(kernels_of_a_text_are_called_apart) {
    static const char *const names[] = {
        "a_kernel_whose_name_goes_on_for_many_columns_a", "a_kernel_whose_name_goes_on_for_many_columns_b",
        "a__b", "a_b", "a_b_7", "k", "k_t", "k_t_13", "float", "float_",
    };
    enum { N = sizeof names / sizeof *names };
    tmetal_arena  arena = arena_at(0);
    tmetal_result r;
    char         *text = (char *)malloc(N * 1000);
    const char   *at;
    uint32_t      i, k, n = 0;
    for (i = 0; i < N; i++) {
        n += (uint32_t)snprintf(text + n, 200, "tt.func public @%s(%%p: !tt.ptr<i32>) {\n", names[i]);
        n += (uint32_t)snprintf(text + n, 500, "  %%r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>\n"
                                "  %%t = arith.constant dense<[3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3]> : tensor<16xi32>\n"
                                "  %%s = tt.splat %%p : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>\n"
                                "  %%q = tt.addptr %%s, %%r : tensor<16x!tt.ptr<i32>>, tensor<16xi32>\n"
                                "  tt.store %%q, %%t : tensor<16x!tt.ptr<i32>>\n  tt.return\n}\n");
    }
    says_ok(compile(text, NULL, &arena, &r), &r);
    ck_assert_uint_eq(r.n_kernels, N);
    for (i = 0, at = r.msl; i < N; i++) {
        char own[100];
        snprintf(own, sizeof own, "kernel void %s(\n", r.kernels[i].entry);
        ck_assert_msg(strstr(r.msl, own) != NULL, "%s", own);
        ck_assert_ptr_null(strstr(strstr(r.msl, own) + 1, own));
        at = strstr(at + 1, "\nconstant int ");
        ck_assert_ptr_nonnull(at);
        snprintf(own, sizeof own, "%.*s[", (int)strcspn(at, "["), at);
        ck_assert_msg(!strstr(at + 1, own), "%s", own);
        snprintf(own, sizeof own, "constant int %s[", r.kernels[i].entry);
        ck_assert_ptr_null(strstr(r.msl, own));
        for (k = 0; k < i; k++) ck_assert_str_ne(r.kernels[i].entry, r.kernels[k].entry);
    }
    free(text);
}
END_TEST

/* A prefix of tl.device_print stays inside its quotes, with trigraphs too. */
START_TEST(a_format_ends_where_its_text_does) {
    static const char text[] = "tt.func public @k(%x: i32) {\n"
                               "  tt.print \"a \\22 b \\5C c %d ?\?\?/\" {hex = false, isSigned = array<i32: 1>} : %x : i32\n  tt.return\n}\n";
    tmetal_arena   arena = arena_at(0);
    tmetal_options opt;
    tmetal_result  r;
    memset(&opt, 0, sizeof opt);
    opt.logging = 1;
    says_ok(compile(text, &opt, &arena, &r), &r);
    ck_assert_ptr_nonnull(strstr(r.msl, "a \\\" b \\\\ c %%d ?\\?\\?/%d\""));
}
END_TEST

START_TEST(options_that_cannot_be_are_refused) {
    tmetal_options opt;
    memset(&opt, 0, sizeof opt);
    opt.gpu = "apple-m77";
    refused(scale, &opt, TMETAL_E_GPU_NAME);
    opt.gpu = NULL;
    opt.threads = 48;
    refused(scale, &opt, TMETAL_E_THREADS);
    opt.threads = 2048;
    refused(scale, &opt, TMETAL_E_THREADS);
    opt.threads = 0;
    opt.msl = 299;
    refused(scale, &opt, TMETAL_E_OPTION);
    opt.msl = 0;
    opt.alias = "0";
    refused(scale, &opt, TMETAL_E_OPTION);
    opt.alias = "0=1;";
    refused(scale, &opt, TMETAL_E_OPTION);
    opt.alias = "=1";
    refused(scale, &opt, TMETAL_E_OPTION);
}
END_TEST

START_TEST(threads_are_those_asked_for) {
    tmetal_arena   arena = arena_at(0);
    tmetal_options opt;
    tmetal_result  r;
    uint32_t       threads;
    memset(&opt, 0, sizeof opt);
    for (threads = 32; threads <= 1024; threads *= 2) {
        opt.threads = threads;
        says_ok(compile(scale, &opt, &arena, &r), &r);
        ck_assert_uint_eq(r.kernels[0].threads, threads);
    }
}
END_TEST

START_TEST(a_kernel_newer_than_asked_for_is_refused) {
    static const char text[] = "tt.func @k(%p: !tt.ptr<bf16>, %x: bf16) {\n  %y = arith.mulf %x, %x : bf16\n  tt.store %p, %y : !tt.ptr<bf16>\n  tt.return\n}\n";
    tmetal_arena   arena = arena_at(0);
    tmetal_options opt;
    tmetal_result  r;
    memset(&opt, 0, sizeof opt);
    opt.msl = 310;
    says_ok(compile(text, &opt, &arena, &r), &r);
    ck_assert_uint_eq(r.kernels[0].msl_version, 310);
    ck_assert_str_eq(r.kernels[0].macos, "14.0");
    ck_assert_str_eq(r.kernels[0].ios, "17.0");
    ck_assert_str_eq(r.kernels[0].math_mode, "safe");
    opt.msl = 300;
    refused(text, &opt, TMETAL_E_MSL_VERSION);
}
END_TEST

START_TEST(aliased_parameters_travel_as_addresses) {
    tmetal_arena   arena = arena_at(0);
    tmetal_options opt;
    tmetal_result  r;
    memset(&opt, 0, sizeof opt);
    opt.alias = "0=1";
    says_ok(compile(scale, &opt, &arena, &r), &r);
    ck_assert_uint_eq(r.kernels[0].n_args, 3);
    ck_assert_int_eq(r.kernels[0].args[0].kind, TMETAL_ARG_ADDRESS);
    ck_assert_int_eq(r.kernels[0].args[1].kind, TMETAL_ARG_ADDRESS);
    ck_assert_uint_eq(r.kernels[0].args[0].index, r.kernels[0].args[1].index);
    ck_assert_uint_eq(r.kernels[0].args[1].offset, 8);
}
END_TEST

/* z = x + y */
static const char sum[] =
    "tt.func public @sum(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %z: !tt.ptr<f32>, %n: i32) {\n"
    "  %a = tt.load %x : !tt.ptr<f32>\n"
    "  %b = tt.load %y : !tt.ptr<f32>\n"
    "  %c = arith.addf %a, %b : f32\n"
    "  tt.store %z, %c : !tt.ptr<f32>\n"
    "  tt.return\n"
    "}\n";

static uint32_t addresses(const tmetal_kernel *k) {
    uint32_t i, n = 0;
    for (i = 0; i < k->n_args; i++) n += k->args[i].kind == TMETAL_ARG_ADDRESS;
    return n;
}

START_TEST(only_parameters_that_overlap_what_is_written_travel_as_addresses) {
    static const struct {
        const char *alias;
        uint32_t    addresses;
    } rows[] = {{NULL, 0}, {"0=1", 0}, {"0=2", 2}, {"0=1,1=2", 3}, {"0=3", 0}, {"all", 3}};
    tmetal_arena   arena = arena_at(0), other = arena_at(1);
    tmetal_options opt;
    tmetal_result  plain, r;
    uint32_t       i;
    memset(&opt, 0, sizeof opt);
    says_ok(compile(sum, &opt, &other, &plain), &plain);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        opt.alias = rows[i].alias;
        says_ok(compile(sum, &opt, &arena, &r), &r);
        ck_assert_uint_eq(addresses(&r.kernels[0]), rows[i].addresses);
        if (!rows[i].addresses) ck_assert_str_eq(r.msl, plain.msl);
    }
    opt.alias = "all"; /* of one pointer alone: there is nothing to overlap */
    says_ok(compile("tt.func public @f(%x: !tt.ptr<f32>, %a: f32, %b: f32) {\n  tt.store %x, %a : !tt.ptr<f32>\n  tt.return\n}\n", &opt, &arena, &r), &r);
    ck_assert_uint_eq(addresses(&r.kernels[0]), 0);
    opt.alias = "al";
    refused(sum, &opt, TMETAL_E_OPTION);
}
END_TEST

START_TEST(a_copy_of_a_result_needs_no_arena) {
    static const char *const texts[] = {sum, "tt.func public @f(%x: !tt.ptr<f32>) {\n  tt.store %y, %x : f32\n"};
    static tmetal_result     zero;
    uint32_t                 i;
    for (i = 0; i < 2; i++) {
        tmetal_arena   arena = arena_at(0), other = arena_at(1);
        tmetal_result  r, *copy;
        const char    *before;
        char          *said;
        size_t         n;
        (void)compile(texts[i], asking(), &arena, &r);
        ck_assert_int_eq(r.code == TMETAL_OK, i == 0);
        before = i ? tmetal_diag_text(&r.diags[0], &other) : tmetal_plan_json(&r, &other);
        said = (char *)malloc(strlen(before) + 1);
        strcpy(said, before);
        n = tmetal_result_copy(&r, NULL, 0);
        copy = (tmetal_result *)malloc(n);
        *copy = zero;
        ck_assert_uint_eq(tmetal_result_copy(&r, copy, n - 1), n);
        ck_assert_int_eq(memcmp(copy, &zero, sizeof zero), 0); /* nothing is written */
        ck_assert_uint_eq(tmetal_result_copy(&r, copy, n), n);
        memset(unit_memory, 0xdd, ROOM);
        memset(&r, 0xdd, sizeof r);
        other = arena_at(1);
        same_text("the copy and what it is of", i ? tmetal_diag_text(&copy->diags[0], &other) : tmetal_plan_json(copy, &other), said);
        ck_assert_uint_eq(copy->reports, 0);
        if (!i) ck_assert_uint_eq(strlen(copy->msl), copy->msl_len);
        if (!i) ck_assert_ptr_eq(copy->msl, copy->kernels[0].msl); /* a text is there once */
        free(copy);
        free(said);
    }
}
END_TEST

static const char python[] =
    "import triton\n"
    "import triton.language as tl\n"
    "from more import twice\n"
    "@triton.jit\n"
    "def k(a, n, stride, B: tl.constexpr):\n"
    "    i = tl.arange(0, B)\n"
    "    tl.store(a.x + i * stride, twice(tl.load(a.x + i, mask=i < n)), mask=i < a.n)\n";

START_TEST(places_of_python_are_those_of_its_files) {
    static const char  good[] = "import triton\n@triton.jit\ndef twice(v):\n    return v * 2\n";
    static const char  bad[] = "import triton\n@triton.jit\ndef twice(v):\n    return v * nothing\n";
    tmetal_arena       arena = arena_at(0);
    tmetal_triton_file file;
    tmetal_triton_call call;
    tmetal_options     opt;
    tmetal_module     *m;
    tmetal_result      r;
    const char        *text;
    size_t             len;
    memset(&file, 0, sizeof file);
    memset(&call, 0, sizeof call);
    memset(&opt, 0, sizeof opt);
    file.name = "more";
    file.path = "/somewhere/more.py";
    file.line = 101;
    file.text = bad;
    file.len = sizeof bad - 1;
    call.files = &file;
    call.n_files = 1;
    call.line = 41;
    call.args = "(x=*fp32:16, n=i32:16), i32:16, 1"; /* fields by name, as of a NamedTuple */
    call.consts = "B=64";
    opt.file = "mine.py";
    ck_assert_int_ne(tmetal_triton(python, sizeof python - 1, &call, &opt, &arena, &m, &r), TMETAL_OK);
    ck_assert_str_eq(r.diags[0].ir.file, "/somewhere/more.py");
    ck_assert_uint_eq(r.diags[0].ir.line, 104);
    ck_assert_ptr_nonnull(strstr(r.diags[0].note, "mine.py:47:"));
    file.text = good;
    file.len = sizeof good - 1;
    says_ok(tmetal_triton(python, sizeof python - 1, &call, &opt, &arena, &m, &r), &r);
    ck_assert_uint_eq(r.n_folded, 1);
    ck_assert_str_eq(r.folded[0].name, "stride");
    ck_assert_int_eq(r.folded[0].value, 1);
    says_ok(tmetal_print(m, &arena, &text, &len, &r), &r);
    ck_assert_ptr_nonnull(strstr(text, "\"mine.py\":46:"));
    ck_assert_ptr_nonnull(strstr(text, "\"/somewhere/more.py\":104:"));
    file.path = NULL;
    file.line = call.line = 0;
    says_ok(tmetal_triton(python, sizeof python - 1, &call, &opt, &arena, &m, &r), &r);
    says_ok(tmetal_print(m, &arena, &text, &len, &r), &r);
    ck_assert_ptr_nonnull(strstr(text, "\"mine.py\":6:"));
    ck_assert_ptr_nonnull(strstr(text, "\"more\":4:"));
}
END_TEST

START_TEST(a_version_of_triton_decides_what_a_kernel_means) {
    static const char  text[] = "import triton\nimport triton.language as tl\n@triton.jit\n"
                                "def k(x):\n    tl.store(x, tl.load(x) < 0.1)\n";
    static const char *const versions[] = {NULL, "3.9", "3.8", "3.6"};
    tmetal_arena       arena = arena_at(0);
    tmetal_triton_call call;
    tmetal_module     *m;
    tmetal_result      r;
    const char        *ir;
    size_t             len;
    uint32_t           i;
    memset(&call, 0, sizeof call);
    call.args = "*fp16";
    for (i = 0; i < 4; i++) {
        call.triton = versions[i];
        says_ok(tmetal_triton(text, sizeof text - 1, &call, NULL, &arena, &m, &r), &r);
        ck_assert_uint_eq(r.n_remarks, 1);
        ck_assert_str_eq(r.remarks[0].about, "triton version");
        ck_assert_uint_eq(r.remarks[0].python.line, 5);
        says_ok(tmetal_print(m, &arena, &ir, &len, &r), &r);
        ck_assert_int_eq(strstr(ir, "extf") != NULL, i > 1);
    }
    call.triton = "3.10";
    ck_assert_int_ne(tmetal_triton(text, sizeof text - 1, &call, NULL, &arena, &m, &r), TMETAL_OK);
    ck_assert_int_eq(r.diags[0].code, TMETAL_E_PY_SIGNATURE);
}
END_TEST

START_TEST(the_estimate_for_a_kernel_of_python_is_enough) {
    static const char *const args[] = {"(x=*fp32:16, n=i32), i32, i32", "(x=*fp32, n=i32), i32:16, 1"};
    static const char  good[] = "import triton\n@triton.jit\ndef twice(v):\n    return v * 2\n";
    tmetal_triton_file file;
    tmetal_triton_call call;
    uint32_t           i;
    memset(&file, 0, sizeof file);
    memset(&call, 0, sizeof call);
    file.name = "more";
    file.text = good;
    file.len = sizeof good - 1;
    call.files = &file;
    call.n_files = 1;
    call.consts = "B=1024";
    for (i = 0; i < 2; i++) {
        const size_t  n = tmetal_arena_estimate_triton(sizeof python - 1, &call);
        void         *memory = malloc(n);
        tmetal_arena  arena = tmetal_arena_on(memory, n);
        tmetal_result r;
        call.args = args[i];
        says_ok(tmetal_compile_triton(python, sizeof python - 1, &call, NULL, &arena, &r), &r);
        free(memory);
    }
    ck_assert_uint_gt(tmetal_arena_estimate_triton(1000, &call), tmetal_arena_estimate_triton(1000, NULL));
    ck_assert_uint_eq(tmetal_arena_estimate_triton((size_t)-1, &call), (size_t)-1);
}
END_TEST

/* An atomic result may tell that another program has written what is read by another name. */
START_TEST(programs_that_tell_each_other_by_two_names_run_in_turn) {
    static const char text[] =
        "tt.func public @f(%sum: !tt.ptr<i32>, %count: !tt.ptr<i32>, %same: !tt.ptr<i32>) {\n"
        "  %i = tt.get_program_id x : i32\n"
        "  %true = arith.constant true\n"
        "  %p = tt.addptr %sum, %i : !tt.ptr<i32>, i32\n"
        "  tt.store %p, %i : !tt.ptr<i32>\n"
        "  %n = tt.atomic_rmw add, acq_rel, gpu, %count, %i, %true :"
        " (!tt.ptr<i32>, i32, i1) -> i32\n"
        "  %q = tt.addptr %same, %n : !tt.ptr<i32>, i32\n"
        "  %x = tt.load %q : !tt.ptr<i32>\n"
        "  %y = tt.atomic_rmw add, relaxed, gpu, %count, %x, %true :"
        " (!tt.ptr<i32>, i32, i1) -> i32\n"
        "  tt.return\n"
        "}\n";
    tmetal_arena   arena = arena_at(0);
    tmetal_options opt;
    tmetal_result  r;
    memset(&opt, 0, sizeof opt);
    says_ok(compile(text, &opt, &arena, &r), &r);
    ck_assert_ptr_null(strstr(r.kernels[0].msl, "int turn"));
    arena = arena_at(0);
    opt.alias = "0=2";
    says_ok(compile(text, &opt, &arena, &r), &r);
    ck_assert_ptr_nonnull(strstr(r.kernels[0].msl, "int turn"));
}
END_TEST

START_TEST(plain_code_is_longer_than_optimised_code) {
    tmetal_arena   arena = arena_at(0), other = arena_at(1);
    tmetal_options opt;
    tmetal_result  r, s;
    memset(&opt, 0, sizeof opt);
    says_ok(compile(scale, &opt, &arena, &r), &r);
    opt.plain = 1;
    says_ok(compile(scale, &opt, &other, &s), &s);
    ck_assert_ptr_nonnull(strstr(r.kernels[0].msl, "float4"));
    ck_assert_ptr_null(strstr(s.kernels[0].msl, "float4"));
}
END_TEST

START_TEST(fusion_is_off_when_asked) {
    tmetal_arena   arena = arena_at(0);
    tmetal_options opt;
    tmetal_result  r;
    memset(&opt, 0, sizeof opt);
    opt.no_fusion = 1;
    says_ok(compile(scale, &opt, &arena, &r), &r);
    ck_assert_ptr_nonnull(strstr(r.kernels[0].msl, "#pragma METAL fp contract(off)"));
}
END_TEST

START_TEST(a_debug_buffer_is_told_word_by_word) {
    static const char text[] = "tt.func public @k(%p: !tt.ptr<i32>, %x: i32) {\n"
                               "  %c = arith.constant 0 : i32\n"
                               "  %b = arith.cmpi sgt, %x, %c : i32\n"
                               "  tt.print \" x: \" {hex = false, isSigned = array<i32: 1>} : %x : i32\n"
                               "  tt.assert %b, \"too small\" : i1 loc(\"k.py\":7:4)\n"
                               "  tt.store %p, %x : !tt.ptr<i32>\n"
                               "  tt.return\n"
                               "}\n";
    /* words used, failures, the first of them: site, program, element; then a record of 7 words */
    uint32_t      words[8 + 14] = {7, 3, 2, 4, 5, 6, 8, 0, 7, 0, 1, 2, 3, 0, 0};
    tmetal_arena  arena = arena_at(0);
    tmetal_result r;
    const char   *said;
    words[8 + 6] = (uint32_t)-9;
    says_ok(compile(text, NULL, &arena, &r), &r);
    ck_assert_int_eq((int)r.kernels[0].n_sites, 2);
    said = tmetal_debug_text(&r.kernels[0], words, sizeof words, &arena);
    ck_assert_str_eq(said, "pid (1, 2, 3) idx () x: -9\nk.py:7: k: assertion failed: too small: first seen in program (4, 5, 6), element 8; 3 in all\n");
    words[0] = 90; /* more than there is room for */
    words[1] = 0;
    said = tmetal_debug_text(&r.kernels[0], words, sizeof words, &arena);
    ck_assert_str_eq(said, "pid (1, 2, 3) idx () x: -9\n... the debug buffer was too small for all of it: 14 of 90 words\n");
}
END_TEST

/* Printed floats are those of C's "%f", ties and the largest included. */
START_TEST(printed_floats_are_exact) {
    static const char    *types[] = {"64xf32", "64xf64"};
    static const uint8_t  is_signed[] = {1, 1};
    static const uint64_t hard[] = {0, 1, (uint64_t)1 << 63, 0x7fefffffffffffff, 0x3f80000000000000, 0x3f98000000000000,
                                    0x3feffffff79c842f, 0x7ff0000000000000, 0xfff0000000000000, 0x433fffffffffffff};
    tmetal_site           site;
    tmetal_kernel         kernel;
    uint64_t              seed = 88172645463325252u;
    unsigned              i;
    memset(&site, 0, sizeof site);
    memset(&kernel, 0, sizeof kernel);
    site.text = " v: ";
    site.types = types;
    site.is_signed = is_signed;
    site.n_operands = 2;
    kernel.sites = &site;
    kernel.n_sites = 1;
    for (i = 0; i < 3000; i++) {
        uint32_t     words[8 + 8] = {8, 0, 0, 0, 0, 0, 0, 0, 8, 0, 1, 2, 3, 9, 0, 0};
        tmetal_arena arena = arena_at(0);
        const int    wide = i % 2 == 0;
        double       d;
        float        f;
        char         expected[400];
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        words[8 + 1] = wide ? 1u << 24 : 0;
        words[8 + 6] = (uint32_t)(wide && i / 2 < sizeof hard / sizeof *hard ? hard[i / 2] : seed);
        words[8 + 7] = (uint32_t)((wide && i / 2 < sizeof hard / sizeof *hard ? hard[i / 2] : seed) >> 32);
        memcpy(&f, words + 8 + 6, 4);
        memcpy(&d, words + 8 + 6, 8);
        if (!wide) d = (double)f;
        if (d != d) continue;
        snprintf(expected, sizeof expected, "pid (1, 2, 3) idx ( 9) v: (operand %d) %f\n", wide, d);
        ck_assert_str_eq(tmetal_debug_text(&kernel, words, sizeof words, &arena), expected);
    }
}
END_TEST

/* A caller's limit above what any GPU has is taken for that. */
START_TEST(threadgroups_are_no_larger_than_any_gpu_has) {
    static const char text[] = "tt.func public @k(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) {\n"
                               "  %i = tt.make_range {end = 65536 : i32, start = 0 : i32} : tensor<65536xi32>\n"
                               "  %ps = tt.splat %p : !tt.ptr<f32> -> tensor<65536x!tt.ptr<f32>>\n"
                               "  %pp = tt.addptr %ps, %i : tensor<65536x!tt.ptr<f32>>, tensor<65536xi32>\n"
                               "  %x = tt.load %pp : tensor<65536x!tt.ptr<f32>>\n"
                               "  %s = \"tt.reduce\"(%x) <{axis = 0 : i32}> ({\n"
                               "  ^bb0(%a: f32, %b: f32):\n"
                               "    %c = arith.addf %a, %b : f32\n"
                               "    tt.reduce.return %c : f32\n"
                               "  }) : (tensor<65536xf32>) -> f32\n"
                               "  tt.store %q, %s : !tt.ptr<f32>\n"
                               "  tt.return\n"
                               "}\n";
    tmetal_arena      arena = arena_at(0);
    tmetal_options    opt;
    tmetal_gpu_limits limits;
    tmetal_result     r;
    uint32_t          i;
    memset(&opt, 0, sizeof opt);
    memset(&limits, 0, sizeof limits);
    limits.threads = 1u << 20;
    opt.limits = &limits;
    says_ok(compile(text, &opt, &arena, &r), &r);
    for (i = 0; i < r.n_kernels; i++) ck_assert_int_le((int)r.kernels[i].threads, 1024);
    /* nor more of anything than products of it fit 32 bits */
    limits.registers = limits.cores = limits.gbps = limits.tg_bytes = 1u << 31;
    says_ok(compile(text, &opt, &arena, &r), &r);
    for (i = 0; i < r.n_kernels; i++)
        ck_assert_int_ge((int)r.kernels[i].register_room, (int)r.kernels[i].registers);
    opt.threads = 2048;
    ck_assert_int_eq((int)compile(text, &opt, &arena, &r), TMETAL_E_THREADS);
}
END_TEST

/* Depth is what is limited, not how many there are. */
START_TEST(branches_side_by_side_are_no_nesting) {
    static const char one[] = "  scf.if %c {\n    tt.store %p, %x : !tt.ptr<f32>\n  }\n";
    const size_t      n = 500;
    char             *text = (char *)malloc(200 + n * sizeof one);
    tmetal_arena      arena = arena_at(0);
    tmetal_result     r;
    size_t            i;
    strcpy(text, "tt.func public @k(%p: !tt.ptr<f32>, %x: f32, %c: i1) {\n");
    for (i = 0; i < n; i++) strcat(text, one);
    strcat(text, "  tt.return\n}\n");
    says_ok(compile(text, NULL, &arena, &r), &r);
    ck_assert_uint_eq(r.n_kernels, 1);
    free(text);
}
END_TEST

START_TEST(errors_stop_at_the_number_asked_for) {
    tmetal_arena   arena = arena_at(0);
    tmetal_options opt;
    tmetal_result  r;
    memset(&opt, 0, sizeof opt);
    opt.max_errors = 3;
    (void)compile("a\nb\nc\nd\ne\nf\n", &opt, &arena, &r);
    ck_assert_uint_eq(r.n_diags, 3);
    opt.max_errors = 0;
    (void)compile("a\nb\nc\nd\ne\nf\n", &opt, &arena, &r);
    ck_assert_uint_eq(r.n_diags, 6);
}
END_TEST

/* -- Wrong calls ------------------------------------------------------------------------------------- */

/* A text that is NULL, with a length: every call that takes one says so. */
START_TEST(no_text_with_a_length_is_a_misuse) {
    tmetal_arena          arena = arena_at(0);
    tmetal_result         r;
    tmetal_module        *m;
    tmetal_transformation x;
    tmetal_triton_call    call;
    tmetal_triton_file    file;
    const char           *text;
    size_t                n;
    memset(&call, 0, sizeof call);
    memset(&file, 0, sizeof file);
    file.name = "more", file.len = 5, call.files = &file, call.n_files = 1;
    ck_assert_int_eq(tmetal_is_ops(NULL, 5), 0);
    ck_assert_int_eq(tmetal_compile_ops(NULL, 5, NULL, &arena, &r), TMETAL_E_MISUSE);
    ck_assert_int_eq(tmetal_print_ops(NULL, 5, NULL, &arena, &text, &n, &r), TMETAL_E_MISUSE);
    ck_assert_int_eq(tmetal_module_ops(NULL, 5, NULL, &arena, &m, &r), TMETAL_E_MISUSE);
    ck_assert_int_eq(tmetal_transform(NULL, 5, NULL, &arena, &x, &r), TMETAL_E_MISUSE);
    ck_assert_int_eq(tmetal_compile_triton(NULL, 5, NULL, NULL, &arena, &r), TMETAL_E_MISUSE);
    ck_assert_int_eq(tmetal_compile_triton("x = 1\n", 6, &call, NULL, &arena, &r), TMETAL_E_MISUSE);
}
END_TEST

START_TEST(wrong_calls_are_told) {
    tmetal_arena   arena = arena_at(0), none = tmetal_arena_on(NULL, 1000);
    tmetal_result  r;
    tmetal_module *m;
    tmetal_detection found;
    const char    *text;
    size_t         n;
    ck_assert_int_eq(tmetal_compile(NULL, 5, NULL, &arena, &r), TMETAL_E_MISUSE);
    ck_assert_int_eq(tmetal_compile(NULL, 0, NULL, &arena, &r), TMETAL_E_NO_MODULE);
    ck_assert_int_eq(tmetal_compile(scale, strlen(scale), NULL, &none, &r), TMETAL_E_ARENA);
    ck_assert_str_eq(tmetal_diag_text(&r.diags[0], &none), r.diags[0].message); /* something to log, whatever room there is */
    ck_assert_int_eq(tmetal_parse("tt.func", 7, NULL, &arena, &m, &r), TMETAL_E_EXPECTED);
    ck_assert_ptr_null(m);
    ck_assert_int_eq(tmetal_verify(m, NULL, &arena, &r), TMETAL_E_MISUSE);
    ck_assert_int_eq(tmetal_plan(m, NULL, &arena, &r), TMETAL_E_MISUSE);
    ck_assert_int_eq(tmetal_emit(m, NULL, &arena, &r), TMETAL_E_MISUSE);
    ck_assert_int_eq(tmetal_print(m, &arena, &text, &n, &r), TMETAL_E_MISUSE);
    ck_assert_ptr_null(text);
    ck_assert_int_eq(tmetal_detect(m, &arena, &found, &r), TMETAL_E_MISUSE);
    ck_assert_int_eq(tmetal_same(m, m, &arena), 0);
    ck_assert_int_eq(tmetal_build_end(NULL, &m, &r), TMETAL_E_ARENA);
    ck_assert_str_eq(tmetal_code_text((tmetal_code)12345), "");
    ck_assert_ptr_null(tmetal_gpu_at(100000));
    ck_assert_ptr_null(tmetal_gpu_named(NULL));
    ck_assert_ptr_null(tmetal_op_at(100000).name);
    ck_assert_ptr_null(tmetal_list_op_at(100000).name);
}
END_TEST

START_TEST(no_arena_is_a_misuse) {
    static const char   ops[] = "tt.sum:[8,8]:1";
    tmetal_arena        arena = arena_at(0);
    tmetal_result       r, made;
    tmetal_module      *m, *none;
    const char         *text;
    size_t              n;
    tmetal_detection    found;
    tmetal_transformation t;
    uint32_t            i;
    says_ok(compile(scale, NULL, &arena, &made), &made);
    says_ok(tmetal_parse(scale, strlen(scale), NULL, &arena, &m, &r), &r);
    for (i = 0; i < 11; i++) {
        tmetal_code code = i == 0   ? tmetal_compile(scale, strlen(scale), NULL, NULL, &r)
                           : i == 1 ? tmetal_parse(scale, strlen(scale), NULL, NULL, &none, &r)
                           : i == 2 ? tmetal_verify(m, NULL, NULL, &r)
                           : i == 3 ? tmetal_print(m, NULL, &text, &n, &r)
                           : i == 4 ? tmetal_emit(m, NULL, NULL, &r)
                           : i == 5 ? tmetal_plan(m, NULL, NULL, &r)
                           : i == 6 ? tmetal_compile_ops(ops, strlen(ops), NULL, NULL, &r)
                           : i == 7 ? tmetal_print_ops(ops, strlen(ops), NULL, NULL, &text, &n, &r)
                           : i == 8 ? tmetal_module_ops(ops, strlen(ops), NULL, NULL, &none, &r)
                           : i == 9 ? tmetal_detect(m, NULL, &found, &r)
                                    : tmetal_transform(scale, strlen(scale), NULL, NULL, &t, &r);
        ck_assert_int_eq(code, TMETAL_E_MISUSE);
        ck_assert_int_eq(r.diags[0].code, TMETAL_E_MISUSE);
        ck_assert_str_eq(r.diags[0].message, "no arena: it is NULL");
        ck_assert(*r.diags[0].help && r.n_kernels == 0);
        ck_assert_str_eq(tmetal_diag_text(&r.diags[0], NULL), r.diags[0].message);
    }
    ck_assert_ptr_null(tmetal_plan_json(&made, NULL));
    ck_assert_ptr_null(tmetal_explain_json(&made, NULL));
    ck_assert_ptr_null(tmetal_layouts_json(&made, NULL));
    ck_assert_ptr_null(tmetal_mlx_json(&made.kernels[0], NULL));
    ck_assert_ptr_null(tmetal_debug_text(&made.kernels[0], "", 0, NULL));
    ck_assert_ptr_null(tmetal_transform_json(&t, NULL));
    ck_assert_ptr_null(tmetal_build_begin(NULL));
    ck_assert_int_eq(tmetal_same(m, m, NULL), 0);
}
END_TEST

START_TEST(an_arena_may_begin_anywhere_and_be_used_again) {
    tmetal_result r, s;
    int           shift, i;
    tmetal_arena  roomy = arena_at(1), arena;
    says_ok(compile(scale, NULL, &roomy, &r), &r);
    for (shift = 0; shift < 17; shift++) {
        arena = tmetal_arena_on(unit_memory + shift, ROOM - 17);
        for (i = 0; i < 2; i++, arena.used = 0) {
            says_ok(compile(scale, NULL, &arena, &s), &s);
            same_text("Metal in two arenas", r.kernels[0].msl, s.kernels[0].msl);
        }
        ck_assert_uint_eq(arena.peak, roomy.peak); /* no padding in it */
    }
}
END_TEST

/* -- Threads --------------------------------------------------------------------------------------------- */

typedef struct worker {
    const char *text;
    size_t      len;
    int         at, rounds, same;
    char       *msl;
} worker;

static void *work(void *p) {
    worker *w = (worker *)p;
    int     i;
    for (i = 0; i < w->rounds; i++) {
        tmetal_arena  arena = arena_at(w->at);
        tmetal_result r;
        if (tmetal_compile(w->text, w->len, NULL, &arena, &r) != TMETAL_OK) return NULL;
        if (!w->msl) w->msl = strdup(r.kernels[0].msl);
        w->same += strcmp(w->msl, r.kernels[0].msl) == 0;
    }
    return NULL;
}

START_TEST(two_threads_compile_on_two_arenas) {
    worker    w[2];
    pthread_t t[2];
    int       i;
    memset(w, 0, sizeof w);
    for (i = 0; i < 2; i++) {
        w[i].text = slurp(i ? "examples/kernels/attention.ttir" : "examples/kernels/softmax.ttir", &w[i].len);
        w[i].at = i;
        w[i].rounds = 30;
        work(&w[i]); /* alone first */
    }
    for (i = 0; i < 2; i++) ck_assert_int_eq(pthread_create(&t[i], NULL, work, &w[i]), 0);
    for (i = 0; i < 2; i++) ck_assert_int_eq(pthread_join(t[i], NULL), 0);
    for (i = 0; i < 2; i++) {
        ck_assert_int_eq(w[i].same, 60);
        free(w[i].msl);
        free((char *)w[i].text);
    }
}
END_TEST

/* -- Names from outside --------------------------------------------------------------------------------- */

/* The module of an op list, printed, parsed and printed again. */
static void comes_back(const char *ops) {
    tmetal_arena   arena = arena_at(0);
    tmetal_result  r;
    tmetal_module *m, *again;
    const char    *first, *second;
    size_t         n, n2;
    says_ok(tmetal_module_ops(ops, strlen(ops), NULL, &arena, &m, &r), &r);
    says_ok(tmetal_print(m, &arena, &first, &n, &r), &r);
    ck_assert_msg(tmetal_parse(first, n, NULL, &arena, &again, &r) == TMETAL_OK, "%s: %.300s", r.n_diags ? r.diags[0].message : "", first);
    says_ok(tmetal_print(again, &arena, &second, &n2, &r), &r);
    same_text("texts", first, second);
}

/* Ids are anything that JSON can say: none may add a line to a comment, or a name that does not parse. */
START_TEST(an_id_of_an_op_list_stays_a_name) {
    static const char *const ids[] = {"a\\nint evil;\\n", "\\\"quoted\\\"", "back\\\\slash\\\\", "two words", "%x", "b\\u00fc\\u202egr", "", "0",
                                      "9x", "x#1", "tmi.7", "//", "?\?/", "*/ int evil; /*", "module", "tt.func", "tmi.1", "\\u001b[31m",
                                      "h; softmax q", "-", "$", "x.0", "y.1"};
    static char       ops[2000];
    tmetal_arena      arena = arena_at(1);
    tmetal_result     r;
    const char       *line;
    uint32_t          k;
    snprintf(ops, sizeof ops,
             "{\"ops\":[{\"type\":\"tt.exp\",\"id\":\"%s\",\"input_shapes\":[[4,32]]},"
             "{\"type\":\"tt.add\",\"id\":\"y\",\"inputs\":[\"%s\"],\"input_shapes\":[null,[4,32]]},"
             "{\"type\":\"tt.softmax\",\"id\":\"z\",\"inputs\":[\"y\"],\"args\":{\"axis\":1}},"
             "{\"type\":\"tt.sum\",\"id\":\"s\",\"inputs\":[\"%s\"],\"args\":{\"axis\":1}}]}",
             ids[_i], ids[_i], ids[_i]);
    comes_back(ops);
    says_ok(tmetal_compile_ops(ops, strlen(ops), NULL, &arena, &r), &r);
    ck_assert_ptr_null(strstr(r.msl, "softmax q,"));
    for (line = r.msl; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        size_t n = strcspn(line, "\n"), i;
        ck_assert_msg(strncmp(line, "int evil", 8) != 0 && (!n || line[n - 1] != '\\'), "%.*s", (int)n, line);
        for (i = 0; i < n; i++) ck_assert_msg(line[i] >= 32 && line[i] < 127, "%.*s", (int)n, line);
    }
    for (k = 0; k < r.n_params; k++) {
        uint32_t other;
        for (other = 0; other < k; other++) ck_assert_str_ne(r.params[k].name, r.params[other].name);
    }
}
END_TEST

/* Kernels that do the same on other buffers are one function, and what looks like it is not. */
START_TEST(kernels_that_are_alike_are_one_function) {
    static const struct {
        const char *list;
        int         alike; /* are its two kernels one function? */
    } rows[] = {
        {"tt.exp:[64,64]\ntt.exp:[64,64]", 1},
        {"tt.exp:[64,64]\ntt.exp:[65,64]", 0},
        {"tt.sum:[64,64]:1\ntt.sum:[64,64]:1", 1},
        {"tt.sum:[64,64]:1\ntt.sum:[64,64]:0", 0},
        {"tt.sum:[64,64]:1\ntt.max:[64,64]:1", 0},
        {"[{\"type\":\"add\",\"input_shapes\":[[8]],\"args\":{\"value\":1}},{\"type\":\"add\",\"input_shapes\":[[8]],\"args\":{\"value\":1}}]", 1},
        {"[{\"type\":\"add\",\"input_shapes\":[[8]],\"args\":{\"value\":1}},{\"type\":\"add\",\"input_shapes\":[[8]],\"args\":{\"value\":2}}]", 0},
        {"[{\"type\":\"exp\",\"input_shapes\":[[8]]},{\"type\":\"exp\",\"input_shapes\":[[8]],\"dtype\":\"f16\"}]", 0},
        {"[{\"type\":\"sub\",\"inputs\":[\"a\",\"b\"],\"input_shapes\":[[8],[8]]},{\"type\":\"sub\",\"inputs\":[\"b\",\"a\"]}]", 1},
        {"[{\"type\":\"sub\",\"inputs\":[\"a\",\"b\"],\"input_shapes\":[[8],[8]]},{\"type\":\"sub\",\"inputs\":[\"a\",\"a\"]}]", 0},
    };
    tmetal_arena   arena = arena_at(0);
    tmetal_options opt;
    tmetal_result  r;
    const char    *at;
    uint32_t       i, n = 0;
    memset(&opt, 0, sizeof opt);
    for (opt.reports = 0; opt.reports < 2; opt.reports++) {
        says_ok(tmetal_compile_ops(rows[_i].list, strlen(rows[_i].list), &opt, &arena, &r), &r);
        ck_assert_uint_eq(r.n_kernels, 2);
        ck_assert_int_eq(strcmp(r.kernels[0].entry, r.kernels[1].entry) == 0, rows[_i].alike);
        ck_assert_int_eq(r.kernels[0].msl == r.kernels[1].msl, rows[_i].alike);
        for (n = 0, at = r.msl; (at = strstr(at, "kernel void ")) != NULL; at++) n++;
        ck_assert_uint_eq(n, rows[_i].alike ? 1 : 2);
        n = r.kernels[0].n_args;
        ck_assert_uint_ne(r.kernels[0].args[n - 1].param, r.kernels[1].args[r.kernels[1].n_args - 1].param);
        for (i = 0; rows[_i].alike && i < n; i++) ck_assert_str_eq(r.kernels[0].args[i].name, r.kernels[1].args[i].name);
    }
}
END_TEST

/* What a short form cannot say is printed otherwise: in the dictionary, or in the generic form. */
START_TEST(an_attribute_of_another_kind_comes_back) {
    static const char *const ops[] = {
        "%y = arith.extui %n {nneg = 3 : i32, overflow = \"x\"} : i32 to i64",
        "%y = arith.addi %n, %n overflow<nsw, nuw> {fastmath, exact = 1 : i32} : i32",
        "\"ttg.barrier\"() {addrSpace = 3 : i32} : () -> ()",
        "ttg.barrier local|global {a}",
        "\"tt.print\"() {prefix = 3 : i32} : () -> ()",
        "\"tt.print\"(%n) {hex = false} : (i32) -> ()",
        "%y = arith.cmpi slt, %n, %n {fastmath = 1 : i32, rounding = 7 : i32} : i32",
        "%y = arith.constant {a = 1 : i32} 7 : i32",
        "%y = tt.load %p {cacheModifier = 2 : i32} : !tt.ptr<f32>",
    };
    static char    text[1000];
    tmetal_arena   arena = arena_at(0);
    tmetal_result  r;
    tmetal_module *m, *again;
    const char    *first;
    size_t         n;
    snprintf(text, sizeof text, "module {\n  tt.func public @k(%%n: i32, %%p: !tt.ptr<f32>) {\n    %s\n    tt.return\n  }\n}\n", ops[_i]);
    says_ok(tmetal_parse(text, strlen(text), NULL, &arena, &m, &r), &r);
    says_ok(tmetal_print(m, &arena, &first, &n, &r), &r);
    ck_assert_msg(tmetal_parse(first, n, NULL, &arena, &again, &r) == TMETAL_OK, "%s: %.300s", r.n_diags ? r.diags[0].message : "", first);
    ck_assert_msg(tmetal_same(m, again, &arena), "%.300s", first);
}
END_TEST

/* Seconds to read n keys in no order, or places or blocks that nothing defines. */
static double seconds_of_names(void *of, size_t size) {
    const unsigned n = (unsigned)size;
    const int      _i = *(int *)of;
    size_t         room = (size_t)4 << 20, at = 0;
    char          *text = (char *)malloc(room);
    tmetal_arena   arena = arena_at(0);
    tmetal_module *m;
    tmetal_result  r;
    clock_t        start = clock();
    unsigned       i;
    ck_assert_ptr_nonnull(text);
    at += (size_t)snprintf(text, room, "module {\n tt.func public @k(%%x: i32) {\n");
    if (_i == 0) at += (size_t)snprintf(text + at, room - at, " %%y = arith.addi %%x, %%x {");
    for (i = 0; i < n; i++)
        at += (size_t)(_i == 0   ? snprintf(text + at, room - at, "%sk%u = 1", i ? ", " : "", i * 7919 % n)
                       : _i == 1 ? snprintf(text + at, room - at, " %%a%u = arith.addi %%x, %%x : i32 loc(#l%u)\n", i, i)
                                 : snprintf(text + at, room - at, " \"cf.br\"()[^b%u] : () -> ()\n", i));
    at += (size_t)snprintf(text + at, room - at, "%s tt.return\n }\n}\n", _i == 0 ? "} : i32\n" : "");
    (void)tmetal_parse(text, at, NULL, &arena, &m, &r);
    ck_assert_int_eq(r.code, _i == 0 ? TMETAL_OK : _i == 1 ? TMETAL_E_ALIAS : TMETAL_E_BLOCK);
    start = clock() - start;
    free(text);
    return (double)start / CLOCKS_PER_SEC;
}

/* 20,000 of them: each took 4 to 50 seconds. */
START_TEST(long_lists_of_names_are_read_in_linear_time) {
    int          which = _i;
    const double s = seconds_of_names(&which, 20000);
    ck_assert_msg(!grows(seconds_of_names, &which, 20000, s, 0.2), "%.1f s, over eight times as long as for a quarter of them", s);
}
END_TEST

static void is_shown_plainly(const char *what, const char *s) {
    const char *p;
    for (p = s; p && *p; p++) ck_assert_msg(*p >= 32 && *p < 127, "%s: byte %u in '%.200s'", what, (unsigned)(unsigned char)*p, s);
}

static void is_result_shown_plainly(const tmetal_result *r) {
    uint32_t i, k;
    for (i = 0; i < r->n_diags; i++) {
        is_shown_plainly("message", r->diags[i].message);
        is_shown_plainly("note", r->diags[i].note);
        is_shown_plainly("help", r->diags[i].help);
        is_shown_plainly("excerpt", r->diags[i].excerpt);
        is_shown_plainly("file", r->diags[i].ir.file);
        is_shown_plainly("python file", r->diags[i].python.file);
    }
    for (i = 0; i < r->n_remarks; i++) {
        is_shown_plainly("remark", r->remarks[i].text);
        is_shown_plainly("remark's file", r->remarks[i].ir.file);
        is_shown_plainly("remark's python file", r->remarks[i].python.file);
        is_shown_plainly("remark's kernel", r->remarks[i].kernel);
    }
    for (k = 0; k < r->n_kernels; k++) {
        const tmetal_kernel *kernel = &r->kernels[k];
        is_shown_plainly("kernel", kernel->name);
        for (i = 0; i < kernel->n_layouts; i++) {
            is_shown_plainly("layout's value", kernel->layouts[i].value);
            is_shown_plainly("layout's file", kernel->layouts[i].python.file);
        }
        for (i = 0; i < kernel->n_accesses; i++) {
            is_shown_plainly("access's value", kernel->accesses[i].value);
            is_shown_plainly("access's buffer", kernel->accesses[i].buffer);
            is_shown_plainly("access's file", kernel->accesses[i].python.file);
        }
    }
}

#define HOSTILE_BYTES "\x1b[2J\x07\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xff\xed\xa0\x80\xc0\xaf\x7f"

/* Escapes of a terminal, overrides of the direction and broken UTF-8, in what stands in texts, file names and ids. */
START_TEST(text_from_outside_is_shown_without_controls) {
    static const char *const texts[] = {
        "tt.func @k(%x: i32) {\n  %y = arith.addi %x, %z : i32 // " HOSTILE_BYTES "\n  tt.return\n}\n",
        "tt.func @k() {\n  \"tt." HOSTILE_BYTES "\"() : () -> ()\n  tt.return\n}\n",
        "tt.func @k(%p: !tt.ptr<f32>) {\n  %c = arith.constant 1.0 : f32\n  tt.store %p, %c : !tt.ptr<f32> loc(\"a" HOSTILE_BYTES ".py\":3:4)\n  tt.return\n}\n",
        "tt.func @\"k" HOSTILE_BYTES "\"(%p: !tt.ptr<f32>) {\n  %c = tt.load %p : !tt.ptr<f64>\n  tt.return\n}\n",
        "tt.func @k(%p: !tt.ptr<f32>) {\n  %c = arith.constant {\"" HOSTILE_BYTES "\" = 1} 1.0 : f33\n  tt.return loc(\"" HOSTILE_BYTES "\")\n}\n",
        "{\"ops\":[{\"type\":\"tt.sum\",\"id\":\"\\u001b[2J\\u009b\\u202e\\u2066\",\"input_shapes\":[[4,32]],\"args\":{\"axis\":1}}]}",
        "{\"ops\":[{\"type\":\"tt.sum\",\"id\":\"\\u001b[2J\\u009b\\u202e\\u2066\",\"input_shapes\":[[4,32]],\"args\":{\"axis\":7}}]}",
    };
    static char           text[2000];
    tmetal_arena          arena = arena_at(0);
    tmetal_options        opt;
    tmetal_result         r;
    tmetal_transformation t;
    uint32_t              i;
    memset(&opt, 0, sizeof opt);
    opt.file = "f" HOSTILE_BYTES;
    snprintf(text, sizeof text, "%600s\n%s", "", texts[_i]); /* such bytes at its very beginning are a binary file's */
    (void)tmetal_transform(text, strlen(text), &opt, &arena, &t, &r);
    is_result_shown_plainly(&r);
    ck_assert(_i < 2 || _i == 3 || _i == 4 || _i == 6 ? r.n_diags > 0 : r.n_kernels == 1);
    for (i = 0; r.code == TMETAL_OK && i < t.n_changes; i++) {
        is_shown_plainly("change's value", t.changes[i].value);
        is_shown_plainly("change's reason", t.changes[i].reason);
        is_shown_plainly("change's file", t.changes[i].ir.file);
    }
    if (r.code != TMETAL_OK) return;
    for (i = 0; i < 3; i++) {
        const char *json = i == 0 ? tmetal_plan_json(&r, &arena) : i == 1 ? tmetal_explain_json(&r, &arena) : tmetal_layouts_json(&r, &arena), *p;
        for (p = json; *p; p++) ck_assert_msg((*p >= 32 && *p < 127) || *p == '\n', "byte %u in %.200s", (unsigned)(unsigned char)*p, p - (p - json > 100 ? 100 : p - json));
    }
}
END_TEST

/* Bytes that are no UTF-8 are no JSON. */
START_TEST(an_op_list_is_utf8) {
    static const char *const ids[] = {"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\xc3"};
    char          ops[200];
    const char   *text;
    size_t        n;
    tmetal_arena  arena = arena_at(0);
    tmetal_result r;
    snprintf(ops, sizeof ops, "{\"ops\":[{\"type\":\"tt.sum\",\"id\":\"\xc3\xbc%s\",\"input_shapes\":[[4,32]],\"args\":{\"axis\":1}}]}", ids[_i]);
    ck_assert_int_ne(tmetal_print_ops(ops, strlen(ops), NULL, &arena, &text, &n, &r), TMETAL_OK);
    ck_assert_uint_eq(r.diags[0].ir.col, (unsigned)(strchr(ops, (char)0xbc) - ops) + 2);
}
END_TEST

/* Keys, symbols and strings that are no words; the text that is printed says the same again. */
START_TEST(a_key_or_a_symbol_stays_one) {
    static const char *const names[] = {"two words", "\\0A}", "\\22", "\\\\", "b\xc3\xbc", "true", "9", "", "%x", "a.b", "dense"};
    static char       text[1000];
    tmetal_arena      arena = arena_at(0);
    tmetal_result     r;
    tmetal_module    *m, *again;
    const char       *first, *second;
    size_t            n, n2;
    snprintf(text, sizeof text,
             "module @\"m%s\" attributes {\"%s\" = {\"%s\" = 1 : i32, d = [@\"%s\", \"%s\"]}} {\n"
             "  tt.func private @\"f%s\"(%%x: f32 {\"%s\" = 3 : i32}) -> f32 attributes {\"%s\"} {\n    tt.return %%x : f32\n  }\n"
             "  tt.func public @k(%%x: f32) {\n    %%y = tt.call @\"f%s\"(%%x) {\"%s\" = 1 : i32} : (f32) -> f32\n    tt.return\n  }\n}\n",
             names[_i], names[_i], names[_i], names[_i], names[_i], names[_i], names[_i], names[_i], names[_i], names[_i]);
    says_ok(tmetal_parse(text, strlen(text), NULL, &arena, &m, &r), &r);
    says_ok(tmetal_print(m, &arena, &first, &n, &r), &r);
    ck_assert_msg(tmetal_parse(first, n, NULL, &arena, &again, &r) == TMETAL_OK, "%s: %.300s", r.n_diags ? r.diags[0].message : "", first);
    ck_assert(tmetal_same(m, again, &arena));
    says_ok(tmetal_print(again, &arena, &second, &n2, &r), &r);
    same_text("texts", first, second);
}
END_TEST

/* A long line is shown around its mistake, between two letters, with the mark below it. */
START_TEST(a_long_line_is_cut_around_its_mistake) {
    static char   text[600];
    tmetal_arena  arena = arena_at(0);
    tmetal_result r;
    const char   *said, *line, *mark, *p;
    size_t        at = 0, below = 0;
    int           i, n = snprintf(text, sizeof text, "tt.func public @k(%%n: i32) {\n  tt.print \"");
    for (i = 0; i < 60; i++) n += snprintf(text + n, sizeof text - (size_t)n, "\xc3\xa9");
    (void)snprintf(text + n, sizeof text - (size_t)n, "%.*s: \" {hex = false, isSigned = array<i32: 1>} : %%n : i32 arith.adf %%n\n  tt.return\n}\n", _i, "xxx");
    ck_assert_int_eq(compile(text, NULL, &arena, &r), TMETAL_E_UNKNOWN_OP);
    said = tmetal_diag_text(&r.diags[0], &arena);
    line = strchr(said, '\n') + 1;
    ck_assert_msg(strncmp(line, " 2 | ...", 8) == 0 && ((unsigned char)line[8] & 0xc0) != 0x80, "%s", said);
    mark = strchr(line, '\n') + 1;
    for (p = line; strncmp(p, "arith.adf", 9) != 0; p++) at += ((unsigned char)*p & 0xc0) != 0x80;
    for (p = mark; *p != '^'; p++) below++;
    ck_assert_msg(at == below && strncmp(p, "^~~~~~~~~\n", 10) == 0, "%s", said);
}
END_TEST

START_TEST(a_long_line_is_shown_from_its_start_where_the_mistake_is_there) {
    static char   text[600];
    tmetal_arena  arena = arena_at(0);
    tmetal_result r;
    const char   *said;
    (void)snprintf(text, sizeof text, "tt.func public @k(%%n: i32) {\n  arith.adf %%n // %0200d\n  tt.return\n}\n", 0);
    ck_assert_int_eq(compile(text, NULL, &arena, &r), TMETAL_E_UNKNOWN_OP);
    said = tmetal_diag_text(&r.diags[0], &arena);
    ck_assert_msg(strstr(said, "\n 2 |   arith.adf %n // 000") && strstr(said, "\n   |   ^~~~~~~~~\n"), "%s", said);
}
END_TEST

/* What has no place has none in its text. */
START_TEST(a_diagnostic_without_a_place) {
    tmetal_arena  arena = arena_at(0), tiny = tmetal_arena_on(unit_memory + ROOM, 100);
    tmetal_result r;
    char          wanted[200];
    ck_assert_int_eq(tmetal_compile(scale, strlen(scale), NULL, &tiny, &r), TMETAL_E_ARENA);
    snprintf(wanted, sizeof wanted, "error[TM901]: %s\nhelp: %s\n", r.diags[0].message, r.diags[0].help);
    ck_assert_str_eq(tmetal_diag_text(&r.diags[0], &arena), wanted);
}
END_TEST

START_TEST(texts_that_say_what_cannot_be_are_refused) {
    static const struct {
        const char *text;
        tmetal_code code;
    } rows[] = {
        {"tt.func @k(%x: tensor<1048576x1048576x1048576xf32>) {\n  tt.return\n}\n", TMETAL_E_NUMEL}, /* more than 64 bits count, of bytes */
        {"tt.func @k() {\n  %i = tt.make_range {end = \"8\", start = 0 : i32} : tensor<8xi32>\n  tt.return\n}\n", TMETAL_E_ATTRIBUTE},
        {"#a = loc(\"x\"(#b))\n#b = loc(\"y\"(#a))\ntt.func @k(%n: i32) {\n  %r = arith.addi %n, %n : i64 loc(#a)\n  tt.return\n}\n", TMETAL_E_TYPE_CLASH},
    };
    refused(rows[_i].text, NULL, rows[_i].code);
}
END_TEST

/* Names, aliases and calls that lead in a ring lead nowhere, nor does a place made of none: there is no line to tell. */
START_TEST(places_in_a_ring_are_none) {
    static const char text[] = "#a = loc(\"x\"(#b))\n#b = loc(\"y\"(#a))\n#c = loc(#d)\n#d = loc(#c)\n#e = loc(callsite(#e at #e))\n#f = loc(fused<\"m\">[])\n"
                               "tt.func public @k(%p: !tt.ptr<i32>, %n: i32) {\n  %r = arith.muli %n, %n : i32 loc(#a)\n  %s = arith.muli %r, %n : i32 loc(#c)\n"
                               "  %t = arith.muli %s, %n : i32 loc(#e)\n  %u = arith.muli %t, %n : i32 loc(#f)\n  tt.store %p, %u : !tt.ptr<i32> loc(#b)\n  tt.return\n}\n";
    tmetal_arena  arena = arena_at(0);
    tmetal_result r;
    says_ok(compile(text, asking(), &arena, &r), &r);
    ck_assert_ptr_nonnull(strstr(r.kernels[0].msl, "n * n * n * n * n"));
    ck_assert_ptr_null(strstr(r.kernels[0].msl, "// line"));
}
END_TEST

/* Lengths that no text of ours may have are told before anything is read. */
START_TEST(texts_that_are_too_long_are_not_read) {
    const size_t         huge = (size_t)-1;
    tmetal_triton_file   file;
    tmetal_triton_call   call;
    tmetal_arena         arena = arena_at(0);
    tmetal_module       *m;
    const tmetal_triton_kernel *kernels;
    uint32_t             n;
    tmetal_result        r;
    memset(&file, 0, sizeof file);
    memset(&call, 0, sizeof call);
    ck_assert_int_eq(tmetal_triton("x", huge, NULL, NULL, &arena, &m, &r), TMETAL_E_TOO_LARGE);
    ck_assert_ptr_null(m);
    ck_assert_int_eq(tmetal_triton_kernels("x", huge, NULL, &arena, &kernels, &n, &r), TMETAL_E_TOO_LARGE);
    ck_assert_uint_eq(n, 0);
    ck_assert_int_eq(tmetal_compile_triton("x", huge, NULL, NULL, &arena, &r), TMETAL_E_TOO_LARGE);
    ck_assert_uint_eq(r.n_kernels, 0);
    file.name = "more.py";
    file.text = "x";
    file.len = huge;
    call.files = &file;
    call.n_files = 1;
    ck_assert_int_eq(tmetal_triton("x = 1\n", 6, &call, NULL, &arena, &m, &r), TMETAL_E_TOO_LARGE);
    ck_assert_ptr_null(m);
    file.text = NULL; /* and of none there is nothing to read */
    file.len = 0;
    ck_assert_int_eq(tmetal_triton(NULL, 0, &call, NULL, &arena, &m, &r), TMETAL_E_PY_KERNEL);
    ck_assert_int_eq(tmetal_triton_kernels(NULL, 0, NULL, &arena, &kernels, &n, &r), TMETAL_OK);
    ck_assert_uint_eq(n, 0);
}
END_TEST

/* What is asked with nothing to ask about. */
START_TEST(nothing_is_told_of_nothing) {
    static const char ops[] = "tt.sum:[8,8]:1";
    tmetal_arena      arena = arena_at(0);
    tmetal_options    opt;
    tmetal_result     r;
    tmetal_module    *m;
    memset(&opt, 0, sizeof opt);
    opt.mlx = 1;
    ck_assert_uint_eq(tmetal_arena_bound_list(NULL, 1000), tmetal_arena_bound_ops(1000));
    ck_assert_uint_gt(tmetal_arena_bound_graph(ops, strlen(ops), NULL, &arena), 0);
    ck_assert_uint_eq(tmetal_arena_bound_graph(ops, strlen(ops), NULL, NULL), 0);
    ck_assert_uint_eq(tmetal_arena_bound_graph("tt.som:[8,8]:1", 14, NULL, &arena), 0);
    ck_assert_uint_eq(tmetal_arena_bound_graph("tt.sum:[8,8]:7", 14, NULL, &arena), 0);
    ck_assert_uint_eq(arena.used, 0);
    says_ok(tmetal_parse(scale, strlen(scale), NULL, &arena, &m, &r), &r);
    ck_assert_int_eq(tmetal_same(m, NULL, &arena), 0);
    ck_assert_int_eq(tmetal_same(NULL, m, &arena), 0);
    says_ok(tmetal_plan(m, &opt, &arena, &r), &r);
    ck_assert_ptr_null(tmetal_mlx_json(&r.kernels[0], &arena)); /* a plan has no text */
    says_ok(tmetal_emit(m, &opt, &arena, &r), &r);
    ck_assert_ptr_nonnull(tmetal_mlx_json(&r.kernels[0], &arena));
    ck_assert_ptr_null(tmetal_gpu_feature_at(tmetal_gpu_feature_count()).name);
    ck_assert_ptr_nonnull(tmetal_gpu_feature_at(tmetal_gpu_feature_count() - 1).name);
    ck_assert_str_eq(tmetal_reduce_name((tmetal_reduce_kind)99), "");
    ck_assert_str_eq(tmetal_pattern_name((tmetal_pattern_kind)99), "");
    ck_assert_str_eq(tmetal_tie_name((tmetal_tie_rule)99), "");
    ck_assert_str_eq(tmetal_nan_name((tmetal_nan_rule)99), "");
    ck_assert_str_eq(tmetal_form_name((tmetal_form)3), ""); /* two forms at once */
    ck_assert_str_eq(tmetal_layout_name((tmetal_layout)99), "");
}
END_TEST

/* -- Tables ------------------------------------------------------------------------------------------------ */

START_TEST(the_tables_can_be_walked) {
    size_t i, compiled = 0;
    ck_assert_uint_gt(tmetal_op_count(), 150);
    for (i = 0; i < tmetal_op_count(); i++) {
        tmetal_op_info op = tmetal_op_at(i);
        ck_assert(op.name && *op.name && *op.group);
        compiled += (size_t)op.lowered;
    }
    ck_assert_uint_gt(compiled, 130);
    for (i = 0; i < tmetal_gpu_count(); i++) ck_assert_ptr_eq(tmetal_gpu_named(tmetal_gpu_at(i)->name), tmetal_gpu_at(i));
    ck_assert_str_eq(tmetal_code_text(TMETAL_E_EXPECTED), "expected %s, found %s");
}
END_TEST

/* A family's row: what all of its GPUs have is known, what a chip has is not. */
START_TEST(facts_of_a_family) {
    const tmetal_gpu *g = tmetal_gpu_find("apple9", 0);
    size_t            i, limits = 0;
    ck_assert_ptr_nonnull(g);
    for (i = 0; i < tmetal_gpu_fact_count(); i++) {
        const tmetal_gpu_fact f = tmetal_gpu_fact_at(g, i);
        ck_assert_msg((f.confidence == TMETAL_UNKNOWN) == (f.value == 0), "%s is %u, of confidence %d", f.figure, f.value, (int)f.confidence);
        limits += f.value != 0;
        ck_assert_str_eq(f.text, "");
    }
    ck_assert(limits && limits < tmetal_gpu_fact_count());
    ck_assert_ptr_eq(tmetal_gpu_find("apple-m1", 99), tmetal_gpu_named("apple-m1")); /* a bin that nobody sells */
}
END_TEST

int main(void) {
    Suite *s = suite_create("api");
    TCase *t = tcase_create("api");
    tcase_add_checked_fixture(t, unit_begin, unit_end);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_kernel_comes_with_all_that_a_launch_needs);
    tcase_add_loop_test(t, remarks_say_what_was_chosen_and_why, 0, 9);
    tcase_add_loop_test(t, a_forced_layout_deals_the_input_of_a_reduction, 0, 7);
    tcase_add_loop_test(t, a_layout_that_cannot_be_is_missed_with_a_reason, 0, 3);
    tcase_add_loop_test(t, reductions_are_shared_out_to_the_last_element, 0, 4);
    tcase_add_loop_test(t, threads_follow_from_bytes_and_folds, 0, 14);
    tcase_add_test(t, a_reverse_scan_stays_in_its_vectors);
    tcase_add_loop_test(t, hints_of_a_tile_are_one_for_each_axis, 0, 4);
    tcase_add_test(t, a_product_of_sixteen_factors_is_no_gate);
    tcase_add_test(t, threads_for_mlx_stand_in_one_row);
    tcase_add_loop_test(t, a_thread_holds_no_more_than_it_may, 0, 6);
    tcase_add_test(t, a_remark_tells_of_fp64_in_software);
    tcase_add_test(t, parts_make_what_compile_makes_and_leave_the_module_alone);
    tcase_add_loop_test(t, modules_that_differ_are_not_the_same, 0, 7);
    tcase_add_test(t, a_full_arena_leaves_the_module_alone);
    tcase_add_test(t, diagnostics_of_a_module_find_their_lines);
    tcase_add_test(t, kernels_of_a_module_are_what_they_are_alone);
    tcase_add_test(t, kernels_of_a_text_are_called_apart);
    tcase_add_test(t, a_format_ends_where_its_text_does);
    tcase_add_test(t, options_that_cannot_be_are_refused);
    tcase_add_test(t, threads_are_those_asked_for);
    tcase_add_test(t, a_kernel_newer_than_asked_for_is_refused);
    tcase_add_test(t, aliased_parameters_travel_as_addresses);
    tcase_add_test(t, only_parameters_that_overlap_what_is_written_travel_as_addresses);
    tcase_add_test(t, a_copy_of_a_result_needs_no_arena);
    tcase_add_test(t, places_of_python_are_those_of_its_files);
    tcase_add_test(t, a_version_of_triton_decides_what_a_kernel_means);
    tcase_add_test(t, the_estimate_for_a_kernel_of_python_is_enough);
    tcase_add_test(t, programs_that_tell_each_other_by_two_names_run_in_turn);
    tcase_add_test(t, plain_code_is_longer_than_optimised_code);
    tcase_add_test(t, fusion_is_off_when_asked);
    tcase_add_test(t, a_debug_buffer_is_told_word_by_word);
    tcase_add_test(t, printed_floats_are_exact);
    tcase_add_test(t, printed_floats_are_exact);
    tcase_add_test(t, threadgroups_are_no_larger_than_any_gpu_has);
    tcase_add_test(t, branches_side_by_side_are_no_nesting);
    tcase_add_test(t, errors_stop_at_the_number_asked_for);
    tcase_add_test(t, no_text_with_a_length_is_a_misuse);
    tcase_add_test(t, wrong_calls_are_told);
    tcase_add_test(t, no_arena_is_a_misuse);
    tcase_add_test(t, an_arena_may_begin_anywhere_and_be_used_again);
    tcase_add_test(t, two_threads_compile_on_two_arenas);
    tcase_add_loop_test(t, an_id_of_an_op_list_stays_a_name, 0, 23);
    tcase_add_loop_test(t, kernels_that_are_alike_are_one_function, 0, 10);
    tcase_add_loop_test(t, a_key_or_a_symbol_stays_one, 0, 11);
    tcase_add_loop_test(t, long_lists_of_names_are_read_in_linear_time, 0, 3);
    tcase_add_loop_test(t, an_attribute_of_another_kind_comes_back, 0, 9);
    tcase_add_loop_test(t, text_from_outside_is_shown_without_controls, 0, 7);
    tcase_add_loop_test(t, an_op_list_is_utf8, 0, 6);
    tcase_add_loop_test(t, a_long_line_is_cut_around_its_mistake, 0, 4);
    tcase_add_test(t, a_long_line_is_shown_from_its_start_where_the_mistake_is_there);
    tcase_add_test(t, a_diagnostic_without_a_place);
    tcase_add_loop_test(t, texts_that_say_what_cannot_be_are_refused, 0, 3);
    tcase_add_test(t, places_in_a_ring_are_none);
    tcase_add_test(t, texts_that_are_too_long_are_not_read);
    tcase_add_test(t, nothing_is_told_of_nothing);
    tcase_add_test(t, the_tables_can_be_walked);
    tcase_add_test(t, facts_of_a_family);
    suite_add_tcase(s, t);
    return run_suite(s);
}
