/* The builder: a softmax and a matmul made call by call, equal to their text; every kind of mistake. */
#define TMETAL_IMPLEMENTATION
#include "unit.h"

/* -- A softmax of rows of 64 ----------------------------------------------------------------- */

static const char softmax_text[] =
    "module {\n"
    "  tt.func public @softmax(%out: !tt.ptr<f32>, %in: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {\n"
    "    %row = tt.get_program_id x : i32\n"
    "    %0 = arith.muli %row, %n : i32\n"
    "    %cols = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"
    "    %1 = tt.splat %n : i32 -> tensor<64xi32>\n"
    "    %mask = arith.cmpi slt, %cols, %1 : tensor<64xi32>\n"
    "    %2 = tt.addptr %in, %0 : !tt.ptr<f32>, i32\n"
    "    %3 = tt.splat %2 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n"
    "    %4 = tt.addptr %3, %cols : tensor<64x!tt.ptr<f32>>, tensor<64xi32>\n"
    "    %5 = arith.constant dense<0xFF800000> : tensor<64xf32>\n"
    "    %x = tt.load %4, %mask, %5 : tensor<64x!tt.ptr<f32>>\n"
    "    %8 = \"tt.reduce\"(%x) <{axis = 0 : i32}> ({\n"
    "    ^bb0(%6: f32, %7: f32):\n"
    "      %9 = arith.maxnumf %6, %7 : f32\n"
    "      tt.reduce.return %9 : f32\n"
    "    }) : (tensor<64xf32>) -> f32\n"
    "    %10 = tt.splat %8 : f32 -> tensor<64xf32>\n"
    "    %11 = arith.subf %x, %10 : tensor<64xf32>\n"
    "    %num = math.exp %11 : tensor<64xf32>\n"
    "    %14 = \"tt.reduce\"(%num) <{axis = 0 : i32}> ({\n"
    "    ^bb0(%12: f32, %13: f32):\n"
    "      %15 = arith.addf %12, %13 : f32\n"
    "      tt.reduce.return %15 : f32\n"
    "    }) : (tensor<64xf32>) -> f32\n"
    "    %16 = tt.splat %14 : f32 -> tensor<64xf32>\n"
    "    %17 = arith.divf %num, %16 : tensor<64xf32>\n"
    "    %18 = tt.addptr %out, %0 : !tt.ptr<f32>, i32\n"
    "    %19 = tt.splat %18 : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n"
    "    %20 = tt.addptr %19, %cols : tensor<64x!tt.ptr<f32>>, tensor<64xi32>\n"
    "    tt.store %20, %17, %mask : tensor<64x!tt.ptr<f32>>\n"
    "    tt.return\n"
    "  }\n"
    "}\n";

static tmetal_value op1(tmetal_builder *b, const char *op, tmetal_value x, tmetal_type type) { return tmetal_build_op(b, op, &x, 1, NULL, type); }

static tmetal_value op2(tmetal_builder *b, const char *op, tmetal_value x, tmetal_value y) {
    tmetal_value in[2];
    in[0] = x;
    in[1] = y;
    return tmetal_build_op(b, op, in, 2, NULL, 0);
}

static tmetal_value fold(tmetal_builder *b, const char *op, tmetal_value x) {
    tmetal_value y;
    tmetal_build_open(b, "tt.reduce", &x, 1, "{axis = 0 : i32}", NULL, 0);
    y = op2(b, op, tmetal_build_body_arg(b, 0), tmetal_build_body_arg(b, 1));
    return tmetal_build_close(b, &y, 1);
}

/* Names that the text gives by hand follow the order in which values are made, so the numbers differ
 * where a body comes before its results: the comparison is without them. */
static void forget_names(tmetal_module *m) {
    uint32_t i;
    for (i = 1; i < m->value.n; i++)
        if (TMI_VALUE(m, i)->name && tmi_is_digit(*TMI_STR(m, TMI_VALUE(m, i)->name))) TMI_VALUE(m, i)->name = 0;
}

static tmetal_module *softmax(tmetal_arena *arena) {
    static const char *const names[] = {"out", "in", "n"};
    tmetal_builder *b = tmetal_build_begin(arena);
    tmetal_type     ptr = tmetal_build_type(b, "!tt.ptr<f32>"), i32 = tmetal_build_type(b, "i32"), tile = tmetal_build_type(b, "tensor<64xf32>");
    tmetal_type     ptrs = tmetal_build_type(b, "tensor<64x!tt.ptr<f32>>"), ints = tmetal_build_type(b, "tensor<64xi32>"), args[3];
    tmetal_value    row, at, cols, mask, in[3], x, num;
    tmetal_module  *m;
    tmetal_result   r;
    args[0] = args[1] = ptr;
    args[2] = i32;
    tmetal_build_kernel(b, "softmax", args, names, 3);
    tmetal_build_divisible(b, 1, 16);
    row = tmetal_build_op(b, "tt.get_program_id", NULL, 0, "{axis = \"x\"}", 0);
    tmetal_build_name(b, row, "row");
    at = op2(b, "arith.muli", row, tmetal_build_arg(b, 2));
    cols = tmetal_build_op(b, "tt.make_range", NULL, 0, "{start = 0 : i32, end = 64 : i32}", 0);
    tmetal_build_name(b, cols, "cols");
    in[0] = cols;
    in[1] = op1(b, "tt.splat", tmetal_build_arg(b, 2), ints);
    mask = tmetal_build_op(b, "arith.cmpi", in, 2, "{predicate = \"slt\"}", 0);
    tmetal_build_name(b, mask, "mask");
    in[0] = op2(b, "tt.addptr", op1(b, "tt.splat", op2(b, "tt.addptr", tmetal_build_arg(b, 1), at), ptrs), cols);
    in[1] = mask;
    in[2] = tmetal_build_float(b, tile, -(double)INFINITY);
    x = tmetal_build_op(b, "tt.load", in, 3, NULL, 0);
    tmetal_build_name(b, x, "x");
    num = op1(b, "math.exp", op2(b, "arith.subf", x, op1(b, "tt.splat", fold(b, "arith.maxnumf", x), tile)), 0);
    tmetal_build_name(b, num, "num");
    in[1] = op2(b, "arith.divf", num, op1(b, "tt.splat", fold(b, "arith.addf", num), tile));
    in[0] = op2(b, "tt.addptr", op1(b, "tt.splat", op2(b, "tt.addptr", tmetal_build_arg(b, 0), at), ptrs), cols);
    in[2] = mask;
    (void)tmetal_build_op(b, "tt.store", in, 3, NULL, 0);
    tmetal_build_return(b, NULL, 0);
    says_ok(tmetal_build_end(b, &m, &r), &r);
    return m;
}

static void same_as_text(tmetal_module *m, const char *text) {
    tmetal_arena   arena = arena_at(1), other = arena_at(2);
    tmetal_module *read;
    tmetal_result  r, s;
    const char    *printed;
    size_t         n;
    says_ok(tmetal_print(m, &arena, &printed, &n, &r), &r);
    ck_assert_uint_eq(n, strlen(printed));
    says_ok(tmetal_parse(printed, n, NULL, &arena, &read, &r), &r);
    ck_assert_msg(tmetal_same(m, read, &arena), "the printed module reads back as another:\n%s", printed);
    says_ok(tmetal_parse(text, strlen(text), NULL, &arena, &read, &r), &r);
    says_ok(tmetal_emit(m, NULL, &arena, &r), &r);
    says_ok(tmetal_emit(read, NULL, &other, &s), &s);
    ck_assert_uint_eq(r.n_kernels, s.n_kernels);
    same_text("built and parsed Metal", r.kernels[0].msl, s.kernels[0].msl);
    forget_names(m);
    forget_names(read);
    ck_assert_msg(tmetal_same(m, read, &arena), "the built module is not the parsed one:\n%s", printed);
}

START_TEST(a_softmax_built_is_the_softmax_parsed) {
    tmetal_arena arena = arena_at(0);
    same_as_text(softmax(&arena), softmax_text);
}
END_TEST

/* -- A matmul of 32 by 32 tiles, with a loop -------------------------------------------------- */

static const char matmul_text[] =
    "module {\n"
    "  tt.func public @matmul(%a: !tt.ptr<f16>, %b: !tt.ptr<f16>, %c: !tt.ptr<f32>, %k: i32) {\n"
    "    %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>\n"
    "    %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>\n"
    "    %cols = tt.expand_dims %r {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>\n"
    "    %0 = tt.splat %k : i32 -> tensor<32x1xi32>\n"
    "    %1 = arith.muli %rows, %0 : tensor<32x1xi32>\n"
    "    %2 = tt.broadcast %1 : tensor<32x1xi32> -> tensor<32x32xi32>\n"
    "    %3 = tt.broadcast %cols : tensor<1x32xi32> -> tensor<32x32xi32>\n"
    "    %4 = arith.addi %2, %3 : tensor<32x32xi32>\n"
    "    %5 = tt.splat %a : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>\n"
    "    %6 = tt.addptr %5, %4 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>\n"
    "    %7 = arith.constant dense<32> : tensor<32x1xi32>\n"
    "    %8 = arith.muli %rows, %7 : tensor<32x1xi32>\n"
    "    %9 = tt.broadcast %8 : tensor<32x1xi32> -> tensor<32x32xi32>\n"
    "    %10 = arith.addi %9, %3 : tensor<32x32xi32>\n"
    "    %11 = tt.splat %b : !tt.ptr<f16> -> tensor<32x32x!tt.ptr<f16>>\n"
    "    %12 = tt.addptr %11, %10 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>\n"
    "    %13 = arith.constant 0 : i32\n"
    "    %14 = arith.constant 32 : i32\n"
    "    %zero = arith.constant dense<0.0> : tensor<32x32xf32>\n"
    "    %15 = arith.constant dense<32> : tensor<32x32xi32>\n"
    "    %16 = arith.constant dense<1024> : tensor<32x32xi32>\n"
    "    %17:3 = scf.for %18 = %13 to %k step %14 iter_args(%pa = %6, %pb = %12, %acc = %zero) -> (tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32xf32>)  : i32 {\n"
    "      %19 = tt.load %pa : tensor<32x32x!tt.ptr<f16>>\n"
    "      %20 = tt.load %pb : tensor<32x32x!tt.ptr<f16>>\n"
    "      %21 = tt.dot %19, %20, %acc : tensor<32x32xf16> * tensor<32x32xf16> -> tensor<32x32xf32>\n"
    "      %22 = tt.addptr %pa, %15 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>\n"
    "      %23 = tt.addptr %pb, %16 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>\n"
    "      scf.yield %22, %23, %21 : tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32xf32>\n"
    "    }\n"
    "    %24 = tt.splat %c : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>\n"
    "    %25 = tt.addptr %24, %10 : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>\n"
    "    tt.store %25, %17#2 : tensor<32x32x!tt.ptr<f32>>\n"
    "    tt.return\n"
    "  }\n"
    "}\n";

static tmetal_module *matmul(tmetal_arena *arena) {
    static const char *const names[] = {"a", "b", "c", "k"};
    tmetal_builder *b = tmetal_build_begin(arena);
    tmetal_type     i32 = tmetal_build_type(b, "i32"), ints = tmetal_build_type(b, "tensor<32x32xi32>"), column = tmetal_build_type(b, "tensor<32x1xi32>");
    tmetal_type     halves = tmetal_build_type(b, "tensor<32x32x!tt.ptr<f16>>"), floats = tmetal_build_type(b, "tensor<32x32x!tt.ptr<f32>>"), args[4];
    tmetal_value    r, rows, cols, at, across, in[6], pa, pb, acc, out[3], step_a, step_b, first, k;
    tmetal_module  *m;
    tmetal_result   res;
    args[0] = args[1] = tmetal_build_type(b, "!tt.ptr<f16>");
    args[2] = tmetal_build_type(b, "!tt.ptr<f32>");
    args[3] = i32;
    tmetal_build_kernel(b, "matmul", args, names, 4);
    k = tmetal_build_arg(b, 3);
    r = tmetal_build_op(b, "tt.make_range", NULL, 0, "{start = 0 : i32, end = 32 : i32}", 0);
    tmetal_build_name(b, r, "r");
    rows = tmetal_build_op(b, "tt.expand_dims", &r, 1, "{axis = 1 : i32}", 0);
    tmetal_build_name(b, rows, "rows");
    cols = tmetal_build_op(b, "tt.expand_dims", &r, 1, "{axis = 0 : i32}", 0);
    tmetal_build_name(b, cols, "cols");
    at = op1(b, "tt.broadcast", op2(b, "arith.muli", rows, op1(b, "tt.splat", k, column)), ints);
    across = op1(b, "tt.broadcast", cols, ints);
    at = op2(b, "arith.addi", at, across);
    pa = op2(b, "tt.addptr", op1(b, "tt.splat", tmetal_build_arg(b, 0), halves), at);
    at = op2(b, "arith.addi", op1(b, "tt.broadcast", op2(b, "arith.muli", rows, tmetal_build_int(b, column, 32)), ints), across);
    pb = op2(b, "tt.addptr", op1(b, "tt.splat", tmetal_build_arg(b, 1), halves), at);
    in[0] = tmetal_build_int(b, i32, 0);
    in[1] = k;
    in[2] = tmetal_build_int(b, i32, 32);
    in[3] = pa;
    in[4] = pb;
    in[5] = tmetal_build_float(b, tmetal_build_type(b, "tensor<32x32xf32>"), 0.0);
    tmetal_build_name(b, in[5], "zero");
    step_a = tmetal_build_int(b, ints, 32);
    step_b = tmetal_build_int(b, ints, 1024);
    tmetal_build_open(b, "scf.for", in, 6, NULL, NULL, 0);
    pa = tmetal_build_body_arg(b, 1);
    pb = tmetal_build_body_arg(b, 2);
    acc = tmetal_build_body_arg(b, 3);
    tmetal_build_name(b, pa, "pa");
    tmetal_build_name(b, pb, "pb");
    tmetal_build_name(b, acc, "acc");
    in[0] = op1(b, "tt.load", pa, 0);
    in[1] = op1(b, "tt.load", pb, 0);
    in[2] = acc;
    out[2] = tmetal_build_op(b, "tt.dot", in, 3, NULL, 0);
    out[0] = op2(b, "tt.addptr", pa, step_a);
    out[1] = op2(b, "tt.addptr", pb, step_b);
    first = tmetal_build_close(b, out, 3);
    in[0] = op2(b, "tt.addptr", op1(b, "tt.splat", tmetal_build_arg(b, 2), floats), at);
    in[1] = tmetal_build_result(b, first, 2);
    (void)tmetal_build_op(b, "tt.store", in, 2, NULL, 0);
    tmetal_build_return(b, NULL, 0);
    says_ok(tmetal_build_end(b, &m, &res), &res);
    return m;
}

START_TEST(a_matmul_built_is_the_matmul_parsed) {
    tmetal_arena arena = arena_at(0);
    same_as_text(matmul(&arena), matmul_text);
}
END_TEST

/* -- Control flow, calls, places, names --------------------------------------------------------- */

START_TEST(branches_whiles_blocks_and_calls_are_built) {
    tmetal_arena    arena = arena_at(0), other = arena_at(1);
    tmetal_builder *b = tmetal_build_begin(&arena);
    tmetal_type     i32 = tmetal_build_type(b, "i32"), ptr = tmetal_build_type(b, "!tt.ptr<i32>"), args[2];
    tmetal_block    low, high;
    tmetal_value    n, one, c, x, in[3], two[2];
    tmetal_module  *m;
    tmetal_result   r;
    args[0] = ptr;
    args[1] = i32;
    tmetal_build_func(b, "twice", &i32, NULL, 1, &i32, 1);
    x = op2(b, "arith.addi", tmetal_build_arg(b, 0), tmetal_build_arg(b, 0));
    tmetal_build_return(b, &x, 1);
    tmetal_build_kernel(b, "k", args, NULL, 2);
    n = tmetal_build_arg(b, 1);
    one = tmetal_build_int(b, i32, 1);
    two[0] = n;
    two[1] = one;
    c = tmetal_build_op(b, "arith.cmpi", two, 2, "{predicate = \"slt\"}", 0);
    low = tmetal_build_block(b, NULL, 0);
    high = tmetal_build_block(b, &i32, 1);
    tmetal_build_branch_if(b, c, low, NULL, 0, high, &n, 1);
    tmetal_build_enter(b, low);
    tmetal_build_return(b, NULL, 0);
    tmetal_build_enter(b, high);
    x = tmetal_build_block_arg(b, high, 0);
    tmetal_build_open(b, "scf.while", &x, 1, NULL, NULL, 0); /* halve it while it is above one */
    two[0] = tmetal_build_body_arg(b, 0);
    two[1] = one;
    in[0] = tmetal_build_op(b, "arith.cmpi", two, 2, "{predicate = \"sgt\"}", 0);
    in[1] = two[0];
    tmetal_build_next(b, in, 2);
    x = op2(b, "arith.shrui", tmetal_build_body_arg(b, 0), one);
    x = tmetal_build_close(b, &x, 1);
    tmetal_build_open(b, "scf.if", &c, 1, NULL, &i32, 1);
    tmetal_build_next(b, &one, 1);
    x = tmetal_build_close(b, &x, 1);
    x = tmetal_build_op(b, "tt.call", &x, 1, "{callee = @twice}", i32);
    in[0] = tmetal_build_arg(b, 0);
    in[1] = x;
    (void)tmetal_build_op(b, "tt.store", in, 2, NULL, 0);
    tmetal_build_return(b, NULL, 0);
    says_ok(tmetal_build_end(b, &m, &r), &r);
    says_ok(tmetal_emit(m, NULL, &other, &r), &r);
    ck_assert_uint_eq(r.n_kernels, 1);
    ck_assert_str_eq(r.kernels[0].name, "k");
}
END_TEST

START_TEST(places_and_names_reach_metal_and_diagnostics) {
    tmetal_arena    arena = arena_at(0), other = arena_at(1);
    tmetal_builder *b = tmetal_build_begin(&arena);
    tmetal_type     ptr = tmetal_build_type(b, "!tt.ptr<f32>");
    tmetal_value    in[2];
    tmetal_module  *m;
    tmetal_result   r;
    tmetal_build_place(b, "mine.py", 3, 1);
    tmetal_build_kernel(b, "k", &ptr, NULL, 1);
    tmetal_build_place(b, "mine.py", 5, 9);
    in[0] = tmetal_build_arg(b, 0);
    in[1] = op1(b, "math.exp", op1(b, "tt.load", in[0], 0), 0);
    tmetal_build_name(b, in[1], "grown");
    (void)tmetal_build_op(b, "tt.store", in, 2, NULL, 0);
    tmetal_build_return(b, NULL, 0);
    says_ok(tmetal_build_end(b, &m, &r), &r);
    says_ok(tmetal_emit(m, NULL, &other, &r), &r);
    ck_assert_ptr_nonnull(strstr(r.kernels[0].msl, "line 5"));
    ck_assert_ptr_nonnull(strstr(r.kernels[0].msl, "mine.py:3"));

    b = tmetal_build_begin(&arena);
    ptr = tmetal_build_type(b, "!tt.ptr<f32>");
    tmetal_build_kernel(b, "k", &ptr, NULL, 1);
    tmetal_build_place(b, "mine.py", 7, 4);
    (void)tmetal_build_op(b, "arith.adf", NULL, 0, NULL, 0);
    ck_assert_int_eq(tmetal_build_end(b, &m, &r), TMETAL_E_UNKNOWN_OP);
    ck_assert_ptr_null(m);
    ck_assert_str_eq(r.diags[0].help, "did you mean 'arith.addf'?");
}
END_TEST

START_TEST(names_stay_apart) {
    tmetal_arena    arena = arena_at(0), other = arena_at(1);
    tmetal_builder *b = tmetal_build_begin(&arena);
    tmetal_type     i32 = tmetal_build_type(b, "i32");
    tmetal_value    x;
    tmetal_module  *m;
    tmetal_result   r;
    const char     *text;
    size_t          n;
    int             i;
    tmetal_build_kernel(b, "k", &i32, NULL, 1);
    for (i = 0; i < 3; i++) {
        x = op2(b, "arith.addi", tmetal_build_arg(b, 0), tmetal_build_arg(b, 0));
        tmetal_build_name(b, x, "x");
    }
    tmetal_build_return(b, NULL, 0);
    says_ok(tmetal_build_end(b, &m, &r), &r);
    says_ok(tmetal_print(m, &other, &text, &n, &r), &r);
    ck_assert_ptr_nonnull(strstr(text, "%x = arith.addi"));
    ck_assert_ptr_nonnull(strstr(text, "%x_2 = arith.addi"));
    ck_assert_ptr_nonnull(strstr(text, "%x_3 = arith.addi"));
}
END_TEST

START_TEST(long_numbers_are_rounded_by_all_their_digits) {
    const struct {
        const char *text;
        uint64_t    bits;
    } rows[] = {/* half way from 0x41F1E7D7 to the next, a little more, a little less */
                {"30.23820400238037109375 : f32", 0x41F1E7D8}, {"30.238204002380371094 : f32", 0x41F1E7D8},
                {"30.238204002380371093749 : f32", 0x41F1E7D7}, {"30.238204002380371093750000000000000000001 : f32", 0x41F1E7D8},
                {"30.2382020950317382812500 : f32", 0x41F1E7D6}, /* half way from an even one */
                {"1.00000000000000011102230246251565404236316680908203125 : f64", 0x3FF0000000000000u},
                {"1.00000000000000011102230246251565404236316680908203126 : f64", 0x3FF0000000000001u}};
    tmetal_arena    arena = arena_at(0);
    tmetal_builder *b = tmetal_build_begin(&arena);
    size_t          i;
    tmetal_build_kernel(b, "k", NULL, NULL, 0);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        char            attrs[200];
        tmetal_value    v;
        const tmi_attr *a;
        snprintf(attrs, sizeof attrs, "{value = %s}", rows[i].text);
        v = tmetal_build_op(b, "arith.constant", NULL, 0, attrs, 0);
        ck_assert_uint_ne(v, 0);
        a = tmi_attr_of(b->m, TMI_OP(b->m, tmi_def(b->m, v)), "value");
        ck_assert_msg(a->value == rows[i].bits, "%s: %llx, wanted %llx", rows[i].text, (unsigned long long)a->value, (unsigned long long)rows[i].bits);
    }
}
END_TEST

START_TEST(constants_have_the_bits_of_their_type) {
    const double nan = strtod("nan", NULL); /* positive, as NAN need not be */
    const struct {
        const char *type;
        double      value;
        uint64_t    bits;
    } rows[] = {{"f32", 0.1, 0x3DCCCCCD}, {"f16", 65504.0, 0x7BFF}, {"f16", 1e9, 0x7C00}, {"bf16", 1.0, 0x3F80}, {"f64", -2.5, 0xC004000000000000u},
                {"f32", -(double)INFINITY, 0xFF800000}, {"f8E5M2", 1.5, 0x3E}, {"f8E4M3FN", 448.0, 0x7E},
                {"f32", nan, 0x7FC00000}, {"f16", nan, 0x7E00}, {"f8E4M3FN", nan, 0x7F}, {"f8E4M3FNUZ", nan, 0x80}, {"f8E5M2FNUZ", -nan, 0x80}, {"f8E4M3B11FNUZ", nan, 0x80}, {"f8E5M2", (double)INFINITY, 0x7C},
                {"f16", 2049.0, 0x6800}, {"f16", 2051.0, 0x6802}, /* ties go to even */
                {"f8E4M3FNUZ", 1.0, 0x40}, {"f8E4M3FNUZ", -240.0, 0xFF}, {"f8E4M3FNUZ", -0.0, 0}, /* there is no -0 */
                {"f8E4M3FNUZ", 0.0009765625, 0x01}, {"f8E4M3FNUZ", -0.00048828125, 0}, {"f8E4M3FNUZ", -0.000732421875, 0x81},
                {"f8E5M2FNUZ", 57344.0, 0x7F}, {"f8E4M3B11FNUZ", 1.0, 0x58}, {"f8E4M3", 240.0, 0x77}, {"f8E4M3", -(double)INFINITY, 0xF8},
                {"f8E8M0FNU", 2.0, 0x80}, {"f8E8M0FNU", 0x1p-127, 0}, {"f8E8M0FNU", 0x1p127, 0xFE}};
    tmetal_arena    arena = arena_at(0);
    tmetal_builder *b = tmetal_build_begin(&arena);
    size_t          i;
    tmetal_build_kernel(b, "k", NULL, NULL, 0);
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        tmetal_value v = tmetal_build_float(b, tmetal_build_type(b, rows[i].type), rows[i].value);
        const tmi_attr *a;
        ck_assert_uint_ne(v, 0);
        a = tmi_attr_of(b->m, TMI_OP(b->m, tmi_def(b->m, v)), "value");
        ck_assert_msg(a->value == rows[i].bits, "%s: %llx, wanted %llx", rows[i].type, (unsigned long long)a->value, (unsigned long long)rows[i].bits);
    }
}
END_TEST

/* -- Sameness: what the round trip and this suite rely on ---------------------------------------------- */

static const char sameness_text[] =
    "module {\n"
    "  tt.func public @k(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32} loc(\"p\"(\"a.py\":1:2)), %n: i32, %h: f16, %d: !tt.ptr<i8>, %c: i1) {\n"
    "    %v = arith.constant dense<[1, 2]> : tensor<2xi32>\n"
    "    %x = arith.constant 1.0 : f32 loc(callsite(\"a.py\":3:4 at fused<\"m\">[\"b.py\":5:6, \"c.py\":7:8 to 9:10]))\n"
    "    %y = arith.addi %n, %n {a = [1 : i32, \"t\"], d = {e}, l = array<i32: 5, 6>} : i32\n"
    "    %z = arith.subi %y, %n : i32\n"
    "    scf.if %c {\n"
    "      tt.store %p, %x : !tt.ptr<f32>\n"
    "    }\n"
    "    cf.cond_br %c, ^bb1(%z : i32), ^bb2\n"
    "  ^bb1(%k: i32):\n"
    "    cf.br ^bb2\n"
    "  ^bb2:\n"
    "    tt.return\n"
    "  }\n"
    "}\n";

static const char *const differences[][2] = {
    {"@k", "@l"}, {"tt.divisibility = 16", "tt.divisibility = 8"}, {"tt.divisibility", "tt.contiguity"}, {"\"p\"(", "\"q\"("}, {"1:2", "1:3"}, {"\"a.py\":3", "\"d.py\":3"},
    {"3:4", "4:4"}, {"\"m\"", "\"n\""}, {"7:8", "7:9"}, {"[1, 2]", "[1, 3]"}, {"<[1, 2]> : tensor<2x", "<[[1, 2]]> : tensor<1x2x"}, {"2]> : tensor<2xi32", "2]> : tensor<2xi16"},
    {"5, 6", "5, 7"}, {"5, 6", "5"}, {"i32: 5", "i64: 5"}, {"\"t\"]", "\"u\"]"}, {"1 : i32, \"t\"", "2 : i32, \"t\""}, {"1 : i32, \"t\"", "1 : i32"}, {"d = {e}", "d = {f}"}, {"d = {e}", "d = {}"},
    {"d = {e}, ", ""}, {", l = array<i32: 5, 6>", ""}, {"1.0 : f32", "2.0 : f32"}, {"%z = arith.subi", "%z = arith.muli"}, {"%z = arith.subi %y, %n", "%z = arith.subi %n, %y"}, {"\"b.py\":5:6, ", ""},
    {"\"b.py\":5:6", "\"b.py\":5:6 to 5:9"}, {"at fused<", "at \"o\"(\"e.py\":1:1)))\n    %u = arith.constant 1.0 : f32 loc(callsite(\"a.py\":3:4 at fused<"},
    {"      tt.store %p, %x : !tt.ptr<f32>\n    }", "      tt.store %p, %x : !tt.ptr<f32>\n    } else {\n    }"}, {"      tt.store %p, %x : !tt.ptr<f32>\n", ""},
    {"^bb1(%z : i32), ^bb2", "^bb1(%y : i32), ^bb2"}, {"^bb1(%z : i32), ^bb2", "^bb1(%z : i32), ^bb1(%z : i32)"}, {"%k: i32", "%j: i32"}, {"cf.br ^bb2", "tt.return"},
    {"  }\n}\n", "  }\n  tt.func private @m() {\n    tt.return\n  }\n}\n"}, {"(%p: ", "(%e: i1, %p: "}, {"%c: i1)", "%c: i1, %e: !tt.ptr<f32>)"},
    {"%h: f16", "%h: bf16"}, {"%h: f16", "%h: i16"}, {"%d: !tt.ptr<i8>", "%d: !tt.ptr<i8, 3>"}, {"9:10", "9:11"}, {"9:10", "10:10"}, {"[1 : i32, \"t\"]", "1 : i32"},
    {"tt.store %p, %x :", "tt.store %p, %x, %c :"}, {"^bb1(%z : i32), ^bb2", "^bb2, ^bb1(%z : i32)"}, {"  ^bb2:\n    tt.return\n", "  ^bb2:\n    cf.br ^bb3\n  ^bb3:\n    tt.return\n"},
    {"scf.if %c {\n      tt.store %p, %x : !tt.ptr<f32>\n    }", "%w = scf.if %c -> (i32) {\n      scf.yield %n : i32\n    } else {\n      scf.yield %n : i32\n    }"}};

START_TEST(modules_that_differ_in_one_thing_differ) {
    static char    text[4000];
    tmetal_arena   one = arena_at(0), two;
    tmetal_module *a, *b;
    tmetal_result  r;
    size_t         i;
    says_ok(tmetal_parse(sameness_text, strlen(sameness_text), NULL, &one, &a, &r), &r);
    for (i = 0; i < sizeof differences / sizeof *differences; i++) {
        const char *from = differences[i][0], *place = strstr(sameness_text, from);
        int         n;
        ck_assert_msg(place != NULL, "'%s' is not in the text", from);
        n = snprintf(text, sizeof text, "%.*s%s%s", (int)(place - sameness_text), sameness_text, differences[i][1], place + strlen(from));
        two = arena_at(1);
        ck_assert_msg(tmetal_parse(text, (size_t)n, NULL, &two, &b, &r) == TMETAL_OK, "'%s': %s", differences[i][1], r.n_diags ? r.diags[0].message : "");
        ck_assert_msg(!tmetal_same(a, b, &two) && !tmetal_same(b, a, &two), "'%s' instead of '%s' makes no difference", differences[i][1], from);
    }
    two = arena_at(1);
    says_ok(tmetal_parse(sameness_text, strlen(sameness_text), NULL, &two, &b, &r), &r);
    ck_assert(tmetal_same(a, b, &two));
}
END_TEST

START_TEST(types_of_results_follow) {
    static const struct { /* operands: names of arguments */
        const char *op, *in, *attrs, *type;
    } rows[] = {{"arith.constant", "", "{value = dense<[1, 2]> : tensor<2xi32>}", "tensor<2xi32>"},
                {"arith.select", "ctt", NULL, "tensor<4x8xf32>"},
                {"tt.trans", "t", "{order = array<i32: 1, 0>}", "tensor<8x4xf32>"},
                {"tt.join", "tt", NULL, "tensor<4x8x2xf32>"},
                {"tt.split", "j", NULL, "tensor<4x8xf32>"},
                {"tt.unsplat", "o", NULL, "f32"},
                {"tt.gather", "tg", "{axis = 0 : i32}", "tensor<2x8xf32>"},
                {"tt.atomic_rmw", "pf", "{atomic_rmw_op = \"fadd\", scope = \"gpu\", sem = \"relaxed\"}", "f32"},
                {"tt.dot", "tut", NULL, "tensor<4x8xf32>"},
                {"tt.expand_dims", "t", "{axis = 1 : i32}", "tensor<4x1x8xf32>"},
                {"tt.descriptor_load", "dii", NULL, "tensor<4x8xf32>"},
                {"tt.advance", "bii", NULL, "!tt.ptr<tensor<4x8xf32>>"},
                {"arith.mulsi_extended", "ii", NULL, "i32"},
                {"math.fpowi", "fi", NULL, "f32"},
                {"arith.cmpf", "tt", "{predicate = \"olt\"}", "tensor<4x8xi1>"},
                {"tt.make_range", "", "{end = 8 : i32, start = 4 : i32}", "tensor<4xi32>"},
                {"arith.addui_extended", "ii", NULL, "i32"},
                {"tt.reshape", "t", NULL, NULL},
                {"arith.constant", "", NULL, NULL},
                {"tt.make_range", "", "{end = 4 : i32, start = 4 : i32}", NULL},
                {"tt.make_range", "", "{end = 2097152 : i32, start = 0 : i32}", NULL},
                {"tt.descriptor_load", "ti", NULL, NULL},
                {"tt.split", "f", NULL, NULL},
                {"tt.trans", "t", NULL, NULL},
                {"tt.trans", "t", "{order = array<i32: 0>}", NULL},
                {"tt.trans", "t", "{order = array<i32: 2, 0>}", NULL},
                {"tt.trans", "t", "{order = 1 : i32}", NULL},
                {"tt.expand_dims", "t", "{axis = 3 : i32}", NULL},
                {"arith.select", "c", NULL, NULL},
                {"tt.dot", "tu", NULL, NULL},
                {"tt.gather", "t", "{axis = 0 : i32}", NULL},
                {"tt.splat", "f", NULL, NULL}};
    static const char letters[] = "ctjogpfudbi";
    static const char *const types[] = {"i1", "tensor<4x8xf32>", "tensor<4x8x2xf32>", "tensor<1xf32>", "tensor<2x8xi32>", "!tt.ptr<f32>", "f32", "tensor<8x8xf32>",
                                        "!tt.tensordesc<tensor<4x8xf32>>", "!tt.ptr<tensor<4x8xf32>>", "i32"};
    size_t i, k;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        tmetal_arena    arena = arena_at(0);
        tmetal_builder *b = tmetal_build_begin(&arena);
        tmetal_type     args[11];
        tmetal_value    in[4], v;
        for (k = 0; k < 11; k++) args[k] = tmetal_build_type(b, types[k]);
        tmetal_build_kernel(b, "k", args, NULL, 11);
        for (k = 0; rows[i].in[k]; k++) in[k] = tmetal_build_arg(b, (uint32_t)(strchr(letters, rows[i].in[k]) - letters));
        v = tmetal_build_op(b, rows[i].op, in, (uint32_t)k, rows[i].attrs, 0);
        ck_assert_msg(!v == !rows[i].type, "%s of %s: %u", rows[i].op, rows[i].in, v);
        if (v) ck_assert_uint_eq(tmetal_build_type_of(b, v), tmetal_build_type(b, rows[i].type));
        if (strcmp(rows[i].op, "arith.addui_extended") == 0) ck_assert_uint_eq(tmetal_build_type_of(b, tmetal_build_result(b, v, 1)), tmetal_build_type(b, "i1"));
    }
}
END_TEST

/* As many axes as a tensor may have: there is no room for one more. */
START_TEST(axes_end_with_the_rank) {
    tmetal_arena    arena = arena_at(0);
    tmetal_builder *b = tmetal_build_begin(&arena);
    char            text[100] = "tensor<";
    tmetal_type     type;
    tmetal_value    v;
    tmetal_module  *m;
    tmetal_result   r;
    uint32_t        i;
    for (i = 1; i < TMI_MAX_RANK; i++) strcat(text, "1x");
    strcat(text, "f32>");
    type = tmetal_build_type(b, text);
    tmetal_build_kernel(b, "k", &type, NULL, 1);
    v = tmetal_build_arg(b, 0);
    v = tmetal_build_op(b, "tt.expand_dims", &v, 1, "{axis = 0 : i32}", 0);
    ck_assert_uint_eq(tmi_rank(b->m, tmetal_build_type_of(b, v)), TMI_MAX_RANK);
    ck_assert_uint_eq(tmetal_build_op(b, "tt.expand_dims", &v, 1, "{axis = 0 : i32}", 0), 0);
    ck_assert_int_eq(tmetal_build_end(b, &m, &r), TMETAL_E_MISUSE);
    ck_assert_str_eq(r.diags[0].message, "tt.expand_dims: its operands do not say which type result 0 has");
}
END_TEST

/* All scales of tt.dot_scaled or none need no saying; a loop's types may be said, and a loop may have none. */
START_TEST(what_needs_no_saying) {
    static const char scaled[] = "{a_elem_type = \"e4m3\", b_elem_type = \"e4m3\", fastMath = false}";
    static const char *const types[] = {"tensor<32x32xf8E4M3FN>", "tensor<32x32xf8E4M3FN>", "tensor<32x32xf32>", "tensor<32x1xi8>", "tensor<32x1xi8>", "i32"};
    tmetal_arena    arena = arena_at(0), other = arena_at(1);
    tmetal_builder *b = tmetal_build_begin(&arena);
    tmetal_type     args[6];
    tmetal_value    in[6], v, i, c;
    tmetal_module  *m;
    tmetal_result   r;
    const char     *text;
    size_t          n;
    for (n = 0; n < 6; n++) args[n] = tmetal_build_type(b, types[n]);
    tmetal_build_kernel(b, "f", args, NULL, 6);
    for (n = 0; n < 6; n++) in[n] = tmetal_build_arg(b, (uint32_t)n);
    (void)tmetal_build_op(b, "tt.dot_scaled", in, 3, scaled, 0);
    (void)tmetal_build_op(b, "tt.dot_scaled", in, 5, scaled, 0);
    v = tmetal_build_op(b, "tt.dot_scaled", in, 4, "{a_elem_type = \"e4m3\", b_elem_type = \"e4m3\", fastMath = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}", 0);
    tmetal_build_name(b, v, "one_scale");
    i = in[5];
    in[0] = in[1] = in[2] = in[3] = i;
    tmetal_build_open(b, "scf.for", in, 4, NULL, &args[5], 1);
    v = tmetal_build_body_arg(b, 1);
    v = tmetal_build_close(b, &v, 1);
    ck_assert_uint_eq(tmetal_build_type_of(b, v), args[5]);
    tmetal_build_open(b, "scf.while", NULL, 0, NULL, NULL, 0);
    in[1] = v;
    c = tmetal_build_op(b, "arith.cmpi", in, 2, "{predicate = \"slt\"}", 0);
    tmetal_build_next(b, &c, 1);
    ck_assert_uint_eq(tmetal_build_close(b, NULL, 0), 0);
    tmetal_build_return(b, NULL, 0);
    says_ok(tmetal_build_end(b, &m, &r), &r);
    says_ok(tmetal_print(m, &other, &text, &n, &r), &r);
    ck_assert_ptr_nonnull(strstr(text, "%one_scale = tt.dot_scaled %arg0 scale %arg3, %arg1, %arg2"));
    ck_assert_ptr_nonnull(strstr(text, "tt.dot_scaled %arg0 scale %arg3, %arg1 scale %arg4, %arg2"));
    ck_assert_ptr_nonnull(strstr(text, "tt.dot_scaled %arg0, %arg1, %arg2"));
}
END_TEST

/* A place holds until it is taken back; a name that another value has is passed over. */
START_TEST(places_end_and_names_are_passed_over) {
    static const char *const names[] = {"x", NULL};
    tmetal_arena    arena = arena_at(0), other = arena_at(1);
    tmetal_builder *b = tmetal_build_begin(&arena);
    tmetal_type     args[2];
    tmetal_value    x;
    tmetal_module  *m;
    tmetal_result   r;
    const char     *text;
    size_t          n;
    args[0] = args[1] = tmetal_build_type(b, "i32");
    tmetal_build_kernel(b, "k", args, names, 2);
    x = op2(b, "arith.addi", tmetal_build_arg(b, 0), tmetal_build_arg(b, 1));
    tmetal_build_name(b, x, "x_2");
    tmetal_build_place(b, "mine.py", 5, 0);
    x = op2(b, "arith.muli", x, x);
    tmetal_build_name(b, x, "x"); /* not x_2 */
    tmetal_build_place(b, NULL, 5, 9);
    (void)op2(b, "arith.subi", x, x);
    tmetal_build_place(b, "mine.py", 0, 9);
    (void)op2(b, "arith.xori", x, x);
    tmetal_build_return(b, NULL, 0);
    says_ok(tmetal_build_end(b, &m, &r), &r);
    says_ok(tmetal_print(m, &other, &text, &n, &r), &r);
    ck_assert_ptr_nonnull(strstr(text, "@k(%x: i32, %arg1: i32)"));
    ck_assert_ptr_nonnull(strstr(text, "%x_2 = arith.addi %x, %arg1 : i32\n"));
    ck_assert_ptr_nonnull(strstr(text, "%x_3 = arith.muli %x_2, %x_2 : i32 loc("));
    ck_assert_ptr_nonnull(strstr(text, "\"mine.py\":5:0"));
    ck_assert_ptr_nonnull(strstr(text, "arith.subi %x_3, %x_3 : i32\n"));
    ck_assert_ptr_nonnull(strstr(text, "arith.xori %x_3, %x_3 : i32\n"));
}
END_TEST

/* -- Mistakes ------------------------------------------------------------------------------------- */

/* Calls that no state of the builder allows, with what is said. */
static const char *const misuses[] = {
    "tmetal_build_type: no text",
    "tmetal_build_type_of: operand 0 is no value of this module",
    "tmetal_build_name: a name is letters, digits, '_', '$' and '.', a letter or '_' first",
    "a function needs a name",
    "an operation needs a name, such as \"arith.addf\"",
    "tt.return is made by a call of its own",
    "the operation has no result 1",
    "tmetal_build_int: f32 is no type of integers",
    "arith.addi has no body",
    "tmetal_build_body_arg: nothing is open",
    "the body has no argument 1",
    "tmetal_build_next: nothing is open",
    "scf.while has a condition and a body",
    "tmetal_build_block: no function has been begun",
    "cf.br: no block of the region at hand",
    "tmetal_build_block_arg: no argument 0",
    "tmetal_build_enter: the block before has no end",
    "tmetal_build_enter: the block has been filled already",
    "scf.for takes lower bound, upper bound, step and the carried values",
    "tt.dot_scaled with one scale",
    "arith.addi: type 0 is none of this module",
    "argument 0: '0' is no name",
    "tmetal_build_int: (i32, f32) -> (i32, i32) is no type of integers",
    "tmetal_build_int: (i32) -> f32 is no type of integers",
    "tmetal_build_int: () -> () is no type of integers",
    "tmetal_build_int: !tt.ptr<f32, 3> is no type of integers",
    "tmetal_build_name: operand 0 is no value of this module",
    "tmetal_build_name: a name is letters, digits, '_', '$' and '.', a letter or '_' first",
    "a function needs a name",
    "arith.addi: type 0 is none of this module",
    "f: type 0 is none of this module",
    "f: type 1 is none of this module",
    "tmetal_build_arg: no function has been begun",
    "an operation needs a name, such as \"arith.addf\"",
    "tmetal_build_result: operand 0 is no value of this module",
    "the operation has no result 0",
    "tmetal_build_int: no function has been begun",
    "tmetal_build_int: type 0 is none of this module",
    "tmetal_build_float: no function has been begun",
    "tmetal_build_float: type 0 is none of this module",
    "tmetal_build_open: no function has been begun",
    "tmetal_build_body_arg: the block at hand has ended",
    "tmetal_build_next: the block at hand has ended",
    "tmetal_build_close: the block at hand has ended",
    "a block of scf.for has no end",
    "tmetal_build_block: type 0 is none of this module",
    "tmetal_build_enter: no block of the region at hand",
    "tmetal_build_enter: no block of the region at hand",
    "tmetal_build_block_arg: no argument 2",
    "tmetal_build_block_arg: no argument 0",
    "cf.cond_br: no block of the region at hand",
    "cf.br: operand 1 is no value of this module",
    "cf.cond_br: operand 0 is no value of this module",
    "cf.cond_br: operand 0 is no value of this module",
    "cf.br: no function has been begun",
    "tt.return: operand 0 is no value of this module",
    "scf.yield: operand 0 is no value of this module",
    "scf.if: type 0 is none of this module",
    "function k has a block without end",
    "the function before has not been ended",
    "builtin.module is made by a call of its own",
};

static void misuse(tmetal_builder *b, int which) {
    static const char *const bad_names[] = {"0"};
    tmetal_type  i32 = tmetal_build_type(b, "i32"), f32 = tmetal_build_type(b, "f32"), alien = 4711;
    tmetal_type  none = 0, results[2];
    tmetal_value v[4];
    tmetal_block at;
    results[0] = i32, results[1] = 0;
    if (which == 3) tmetal_build_kernel(b, "", NULL, NULL, 0);
    if (which == 13) (void)tmetal_build_block(b, NULL, 0);
    if (which == 28) tmetal_build_kernel(b, NULL, NULL, NULL, 0);
    if (which == 30) tmetal_build_kernel(b, "f", &none, NULL, 1);
    if (which == 31) tmetal_build_func(b, "f", NULL, NULL, 0, results, 2);
    if (which == 32) (void)tmetal_build_arg(b, 0);
    if (which == 36) (void)tmetal_build_int(b, i32, 1);
    if (which == 38) (void)tmetal_build_float(b, f32, 1.0);
    if (which == 40) tmetal_build_open(b, "scf.if", NULL, 0, NULL, NULL, 0);
    if (which == 46) tmetal_build_enter(b, 1);
    if (which == 54) tmetal_build_branch(b, 1, NULL, 0);
    tmetal_build_kernel(b, "k", &i32, which == 21 ? bad_names : NULL, 1);
    v[0] = v[1] = v[2] = v[3] = tmetal_build_arg(b, 0);
    switch (which) {
    case 0: (void)tmetal_build_type(b, NULL); break;
    case 1: (void)tmetal_build_type_of(b, 4711); break;
    case 2: tmetal_build_name(b, v[0], "a b"); break;
    case 4: (void)tmetal_build_op(b, "", v, 2, NULL, 0); break;
    case 5: (void)tmetal_build_op(b, "tt.return", NULL, 0, NULL, 0); break;
    case 6: (void)tmetal_build_result(b, op2(b, "arith.addi", v[0], v[0]), 1); break;
    case 7: (void)tmetal_build_int(b, f32, 1); break;
    case 8: tmetal_build_open(b, "arith.addi", v, 2, NULL, NULL, 0); break;
    case 9: (void)tmetal_build_body_arg(b, 0); break;
    case 10:
        tmetal_build_open(b, "scf.for", v, 3, NULL, NULL, 0);
        (void)tmetal_build_body_arg(b, 1);
        break;
    case 11: tmetal_build_next(b, NULL, 0); break;
    case 12:
        tmetal_build_open(b, "scf.while", v, 1, NULL, NULL, 0);
        (void)tmetal_build_close(b, v, 1);
        break;
    case 14: tmetal_build_branch(b, 4711, NULL, 0); break;
    case 15: (void)tmetal_build_block_arg(b, tmetal_build_block(b, NULL, 0), 0); break;
    case 16: tmetal_build_enter(b, tmetal_build_block(b, NULL, 0)); break;
    case 17:
        at = tmetal_build_block(b, NULL, 0);
        tmetal_build_branch(b, at, NULL, 0);
        tmetal_build_enter(b, at);
        (void)op2(b, "arith.addi", v[0], v[0]);
        tmetal_build_branch(b, tmetal_build_block(b, NULL, 0), NULL, 0);
        tmetal_build_enter(b, at);
        break;
    case 18: tmetal_build_open(b, "scf.for", v, 2, NULL, NULL, 0); break;
    case 19: (void)tmetal_build_op(b, "tt.dot_scaled", v, 4, "{a_elem_type = \"e4m3\", b_elem_type = \"e4m3\", fastMath = false}", i32); break;
    case 20: (void)tmetal_build_op_n(b, "arith.addi", v, 2, NULL, &alien, 1); break;
    case 26: tmetal_build_name(b, 4711, "x"); break;
    case 27: tmetal_build_name(b, v[0], NULL); break;
    case 29:
        (void)tmetal_build_op_n(b, "arith.addi", v, 2, NULL, &none, 1);
        break;
    case 33: (void)tmetal_build_op(b, NULL, v, 2, NULL, 0); break;
    case 34: (void)tmetal_build_result(b, 0, 0); break;
    case 35: (void)tmetal_build_result(b, v[0], 0); break;
    case 37: (void)tmetal_build_int(b, none, 1); break;
    case 39: (void)tmetal_build_float(b, 0, 1.0); break;
    case 41:
        tmetal_build_open(b, "tt.reduce", v, 1, "{axis = 0 : i32}", NULL, 0);
        tmetal_build_branch(b, tmetal_build_block(b, NULL, 0), NULL, 0);
        (void)tmetal_build_body_arg(b, 0);
        break;
    case 42:
        tmetal_build_open(b, "scf.while", v, 1, NULL, NULL, 0);
        tmetal_build_branch(b, tmetal_build_block(b, NULL, 0), NULL, 0);
        tmetal_build_next(b, v, 1);
        break;
    case 43:
        tmetal_build_open(b, "scf.for", v, 3, NULL, NULL, 0);
        tmetal_build_branch(b, tmetal_build_block(b, NULL, 0), NULL, 0);
        (void)tmetal_build_close(b, NULL, 0);
        break;
    case 44:
        tmetal_build_open(b, "scf.for", v, 3, NULL, NULL, 0);
        (void)tmetal_build_block(b, NULL, 0);
        (void)tmetal_build_close(b, NULL, 0);
        break;
    case 45: (void)tmetal_build_block(b, &none, 1); break;
    case 47: tmetal_build_enter(b, 0); break;
    case 48: (void)tmetal_build_block_arg(b, 0, 2); break;
    case 49: (void)tmetal_build_block_arg(b, 4711, 0); break;
    case 50:
        at = tmetal_build_block(b, NULL, 0);
        tmetal_build_branch_if(b, v[0], at, NULL, 0, 4711, NULL, 0);
        break;
    case 51:
        at = tmetal_build_block(b, &i32, 1);
        v[1] = 0;
        tmetal_build_branch(b, at, v, 2);
        break;
    case 52:
        at = tmetal_build_block(b, NULL, 0);
        v[1] = 0;
        tmetal_build_branch_if(b, v[0], at, NULL, 0, at, v + 1, 1);
        break;
    case 53:
        at = tmetal_build_block(b, NULL, 0);
        tmetal_build_branch_if(b, 0, at, NULL, 0, at, NULL, 0);
        break;
    case 55:
        v[1] = 0;
        tmetal_build_return(b, v + 1, 1);
        break;
    case 56:
        tmetal_build_open(b, "scf.for", v, 3, NULL, NULL, 0);
        v[1] = 0;
        (void)tmetal_build_close(b, v + 1, 1);
        break;
    case 57: tmetal_build_open(b, "scf.if", v, 1, NULL, &none, 1); break;
    case 58: (void)tmetal_build_block(b, NULL, 0); break;
    case 59: tmetal_build_kernel(b, "l", NULL, NULL, 0); break;
    case 60: (void)tmetal_build_op(b, "builtin.module", NULL, 0, NULL, 0); break;
    case 22: (void)tmetal_build_int(b, tmetal_build_type(b, "(i32, f32) -> (i32, i32)"), 1); break;
    case 23: (void)tmetal_build_int(b, tmetal_build_type(b, "(i32) -> f32"), 1); break;
    case 24: (void)tmetal_build_int(b, tmetal_build_type(b, "() -> ()"), 1); break;
    case 25: (void)tmetal_build_int(b, tmetal_build_type(b, "!tt.ptr<f32, 3>"), 1); break;
    default: break;
    }
    tmetal_build_return(b, NULL, 0);
}

START_TEST(each_misuse_is_told_once) {
    tmetal_arena    arena = arena_at(0);
    tmetal_builder *b = tmetal_build_begin(&arena);
    tmetal_module  *m;
    tmetal_result   r;
    misuse(b, _i);
    (void)tmetal_build_end(b, &m, &r);
    ck_assert_int_eq(r.code, TMETAL_E_MISUSE);
    ck_assert_uint_eq(r.n_diags, 1);
    ck_assert_str_eq(r.diags[0].message, misuses[_i]);
    ck_assert_ptr_null(m);
}
END_TEST

static const struct {
    const char *what;
    tmetal_code code;
} mistakes[] = {
    {"a type that does not parse", TMETAL_E_UNKNOWN_TYPE},
    {"a body of an op that nobody knows", TMETAL_E_UNKNOWN_OP},
    {"text behind a type", TMETAL_E_EXPECTED},
    {"an op before any function", TMETAL_E_MISUSE},
    {"an operand that is none", TMETAL_E_MISUSE},
    {"a value of another module", TMETAL_E_MISUSE},
    {"attributes without a brace", TMETAL_E_EXPECTED},
    {"a word that the attribute does not know", TMETAL_E_MISUSE},
    {"an argument that is not there", TMETAL_E_MISUSE},
    {"a result that does not follow", TMETAL_E_MISUSE},
    {"a region op through build_op", TMETAL_E_MISUSE},
    {"a close without an open", TMETAL_E_MISUSE},
    {"a return inside a loop", TMETAL_E_MISUSE},
    {"a second region of a loop", TMETAL_E_MISUSE},
    {"an op behind the end of its block", TMETAL_E_MISUSE},
    {"a function inside a function", TMETAL_E_MISUSE},
    {"an end with a loop open", TMETAL_E_MISUSE},
    {"an end without a return", TMETAL_E_MISUSE},
    {"an integer that does not fit", TMETAL_E_BAD_NUMBER},
    {"an infinity in a type without one", TMETAL_E_BAD_NUMBER},
    {"a number between two powers of two", TMETAL_E_BAD_NUMBER},
    {"a float constant of an integer type", TMETAL_E_MISUSE},
    {"operands of two types", TMETAL_E_SAME_TYPE},
    {"a yield of the wrong type", TMETAL_E_YIELD_TYPE},
    {"an infinity in a type of another kind without one", TMETAL_E_BAD_NUMBER},
    {"a NaN in a type without one", TMETAL_E_BAD_NUMBER},
    {"a reduction over an axis that is not there", TMETAL_E_REDUCE_AXIS},
    {"regions too deep", TMETAL_E_NESTING},
    {"attributes of an argument that are none", TMETAL_E_EXPECTED},
    {"packs of no elements", TMETAL_E_ATTRIBUTE},
    {"packs of too many elements", TMETAL_E_ATTRIBUTE},
    {"nothing at all", TMETAL_E_NO_MODULE},
};

static void make_mistake(tmetal_builder *b, const char *what) {
    tmetal_type  i32 = tmetal_build_type(b, "i32"), f32 = tmetal_build_type(b, "f32"), args[2];
    tmetal_value v[4];
    args[0] = i32;
    args[1] = f32;
    if (strcmp(what, "nothing at all") == 0) return;
    if (strcmp(what, "an op before any function") == 0) {
        (void)tmetal_build_op(b, "tt.get_program_id", NULL, 0, "{axis = \"x\"}", 0);
        return;
    }
    tmetal_build_kernel(b, "k", args, NULL, 2);
    v[0] = v[1] = v[2] = tmetal_build_arg(b, 0);
    v[3] = tmetal_build_arg(b, 1);
    if (strcmp(what, "a type that does not parse") == 0) (void)tmetal_build_type(b, "f31");
    else if (strcmp(what, "a body of an op that nobody knows") == 0) tmetal_build_open(b, "scf.fro", v, 3, NULL, NULL, 0);
    else if (strcmp(what, "text behind a type") == 0) (void)tmetal_build_type(b, "f32 f32");
    else if (strcmp(what, "an operand that is none") == 0) (void)op2(b, "arith.addi", v[0], 0);
    else if (strcmp(what, "a value of another module") == 0) (void)op2(b, "arith.addi", v[0], 4711);
    else if (strcmp(what, "attributes without a brace") == 0) (void)tmetal_build_op(b, "arith.addi", v, 2, "axis = 1", 0);
    else if (strcmp(what, "a word that the attribute does not know") == 0) (void)tmetal_build_op(b, "arith.cmpi", v, 2, "{predicate = \"lt\"}", 0);
    else if (strcmp(what, "an argument that is not there") == 0) (void)tmetal_build_arg(b, 2);
    else if (strcmp(what, "a result that does not follow") == 0) (void)tmetal_build_op(b, "arith.extsi", v, 1, NULL, 0);
    else if (strcmp(what, "a region op through build_op") == 0) (void)tmetal_build_op(b, "scf.for", v, 3, NULL, 0);
    else if (strcmp(what, "a close without an open") == 0) (void)tmetal_build_close(b, NULL, 0);
    else if (strcmp(what, "an integer that does not fit") == 0) (void)tmetal_build_int(b, tmetal_build_type(b, "i8"), 256);
    else if (strcmp(what, "an infinity in a type without one") == 0) (void)tmetal_build_float(b, tmetal_build_type(b, "f8E4M3FN"), (double)INFINITY);
    else if (strcmp(what, "a number between two powers of two") == 0) (void)tmetal_build_float(b, tmetal_build_type(b, "f8E8M0FNU"), 3.0);
    else if (strcmp(what, "a float constant of an integer type") == 0) (void)tmetal_build_float(b, i32, 1.0);
    else if (strcmp(what, "operands of two types") == 0) (void)op2(b, "arith.addi", v[0], v[3]);
    else if (strcmp(what, "an infinity in a type of another kind without one") == 0) (void)tmetal_build_float(b, tmetal_build_type(b, "f8E5M2FNUZ"), -(double)INFINITY);
    else if (strcmp(what, "a NaN in a type without one") == 0) (void)tmetal_build_float(b, tmetal_build_type(b, "f4E2M1FN"), (double)NAN);
    else if (strcmp(what, "a reduction over an axis that is not there") == 0) {
        v[0] = op1(b, "tt.splat", v[0], tmetal_build_type(b, "tensor<8xi32>"));
        tmetal_build_open(b, "tt.reduce", v, 1, "{axis = 1 : i32}", NULL, 0);
        v[0] = op2(b, "arith.addi", tmetal_build_body_arg(b, 0), tmetal_build_body_arg(b, 1));
        (void)tmetal_build_close(b, v, 1);
    }
    else if (strcmp(what, "attributes of an argument that are none") == 0) tmetal_build_arg_attrs(b, 0, NULL);
    else if (strcmp(what, "regions too deep") == 0) {
        int i;
        for (i = 0; i <= (int)TMI_MAX_DEPTH; i++) tmetal_build_open(b, "scf.for", v, 3, NULL, NULL, 0);
    } else if (strncmp(what, "packs of", 8) == 0) {
        tmetal_type ints = tmetal_build_type(b, "tensor<8xi32>");
        v[0] = op1(b, "tt.splat", v[0], ints);
        tmetal_build_open(b, "tt.map_elementwise", v, 1, strstr(what, "no") ? "{pack = 0 : i32}" : "{pack = 2048 : i32}", &ints, 1);
        v[0] = tmetal_build_body_arg(b, 0);
        (void)tmetal_build_close(b, v, 1);
    }
    else if (strcmp(what, "a function inside a function") == 0) tmetal_build_kernel(b, "l", NULL, NULL, 0);
    else if (strcmp(what, "an end without a return") == 0) return;
    else if (strcmp(what, "an op behind the end of its block") == 0) {
        (void)tmetal_build_block(b, NULL, 0);
        tmetal_build_return(b, NULL, 0);
        (void)op2(b, "arith.addi", v[0], v[0]);
    } else {
        v[3] = tmetal_build_op(b, "arith.cmpi", v, 2, "{predicate = \"eq\"}", 0);
        if (strcmp(what, "a yield of the wrong type") == 0) tmetal_build_open(b, "scf.if", &v[3], 1, NULL, &f32, 1);
        else tmetal_build_open(b, "scf.for", v, 3, NULL, NULL, 0);
        if (strcmp(what, "a return inside a loop") == 0) tmetal_build_return(b, NULL, 0);
        else if (strcmp(what, "a second region of a loop") == 0) tmetal_build_next(b, NULL, 0);
        else if (strcmp(what, "an end with a loop open") == 0) return;
        else { /* a yield of the wrong type */
            tmetal_build_next(b, &v[0], 1);
            (void)tmetal_build_close(b, &v[0], 1);
        }
    }
    tmetal_build_return(b, NULL, 0);
}

START_TEST(each_mistake_is_told_once_and_ends_the_builder) {
    tmetal_arena    arena = arena_at(0);
    tmetal_builder *b = tmetal_build_begin(&arena);
    tmetal_module  *m;
    tmetal_result   r;
    make_mistake(b, mistakes[_i].what);
    (void)tmetal_build_end(b, &m, &r);
    ck_assert_msg(r.code == mistakes[_i].code, "%s: TM%d, wanted TM%d: %s", mistakes[_i].what, (int)r.code, (int)mistakes[_i].code, r.n_diags ? r.diags[0].message : "");
    ck_assert_uint_eq(r.n_diags, 1);
    ck_assert_ptr_null(m);
    ck_assert_uint_eq(tmetal_build_int(b, 1, 1), 0); /* used again: nothing happens */
}
END_TEST

START_TEST(a_builder_without_room_fails_cleanly) {
    size_t cap;
    for (cap = 0;; cap += 61) {
        tmetal_arena    arena = tmetal_arena_on(unit_memory, cap);
        tmetal_builder *b = tmetal_build_begin(&arena);
        tmetal_type     ptr = tmetal_build_type(b, "!tt.ptr<f32>");
        tmetal_value    in[2];
        tmetal_module  *m;
        tmetal_result   r;
        tmetal_build_kernel(b, "k", &ptr, NULL, 1);
        in[0] = tmetal_build_arg(b, 0);
        in[1] = op1(b, "tt.load", in[0], 0);
        (void)tmetal_build_op(b, "tt.store", in, 2, NULL, 0);
        tmetal_build_return(b, NULL, 0);
        if (tmetal_build_end(b, &m, &r) == TMETAL_OK) break;
        ck_assert_int_eq(r.code, TMETAL_E_ARENA);
        ck_assert_ptr_null(m);
        if (b) ck_assert_uint_gt(arena.need, cap);
    }
    ck_assert_uint_gt(cap, 1000);
}
END_TEST

/* A module that is changed behind our back is looked at again by every part that works on it. */
START_TEST(a_broken_module_is_refused_by_every_part) {
    tmetal_arena     arena = arena_at(0), other = arena_at(1);
    tmetal_module   *m = softmax(&arena), *good = softmax(&arena);
    tmetal_detection found;
    tmetal_result    r;
    uint32_t         i, n = 0;
    for (i = 1; i < m->op.n; i++)
        if (TMI_OP(m, i)->kind == TMI_OP_MULI) TMI_VALUE(m, tmi_out(m, TMI_OP(m, i), 0))->type = m->t_i64, n++;
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(tmetal_verify(m, NULL, &other, &r), TMETAL_E_SAME_TYPE);
    ck_assert_int_eq(tmetal_emit(m, NULL, &other, &r), TMETAL_E_SAME_TYPE);
    ck_assert_uint_eq(r.n_kernels, 0);
    ck_assert_int_eq(tmetal_plan(m, NULL, &other, &r), TMETAL_E_SAME_TYPE);
    ck_assert_int_eq(tmetal_detect(m, &other, &found, &r), TMETAL_E_SAME_TYPE);
    says_ok(tmetal_detect(good, &other, &found, &r), &r);
}
END_TEST

/* -- Numbers and text ----------------------------------------------------------------------------- */

START_TEST(sizes_stop_at_the_largest) {
    const size_t most = (size_t)-1;
    ck_assert_uint_eq(tmi_mul_sat(most, 0), 0);
    ck_assert_uint_eq(tmi_mul_sat(most / 2, 2), most - 1);
    ck_assert_uint_eq(tmi_mul_sat(most / 2 + 1, 2), most);
    ck_assert_uint_eq(tmi_log2(0), 0);
    ck_assert_uint_eq(tmi_log2((uint64_t)1 << 63), 63);
    ck_assert(!tmi_is_pow2(0) && tmi_is_pow2(1) && !tmi_is_pow2(6));
}
END_TEST

/* What is no number has no mantissa; each format has it elsewhere. */
START_TEST(floats_are_taken_apart) {
    static const struct {
        int      format;
        uint64_t bits;
        int      is_finite, negative;
        double   value;
    } rows[] = {{TMI_F_E4M3FN, 0x7F, 0, 0, 0},  {TMI_F_E4M3FN, 0xFF, 0, 1, 0}, {TMI_F_E4M3FN, 0x7E, 1, 0, 448}, {TMI_F_E4M3FN, 0x81, 1, 1, 0.001953125},
                {TMI_F_E4M3FNUZ, 0x80, 0, 1, 0}, {TMI_F_E4M3FNUZ, 0x7F, 1, 0, 240}, {TMI_F_E4M3FNUZ, 0xFF, 1, 1, 240}, {TMI_F_E4M3FNUZ, 0, 1, 0, 0},
                {TMI_F_E4M3, 0x78, 0, 0, 0},    {TMI_F_E4M3, 0x77, 1, 0, 240}};
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t mant = 0;
        int      negative, exp = 0, is = tmi_float_split(&tmi_float_formats[rows[i].format], rows[i].bits, &negative, &mant, &exp);
        ck_assert_msg(is == rows[i].is_finite && negative == rows[i].negative, "row %lu", (unsigned long)i);
        if (is) ck_assert_double_eq(ldexp((double)mant, exp), rows[i].value);
    }
}
END_TEST

/* Decimals are rounded once, by all of their digits. */
START_TEST(decimals_are_rounded_once) {
    static const struct {
        int         format;
        const char *text;
        uint64_t    bits;
    } rows[] = {{TMI_F_F16, "2049", 0x6800}, {TMI_F_F16, "2049.00000000000000000000000000001", 0x6801}, {TMI_F_F16, "2048.99999999999999999999999999999", 0x6800},
                {TMI_F_F16, "", 0}, {TMI_F_F16, "-0", 0x8000}, {TMI_F_E4M3FNUZ, "-0", 0}, {TMI_F_F64, "5e-324", 1}, {TMI_F_F64, "2.4703282292062327e-324", 0},
                {TMI_F_F64, "2.4703282292062328e-324", 1}, {TMI_F_F64, "1.7976931348623157e+308", 0x7FEFFFFFFFFFFFFFu}, {TMI_F_F64, "1.7976931348623159e308", 0x7FF0000000000000u},
                {TMI_F_F32, "1e99999999999", 0x7F800000}, {TMI_F_F32, "-1E-99999999999", 0x80000000}};
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t bits = tmi_decimal_bits(&tmi_float_formats[rows[i].format], rows[i].text, strlen(rows[i].text), 0);
        ck_assert_msg(bits == rows[i].bits, "'%s': %llx", rows[i].text, (unsigned long long)bits);
    }
}
END_TEST

static const char *const shown_texts[][3] = { /* as it is, as a string of JSON, tidy */
    {"a\"b\\c\nd", "\"a\\\"b\\\\c\\nd\"", "a\"b\\c d"},
    {"a\tb", "\"a\\u0009b\"", "a b"},
    {"a\x7F" "b", "\"a\\u007Fb\"", "a b"},
    {"\xC2\x85.", "\"\\u0085.\"", "?."},
    {"\xD8\x9C.", "\"\\u061C.\"", "?."},                /* U+061C */
    {"\xE2\x80\x8E\xE2\x80\x8F.", "\"\\u200E\\u200F.\"", "??."},
    {"\xE2\x80\xA7\xE2\x80\xA8\xE2\x80\xAE\xE2\x80\xAF", "\"\xE2\x80\xA7\\u2028\\u202E\xE2\x80\xAF\"", "\xE2\x80\xA7??\xE2\x80\xAF"},
    {"\xE2\x81\xA5\xE2\x81\xA6\xE2\x81\xA9\xE2\x81\xAA", "\"\xE2\x81\xA5\\u2066\\u2069\xE2\x81\xAA\"", "\xE2\x81\xA5??\xE2\x81\xAA"},
    {"\xC3\xA9\xF0\x9F\x99\x82", "\"\xC3\xA9\xF0\x9F\x99\x82\"", "\xC3\xA9\xF0\x9F\x99\x82"},
    {"a\xFF.", "\"a\\uFFFD.\"", "a?."},                   /* no UTF-8 */
    {"a\xC3", "\"a\\uFFFD\"", "a?"},                     /* the end of it is missing */
    {"\xC0\xAF", "\"\\uFFFD\\uFFFD\"", "??"},             /* a slash in two bytes */
    {"\xED\xA0\x80", "\"\\uFFFD\\uFFFD\\uFFFD\"", "???"}, /* half of a pair */
};

static void put_texts(tmi_job *job, tmi_call *call) {
    size_t i;
    (void)call;
    for (i = 0; i < sizeof shown_texts / sizeof *shown_texts; i++) {
        tmi_text t;
        char     tidy[40];
        tmi_text_init(job, &t);
        tmi_put_json_string(&t, shown_texts[i][0], strlen(shown_texts[i][0]));
        ck_assert_str_eq(tmi_text_join(&t, 1), shown_texts[i][1]);
        ck_assert_int_eq(tmi_tidy(tidy, shown_texts[i][0]), strcmp(shown_texts[i][0], shown_texts[i][2]) != 0);
        ck_assert_str_eq(tidy, shown_texts[i][2]);
    }
    /* a letter that is cut by the length */
    {
        tmi_text t;
        tmi_text_init(job, &t);
        tmi_put_json_string(&t, "a\xC3\xA9", 2);
        ck_assert_str_eq(tmi_text_join(&t, 1), "\"a\\uFFFD\"");
        tmi_text_init(job, &t);
        tmi_put(&t, "%q %q %lld", "x", (const char *)NULL, -5ll);
        ck_assert_str_eq(tmi_text_join(&t, 1), "\"x\" \"\" -5");
    }
}

START_TEST(texts_are_shown_without_controls) {
    tmetal_arena  arena = arena_at(0);
    tmetal_result r;
    tmi_call      c = tmi_entry_call(NULL, 0);
    says_ok(tmi_entry_run(put_texts, &c, &arena, NULL, &r), &r);
}
END_TEST

/* -- Tables ------------------------------------------------------------------------------------ */

/* Names that all fall into one slot of `slots`, of a table without a salt. */
static void names_that_meet(char (*names)[16], uint32_t n, uint32_t slots) {
    uint32_t i, k;
    for (i = k = 0; k < n; i++) {
        int len = snprintf(names[k], sizeof *names, "v%u", (unsigned)i);
        if ((tmi_hash_bytes(0, names[k], (size_t)len) & (slots - 1)) == 0) k++;
    }
}

/* How far the entry farthest from its place lies from it. */
static uint32_t farthest(const tmi_strings *s) {
    uint32_t i, id, far, most = 0;
    for (i = 0; i < s->hash.cap; i++)
        if ((id = s->hash.slot[i]) != 0) {
            far = (i - TMI_AT(&s->item, tmi_string, id)->hash) & (s->hash.cap - 1);
            if (far > most) most = far;
        }
    return most;
}

enum { MEETING = 1500 };

/* A module with these names, and a comment behind it that makes it another text. */
static char *module_of(char (*names)[16], const char *comment) {
    char  *text = (char *)malloc(MEETING * 80 + 200), *p = text;
    size_t i;
    p += sprintf(p, "tt.func public @k(%%x: i32, %%p: !tt.ptr<i32>) {\n");
    for (i = 0; i < MEETING; i++) p += sprintf(p, "  %%%s = arith.addi %%%s, %%x : i32\n", names[i], i ? names[i - 1] : "x");
    sprintf(p, "  tt.store %%p, %%%s : !tt.ptr<i32>\n  tt.return\n}\n%s", names[MEETING - 1], comment);
    return text;
}

START_TEST(names_chosen_to_meet_do_not_for_long) {
    char (*names)[16] = (char(*)[16])malloc((MEETING + 1) * 16);
    tmetal_arena   arena = arena_at(0), other = arena_at(1);
    tmetal_module *m, *n;
    tmetal_result  r;
    char          *text, *another, name[16];
    uint32_t       i, id;
    names_that_meet(names, MEETING, 4096);
    text = module_of(names, ""), another = module_of(names, "// another\n");
    says_ok(tmetal_parse(text, strlen(text), NULL, &arena, &m, &r), &r);
    says_ok(tmetal_parse(another, strlen(another), NULL, &other, &n, &r), &r);
    ck_assert_uint_lt(farthest(m->strings), 200);
    ck_assert_uint_lt(farthest(n->strings), 200);
    ck_assert_msg(m->strings->hash.salt && n->strings->hash.salt, "no salt was taken");
    ck_assert_msg(m->strings->hash.salt != n->strings->hash.salt, "two texts have one salt");
    ck_assert_uint_ge(m->strings->hash.n, MEETING);
    for (i = id = 0; i < m->value.n && id < MEETING; i++) /* each is found again, and none twice */
        if (TMI_VALUE(m, i)->name && strcmp(TMI_STR(m, TMI_VALUE(m, i)->name), names[id]) == 0) id++;
    ck_assert_uint_eq(id, MEETING);
    ck_assert(tmetal_same(m, n, &arena));
    free(text), free(another);

    /* names of every length keep apart, and differ by their length alone too */
    for (i = 0; i < 16; i++) {
        memset(name, 0, sizeof name);
        for (id = 0; id < i; id++) ck_assert_uint_ne(tmi_hash_bytes(0, name, id), tmi_hash_bytes(0, name, i));
        ck_assert_uint_ne(tmi_hash_bytes(0, name, i), tmi_hash_bytes(7, name, i));
    }
    free(names);
}
END_TEST

/* The same for types, whose constants have such names too: one salt is for both. */
START_TEST(types_chosen_to_meet_do_not_for_long) {
    static const char *const elem[] = {"i32", "f32", "f16", "i8"};
    enum { TYPES = 600, AXES = 19 };
    tmetal_arena   arena = arena_at(0);
    tmetal_module *m;
    tmetal_result  r;
    char          *text = (char *)malloc(TYPES * 120 + 200), *p = text;
    uint32_t       i, e, b, k = 0, far, most = 0, dims[AXES], of[4];
    tmi_type       t;
    char (*names)[16] = (char(*)[16])malloc((TYPES + 1) * 16);
    names_that_meet(names, TYPES, 4096);
    sprintf(text, "tt.func public @k(%%a: i8, %%b: tensor<2xf16>) {\n  tt.return\n}\n");
    says_ok(tmetal_parse(text, strlen(text), NULL, &arena, &m, &r), &r);
    of[0] = m->t_i32, of[1] = m->t_float[TMI_F_F32], of[2] = m->t_float[TMI_F_F16], of[3] = TMI_NONE;
    for (i = 1; i < m->type->n; i++)
        if (TMI_TYPE(m, i)->kind == TMI_T_INT && TMI_TYPE(m, i)->bits == 8) of[3] = i;
    ck_assert_uint_ne(of[3], TMI_NONE);
    memset(&t, 0, sizeof t);
    t.kind = TMI_T_TENSOR, t.n_dims = AXES;
    p += sprintf(p, "tt.func public @k(%%a: i8, %%b: tensor<2xf16>) {\n"); /* the same ids of types */
    for (e = 0; e < 4; e++)
        for (i = 0; i >> AXES == 0 && k < TYPES; i++) {
            for (b = 0; b < AXES; b++) dims[b] = 1 + (i >> b & 1);
            t.elem = of[e];
            if ((tmi_type_hash_of(m, &t, dims, 0) & 2047) != 0) continue;
            p += sprintf(p, "  %%%s = arith.constant dense<%s> : tensor<", names[k++], *elem[e] == 'i' ? "0" : "0.0");
            for (b = 0; b < AXES; b++) p += sprintf(p, "%ux", (unsigned)dims[b]);
            p += sprintf(p, "%s>\n", elem[e]);
        }
    ck_assert_uint_eq(k, TYPES); /* all in one slot of the 2,048 */
    sprintf(p, "  tt.return\n}\n");
    says_ok(tmetal_parse(text, strlen(text), NULL, &arena, &m, &r), &r);
    free(text), free(names);
    for (i = 0; i < m->type_hash->cap; i++)
        if (m->type_hash->slot[i]) {
            far = (i - TMI_TYPE(m, m->type_hash->slot[i])->hash) & (m->type_hash->cap - 1);
            if (far > most) most = far;
        }
    ck_assert_uint_lt(most, 200);
    ck_assert_msg(m->type_hash->salt != 0, "no salt was taken");
    ck_assert_uint_lt(farthest(m->strings), 200);
    ck_assert(m->strings->hash.salt == m->type_hash->salt);
}
END_TEST

int main(void) {
    Suite *s = suite_create("builder");
    TCase *t = tcase_create("builder");
    tcase_add_checked_fixture(t, unit_begin, unit_end);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, a_softmax_built_is_the_softmax_parsed);
    tcase_add_test(t, a_matmul_built_is_the_matmul_parsed);
    tcase_add_test(t, branches_whiles_blocks_and_calls_are_built);
    tcase_add_test(t, places_and_names_reach_metal_and_diagnostics);
    tcase_add_test(t, names_stay_apart);
    tcase_add_test(t, long_numbers_are_rounded_by_all_their_digits);
    tcase_add_test(t, constants_have_the_bits_of_their_type);
    tcase_add_loop_test(t, each_mistake_is_told_once_and_ends_the_builder, 0, (int)(sizeof mistakes / sizeof *mistakes));
    tcase_add_loop_test(t, each_misuse_is_told_once, 0, (int)(sizeof misuses / sizeof *misuses));
    tcase_add_test(t, modules_that_differ_in_one_thing_differ);
    tcase_add_test(t, types_of_results_follow);
    tcase_add_test(t, axes_end_with_the_rank);
    tcase_add_test(t, what_needs_no_saying);
    tcase_add_test(t, places_end_and_names_are_passed_over);
    tcase_add_test(t, a_builder_without_room_fails_cleanly);
    tcase_add_test(t, a_broken_module_is_refused_by_every_part);
    tcase_add_test(t, sizes_stop_at_the_largest);
    tcase_add_test(t, floats_are_taken_apart);
    tcase_add_test(t, decimals_are_rounded_once);
    tcase_add_test(t, texts_are_shown_without_controls);
    tcase_add_test(t, names_chosen_to_meet_do_not_for_long);
    tcase_add_test(t, types_chosen_to_meet_do_not_for_long);
    suite_add_tcase(s, t);
    return run_suite(s);
}
