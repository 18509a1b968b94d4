/* Op lists, as JSON and in the short form: read, printed, read again; their kernels as Triton IR; compiled. */
#include "fuzz.h"

static const char *const more[] = {
    "{\"ops\":[", "\"id\":\"", "\"type\":\"", "\"inputs\":[", "\"shape\":[", "\"shapes\":[[", "\"args\":{", "\"dtype\":\"", "\"axis\":", "\"axes\":[", "\"keepdims\":true", "\"eps\":1e-5",
    "\"f16\"", "\"bf16\"", "\"f32\"", "\"i8\"", "\"i64\"", "\"bool\"", "\"u32\"", ":[64,64]", "[1024,512]:1", "tt.", "-1", "0", "1", "4294967296", "9223372036854775808", "1e400",
    "-0.0", "null", "\\u0000", "\\ud800", "\"causal\":true", "\"scale\":", "\"perm\":[1,0]", "\"k\":", "\"stride\":[2,2]", "\"padding\":", "},{", "]}", NULL};
const fuzz_about fuzz_target = {"oplist", fuzz_list_word, more};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { MOST = 64 << 20 }; /* bounds of longer lists are far above what they take */
    fuzz_parts     x;
    tmetal_options opt;
    tmetal_arena   arena, other;
    tmetal_result  r;
    tmetal_module *m;
    const char    *text, *twice;
    size_t         bound, n, n2;
    int            how = 0;
    fuzz_begin();
    x = fuzz_split(data, size);
    fuzz_options(&x.rest, &opt);
    bound = tmetal_arena_bound_list(x.text, x.len);
    if (bound > MOST) bound = MOST, how = FUZZ_MAY_BE_FULL;
    arena = fuzz_arena(bound);
    (void)tmetal_compile_ops(x.text, x.len, &opt, &arena, &r);
    fuzz_result(&r, how);
    fuzz_reports(&r, &arena);
    arena.used = 0;
    (void)tmetal_arena_bound_graph(x.text, x.len, &opt, &arena);
    arena.used = 0;
    if (tmetal_print_ops(x.text, x.len, NULL, &arena, &text, &n, &r) == TMETAL_OK) {
        fuzz_json("the list", text);
        other = fuzz_arena(bound + 128 * n);
        if (tmetal_print_ops(text, n, NULL, &other, &twice, &n2, &r) != TMETAL_OK) {
            if (r.code != TMETAL_E_ARENA) fuzz_fail("a list that was printed is not read", r.diags[0].message);
        } else if (n != n2 || memcmp(text, twice, n) != 0) fuzz_fail("a list is printed twice, differently", twice);
    }
    arena.used = 0;
    if (tmetal_module_ops(x.text, x.len, NULL, &arena, &m, &r) == TMETAL_OK && tmetal_print(m, &arena, &text, &n, &r) == TMETAL_OK) {
        other = fuzz_arena(tmetal_arena_bound(n));
        if (tmetal_parse(text, n, NULL, &other, &m, &r) != TMETAL_OK) fuzz_fail("the kernels of a list are not read", r.diags[0].message);
    }
    return 0;
}
