/* Errors: what comes back when a text is wrong, is not supported, or the memory does not suffice.
 *
 * Shows that one run reports every mistake and none twice, the parts of a diagnostic, how to act on a code,
 * and how to meet a full arena by growing it. Mistakes are data: nothing is printed by the library. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two mistakes of spelling; %w, which the first of them should have made, is not reported on top. */
static const char spelling[] =
    "tt.func public @rows(%x: !tt.ptr<f32>) {\n"
    "  %w = tt.lod %x : !tt.ptr<f32>\n"
    "  %v = arith.addf %w, %w : f32\n"
    "  %i = arith.constant 5000000000 : i32\n"
    "  tt.store %x, %v : !tt.ptr<f32>\n"
    "  tt.return\n"
    "}\n";

/* Well spelt, but two things do not hold; both carry the line of Python that they come from. */
static const char meaning[] =
    "tt.func public @sum(%x: !tt.ptr<f32>, %m: tensor<4x64xf32>) {\n"
    "  %i = tt.make_range {end = 100 : i32, start = 0 : i32} : tensor<64xi32> loc(\"sum.py\":7:11)\n"
    "  %s = \"tt.reduce\"(%m) <{axis = 2 : i32}> ({\n"
    "  ^bb0(%a: f32, %b: f32):\n"
    "    %c = arith.addf %a, %b : f32\n"
    "    tt.reduce.return %c : f32\n"
    "  }) : (tensor<4x64xf32>) -> tensor<4xf32> loc(\"sum.py\":9:14)\n"
    "  tt.return\n"
    "}\n";

/* Right in itself, but Apple GPUs cannot run the assembly in it. */
static const char refused[] =
    "tt.func public @clock(%y: !tt.ptr<i32>) {\n"
    "  %t = tt.elementwise_inline_asm \"mov.u32 $0, %clock;\" {constraints = \"=r\", packed_element = 1 : i32, pure = false} -> i32\n"
    "  tt.store %y, %t : !tt.ptr<i32>\n"
    "  tt.return\n"
    "}\n";

static const char right[] =
    "tt.func public @five(%y: !tt.ptr<i32>) {\n"
    "  %c = arith.constant 5 : i32\n"
    "  tt.store %y, %c : !tt.ptr<i32>\n"
    "  tt.return\n"
    "}\n";

static void show(const char *title, const char *text, const char *file, tmetal_arena *arena) {
    tmetal_options opt;
    tmetal_result  r;
    uint32_t       i;
    memset(&opt, 0, sizeof opt); /* zero is the default of every option */
    opt.file = file;
    tmetal_compile(text, strlen(text), &opt, arena, &r);
    printf("== %s: code TM%03d, %u diagnostics, %u kernels\n", title, (int)r.code, r.n_diags, r.n_kernels);
    for (i = 0; i < r.n_diags; i++) printf("%s\n", tmetal_diag_text(&r.diags[i], arena));
    arena->used = 0; /* takes back r and the texts */
}

/* The same parts as data, for a tool that marks the place in an editor. */
static void show_parts(tmetal_arena *arena) {
    tmetal_result r;
    uint32_t      i;
    tmetal_compile(meaning, sizeof meaning - 1, NULL, arena, &r);
    puts("== the parts of each");
    for (i = 0; i < r.n_diags; i++)
        printf("Python %u:%u, IR %u:%u, TM%03d \"%s\"\n", r.diags[i].python.line, r.diags[i].python.col, r.diags[i].ir.line,
               r.diags[i].ir.col, (int)r.diags[i].code, tmetal_code_text(r.diags[i].code));
    arena->used = 0;
}

/* An arena may start small: a call that finds it full changes nothing and says what would fail again. */
static int grow(void) {
    size_t        bytes = 1024;
    tmetal_result r;
    unsigned      tries;
    for (tries = 1; tries < 64; tries++) {
        void        *memory = malloc(bytes);
        tmetal_arena arena = tmetal_arena_on(memory, bytes);
        tmetal_code  code = memory ? tmetal_compile(right, sizeof right - 1, NULL, &arena, &r) : TMETAL_E_ARENA;
        int          done = code == TMETAL_OK;
        if (done) printf("== a growing arena: kernel %s, %s\n", r.kernels[0].entry, tries > 1 ? "not at the first try" : "at the first try");
        free(memory);
        if (done) return 1;
        if (code != TMETAL_E_ARENA) return 0;
        bytes = arena.need < 2 * bytes ? arena.need : 2 * bytes;
    }
    return 0;
}

int main(void) {
    size_t       bytes = tmetal_arena_bound(sizeof meaning);
    tmetal_arena arena = tmetal_arena_on(malloc(bytes), bytes);
    if (!arena.base) return 1;
    show("spelling", spelling, "rows.ttir", &arena);
    show("meaning", meaning, "sum.ttir", &arena);
    show("not supported", refused, "clock.ttir", &arena);
    show("right", right, NULL, &arena);
    show_parts(&arena);
    free(arena.base);
    return grow() ? 0 : 1;
}
