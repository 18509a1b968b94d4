#include "shapes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct out {
    char  *text;
    size_t n, cap, ops;
} out;

static void put(out *o, const char *format, ...) {
    char    line[512];
    va_list list;
    size_t  n;
    va_start(list, format);
    n = (size_t)vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (n >= sizeof line) abort();
    if (o->n + n + 1 > o->cap) {
        o->cap = o->cap * 2 + 4096;
        o->text = (char *)realloc(o->text, o->cap);
        if (!o->text) abort();
    }
    memcpy(o->text + o->n, line, n + 1);
    o->n += n;
}

/* One operation on a line of its own. */
#define OP(...) (put(o, "    " __VA_ARGS__), put(o, "\n"), o->ops++)

#define BEGIN(args) put(o, "module {\n  tt.func public @made(" args ") {\n")

static void end(out *o) {
    OP("tt.return");
    put(o, "  }\n}\n");
}

#define POINTERS "%%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %%y: !tt.ptr<f32> {tt.divisibility = 16 : i32}"

/* Pointers to the block of 256 elements of this program. */
static void block(out *o) {
    OP("%%pid = tt.get_program_id x : i32");
    OP("%%c256 = arith.constant 256 : i32");
    OP("%%at = arith.muli %%pid, %%c256 : i32");
    OP("%%r = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>");
    OP("%%ats = tt.splat %%at : i32 -> tensor<256xi32>");
    OP("%%i = arith.addi %%ats, %%r : tensor<256xi32>");
    OP("%%xs = tt.splat %%x : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>");
    OP("%%xp = tt.addptr %%xs, %%i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>");
    OP("%%ys = tt.splat %%y : !tt.ptr<f32> -> tensor<256x!tt.ptr<f32>>");
    OP("%%yp = tt.addptr %%ys, %%i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>");
}

/* A chain of operations on one integer. */
static void scalar_chain(out *o, size_t ops) {
    static const char *const op[] = {"addi", "xori", "muli", "subi"};
    size_t k;
    BEGIN("%%y: !tt.ptr<i32>, %%n: i32");
    OP("%%v0 = tt.get_program_id x : i32");
    for (k = 1; o->ops + 2 < ops; k++) OP("%%v%lu = arith.%s %%v%lu, %%n : i32", (unsigned long)k, op[k % 4], (unsigned long)k - 1);
    OP("tt.store %%y, %%v%lu : !tt.ptr<i32>", (unsigned long)k - 1);
    end(o);
}

/* A chain of operations on a tile of 256 floats. */
static void tile_chain(out *o, size_t ops) {
    static const char *const op[] = {"addf", "mulf", "subf", "maxnumf"};
    size_t k;
    BEGIN(POINTERS);
    block(o);
    OP("%%v0 = tt.load %%xp : tensor<256x!tt.ptr<f32>>");
    for (k = 1; o->ops + 2 < ops; k++)
        OP("%%v%lu = arith.%s %%v%lu, %%v0 : tensor<256xf32>", (unsigned long)k, op[k % 4], (unsigned long)k - 1);
    OP("tt.store %%yp, %%v%lu : tensor<256x!tt.ptr<f32>>", (unsigned long)k - 1);
    end(o);
}

/* Loads and stores, each at an offset of its own. */
static void memory(out *o, size_t ops) {
    unsigned long k;
    BEGIN(POINTERS);
    block(o);
    for (k = 0; o->ops + 7 < ops; k++) {
        OP("%%o%lu = arith.constant dense<%lu> : tensor<256xi32>", k, k * 256);
        OP("%%px%lu = tt.addptr %%xp, %%o%lu : tensor<256x!tt.ptr<f32>>, tensor<256xi32>", k, k);
        OP("%%v%lu = tt.load %%px%lu : tensor<256x!tt.ptr<f32>>", k, k);
        OP("%%w%lu = arith.addf %%v%lu, %%v%lu : tensor<256xf32>", k, k, k);
        OP("%%py%lu = tt.addptr %%yp, %%o%lu : tensor<256x!tt.ptr<f32>>, tensor<256xi32>", k, k);
        OP("tt.store %%py%lu, %%w%lu : tensor<256x!tt.ptr<f32>>", k, k);
    }
    end(o);
}

/* Loops one after the other, each with two values carried. */
static void loops(out *o, size_t ops) {
    unsigned long k;
    BEGIN(POINTERS ", %%n: i32");
    block(o);
    OP("%%c0 = arith.constant 0 : i32");
    OP("%%c1 = arith.constant 1 : i32");
    OP("%%v0 = tt.load %%xp : tensor<256x!tt.ptr<f32>>");
    for (k = 1; o->ops + 7 < ops; k++) {
        OP("%%v%lu:2 = scf.for %%i%lu = %%c0 to %%n step %%c1 iter_args(%%a%lu = %%v%lu%s, %%p%lu = %%xp) -> (tensor<256xf32>, "
           "tensor<256x!tt.ptr<f32>>) : i32 {",
           k, k, k, k - 1, k > 1 ? "#0" : "", k);
        OP("  %%l%lu = tt.load %%p%lu : tensor<256x!tt.ptr<f32>>", k, k);
        OP("  %%s%lu = arith.addf %%a%lu, %%l%lu : tensor<256xf32>", k, k, k);
        OP("  %%q%lu = tt.addptr %%p%lu, %%i : tensor<256x!tt.ptr<f32>>, tensor<256xi32>", k, k);
        OP("  scf.yield %%s%lu, %%q%lu : tensor<256xf32>, tensor<256x!tt.ptr<f32>>", k, k);
        put(o, "    }\n");
    }
    OP("tt.store %%yp, %%v%lu%s : tensor<256x!tt.ptr<f32>>", k - 1, k > 1 ? "#0" : "");
    end(o);
}

/* Every value is alive until the last is made. */
static void alive(out *o, size_t ops) {
    unsigned long k, n = (unsigned long)(ops - 3) / 2;
    BEGIN("%%y: !tt.ptr<i32>, %%n: i32");
    OP("%%v0 = tt.get_program_id x : i32");
    for (k = 1; k < n; k++) OP("%%v%lu = arith.%s %%v%lu, %%n : i32", k, k % 2 ? "muli" : "xori", k - 1);
    OP("%%s%lu = arith.addi %%v%lu, %%n : i32", k, k - 1);
    for (; k-- > 1;) OP("%%s%lu = arith.muli %%s%lu, %%v%lu : i32", k, k + 1, k);
    OP("tt.store %%y, %%s1 : !tt.ptr<i32>");
    end(o);
}

/* Conditions within conditions, eighty deep, again and again. */
static void nests(out *o, size_t ops) {
    enum { DEPTH = 80 };
    unsigned long k = 0, d, first;
    BEGIN("%%y: !tt.ptr<i32>, %%n: i32");
    OP("%%pid = tt.get_program_id x : i32");
    while (o->ops + 4 < ops) {
        first = k;
        for (d = 0; d < DEPTH && o->ops + 4 < ops; d++, k++) {
            OP("%%a%lu = arith.addi %%%s, %%n : i32", k, d ? "pid" : "n");
            OP("%%c%lu = arith.cmpi slt, %%pid, %%a%lu : i32", k, k);
            OP("%%p%lu = tt.addptr %%y, %%a%lu : !tt.ptr<i32>, i32", k, k);
            OP("scf.if %%c%lu {", k);
            OP("  tt.store %%p%lu, %%a%lu : !tt.ptr<i32>", k, k);
        }
        for (d = first; d < k; d++) put(o, "    }\n");
    }
    end(o);
}

/* Reductions, each of which passes through threadgroup memory. */
static void reductions(out *o, size_t ops) {
    unsigned long k;
    BEGIN(POINTERS);
    block(o);
    OP("%%v0 = tt.load %%xp : tensor<256x!tt.ptr<f32>>");
    for (k = 1; o->ops + 7 < ops; k++) {
        OP("%%r%lu = \"tt.reduce\"(%%v%lu) <{axis = 0 : i32}> ({", k, k - 1);
        put(o, "    ^bb0(%%a%lu: f32, %%b%lu: f32):\n", k, k);
        OP("  %%s%lu = arith.addf %%a%lu, %%b%lu : f32", k, k, k);
        OP("  tt.reduce.return %%s%lu : f32", k);
        put(o, "    }) : (tensor<256xf32>) -> f32\n");
        OP("%%t%lu = tt.splat %%r%lu : f32 -> tensor<256xf32>", k, k);
        OP("%%v%lu = arith.subf %%v%lu, %%t%lu : tensor<256xf32>", k, k - 1, k);
    }
    OP("tt.store %%yp, %%v%lu : tensor<256x!tt.ptr<f32>>", k - 1);
    end(o);
}

/* Functions of one small kernel each. */
static void kernels(out *o, size_t ops) {
    unsigned long k;
    put(o, "module {\n");
    for (k = 0; k == 0 || o->ops + 14 < ops; k++) {
        put(o, "  tt.func public @made%lu(" POINTERS ") {\n", k);
        block(o);
        OP("%%v = tt.load %%xp : tensor<256x!tt.ptr<f32>>");
        OP("%%w = arith.addf %%v, %%v : tensor<256xf32>");
        OP("tt.store %%yp, %%w : tensor<256x!tt.ptr<f32>>");
        OP("tt.return");
        put(o, "  }\n");
    }
    put(o, "}\n");
}

static const struct {
    const char *name;
    void (*make)(out *, size_t);
} shapes[] = {{"scalar chain", scalar_chain}, {"tile chain", tile_chain}, {"loads and stores", memory}, {"loops", loops},
              {"values alive", alive},        {"deep nests", nests},      {"reductions", reductions},   {"kernels", kernels}};

size_t shape_count(void) {
    return sizeof shapes / sizeof *shapes;
}

const char *shape_name(size_t which) {
    return shapes[which].name;
}

char *shape_text(size_t which, size_t ops, size_t *len, size_t *made) {
    out o;
    memset(&o, 0, sizeof o);
    shapes[which].make(&o, ops);
    *len = o.n;
    *made = o.ops;
    return o.text;
}
