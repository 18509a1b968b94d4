/* Arenas of a size that the input gives, 3 bytes behind the last NUL: a program compiles, or what is missing is said; with
 * as much as that it compiles to the same, Python (a text that begins with import) after some more rounds. */
#include "fuzz.h"

static const char *op(size_t i) { return i < tmetal_op_count() ? tmetal_op_at(i).name : NULL; }
const fuzz_about fuzz_target = {"arenas", op, NULL};

static int is_python(const char *text, size_t len) { return len > 6 && memcmp(text, "import", 6) == 0; }

static tmetal_code compile(const char *text, size_t len, tmetal_arena *arena, tmetal_result *r) {
    if (is_python(text, len)) return tmetal_compile_triton(text, len, NULL, NULL, arena, r);
    return (tmetal_is_ops(text, len) ? tmetal_compile_ops : tmetal_compile)(text, len, NULL, arena, r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { MOST = 32 << 20, ROUNDS = 40 };
    fuzz_parts    x;
    tmetal_arena  arena, roomy;
    tmetal_result r, want;
    size_t        bytes;
    char         *memory;
    int           round = 0, is_bound;
    fuzz_begin();
    x = fuzz_split(data, size);
    is_bound = !is_python(x.text, x.len); /* of what may be unrolled without end nobody knows how much is enough */
    bytes = fuzz_number(&x.rest) % (4u << 20);
    roomy = tmetal_arena_on(fuzz_take(MOST), MOST);
    (void)compile(x.text, x.len, &roomy, &want);
    fuzz_result(&want, FUZZ_MAY_BE_FULL);
    if (want.code == TMETAL_E_ARENA) return 0;
    memory = (char *)fuzz_take(MOST);
    do {
        size_t off = round & 15; /* any alignment */
        if (bytes > MOST - 16) bytes = MOST - 16;
        arena = tmetal_arena_on(memory + off, bytes);
        (void)compile(x.text, x.len, &arena, &r);
        fuzz_result(&r, FUZZ_MAY_BE_FULL);
        if (r.code == TMETAL_E_ARENA && arena.need <= bytes) fuzz_fail("what an arena lacks is less than it has", r.full_text);
        if (r.code == TMETAL_E_ARENA && arena.used) fuzz_fail("a full arena keeps what was taken", NULL);
        if (r.code == TMETAL_E_ARENA && round && is_bound && bytes < MOST - 16) fuzz_fail("what an arena lacked is not enough", r.full_text);
        if (r.code == TMETAL_E_ARENA) bytes = is_bound || round < ROUNDS / 2 ? arena.need : arena.need * 2;
    } while (r.code == TMETAL_E_ARENA && bytes < MOST - 16 && ++round < ROUNDS);
    if (r.code != want.code && r.code != TMETAL_E_ARENA) fuzz_fail("another arena, another code", NULL);
    if (r.code == TMETAL_OK && (r.msl_len != want.msl_len || memcmp(r.msl, want.msl, r.msl_len) != 0)) fuzz_fail("another arena, another text", NULL);
    return 0;
}
