/* Reading the debug buffer: what kernels print and assert, as text (docs/debugging.md has the format).
 *
 *     debug_buffer                        a kernel that asserts, and a buffer filled here as a launch would
 *     debug_buffer KERNEL.ttir BUFFER     a buffer that a host wrote to a file after a launch
 *
 * Shows where the plan says that a kernel wants the buffer, its words, and tmetal_debug_text. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char asserting[] =
    "tt.func public @checked(%x: !tt.ptr<f32>) {\n"
    "  %pid = tt.get_program_id x : i32\n"
    "  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>\n"
    "  %p = tt.splat %x : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>>\n"
    "  %q = tt.addptr %p, %i : tensor<32x!tt.ptr<f32>>, tensor<32xi32>\n"
    "  %v = tt.load %q : tensor<32x!tt.ptr<f32>>\n"
    "  tt.print \" v: \" {hex = false, isSigned = array<i32: 0>} : %v : tensor<32xf32>\n"
    "  %zero = arith.constant dense<0.0> : tensor<32xf32>\n"
    "  %fine = arith.cmpf oge, %v, %zero : tensor<32xf32>\n"
    "  tt.assert %fine, \"v must not be negative\" : tensor<32xi1> loc(\"checked.py\":12:4)\n"
    "  tt.return\n"
    "}\n";

static unsigned char text[1 << 20], buffer[1 << 16];

static size_t read_file(const char *name, unsigned char *bytes, size_t most) {
    FILE  *file = fopen(name, "rb");
    size_t n = 0;
    if (file) {
        n = fread(bytes, 1, most, file);
        fclose(file);
    }
    if (!n) fprintf(stderr, "%s: cannot be read, or is empty\n", name);
    return n;
}

static void put_word(unsigned at, uint32_t word) { /* little endian, as the GPU writes it */
    unsigned i;
    for (i = 0; i < 4; i++) buffer[4 * at + i] = (unsigned char)(word >> (8 * i));
}

/* Program (3, 0, 0) printed 1.5 at element 0 and -2.0 at element 7, which then failed the assertion. */
static size_t launch_by_hand(void) {
    static const uint32_t head[8] = {14, 1, 2, 3, 0, 0, 7, 0}; /* used, failed, first site + 1, program, element */
    static const uint32_t records[2][7] = {{7, 0, 3, 0, 0, 0, 0x3FC00000}, {7, 0, 3, 0, 0, 7, 0xC0000000}};
    unsigned i;
    memset(buffer, 0, sizeof buffer); /* so must the host, before each launch */
    for (i = 0; i < 8; i++) put_word(i, head[i]);
    for (i = 0; i < 14; i++) put_word(8 + i, records[i / 7][i % 7]);
    return sizeof buffer;
}

/* The size that the kernel was compiled for; 0 when it neither prints nor asserts. */
static uint32_t wants(const tmetal_kernel *k) {
    uint32_t i;
    for (i = 0; i < k->n_args; i++)
        if (k->args[i].kind == TMETAL_ARG_DEBUG) return k->args[i].size;
    return 0;
}

int main(int argc, char **argv) {
    const char   *source = argc == 3 ? (const char *)text : asserting;
    size_t        len = argc == 3 ? read_file(argv[1], text, sizeof text) : sizeof asserting - 1, bytes, filled;
    tmetal_arena  arena;
    tmetal_result r;
    const char   *said = NULL;
    uint32_t      i;

    filled = argc == 3 ? read_file(argv[2], buffer, sizeof buffer) : launch_by_hand();
    if (!len || !filled) return 1;
    bytes = tmetal_arena_bound(len) + ((size_t)4 << 20); /* and room for the text */
    arena = tmetal_arena_on(malloc(bytes), bytes);
    if (!arena.base) return 1;
    if (tmetal_compile(source, len, NULL, &arena, &r) != TMETAL_OK) {
        fputs(tmetal_diag_text(&r.diags[0], &arena), stderr);
    } else {
        const tmetal_kernel *k = &r.kernels[0];
        printf("%s wants a debug buffer of %u bytes\n", k->entry, wants(k));
        for (i = 0; i < k->n_sites; i++)
            printf("site %u: %s \"%s\", operands: %u\n", i, k->sites[i].is_assert ? "asserts" : "prints", k->sites[i].text, k->sites[i].n_operands);
        said = tmetal_debug_text(k, buffer, filled, &arena);
        if (said) printf("%s", said);
    }
    free(arena.base);
    return said ? 0 : 1;
}
