/* Two libraries in one program, each with a tmetal of its own that nobody sees.
 *
 *     cd examples/two_libraries && cc -std=c99 -I../.. main.c kernels.c graphs.c -o two && ./two
 *
 * Shows TMETAL_STATIC: every function of tmetal.h becomes static in the unit that asks for it, so that the
 * two copies do not clash at link time, whatever their versions are. This file includes no tmetal.h at all. */
#include "libraries.h"

#include <stdio.h>

int main(void) {
    char text[512];
    printf("kernels: %u kernel in the module\n", kernels_count("tt.func public @nothing() {\n  tt.return\n}\n"));
    if (!graphs_describe("tt.sum:[64,128]:1\ntt.softmax:[32,32]:1\n", text, sizeof text)) return 1;
    printf("graphs: %s", text);
    if (graphs_describe("tt.frobnicate:[2,2]\n", text, sizeof text)) return 1;
    printf("graphs: %s", text);
    return 0;
}
