/* Debug buffers: what a launch may have left, read as text. */
#include "fuzz.h"

static const char *const more[] = {NULL};
const fuzz_about fuzz_target = {"debug", NULL, more};

static const char program[] =
    "module { tt.func public @say(%x: !tt.ptr<f32>, %h: f16, %b: bf16, %d: f64, %q: i8, %w: i64) {\n"
    "  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"
    "  %s = tt.splat %d : f64 -> tensor<64xf64>\n"
    "  %c = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>\n"
    "  %l = arith.cmpi slt, %c, %c : tensor<64x1xi32>\n"
    "  tt.print \" r: \" {hex = false, isSigned = array<i32: 1>} : %r : tensor<64xi32>\n"
    "  tt.print \" hex: \" {hex = true, isSigned = array<i32: 0, 0>} : %r, %w : tensor<64xi32>, i64\n"
    "  tt.print \" floats: \" {hex = false, isSigned = array<i32: 0, 0, 0, 0>} : %h, %b, %d, %s : f16, bf16, f64, tensor<64xf64>\n"
    "  tt.print \" %s \\22 \\0A %d: \" {hex = false, isSigned = array<i32: 1, 0>} : %q, %l : i8, tensor<64x1xi1>\n"
    "  tt.assert %l, \"message %s\" : tensor<64x1xi1>\n"
    "  tt.return } }";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static tmetal_result r;
    static int           is_ready;
    static tmetal_arena  kept;
    tmetal_arena         arena;
    uint8_t             *buffer;
    const char          *text;
    if (!is_ready) {
        static char memory[4 << 20];
        kept = tmetal_arena_on(memory, sizeof memory);
        if (tmetal_compile(program, sizeof program - 1, NULL, &kept, &r) != TMETAL_OK) fuzz_fail("the program does not compile", r.diags[0].message);
        is_ready = 1;
    }
    fuzz_begin();
    buffer = (uint8_t *)fuzz_take(size);
    if (size) memcpy(buffer, data, size);
    arena = fuzz_arena(size * 256 + 65536);
    text = tmetal_debug_text(&r.kernels[0], buffer, size, &arena);
    if (text) fuzz_plain("the text of a debug buffer", text);
    else if (size >= 32 && !arena.need) fuzz_fail("no text of a debug buffer", NULL);
    return 0;
}
