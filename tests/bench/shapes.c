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

/* Loads and stores within one scf.while: each load might wait for other programs. */
static void waits(out *o, size_t ops) {
    unsigned long k;
    BEGIN("%%y: !tt.ptr<i32>, %%n: i32");
    OP("%%v0 = arith.constant 0 : i32");
    OP("%%r = scf.while (%%a = %%v0) : (i32) -> i32 {");
    OP("  %%c = arith.cmpi slt, %%a, %%n : i32");
    OP("  scf.condition(%%c) %%a : i32");
    put(o, "    } do {\n    ^bb0(%%a: i32):\n");
    for (k = 1; o->ops + 4 < ops; k++) {
        OP("  %%v%lu = tt.load %%y : !tt.ptr<i32>", k);
        OP("  tt.store %%y, %%v%lu : !tt.ptr<i32>", k);
    }
    OP("  scf.yield %%v%lu : i32", k - 1);
    put(o, "    }\n");
    OP("tt.store %%y, %%r : !tt.ptr<i32>");
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

/* -- Op lists ------------------------------------------------------------------------------------------- */

/* One op of a list. */
#define LIST_OP(...) (put(o, o->ops++ ? ",\n  {" : "{\"ops\":[\n  {"), put(o, __VA_ARGS__), put(o, "}"))

static void list_end(out *o) {
    put(o, "]}\n");
}

/* The head of a chain: everything after it reads it or what follows. */
static void list_begin(out *o) {
    LIST_OP("\"type\":\"abs\",\"id\":\"v0\",\"inputs\":[\"x\"],\"input_shapes\":[[64,64]]");
}

/* Each op reads the one before. */
static void list_chain(out *o, size_t ops) {
    static const char *const op[] = {"exp", "relu", "neg", "sqrt"};
    unsigned long            k;
    list_begin(o);
    for (k = 1; o->ops < ops; k++) LIST_OP("\"type\":\"%s\",\"id\":\"v%lu\",\"inputs\":[\"v%lu\"]", op[k % 4], k, k - 1);
    list_end(o);
}

/* One op of a layer: its type, what it gives, what it reads, what else it says. '#' is the layer's number, '<' the one before. */
typedef struct layer_op {
    const char *type, *id, *inputs, *rest;
} layer_op;

static void list_word(out *o, const char *word, unsigned long k) {
    for (; *word; word++)
        if (*word == '#' || *word == '<') put(o, "%lu", *word == '#' ? k : k - 1);
        else put(o, "%c", *word);
}

/* Layers one on the other, each of `n` ops. */
static void list_layers(out *o, size_t ops, const layer_op *of, size_t n) {
    unsigned long k;
    size_t        i;
    list_begin(o);
    for (k = 1; o->ops + n - 1 < ops; k++)
        for (i = 0; i < n; i++) {
            LIST_OP("\"type\":\"%s\",\"id\":\"", of[i].type);
            o->n--; /* the brace */
            list_word(o, of[i].id, k);
            put(o, "\",\"inputs\":[");
            list_word(o, of[i].inputs, k);
            put(o, "]%s}", of[i].rest);
        }
    list_end(o);
}
#define LAYERS(name, ...) \
    static void name(out *o, size_t ops) { \
        static const layer_op of[] = {__VA_ARGS__}; \
        list_layers(o, ops, of, sizeof of / sizeof *of); \
    }

/* Each value is read three times by the next: as many paths as 3 to the number of ops. */
LAYERS(list_where, {"gt", "c#", "\"v<\"", ",\"args\":{\"value\":0}"}, {"where", "v#", "\"c#\",\"v<\",\"v<\"", ""})

/* Diamonds: two ways from each value to the next. */
LAYERS(list_diamonds, {"neg", "a#", "\"v<\"", ""}, {"square", "b#", "\"v<\"", ""}, {"add", "v#", "\"a#\",\"b#\"", ""})

/* Layers whose input is added to their output. */
LAYERS(list_residual, {"rms_norm", "n#", "\"v<\"", ""}, {"matmul", "m#", "\"n#\",\"w#\"", ",\"input_shapes\":[null,[64,64]]"},
       {"silu", "s#", "\"m#\"", ""}, {"add", "v#", "\"v<\",\"s#\"", ""})

/* x = down(silu(gate(x)) * up(x)) + x */
LAYERS(list_swiglu, {"linear", "g#", "\"v<\",\"wg#\"", ",\"input_shapes\":[null,[128,64]]"},
       {"linear", "u#", "\"v<\",\"wu#\"", ",\"input_shapes\":[null,[128,64]]"}, {"silu", "s#", "\"g#\"", ""}, {"mul", "p#", "\"s#\",\"u#\"", ""},
       {"linear", "d#", "\"p#\",\"wd#\"", ",\"input_shapes\":[null,[64,128]]"}, {"add", "v#", "\"d#\",\"v<\"", ""})

/* Softmax and norms, spelt out. */
LAYERS(list_spelled, {"max", "m#", "\"v<\"", ",\"args\":{\"axis\":1,\"keepdims\":true}"}, {"sub", "t#", "\"v<\",\"m#\"", ""},
       {"exp", "e#", "\"t#\"", ""}, {"sum", "z#", "\"e#\"", ",\"args\":{\"axis\":1,\"keepdims\":true}"}, {"div", "v#", "\"e#\",\"z#\"", ""})

/* Ops that have nothing to do with each other, the last first where they have. */
static void list_backwards(out *o, size_t ops) {
    unsigned long k;
    for (k = (unsigned long)ops - 1; k > 0; k--) LIST_OP("\"type\":\"exp\",\"id\":\"v%lu\",\"inputs\":[\"v%lu\"]", k, k - 1);
    list_begin(o);
    list_end(o);
}

static void list_apart(out *o, size_t ops) {
    unsigned long k;
    for (k = 0; o->ops < ops; k++) LIST_OP("\"type\":\"exp\",\"id\":\"v%lu\",\"input_shapes\":[[64,64]]", k);
    list_end(o);
}

/* One op reads the results of all others. */
static void list_joined(out *o, size_t ops) {
    unsigned long k, n = (unsigned long)ops - 1;
    for (k = 0; k < n; k++) LIST_OP("\"type\":\"exp\",\"id\":\"v%lu\",\"inputs\":[\"x\"],\"input_shapes\":[[64,64]]", k);
    LIST_OP("\"type\":\"concat\",\"id\":\"y\",\"inputs\":[\"v0\"");
    o->n--;
    for (k = 1; k < n; k++) put(o, ",\"v%lu\"", k);
    put(o, "],\"args\":{\"axis\":0}}");
    list_end(o);
}

/* The same in the short form. */
static void list_short(out *o, size_t ops) {
    for (; o->ops < ops; o->ops++) put(o, "tt.exp:[64,64]\n");
}

/* One op with as many keys as others have ops: they mean nothing, and no two are alike. */
static void list_keys(out *o, size_t ops) {
    unsigned long k;
    LIST_OP("\"type\":\"exp\",\"input_shapes\":[[64,64]],\"args\":{\"k0\":0");
    o->n--;
    for (k = 1; k < (unsigned long)ops; k++) put(o, ",\"k%lu\":0", k);
    put(o, "}}");
    o->ops = ops;
    list_end(o);
}

static const struct {
    const char *name;
    void (*make)(out *, size_t);
} shapes[] = {{"scalar chain", scalar_chain},   {"tile chain", tile_chain},       {"loads and stores", memory},
              {"loops", loops},                 {"waits", waits},
              {"values alive", alive},          {"deep nests", nests},
              {"reductions", reductions},       {"kernels", kernels},             {"list: chain", list_chain},
              {"list: where", list_where},      {"list: diamonds", list_diamonds}, {"list: residual", list_residual},
              {"list: SwiGLU", list_swiglu},    {"list: spelt out", list_spelled}, {"list: backwards", list_backwards},
              {"list: apart", list_apart},      {"list: joined", list_joined},
              {"list: short, apart", list_short}, {"list: keys", list_keys}};

size_t shape_count(void) {
    return sizeof shapes / sizeof *shapes;
}

const char *shape_name(size_t which) {
    return shapes[which].name;
}

int shape_is_list(size_t which) {
    return strncmp(shapes[which].name, "list", 4) == 0;
}

char *shape_text(size_t which, size_t ops, size_t *len, size_t *made) {
    out o;
    memset(&o, 0, sizeof o);
    shapes[which].make(&o, ops);
    *len = o.n;
    *made = o.ops;
    return o.text;
}
