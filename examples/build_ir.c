/* Building IR in C: a kernel that sums the rows of a matrix, made call by call, without any text. In Triton it is
 * examples/kernels/row_sum.py.
 *
 * Shows tmetal_build_*: arguments, ops, a loop that carries a value, a reduction with its body, names and
 * attributes; then the same module as Triton IR and as Metal. A mistake on the way needs no check: it makes
 * the builder fail for good, and tmetal_build_end says what it was. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>

static tmetal_value unary(tmetal_builder *b, const char *op, tmetal_value x, tmetal_type type) {
    return tmetal_build_op(b, op, &x, 1, NULL, type);
}

static tmetal_value binary(tmetal_builder *b, const char *op, tmetal_value x, tmetal_value y, const char *attrs) {
    tmetal_value in[2];
    in[0] = x;
    in[1] = y;
    return tmetal_build_op(b, op, in, 2, attrs, 0); /* the type follows from the operands */
}

static tmetal_value named(tmetal_builder *b, tmetal_value v, const char *name) {
    tmetal_build_name(b, v, name); /* also what it is called in the Metal */
    return v;
}

/* One tile of a row from column `start`, zeros past its end. */
static tmetal_value load_tile(tmetal_builder *b, tmetal_value row, tmetal_value start, tmetal_value n_cols) {
    tmetal_type  ints = tmetal_build_type(b, "tensor<256xi32>"), ptrs = tmetal_build_type(b, "tensor<256x!tt.ptr<f32>>");
    tmetal_value range = tmetal_build_op(b, "tt.make_range", NULL, 0, "{start = 0 : i32, end = 256 : i32}", 0);
    tmetal_value cols = named(b, binary(b, "arith.addi", unary(b, "tt.splat", start, ints), range, NULL), "cols");
    tmetal_value in[3];
    in[0] = binary(b, "tt.addptr", unary(b, "tt.splat", row, ptrs), cols, NULL);
    in[1] = named(b, binary(b, "arith.cmpi", cols, unary(b, "tt.splat", n_cols, ints), "{predicate = \"slt\"}"), "mask");
    in[2] = tmetal_build_float(b, tmetal_build_type(b, "tensor<256xf32>"), 0.0);
    return named(b, tmetal_build_op(b, "tt.load", in, 3, NULL, 0), "x");
}

static tmetal_value sum(tmetal_builder *b, tmetal_value tile) {
    tmetal_value s;
    tmetal_build_open(b, "tt.reduce", &tile, 1, "{axis = 0 : i32}", NULL, 0);
    s = binary(b, "arith.addf", tmetal_build_body_arg(b, 0), tmetal_build_body_arg(b, 1), NULL);
    return tmetal_build_close(b, &s, 1);
}

static void row_sum(tmetal_builder *b) {
    static const char *const names[] = {"x", "out", "n_cols"};
    tmetal_type  types[3];
    tmetal_value n_cols, at, row, loop[4], acc, store[2];
    types[0] = types[1] = tmetal_build_type(b, "!tt.ptr<f32>");
    types[2] = tmetal_build_type(b, "i32");
    tmetal_build_kernel(b, "row_sum", types, names, 3);
    tmetal_build_divisible(b, 0, 16); /* a promise: the address is a multiple of 16 bytes */
    n_cols = tmetal_build_arg(b, 2);

    at = named(b, tmetal_build_op(b, "tt.get_program_id", NULL, 0, "{axis = \"x\"}", 0), "at");
    row = binary(b, "tt.addptr", tmetal_build_arg(b, 0), binary(b, "arith.muli", at, n_cols, NULL), NULL);

    loop[0] = tmetal_build_int(b, types[2], 0); /* for start = 0 to n_cols step 256, carrying acc */
    loop[1] = n_cols;
    loop[2] = tmetal_build_int(b, types[2], 256);
    loop[3] = tmetal_build_float(b, tmetal_build_type(b, "f32"), 0.0);
    tmetal_build_open(b, "scf.for", loop, 4, NULL, NULL, 0);
    acc = sum(b, load_tile(b, row, tmetal_build_body_arg(b, 0), n_cols));
    acc = binary(b, "arith.addf", tmetal_build_body_arg(b, 1), acc, NULL);
    acc = named(b, tmetal_build_close(b, &acc, 1), "acc");

    store[0] = binary(b, "tt.addptr", tmetal_build_arg(b, 1), at, NULL);
    store[1] = acc;
    tmetal_build_op(b, "tt.store", store, 2, NULL, 0);
    tmetal_build_return(b, NULL, 0);
}

int main(void) {
    size_t          bytes = (size_t)16 << 20, len;
    tmetal_arena    arena = tmetal_arena_on(malloc(bytes), bytes);
    tmetal_builder *b = arena.base ? tmetal_build_begin(&arena) : NULL;
    tmetal_module  *module;
    tmetal_result   r;
    const char     *text;

    if (!b) return 1;
    row_sum(b);
    if (tmetal_build_end(b, &module, &r) != TMETAL_OK || tmetal_print(module, &arena, &text, &len, &r) != TMETAL_OK) {
        fputs(tmetal_diag_text(&r.diags[0], &arena), stderr);
        return 1;
    }
    printf("%s\n", text);
    if (tmetal_emit(module, NULL, &arena, &r) != TMETAL_OK) return 1;
    printf("%s", r.kernels[0].msl);

    b = tmetal_build_begin(&arena); /* a mistake: an integer added to a float */
    if (!b) return 1;
    tmetal_build_kernel(b, "wrong", NULL, NULL, 0);
    binary(b, "arith.addf", tmetal_build_int(b, tmetal_build_type(b, "i32"), 1), tmetal_build_float(b, tmetal_build_type(b, "f32"), 1), NULL);
    tmetal_build_return(b, NULL, 0);
    if (tmetal_build_end(b, &module, &r) == TMETAL_OK) return 1;
    printf("\n%s", tmetal_diag_text(&r.diags[0], &arena));
    free(arena.base);
    return 0;
}
