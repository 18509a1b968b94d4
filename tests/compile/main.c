/* The third unit only calls. Built as C and as C++. */
#include "tmetal.h"

#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
const char *first_text(void);
const char *private_text(void);
#ifdef __cplusplus
}
#endif

static char memory[1 << 20];

int main(void) {
    static const char kernel[] = "tt.func public @k(%p: !tt.ptr<f32>, %x: f32) {\n  tt.store %p, %x : !tt.ptr<f32>\n  tt.return\n}\n";
    tmetal_arena  arena = tmetal_arena_on(memory, sizeof memory);
    tmetal_result r;
    if (tmetal_compile(kernel, sizeof kernel - 1, NULL, &arena, &r) != TMETAL_OK) {
        printf("compile: %s\n", r.diags[0].message);
        return 1;
    }
    if (strcmp(first_text(), private_text()) != 0 || !strstr(r.kernels[0].msl, "kernel void k(")) return 1;
    return 0;
}
