/* What a compiled kernel says of itself: accesses, barriers, layouts and the names of all of it. */
#include "unit.h"

#include <time.h>

#define POINTER(name) "%" name ": !tt.ptr<f32> {tt.divisibility = 16 : i32}"
#define INDEX "  %i = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>\n"
#define SPLAT(to, from) "  %" to " = tt.splat %" from " : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>\n"
#define MOVE(to, from, by) "  %" to " = tt.addptr %" from ", %" by " : tensor<256x!tt.ptr<f32>>, tensor<256xi32>\n"
#define LOAD(to, from) "  %" to " = tt.load %" from " : tensor<256x!tt.ptr<f32>>\n"
#define STORE(to, what) "  tt.store %" to ", %" what " : tensor<256x!tt.ptr<f32>>\n"
#define KERNEL(args, body) "tt.func public @k(" args ") {\n" body "  tt.return\n}\n"

static tmetal_result result;
static tmetal_arena  arena;

/* With `threads`; 0: as many as tmetal chooses. */
static const tmetal_kernel *kernel_with(const char *text, uint32_t threads) {
    tmetal_options opt = *asking();
    opt.threads = threads;
    arena = arena_at(0);
    says_ok(tmetal_compile(text, strlen(text), &opt, &arena, &result), &result);
    ck_assert_uint_eq(result.n_kernels, 1);
    return &result.kernels[0];
}

static const tmetal_kernel *kernel_of(const char *text) { return kernel_with(text, 0); }

static const tmetal_access *access_of(const tmetal_kernel *k, tmetal_access_kind kind, const char *buffer) {
    uint32_t i;
    for (i = 0; i < k->n_accesses; i++)
        if (k->accesses[i].kind == kind && strcmp(k->accesses[i].buffer, buffer) == 0) return &k->accesses[i];
    ck_abort_msg("no access of %s", buffer);
    return NULL;
}

/* The text of a line, counted from 1. */
static void line_of(const char *msl, uint32_t line, char *to, size_t size) {
    size_t n;
    ck_assert_uint_gt(line, 0);
    for (; line > 1; line--) msl = strchr(msl, '\n') + 1;
    n = strcspn(msl, "\n");
    ck_assert_uint_lt(n, size);
    memcpy(to, msl, n);
    to[n] = '\0';
}

/* -- Classes ----------------------------------------------------------------------------------- */

typedef struct wanted {
    const char         *body, *arguments;
    tmetal_access_kind  kind;
    tmetal_access_class access;
    uint32_t            stride, run, lines, most, fewest, bytes, lanes;
} wanted;

/* Every row loads from %x or stores to %y with %p pointing at 256 elements. */
static const wanted rows[] = {
    /* neighbours: 16 bytes a lane, 512 bytes, 4 lines */
    {INDEX SPLAT("b", "x") MOVE("p", "b", "i") LOAD("v", "p") SPLAT("d", "y") MOVE("q", "d", "i") STORE("q", "v"), "", TMETAL_ACCESS_LOAD, TMETAL_CONTIGUOUS, 4, 128, 4, 4, 4, 512, 32},
    {INDEX SPLAT("b", "x") MOVE("p", "b", "i") LOAD("v", "p") SPLAT("d", "y") MOVE("q", "d", "i") STORE("q", "v"), "", TMETAL_ACCESS_STORE, TMETAL_CONTIGUOUS, 4, 128, 4, 4, 4, 512, 32},
    /* every other element: 32 * 8 bytes lie in 2 lines, 128 would do */
    {INDEX "  %two = arith.constant dense<2> : tensor<256xi32>\n  %j = arith.muli %i, %two : tensor<256xi32>\n" SPLAT("b", "x") MOVE("p", "b", "j") LOAD("v", "p")
     SPLAT("d", "y") MOVE("q", "d", "i") "  tt.store %q, %v : tensor<256x!tt.ptr<f32>>\n", "", TMETAL_ACCESS_LOAD, TMETAL_STRIDED, 2, 1, 2, 2, 1, 128, 32},
    /* a stride of 32 floats: a line each */
    {INDEX "  %far = arith.constant dense<32> : tensor<256xi32>\n  %j = arith.muli %i, %far : tensor<256xi32>\n" SPLAT("b", "x") MOVE("p", "b", "j")
     "  %v = arith.constant dense<1.0> : tensor<256xf32>\n  %d = tt.splat %y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>\n  %q = tt.addptr %d, %j : tensor<256x!tt.ptr<f32>>, tensor<256xi32>\n"
     STORE("q", "v"), "", TMETAL_ACCESS_STORE, TMETAL_STRIDED, 32, 1, 32, 32, 1, 128, 32},
    /* a stride that only the launch knows */
    {INDEX "  %n1 = tt.splat %n : i32 -> tensor<256xi32>\n  %j = arith.muli %i, %n1 : tensor<256xi32>\n  %v = arith.constant dense<1.0> : tensor<256xf32>\n" SPLAT("d", "y") MOVE("q", "d", "j")
     STORE("q", "v"), ", %n: i32", TMETAL_ACCESS_STORE, TMETAL_STRIDED, 0, 1, 0, 32, 1, 128, 32},
    /* one address */
    {"  %v = tt.load %x : !tt.ptr<f32>\n" INDEX "  %w = tt.splat %v : f32 -> tensor<256xf32>\n" SPLAT("d", "y") MOVE("q", "d", "i") STORE("q", "w"), "", TMETAL_ACCESS_LOAD, TMETAL_BROADCAST, 0, 1, 1, 1,
     1, 128, 32},
    /* a lane alone */
    {"  %v = arith.constant 1.0 : f32\n  tt.store %y, %v : !tt.ptr<f32>\n", "", TMETAL_ACCESS_STORE, TMETAL_BROADCAST, 0, 1, 1, 1, 1, 4, 1},
    /* addresses that were loaded */
    {INDEX "  %bi = tt.splat %z : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>\n  %pi = tt.addptr %bi, %i : tensor<256x!tt.ptr<i32>>, tensor<256xi32>\n"
     "  %j = tt.load %pi : tensor<256x!tt.ptr<i32>>\n" SPLAT("b", "x") MOVE("p", "b", "j") LOAD("v", "p") SPLAT("d", "y") MOVE("q", "d", "i") STORE("q", "v"),
     ", %z: !tt.ptr<i32> {tt.divisibility = 16 : i32}", TMETAL_ACCESS_LOAD, TMETAL_GATHER, 0, 0, 0, 32, 1, 128, 32},
    {INDEX "  %bi = tt.splat %z : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>\n  %pi = tt.addptr %bi, %i : tensor<256x!tt.ptr<i32>>, tensor<256xi32>\n"
     "  %j = tt.load %pi : tensor<256x!tt.ptr<i32>>\n  %v = arith.constant dense<1.0> : tensor<256xf32>\n" SPLAT("d", "y") MOVE("q", "d", "j") STORE("q", "v"),
     ", %z: !tt.ptr<i32> {tt.divisibility = 16 : i32}", TMETAL_ACCESS_STORE, TMETAL_SCATTER, 0, 0, 0, 32, 1, 128, 32},
    /* neighbours from anywhere on: a packed vector moves 16 bytes a lane, and a line more may be touched */
    {INDEX "  %n1 = tt.splat %n : i32 -> tensor<256xi32>\n  %j = arith.addi %i, %n1 : tensor<256xi32>\n" SPLAT("b", "x") MOVE("p", "b", "j") LOAD("v", "p") SPLAT("d", "y") MOVE("q", "d", "i") STORE("q", "v"),
     ", %n: i32", TMETAL_ACCESS_LOAD, TMETAL_CONTIGUOUS, 4, 128, 4, 5, 4, 512, 32},
    /* 8 rows of 8 lanes' worth: 32 x 8 elements of rows 64 apart */
    {"  %r = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>\n  %c = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>\n"
     "  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>\n  %c1 = tt.expand_dims %c {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>\n"
     "  %s = arith.constant dense<64> : tensor<32x1xi32>\n  %r2 = arith.muli %r1, %s : tensor<32x1xi32>\n"
     "  %r3 = tt.broadcast %r2 : tensor<32x1xi32> -> tensor<32x8xi32>\n  %c3 = tt.broadcast %c1 : tensor<1x8xi32> -> tensor<32x8xi32>\n  %o = arith.addi %r3, %c3 : tensor<32x8xi32>\n"
     "  %d = tt.splat %y : !tt.ptr<f32> -> tensor<32x8x!tt.ptr<f32>>\n  %q = tt.addptr %d, %o : tensor<32x8x!tt.ptr<f32>>, tensor<32x8xi32>\n"
     "  %v = arith.constant dense<1.0> : tensor<32x8xf32>\n  tt.store %q, %v : tensor<32x8x!tt.ptr<f32>>\n", "", TMETAL_ACCESS_STORE, TMETAL_BLOCK, 64, 8, 16, 16, 4, 512, 32},
};

START_TEST(accesses_are_classed_with_their_lines) {
    const wanted        *w = &rows[_i];
    char                 text[4000], line[300];
    const tmetal_kernel *k;
    const tmetal_access *a;
    snprintf(text, sizeof text, "%s%s) {\n%s  tt.return\n}\n", "tt.func public @k(" POINTER("x") ", " POINTER("y"), w->arguments, w->body);
    k = kernel_of(text);
    a = access_of(k, w->kind, w->kind == TMETAL_ACCESS_LOAD ? "x" : "y");
    ck_assert_str_eq(tmetal_access_name(a->access), tmetal_access_name(w->access));
    ck_assert_msg(a->stride == w->stride && a->run == w->run, "stride %u, run %u", a->stride, a->run);
    ck_assert_msg(a->lines == w->lines && a->most_lines == w->most && a->fewest == w->fewest, "%u to %u lines, %u the fewest", a->lines, a->most_lines, a->fewest);
    ck_assert_msg(a->bytes == w->bytes && a->lanes == w->lanes, "%u bytes, %u lanes", a->bytes, a->lanes);
    ck_assert_str_eq(a->type, "f32");
    ck_assert(*a->reason && !a->is_masked && a->repeats >= 1);
    line_of(k->msl, a->line, line, sizeof line);
    ck_assert_msg(strstr(line, w->kind == TMETAL_ACCESS_STORE ? " = " : "x") != NULL && strpbrk(line, "[*") != NULL, "line %u is '%s'", a->line, line);
}
END_TEST

START_TEST(atomic_operations_are_accesses) {
    static const char text[] = KERNEL(POINTER("x") ", " POINTER("y"), INDEX SPLAT("d", "y") MOVE("q", "d", "i")
        "  %v = arith.constant dense<1.0> : tensor<256xf32>\n  %m = arith.constant dense<true> : tensor<256xi1>\n"
        "  %o = tt.atomic_rmw fadd, relaxed, gpu, %q, %v, %m : (tensor<256x!tt.ptr<f32>>, tensor<256xf32>, tensor<256xi1>) -> tensor<256xf32>\n");
    char                 line[300];
    const tmetal_kernel *k = kernel_of(text);
    const tmetal_access *a = access_of(k, TMETAL_ACCESS_ATOMIC, "y");
    ck_assert_int_eq(a->access == TMETAL_CONTIGUOUS || a->access == TMETAL_STRIDED, 1);
    ck_assert_uint_eq(a->width, 1);
    line_of(k->msl, a->line, line, sizeof line);
    ck_assert_ptr_nonnull(strstr(line, "atomic_fetch_add_explicit"));
}
END_TEST

START_TEST(edges_are_told_from_whole_tiles) {
    static const char text[] = KERNEL(POINTER("x") ", " POINTER("y") ", %n: i32", INDEX
        "  %ns = tt.splat %n : i32 -> tensor<256xi32>\n  %m = arith.cmpi slt, %i, %ns : tensor<256xi32>\n" SPLAT("b", "x") MOVE("p", "b", "i")
        "  %v = tt.load %p, %m : tensor<256x!tt.ptr<f32>>\n" SPLAT("d", "y") MOVE("q", "d", "i") "  tt.store %q, %v, %m : tensor<256x!tt.ptr<f32>>\n");
    const tmetal_kernel *k = kernel_with(text, 64); /* two simdgroups */
    uint32_t             i, whole = 0, edges = 0;
    for (i = 0; i < k->n_accesses; i++) {
        const tmetal_access *a = &k->accesses[i];
        ck_assert_msg((a->width == 4) != a->is_edge, "%u elements, edge %u", a->width, a->is_edge);
        ck_assert_msg(a->access == (a->is_edge ? TMETAL_STRIDED : TMETAL_CONTIGUOUS), "%s", tmetal_access_name(a->access));
        whole += !a->is_edge, edges += a->is_edge;
    }
    ck_assert_uint_eq(whole, 2);
    ck_assert_uint_ge(edges, 2);
}
END_TEST

START_TEST(masks_and_loops_are_told) {
    static const char text[] = KERNEL(POINTER("x") ", " POINTER("y") ", %n: i32", INDEX
        "  %c0 = arith.constant 0 : i32\n  %c1 = arith.constant 1 : i32\n  %c5 = arith.constant 5 : i32\n  %z = arith.constant dense<0.0> : tensor<256xf32>\n"
        "  %ns = tt.splat %n : i32 -> tensor<256xi32>\n  %m = arith.cmpi slt, %i, %ns : tensor<256xi32>\n" SPLAT("b", "x") MOVE("p", "b", "i")
        "  %s = scf.for %k = %c0 to %c5 step %c1 iter_args(%a = %z) -> (tensor<256xf32>) : i32 {\n"
        "    %v = tt.load %p, %m {isVolatile = true} : tensor<256x!tt.ptr<f32>>\n    %w = arith.addf %a, %v : tensor<256xf32>\n    scf.yield %w : tensor<256xf32>\n  }\n"
        SPLAT("d", "y") MOVE("q", "d", "i") STORE("q", "s"));
    const tmetal_kernel *k = kernel_of(text);
    const tmetal_access *load = access_of(k, TMETAL_ACCESS_LOAD, "x"), *store = access_of(k, TMETAL_ACCESS_STORE, "y");
    ck_assert_uint_eq(load->is_masked, 1);
    ck_assert_uint_eq(store->is_masked, 0);
    ck_assert_uint_eq(load->repeats % 5, 0);
    ck_assert_uint_gt(load->repeats, 0);
    ck_assert_uint_eq(store->repeats * store->width * k->threads, 256);
}
END_TEST

/* -- Barriers ------------------------------------------------------------------------------------ */

START_TEST(every_barrier_of_the_text_has_its_reason) {
    static const char *const files[] = {"examples/kernels/softmax.ttir", "examples/kernels/matmul.ttir", "examples/kernels/attention.ttir", "examples/kernels/cumsum.ttir"};
    char        line[300];
    size_t      n;
    char       *text = slurp(files[_i], &n);
    const char *at;
    uint32_t    i, count = 0;
    const tmetal_kernel *k;
    arena = arena_at(0);
    says_ok(tmetal_compile(text, n, asking(), &arena, &result), &result);
    free(text);
    k = &result.kernels[0];
    for (at = k->msl; (at = strstr(at, "threadgroup_barrier(")) != NULL; at++) count++;
    ck_assert_uint_eq(k->n_barriers, count);
    for (i = 0; i < k->n_barriers; i++) {
        const tmetal_barrier *b = &k->barriers[i];
        line_of(k->msl, b->line, line, sizeof line);
        ck_assert_msg(strstr(line, "threadgroup_barrier(") != NULL, "line %u is '%s'", b->line, line);
        ck_assert(*b->reason && b->threadgroup && b->ir.line);
        ck_assert_msg(strstr(k->msl, b->before) != NULL && *b->before, "no array '%s'", b->before);
        ck_assert_ptr_nonnull(strstr(b->reason, b->before));
    }
}
END_TEST

START_TEST(a_barrier_for_device_memory_says_so) {
    static const char text[] = KERNEL(POINTER("x"), INDEX SPLAT("b", "x") MOVE("p", "b", "i") LOAD("v", "p")
        "  %t = arith.constant dense<255> : tensor<256xi32>\n  %j = arith.subi %t, %i : tensor<256xi32>\n" MOVE("q", "b", "j") STORE("q", "v"));
    const tmetal_kernel *k = kernel_with(text, 64); /* two simdgroups */
    uint32_t i, device = 0;
    for (i = 0; i < k->n_barriers; i++) {
        if (!k->barriers[i].device) continue;
        device++;
        ck_assert_ptr_nonnull(strstr(k->barriers[i].reason, "other threads may use these addresses"));
        ck_assert_str_eq(k->barriers[i].before, "");
    }
    ck_assert_uint_eq(device, 1);
}
END_TEST

/* -- Layouts --------------------------------------------------------------------------------------- */

/* Every element that a register holds is found again, and where it is found it is held. */
static void check_map(const tmetal_map *m) {
    uint32_t index[8], again[8], reg, lane, group, r, l, g, d;
    ck_assert_uint_le(m->n_dims, 8);
    for (g = 0; g < 1u << m->n_simdgroups; g++)
        for (l = 0; l < 32; l++)
            for (r = 0; r < 1u << m->n_registers; r += 3) {
                ck_assert_int_eq(tmetal_map_element(m, r, l, g, index), 1);
                for (d = 0; d < m->n_dims; d++) ck_assert_uint_lt(index[d], m->dims[d]);
                ck_assert_int_eq(tmetal_map_holder(m, index, &reg, &lane, &group), 1);
                ck_assert(group <= g);
                ck_assert_int_eq(tmetal_map_element(m, reg, lane, group, again), 1);
                for (d = 0; d < m->n_dims; d++) ck_assert_uint_eq(index[d], again[d]);
            }
    ck_assert_int_eq(tmetal_map_element(m, 1u << m->n_registers, 0, 0, index), 0);
    ck_assert_int_eq(tmetal_map_element(m, 0, 32, 0, index), 0);
    ck_assert_int_eq(tmetal_map_element(m, 0, 0, 1u << m->n_simdgroups, index), 0);
    for (d = 0; d < m->n_dims; d++) index[d] = m->dims[d];
    if (m->n_dims) ck_assert_int_eq(tmetal_map_holder(m, index, &reg, &lane, &group), 0);
}

START_TEST(maps_lead_there_and_back) {
    static const char *const files[] = {"examples/kernels/softmax.ttir", "examples/kernels/matmul.ttir", "examples/kernels/attention.ttir", "examples/kernels/transpose.ttir"};
    size_t   n;
    char    *text = slurp(files[_i], &n);
    uint32_t i, held = 0;
    arena = arena_at(0);
    says_ok(tmetal_compile(text, n, asking(), &arena, &result), &result);
    free(text);
    for (i = 0; i < result.kernels[0].n_layouts; i++) {
        const tmetal_layout_row *l = &result.kernels[0].layouts[i];
        ck_assert_msg(l->bases.n_lanes == (*l->map ? 5u : 0u), "%s", l->value);
        ck_assert_msg(*l->map || strstr(l->reason, "nothing") != NULL, "%s has no map: %s", l->value, l->reason);
        ck_assert_str_ne(tmetal_layout_name(l->layout), "");
        if (l->width) ck_assert(l->lines <= l->most_lines && l->most_lines && l->fewest);
        held += l->is_held;
        if (l->bases.n_lanes) check_map(&l->bases);
    }
    ck_assert_uint_gt(held, 0);
}
END_TEST

START_TEST(a_holder_is_the_one_that_the_map_says) {
    static const char text[] = KERNEL(POINTER("x") ", " POINTER("y"), INDEX SPLAT("b", "x") MOVE("p", "b", "i") LOAD("v", "p") SPLAT("d", "y") MOVE("q", "d", "i") STORE("q", "v"));
    const tmetal_kernel *k = kernel_with(text, 64); /* two simdgroups */
    uint32_t i, index[1], reg, lane, group;
    for (i = 0; i < k->n_layouts && strcmp(k->layouts[i].value, "%v") != 0; i++) {}
    ck_assert_uint_lt(i, k->n_layouts);
    ck_assert_str_eq(k->layouts[i].map, "register 1 2 | lane 4 8 16 32 64 | simdgroup 128");
    index[0] = 128 + 4 * 9 + 3;
    ck_assert_int_eq(tmetal_map_holder(&k->layouts[i].bases, index, &reg, &lane, &group), 1);
    ck_assert(reg == 3 && lane == 9 && group == 1);
}
END_TEST

/* Lanes that hold what registers hold, elements that nothing holds, no lanes at all: maps that are made by hand. */
START_TEST(a_map_may_repeat_and_leave_out) {
    static const uint32_t dims[] = {8}, registers[] = {1}, lanes[] = {1, 0, 2};
    tmetal_map m;
    uint32_t   index[1] = {3}, reg = 9, lane = 9, group = 9;
    memset(&m, 0, sizeof m);
    m.n_dims = 1;
    m.dims = dims;
    ck_assert_int_eq(tmetal_map_element(&m, 0, 0, 0, index), 0); /* a value that is nowhere has no lanes */
    ck_assert_int_eq(tmetal_map_holder(&m, index, &reg, &lane, &group), 0);
    m.n_registers = 1;
    m.registers = registers;
    m.n_lanes = 3;
    m.lanes = lanes;
    ck_assert_int_eq(tmetal_map_element(&m, 1, 7, 0, index), 1);
    ck_assert_uint_eq(index[0], 2); /* 1 ^ 1 ^ 0 ^ 2 */
    index[0] = 3;
    ck_assert_int_eq(tmetal_map_holder(&m, index, &reg, &lane, &group), 1);
    ck_assert(reg == 1 && lane == 4 && group == 0);
    index[0] = 4;
    ck_assert_int_eq(tmetal_map_holder(&m, index, &reg, &lane, &group), 0);
}
END_TEST

/* -- Names and remarks --------------------------------------------------------------------------------- */

/* Each access and barrier tells its line of Metal: to find those of 5,000 took ten times as long as to compile. */
START_TEST(lines_of_a_long_text_are_found_in_linear_time) {
    const unsigned       n = 2500;
    size_t               room = (size_t)4 << 20, at = 0;
    char                *text = (char *)malloc(room);
    const tmetal_kernel *k;
    tmetal_arena         other = arena_at(1);
    clock_t              compiled, told = 0;
    unsigned             i, tries;
    ck_assert_ptr_nonnull(text);
    at += (size_t)snprintf(text, room, "tt.func public @k(%%x: !tt.ptr<f32>) {\n");
    for (i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, room - at, "  %%c%u = arith.constant %u : i32\n  %%p%u = tt.addptr %%x, %%c%u : !tt.ptr<f32>, i32\n"
                               "  %%v%u = tt.load %%p%u : !tt.ptr<f32>\n  gpu.barrier\n  tt.store %%x, %%v%u : !tt.ptr<f32>\n", i, i, i, i, i, i, i);
    (void)snprintf(text + at, room - at, "  tt.return\n}\n");
    compiled = clock();
    k = kernel_of(text);
    compiled = clock() - compiled;
    ck_assert_uint_ge(k->n_accesses, 2 * n);
    for (tries = 0; !tries || (tries < 3 && told >= 2 * compiled); tries++) { /* the machine may be busy */
        other = arena_at(1);
        told = clock();
        ck_assert_ptr_nonnull(tmetal_explain_json(&result, &other));
        told = clock() - told;
    }
    ck_assert_msg(told < 2 * compiled + CLOCKS_PER_SEC / 10, "%.1f s after %.1f s", (double)told / CLOCKS_PER_SEC, (double)compiled / CLOCKS_PER_SEC);
    free(text);
}
END_TEST

START_TEST(every_name_is_there_and_ends) {
    static const char *const access[] = {"broadcast", "contiguous", "strided", "block", "gather", "scatter", ""};
    unsigned i;
    for (i = 0; i <= TMETAL_ACCESS_COUNT; i++) ck_assert_str_eq(tmetal_access_name((tmetal_access_class)i), access[i]);
    ck_assert_str_eq(tmetal_layout_name(TMETAL_DEFAULT), "DEFAULT");
    ck_assert_str_eq(tmetal_layout_name((tmetal_layout)(TMETAL_ROW_MAJOR | TMETAL_COALESCED)), "ROW_MAJOR | COALESCED");
    ck_assert_str_eq(tmetal_layout_name((tmetal_layout)16), "");
    ck_assert_str_eq(tmetal_access_kind_name(TMETAL_ACCESS_ATOMIC), "atomic");
    ck_assert_str_eq(tmetal_access_kind_name((tmetal_access_kind)3), "");
    ck_assert_str_eq(tmetal_arg_kind_name(TMETAL_ARG_PADDING), "padding");
    ck_assert_str_eq(tmetal_arg_kind_name(TMETAL_ARG_GRID), "grid");
    ck_assert_str_eq(tmetal_arg_kind_name(TMETAL_ARG_LENGTH), "length");
    ck_assert_str_eq(tmetal_arg_kind_name((tmetal_arg_kind)9), "");
    ck_assert_str_eq(tmetal_remark_kind_name(TMETAL_MISSED), "missed");
    ck_assert_str_eq(tmetal_remark_kind_name((tmetal_remark_kind)3), "");
    ck_assert_str_eq(tmetal_confidence_name(TMETAL_GIVEN), "given");
    ck_assert_str_eq(tmetal_confidence_name((tmetal_confidence)5), "");
}
END_TEST

START_TEST(remarks_name_their_kernel) {
    static const char text[] = "tt.func public @first(" POINTER("x") ") {\n" INDEX SPLAT("b", "x") MOVE("p", "b", "i") LOAD("v", "p") STORE("p", "v") "  tt.return\n}\n"
                               "tt.func public @second(" POINTER("x") ") {\n" INDEX SPLAT("b", "x") MOVE("p", "b", "i") LOAD("v", "p") STORE("p", "v") "  tt.return\n}\n";
    uint32_t i, first = 0, second = 0;
    char     line[300];
    arena = arena_at(0);
    says_ok(tmetal_compile(text, strlen(text), asking(), &arena, &result), &result);
    for (i = 0; i < result.n_remarks; i++) {
        first += strcmp(result.remarks[i].kernel, "first") == 0;
        second += strcmp(result.remarks[i].kernel, "second") == 0;
    }
    ck_assert(first && first == second && first + second == result.n_remarks);
    for (i = 0; i < 2; i++) { /* lines are those of the kernel's own text */
        line_of(result.kernels[i].msl, result.kernels[i].accesses[0].line, line, sizeof line);
        ck_assert_ptr_nonnull(strstr(line, "float4"));
    }
}
END_TEST

START_TEST(fusions_of_a_list_are_told_of_their_kernel) {
    static const char text[] = "{\"ops\":[{\"type\":\"tt.matmul\",\"id\":\"m\",\"input_shapes\":[[64,32],[32,64]]},{\"type\":\"tt.relu\",\"id\":\"r\",\"inputs\":[\"m\"]},"
                               "{\"type\":\"tt.softmax\",\"id\":\"s\",\"inputs\":[\"r\"],\"args\":{\"axis\":1}}]}";
    uint32_t i, fusions = 0;
    arena = arena_at(0);
    says_ok(tmetal_compile_ops(text, strlen(text), NULL, &arena, &result), &result);
    ck_assert_uint_eq(result.n_kernels, 2);
    for (i = 0; i < result.n_remarks; i++) {
        if (strcmp(result.remarks[i].about, "fusion") != 0 || result.remarks[i].kind != TMETAL_APPLIED) continue;
        fusions++;
        ck_assert_str_eq(result.remarks[i].kernel, result.kernels[0].name);
    }
    ck_assert_uint_ge(fusions, 1);
}
END_TEST

/* The same Metal and plan, and nothing that explains, unless it is asked for. */
START_TEST(what_explains_is_made_when_asked_for) {
    static const char *const files[] = {"examples/kernels/softmax.ttir", "examples/kernels/matmul.ttir", "examples/kernels/attention.ttir", "examples/kernels/transpose.ttir"};
    size_t         n;
    char          *text = slurp(files[_i], &n);
    tmetal_arena   other = arena_at(1);
    tmetal_result  plain;
    const tmetal_kernel *k;
    arena = arena_at(0);
    says_ok(tmetal_compile(text, n, asking(), &arena, &result), &result);
    says_ok(tmetal_compile(text, n, NULL, &other, &plain), &plain);
    free(text);
    k = &result.kernels[0];
    ck_assert(result.reports && k->n_layouts && k->n_accesses && k->n_reduce_plans + k->n_barriers && result.n_remarks);
    k = &plain.kernels[0];
    ck_assert(!plain.reports && !k->n_layouts && !k->n_accesses && !k->n_barriers && !k->n_reductions && !k->n_patterns && !k->n_reduce_plans);
    same_text("Metal with and without reports", result.kernels[0].msl, plain.kernels[0].msl);
    same_text("plans with and without reports", tmetal_plan_json(&result, &arena), tmetal_plan_json(&plain, &other));
    ck_assert_ptr_nonnull(tmetal_explain_json(&result, &arena));
    ck_assert_ptr_null(tmetal_explain_json(&plain, &other)); /* never an empty list for what was not looked at */
    ck_assert_ptr_null(tmetal_layouts_json(&plain, &other));
    ck_assert_uint_lt(other.peak, arena.peak);
}
END_TEST

START_TEST(a_plan_without_text_has_no_lines) {
    static const char text[] = KERNEL(POINTER("x") ", " POINTER("y"), INDEX SPLAT("b", "x") MOVE("p", "b", "i") LOAD("v", "p") SPLAT("d", "y") MOVE("q", "d", "i") STORE("q", "v"));
    tmetal_module *m;
    uint32_t       i;
    arena = arena_at(0);
    says_ok(tmetal_parse(text, strlen(text), NULL, &arena, &m, &result), &result);
    says_ok(tmetal_plan(m, asking(), &arena, &result), &result);
    ck_assert_uint_eq(result.kernels[0].n_accesses, 2);
    for (i = 0; i < 2; i++) ck_assert_uint_eq(result.kernels[0].accesses[i].line, 0);
    ck_assert_uint_eq(result.kernels[0].accesses[0].lines, 4);
    ck_assert_ptr_nonnull(strstr(tmetal_explain_json(&result, &arena), "\"class\":\"contiguous\""));
}
END_TEST

int main(void) {
    Suite *s = suite_create("explain");
    TCase *t = tcase_create("explain");
    tcase_add_checked_fixture(t, unit_begin, unit_end);
    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, accesses_are_classed_with_their_lines, 0, (int)(sizeof rows / sizeof *rows));
    tcase_add_test(t, atomic_operations_are_accesses);
    tcase_add_test(t, edges_are_told_from_whole_tiles);
    tcase_add_test(t, masks_and_loops_are_told);
    tcase_add_loop_test(t, every_barrier_of_the_text_has_its_reason, 0, 4);
    tcase_add_test(t, a_barrier_for_device_memory_says_so);
    tcase_add_loop_test(t, maps_lead_there_and_back, 0, 4);
    tcase_add_test(t, a_holder_is_the_one_that_the_map_says);
    tcase_add_test(t, a_map_may_repeat_and_leave_out);
    tcase_add_test(t, lines_of_a_long_text_are_found_in_linear_time);
    tcase_add_test(t, every_name_is_there_and_ends);
    tcase_add_loop_test(t, what_explains_is_made_when_asked_for, 0, 4);
    tcase_add_test(t, remarks_name_their_kernel);
    tcase_add_test(t, fusions_of_a_list_are_told_of_their_kernel);
    tcase_add_test(t, a_plan_without_text_has_no_lines);
    suite_add_tcase(s, t);
    return run_suite(s);
}
