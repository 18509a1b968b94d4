/* Modules that no text is likely to say: what was read gets other types, operands and attributes, by the bytes behind the last
 * NUL. The verifier refuses it, or it compiles; and what is verified is printed and read again. */
#include "fuzz.h"

static const char *op(size_t i) { return i < tmetal_op_count() ? tmetal_op_at(i).name : NULL; }
static const char *const more[] = {"tensor<8xi1>", "tensor<8x8xf16>", "!tt.ptr<f32>", "i1", "i32", "i64", "index", "f32", NULL};
const fuzz_about fuzz_target = {"types", op, more};

static void printed_again(const tmetal_module *m, tmetal_arena *arena) {
    tmetal_result  r;
    tmetal_module *again;
    tmetal_arena   other;
    const char    *text;
    size_t         n;
    if (tmetal_print(m, arena, &text, &n, &r) != TMETAL_OK) return;
    other = fuzz_arena(tmetal_arena_bound(n));
    if (tmetal_parse(text, n, NULL, &other, &again, &r) != TMETAL_OK) fuzz_fail("what was verified and printed is not read", r.diags[0].message);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_parts     x;
    tmetal_options opt;
    tmetal_arena   arena, other;
    tmetal_result  r;
    tmetal_module *m;
    fuzz_in        dice;
    fuzz_begin();
    x = fuzz_split(data, size);
    dice = x.rest;
    if (dice.n > 16) dice.n = 16, x.rest.p += 16, x.rest.n -= 16;
    else x.rest.n = 0;
    fuzz_options(&x.rest, &opt);
    arena = fuzz_arena(tmetal_arena_bound(x.len) + (1 << 16));
    if (tmetal_parse(x.text, x.len, &opt, &arena, &m, &r) != TMETAL_OK) return 0;
    fuzz_confuse(m, &dice, &arena);
    if (tmetal_verify(m, &opt, &arena, &r) == TMETAL_OK) printed_again(m, &arena);
    fuzz_result(&r, FUZZ_MAY_BE_FULL);
    other = fuzz_arena(tmetal_arena_bound(2 * x.len));
    (void)tmetal_emit(m, &opt, &other, &r);
    fuzz_result(&r, FUZZ_MAY_BE_FULL);
    return 0;
}
