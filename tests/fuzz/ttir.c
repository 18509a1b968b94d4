/* Triton IR: read, printed, read again as the same; compiled by options that stand behind the last NUL. */
#include "fuzz.h"

static const char *op(size_t i) { return i < tmetal_op_count() ? tmetal_op_at(i).name : NULL; }
static const char *const more[] = {
    "f32", "f16", "bf16", "f64", "f8E5M2", "f8E4M3FN", "i1", "i8", "i16", "i32", "i64", "index", "none", "!tt.ptr<f32>", "tensor<64xf32>",
    "tensor<32x32xf16>", "tensor<1024xi32>", "!tt.tensordesc<tensor<16x16xf16>>", "tensor<1x64xi1>", "module {", "tt.func public @", "attributes",
    "tt.divisibility = 16 : i32", "noinline", "dense<", "true", "false", "unit", "array<i32: 0>", "loc(", "loc(#loc1)", "#loc = ", "^bb0", "->",
    "<{axis = 0 : i32}>", "iter_args", "else", "({", "})", "0", "1", "-1", "16", "64", "1024", "1048576", "2097152", "2147483647", "2147483648",
    "-2147483648", "4294967296", "9223372036854775807", "-9223372036854775808", "18446744073709551616", "1.0e400", "0x7F800000", "0xFFFFFFFFFFFFFFFF",
    "\"", "\\22", "//", NULL};
const fuzz_about fuzz_target = {"ttir", op, more};

static void round_trip(const char *text, size_t len, const tmetal_options *opt) {
    tmetal_arena   arena = fuzz_arena(tmetal_arena_bound(len)), other;
    tmetal_result  r;
    tmetal_module *m, *again;
    const char    *printed, *twice;
    size_t         n, n2;
    tmetal_code    code = tmetal_parse(text, len, opt, &arena, &m, &r);
    fuzz_result(&r, len ? FUZZ_PLACED : 0);
    if (code != TMETAL_OK) return;
    if (tmetal_verify(m, opt, &arena, &r) != TMETAL_OK) fuzz_fail("verified when read, but not when asked again", r.diags[0].message);
    if (tmetal_print(m, &arena, &printed, &n, &r) != TMETAL_OK) {
        if (r.code != TMETAL_E_ARENA) fuzz_fail("what was read is not printed", r.diags[0].message);
        return;
    }
    other = fuzz_arena(tmetal_arena_bound(n));
    if (tmetal_parse(printed, n, opt, &other, &again, &r) != TMETAL_OK) fuzz_fail("what was printed is not read", r.diags[0].message);
    if (!tmetal_same(m, again, &other)) fuzz_fail("what was printed is read as another module", NULL);
    if (tmetal_print(again, &other, &twice, &n2, &r) == TMETAL_OK && (n != n2 || memcmp(printed, twice, n) != 0)) fuzz_fail("printed twice, differently", NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_parts     x;
    tmetal_options opt;
    tmetal_arena   arena;
    tmetal_result  r;
    fuzz_begin();
    x = fuzz_split(data, size);
    fuzz_options(&x.rest, &opt);
    round_trip(x.text, x.len, &opt);
    arena = fuzz_arena(tmetal_arena_bound(x.len));
    (void)tmetal_compile(x.text, x.len, &opt, &arena, &r);
    fuzz_result(&r, x.len ? FUZZ_PLACED : 0);
    fuzz_reports(&r, &arena);
    return 0;
}
