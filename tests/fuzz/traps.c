/* What an input can cost against its size: texts made to be slow, at two lengths. Time for a byte must not grow with the
 * length, memory must stay within the bound that is promised, the stack within its own.
 *
 *     traps [--quick] [--table] [--rows] [--only TEXT]
 *
 * --table: what docs/security.md has, of each kind of input the dearest; --rows: every row. The exit status says whether any
 * missed. */
#define TMETAL_TRITON
#define TMETAL_TUNE
#include "../../tmetal.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { STACK = 1 << 20, FILL = 0xA5 };
/* microseconds for a byte, on a machine of an eighth of the speed; how many times more for one of the longer text */
static const double most_us = 250, most_growth = 3;
static const size_t most_stack = 128 << 10;

/* head, then `unit` until the text is long enough, then tail. In the unit # is its number, @ the one before, & the one behind;
 * in the tail @ is the last. A unit of three parts, "a|b|c": as many of c as of a, with one b between. */
typedef struct trap {
    char        kind; /* T: Triton IR, L: a list, P: Python, A, C: arguments and constants of a call, M: a tuning cache */
    const char *name, *head, *unit, *tail;
} trap;

#define K "module {\ntt.func public @k(%x: !tt.ptr<f32>, %s: i32) {\n%c0 = arith.constant 1 : i32\n%v0 = arith.addi %s, %c0 : i32\n"
#define END "tt.return\n}\n}\n"
#define USE "%f = arith.sitofp %v@ : i32 to f32\ntt.store %x, %f : !tt.ptr<f32>\n" END
#define TILE K "%r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n%xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n" \
    "%p = tt.addptr %xs, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>\n%t0 = tt.load %p : tensor<64x!tt.ptr<f32>>\n"
#define BIG(n) K "%r = tt.make_range {end = " n " : i32, start = 0 : i32} : tensor<" n "xi32>\n%xs = tt.splat %x : !tt.ptr<f32> -> tensor<" n "x!tt.ptr<f32>>\n" \
    "%p = tt.addptr %xs, %r : tensor<" n "x!tt.ptr<f32>>, tensor<" n "xi32>\n%t0 = tt.load %p : tensor<" n "x!tt.ptr<f32>>\n"
#define BIG_END(n) "tt.store %p, %t@ : tensor<" n "x!tt.ptr<f32>>\n" END
#define KEEP "tt.store %p, %t@ : tensor<64x!tt.ptr<f32>>\n" END
#define PY "import triton\nimport triton.language as tl\n"
#define DEF PY "@triton.jit\ndef k(p):\n  x0 = tl.load(p)\n"

static const trap traps[] = {
    {'T', "blanks", "", " ", ""},
    {'T', "lines", "", "\n", ""},
    {'T', "comments", "", "// a\n", ""},
    {'T', "a long comment", "//", "a", ""},
    {'T', "a long word", "", "a", ""},
    {'T', "a long name", "module {\ntt.func public @", "a", "() {\n" END},
    {'T', "a long name of a value", K "%", "a", " = arith.addi %s, %s : i32\n" END},
    {'T', "a long string", K "tt.print \"", "a", "\" {hex = false, isSigned = array<i32: 1>} : %s : i32\n" END},
    {'T', "a string of escapes", K "tt.print \"", "\\22", "\" {hex = false, isSigned = array<i32: 1>} : %s : i32\n" END},
    {'T', "an open string", "\"", "a", ""},
    {'T', "digits", K "%c = arith.constant ", "7", " : i32\n" END},
    {'T', "digits of a float", K "%c = arith.constant 0.", "7", " : f32\n" END},
    {'T', "zeros before a float", K "%c = arith.constant 0.", "0", "1 : f64\n" END},
    {'T', "hexadecimal digits", K "%c = arith.constant 0x", "F", " : f32\n" END},
    {'T', "parentheses", "module {\n", "({", ""},
    {'T', "brackets", K "%c = arith.constant dense<", "[", ""},
    {'T', "types in types", K "%c = arith.constant 1 : ", "!tt.ptr<", ""},
    {'T', "attributes in attributes", "module attributes {a = ", "[{a = ", ""},
    {'T', "locations in locations", K "%c = arith.constant 1 : i32 loc(", "callsite(\"a\" at ", ""},
    {'T', "elements", K "%c = arith.constant dense<[", "1, ", "1]> : tensor<64xi32>\n" END},
    {'T', "module attributes", "module attributes {", "a# = 1 : i32, ", "z = 1 : i32} {\ntt.func public @k() {\n" END},
    {'T', "arguments", "module {\ntt.func public @k(", "%a#: i32, ", "%z: i32) {\n" END},
    {'T', "names of values", K, "%v# = arith.addi %v@, %c0 : i32\n", USE},
    {'T', "values that nothing reads", K, "%v# = arith.addi %s, %c0 : i32\n", END},
    {'T', "different constants", K, "%k# = arith.constant # : i32\n%v# = arith.xori %v@, %k# : i32\n", USE},
    {'T', "more ways than values", K, "%v# = arith.addi %v@, %v@ : i32\n", USE},
    {'T', "errors", K, "%v# = arith.addi %u#, %u# : i32\n", END},
    {'T', "names given twice", K, "%a = arith.addi %s, %c0 : i32\n", END},
    {'T', "names used before they are", K, "%v# = arith.addi %v&, %c0 : i32\n", END},
    {'T', "unknown operations", K, "%v# = a.b#(%s) : i32\n", END},
    {'T', "functions", "module {\n", "tt.func private @f#() {\ntt.return\n}\n", "}\n"},
    {'T', "kernels", "module {\n", "tt.func public @f#(%a: !tt.ptr<f32>) {\ntt.return\n}\n", "}\n"},
    {'T', "functions of one name", "module {\n", "tt.func private @f() {\ntt.return\n}\n", "}\n"},
    {'T', "calls in calls", "module {\ntt.func private @f0(%a: i32) -> i32 {\ntt.return %a : i32\n}\n",
     "tt.func private @f#(%a: i32) -> i32 {\n%b = tt.call @f@(%a) : (i32) -> i32\n%c = tt.call @f@(%b) : (i32) -> i32\ntt.return %c : i32\n}\n",
     "tt.func public @k(%x: !tt.ptr<i32>, %s: i32) {\n%v = tt.call @f@(%s) : (i32) -> i32\ntt.store %x, %v : !tt.ptr<i32>\n" END},
    {'T', "functions called once each", "module {\n", "tt.func private @f#(%a: i32) -> i32 {\ntt.return %a : i32\n}\n|tt.func public @k(%x: !tt.ptr<i32>, %s: i32) {\n%v0 = arith.addi %s, %s : i32\n|"
     "%v# = tt.call @f#(%v@) : (i32) -> i32\n", "tt.store %x, %v@ : !tt.ptr<i32>\n" END},
    {'T', "calls in a row", "module {\ntt.func private @f(%a: i32) -> i32 {\ntt.return %a : i32\n}\ntt.func public @k(%s: i32) {\n%v0 = arith.addi %s, %s : i32\n",
     "%v# = tt.call @f(%v@) : (i32) -> i32\n", END},
    {'T', "blocks", K "cf.br ^b1\n", "^b#:\ncf.br ^b&\n", "^b1000000000:\n" END},
    {'T', "blocks in a circle", K "cf.br ^b1\n", "^b#:\ncf.br ^b1\n", END},
    {'T', "locations", "", "#loc# = loc(\"a.py\":#:1)\n", "module {\n}\n"},
    {'T', "locations that hold others twice", "#loc0 = loc(\"a.py\":1:1)\n", "#loc# = loc(callsite(#loc@ at #loc@))\n", K "%c = arith.constant 1 : i32 loc(#loc@)\n" END},
    {'T', "aliases of types", "!t0 = i32\n", "!t# = !tt.ptr<!t@>\n", "module {\n}\n"},
    {'T', "aliases ahead", "", "#loc# = loc(#loc&)\n", "module {\n}\n"},
    {'T', "branches in a row", K, "%q# = arith.cmpi slt, %v@, %s : i32\n%v# = scf.if %q# -> (i32) {\nscf.yield %s : i32\n} else {\nscf.yield %v@ : i32\n}\n", USE},
    {'T', "loops in a row", K, "%v# = scf.for %i# = %c0 to %s step %c0 iter_args(%a# = %v@) -> (i32) : i32 {\n%b# = arith.addi %a#, %i# : i32\nscf.yield %b# : i32\n}\n", USE},
    {'T', "loops in loops", K, "scf.for %i# = %c0 to %s step %c0 : i32 {\n", ""},
    {'T', "carried values", K "%l:2 = scf.while (", "%a# = %s, ", ""},
    {'T', "tiles added to themselves", TILE, "%t# = arith.addf %t@, %t@ : tensor<64xf32>\n", KEEP},
    {'T', "tiles selected", TILE, "%m# = arith.cmpf olt, %t@, %t0 : tensor<64xf32>\n%t# = arith.select %m#, %t@, %t0 : tensor<64xi1>, tensor<64xf32>\n", KEEP},
    {'T', "stores and loads of one place", TILE, "tt.store %p, %t@ : tensor<64x!tt.ptr<f32>>\n%t# = tt.load %p : tensor<64x!tt.ptr<f32>>\n", END},
    {'T', "stores to one place", TILE "%t1 = arith.addf %t0, %t0 : tensor<64xf32>\n", "tt.store %x, %w# : !tt.ptr<f32>\n", END},
    {'T', "loads alone", TILE, "%t# = tt.load %p : tensor<64x!tt.ptr<f32>>\n", KEEP},
    {'T', "reductions", TILE, "%s# = \"tt.reduce\"(%t@) <{axis = 0 : i32}> ({\n^bb0(%a: f32, %b: f32):\n%d = arith.addf %a, %b : f32\ntt.reduce.return %d : f32\n}) : (tensor<64xf32>) -> f32\n"
     "%t# = tt.splat %s# : f32 -> tensor<64xf32>\n", KEEP},
    {'T', "the largest tiles", BIG("1048576"), "%t# = arith.addf %t@, %t0 : tensor<1048576xf32>\n", BIG_END("1048576")},
    {'T', "sums over the largest tiles", BIG("1048576"), "%s# = \"tt.reduce\"(%t@) <{axis = 0 : i32}> ({\n^bb0(%a: f32, %b: f32):\n%d = arith.addf %a, %b : f32\ntt.reduce.return %d : f32\n}) : (tensor<1048576xf32>) -> f32\n"
     "%t# = tt.splat %s# : f32 -> tensor<1048576xf32>\n", BIG_END("1048576")},
    {'T', "scans of large tiles", BIG("16384"), "%t# = \"tt.scan\"(%t@) <{axis = 0 : i32, reverse = false}> ({\n^bb0(%a: f32, %b: f32):\n%d = arith.addf %a, %b : f32\ntt.scan.return %d : f32\n}) : (tensor<16384xf32>) -> tensor<16384xf32>\n", BIG_END("16384")},
    {'T', "products", BIG("4096") "%q0 = tt.reshape %t0 : tensor<4096xf32> -> tensor<64x64xf32>\n%z = arith.constant dense<0.0> : tensor<64x64xf32>\n",
     "%q# = tt.dot %q@, %q0, %z : tensor<64x64xf32> * tensor<64x64xf32> -> tensor<64x64xf32>\n", "%t1 = tt.reshape %q@ : tensor<64x64xf32> -> tensor<4096xf32>\ntt.store %p, %t1 : tensor<4096x!tt.ptr<f32>>\n" END},
    {'T', "layouts turned about", BIG("4096") "%q0 = tt.reshape %t0 : tensor<4096xf32> -> tensor<64x64xf32>\n",
     "%w# = tt.trans %q@ {order = array<i32: 1, 0>} : tensor<64x64xf32> -> tensor<64x64xf32>\n%q# = arith.addf %w#, %q@ : tensor<64x64xf32>\n",
     "%t1 = tt.reshape %q@ : tensor<64x64xf32> -> tensor<4096xf32>\ntt.store %p, %t1 : tensor<4096x!tt.ptr<f32>>\n" END},
    {'T', "doubles", "module {\ntt.func public @k(%x: !tt.ptr<f64>, %s: f64) {\n%v0 = arith.addf %s, %s : f64\n", "%w# = arith.divf %v@, %s : f64\n%v# = math.exp %w# : f64\n", "tt.store %x, %v@ : !tt.ptr<f64>\n" END},
    {'T', "prints", K, "tt.print \"a\" {hex = false, isSigned = array<i32: 1>} : %s : i32\n", END},
    {'T', "asserts", TILE "%m = arith.cmpf olt, %t0, %t0 : tensor<64xf32>\n", "tt.assert %m, \"a\" : tensor<64xi1>\n", END},
    {'T', "barriers", TILE, "gpu.barrier\n", END},
    {'T', "atomic operations", K "%one = arith.constant 1.0 : f32\n%yes = arith.constant true\n", "%a# = tt.atomic_rmw fadd, acq_rel, gpu, %x, %one, %yes : (!tt.ptr<f32>, f32, i1) -> f32\n", END},
    {'L', "blanks", "", " ", ""},
    {'L', "short lines", "", "add:[8],[8]\n", ""},
    {'L', "dimensions", "add:[", "1,", "1]"},
    {'L', "digits", "add:[", "7", "]"},
    {'L', "arrays in arrays", "{\"ops\":", "[", ""},
    {'L', "objects in objects", "", "{\"a\":", ""},
    {'L', "keys", "{\"ops\":[],", "\"a#\":1,", "\"z\":1}"},
    {'L', "keys of an op", "{\"ops\":[{\"type\":\"relu\",\"inputs\":[\"x\"],\"shape\":[8],\"args\":{", "\"a#\":1,", "\"z\":1}}]}"},
    {'L', "a long name", "{\"ops\":[{\"id\":\"", "a", "\",\"type\":\"relu\",\"inputs\":[\"x\"],\"shape\":[8]}]}"},
    {'L', "a name of escapes", "{\"ops\":[{\"id\":\"", "\\u0041", "\",\"type\":\"relu\",\"inputs\":[\"x\"],\"shape\":[8]}]}"},
    {'L', "a chain", "{\"ops\":[{\"id\":\"v0\",\"type\":\"relu\",\"inputs\":[\"x\"],\"shape\":[8]}", ",{\"id\":\"v#\",\"type\":\"exp\",\"inputs\":[\"v@\"]}", "]}"},
    {'L', "more ways than ops", "{\"ops\":[{\"id\":\"v0\",\"type\":\"relu\",\"inputs\":[\"x\"],\"shape\":[8]}", ",{\"id\":\"v#\",\"type\":\"add\",\"inputs\":[\"v@\",\"v@\"]}", "]}"},
    {'L', "inputs that are not there", "{\"ops\":[{\"id\":\"v0\",\"type\":\"relu\",\"inputs\":[\"x\"],\"shape\":[8]}", ",{\"id\":\"v#\",\"type\":\"add\",\"inputs\":[\"u#\",\"w#\"]}", "]}"},
    {'L', "backwards", "{\"ops\":[{\"id\":\"z\",\"type\":\"relu\",\"inputs\":[\"x\"],\"shape\":[8]}", ",{\"id\":\"v#\",\"type\":\"exp\",\"inputs\":[\"v&\"]}", "]}"},
    {'L', "inputs of one op", "{\"ops\":[{\"type\":\"concat\",\"args\":{\"axis\":0,\"shapes\":[", "[8],", "[8]]}}]}"},
    {'P', "blanks", "", " ", ""},
    {'P', "a long name", DEF "  ", "a", " = 1\n"},
    {'P', "a long string", DEF "  x = \"", "a", "\"\n"},
    {'P', "digits", DEF "  x = ", "7", "\n"},
    {'P', "digits of a float", DEF "  x = 0.", "7", "\n"},
    {'P', "a sum", DEF "  x = 1", " + 1", "\n"},
    {'P', "a sum of loads", DEF "  x = x0", " + x0", "\n  tl.store(p, x)\n"},
    {'P', "assignments", DEF, "  x# = x@ + 1\n", "  tl.store(p, x@)\n"},
    {'P', "assignments of numbers", DEF, "  y# = #\n", ""},
    {'P', "one name", DEF "  y = 1\n", "  y = y + 1\n", "  tl.store(p, y)\n"},
    {'P', "calls in calls", PY "@triton.jit\ndef f0(a):\n  return a + 1\n", "@triton.jit\ndef f#(a):\n  return f@(a) + f@(a)\n", "@triton.jit\ndef k(p):\n  tl.store(p, f@(tl.load(p)))\n"},
    {'P', "calls in a row", PY "@triton.jit\ndef f(a):\n  return a + 1\n" "@triton.jit\ndef k(p):\n  x = tl.load(p)\n", "  x = f(x)\n", "  tl.store(p, x)\n"},
    {'P', "branches", DEF "  y = x0\n", "  if y > #:\n    y = y + 1\n", "  tl.store(p, y)\n"},
    {'P', "branches of constants", DEF "  y: tl.constexpr = 1\n", "  if y > #:\n    z = 1\n", ""},
    {'P', "elif", DEF "  if x0 > 1:\n    y = 1\n", "  elif x0 > #:\n    y = 2\n", "  else:\n    y = 3\n"},
    {'P', "loops in a row", DEF "  y = x0\n", "  for i in range(4):\n    y += 1\n", "  tl.store(p, y)\n"},
    {'P', "loops unrolled", DEF "  y = x0\n", "  for i in tl.static_range(100):\n    y += 1\n", "  tl.store(p, y)\n"},
    {'P', "names of the module", PY, "A# = #\n", "@triton.jit\ndef k(p):\n  tl.store(p, 1)\n"},
    {'P', "names in names", PY "A0 = 1\n", "A# = A@ + A@\n", "@triton.jit\ndef k(p):\n  x: tl.constexpr = A@\n"},
    {'P', "names in tests", PY "A0 = tl.constexpr(1)\n", "if A@ + A@ > 0:\n  A# = tl.constexpr(A@)\n", "@triton.jit\ndef k(p):\n  x: tl.constexpr = A@\n"},
    {'P', "names given in two ways", PY "import u\nA0 = tl.constexpr(1)\n", "if u.x:\n  A# = tl.constexpr(A@ + A@)\nelse:\n  A# = tl.constexpr(A@ + A@)\n",
     "@triton.jit\ndef k(p):\n  x: tl.constexpr = A@\n"},
    {'P', "names of a try", PY "A0 = tl.constexpr(1)\n", "try:\n  import u\n  A# = tl.constexpr((A@ + A@) * 1)\nexcept ImportError:\n  A# = tl.constexpr((A@ + A@) * 1)\n",
     "@triton.jit\ndef k(p):\n  x: tl.constexpr = A@\n"},
    {'P', "kernels", PY, "@triton.jit\ndef k#(p):\n  tl.store(p, 1)\n", ""},
    {'P', "parameters", PY "@triton.jit\ndef k(", "a#, ", "p):\n  tl.store(p, 1)\n"},
    {'P', "a tuple", DEF "  x = (", "#, ", "1)\n"},
    {'P', "tuples that grow", DEF "  x = (1,)\n", "  x = x + x\n", ""},
    {'P', "strings that grow", DEF "  x = 'a'\n", "  x = x + x\n", ""},
    {'P', "configurations", PY "@triton.autotune(configs=[", "triton.Config({'B': #}), ", "], key=[])\n@triton.jit\ndef k(p, B: tl.constexpr):\n  tl.store(p, B)\n"},
    {'P', "errors", DEF, "  y# = u#\n", ""},
    {'A', "arguments", "*fp32", ", i32", ""},
    {'A', "tuples", "*fp32, ", "(", ""},
    {'A', "a long name", "*fp32, ", "a", "=i32"},
    {'C', "constants", "A=1", ", B#=1", ""},
    {'C', "a sum", "A=1", "+1", ""},
    {'C', "parentheses", "A=", "(", ""},
    {'M', "lines", "", "a b c d\n", ""},
    {'M', "words", "", "a ", ""},
};

static size_t put_unit(char *s, const trap *t, const char *p, const char *end, unsigned long k) {
    size_t n = 0;
    for (; p < end; p++)
        if (t->kind == 'M' || !strchr("#@&", *p) || (*p == '#' && strncmp(p, "#loc", 4) == 0) || (*p == '@' && (p[1] >= 'a' && p[1] <= 'z'))) s[n++] = *p;
        else n += (size_t)sprintf(s + n, "%lu", *p == '#' ? k : *p == '@' ? k - 1 : k + 1);
    return n;
}

static char *text_of(const trap *t, size_t size, size_t *len) {
    const char   *mid = strchr(t->unit, '|'), *more = mid ? strchr(mid + 1, '|') : NULL, *end = more ? mid : t->unit + strlen(t->unit), *p;
    size_t        n = strlen(t->head), until = n + (more ? size / 2 : size);
    char         *s = (char *)malloc(2 * size + n + 12 * (strlen(t->unit) + strlen(t->tail)) + 100);
    unsigned long k = 1, i;
    if (!s) exit(2);
    memcpy(s, t->head, n);
    for (; n < until; k++) n += put_unit(s + n, t, t->unit, end, k);
    if (more) {
        n += put_unit(s + n, t, mid + 1, more, 0);
        for (i = 1; i < k; i++) n += put_unit(s + n, t, more + 1, more + strlen(more), i);
    }
    for (p = t->tail; *p; p++)
        if (*p == '@' && !(p[1] >= 'a' && p[1] <= 'z')) n += (size_t)sprintf(s + n, "%lu", k - 1);
        else s[n++] = *p;
    s[n] = '\0';
    *len = n;
    return s;
}

/* -- One attempt, on a stack of its own ------------------------------------------------------------------------- */

typedef struct try_ {
    const trap *t;
    char       *text;
    size_t      len, bytes, peak, stack;
    double      took;
    tmetal_code code;
    char        said[100];
} try_;

static double cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *pages(size_t bytes) { /* not taken before they are written */
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) exit(2);
    return p;
}

static void *run(void *of) {
    static const char  kernel[] = PY "@triton.jit\ndef k(p, *a):\n  tl.store(p, 1)\n";
    try_              *a = (try_ *)of;
    char              *memory = (char *)pages(a->bytes);
    tmetal_arena       arena = tmetal_arena_on(memory, a->bytes);
    tmetal_triton_call call;
    tmetal_result      r;
    const char        *cache;
    size_t             n;
    double             start = cpu();
    memset(&call, 0, sizeof call);
    if (a->t->kind == 'A') call.args = a->text;
    if (a->t->kind == 'C') call.args = "*fp32", call.consts = a->text;
    if (a->t->kind == 'P') call.args = "*fp32", call.kernel = strstr(a->t->tail, "def k(") || strstr(a->t->head, "def k(") ? "k" : NULL;
    switch (a->t->kind) {
    case 'T': a->code = tmetal_compile(a->text, a->len, NULL, &arena, &r); break;
    case 'L': a->code = tmetal_compile_ops(a->text, a->len, NULL, &arena, &r); break;
    case 'P': a->code = tmetal_compile_triton(a->text, a->len, &call, NULL, &arena, &r); break;
    case 'M': a->code = tmetal_tune_merge(a->text, a->len, a->text, a->len, &arena, &cache, &n, &r); break;
    default: a->code = tmetal_compile_triton(kernel, sizeof kernel - 1, &call, NULL, &arena, &r);
    }
    a->took = cpu() - start;
    a->peak = arena.peak;
    snprintf(a->said, sizeof a->said, "%s", r.n_diags ? r.diags[0].message : "");
    munmap(memory, a->bytes);
    return NULL;
}

static void attempt(try_ *a) {
    pthread_attr_t attr;
    pthread_t      thread;
    unsigned char *stack = (unsigned char *)pages(STACK);
    size_t         i;
    memset(stack, FILL, STACK);
    if (pthread_attr_init(&attr) != 0 || pthread_attr_setstack(&attr, stack, STACK) != 0 || pthread_create(&thread, &attr, run, a) != 0) exit(2);
    pthread_join(thread, NULL);
    for (i = 0; i < STACK && stack[i] == FILL; i++) {}
    a->stack = STACK - i;
    munmap(stack, STACK);
}

static size_t room_for(char kind, const char *text, size_t len) {
    const size_t most = (size_t)12 << 30;
    size_t       bytes = kind == 'T' ? tmetal_arena_bound(len) : kind == 'L' ? tmetal_arena_bound_list(text, len) : 4096 * len + ((size_t)64 << 20);
    return bytes < most ? bytes : most;
}

static try_ at_length(const trap *t, size_t size) {
    try_ a;
    memset(&a, 0, sizeof a);
    a.t = t;
    a.text = text_of(t, size, &a.len);
    a.bytes = room_for(t->kind, a.text, a.len);
    attempt(&a);
    free(a.text);
    return a;
}

static const char *kind_name(char kind) {
    return kind == 'T' ? "Triton IR" : kind == 'L' ? "op list" : kind == 'P' ? "Python" : kind == 'A' ? "arguments" : kind == 'C' ? "constants" : "tuning cache";
}

static int is_over(const try_ *a, const try_ *b, size_t short_, size_t long_) {
    double one = a->took / (double)short_, other = b->took / (double)long_;
    return other * 1e6 > most_us || (b->took > 0.2 && other > one * most_growth) || b->stack > most_stack || b->code == TMETAL_E_BUG || b->code == TMETAL_E_ARENA;
}

/* Of each kind what takes most time, most memory and most stack for its length. */
static void table(const try_ *all, size_t n) {
    static const char kinds[] = "TLPACM";
    const char       *k;
    size_t            i, slow, big, deep;
    printf("| input | microseconds a byte | arena a byte | stack |\n|---|---|---|---|\n");
    for (k = kinds; *k; k++) {
        slow = big = deep = n;
        for (i = 0; i < n; i++) {
            const try_ *a = &all[i];
            if (!a->t || a->t->kind != *k) continue;
            if (slow == n || a->took / (double)a->len > all[slow].took / (double)all[slow].len) slow = i;
            if (big == n || (double)a->peak / (double)a->len > (double)all[big].peak / (double)all[big].len) big = i;
            if (deep == n || a->stack > all[deep].stack) deep = i;
        }
        if (slow == n) continue;
        printf("| %s | %.2f (%s) | %.0f (%s) | %lu KB (%s) |\n", kind_name(*k), all[slow].took * 1e6 / (double)all[slow].len, all[slow].t->name,
               (double)all[big].peak / (double)all[big].len, all[big].t->name, (unsigned long)(all[deep].stack + 1023) / 1024, all[deep].t->name);
    }
}

int main(int argc, char **argv) {
    enum { ROWS = sizeof traps / sizeof *traps };
    static try_ all[ROWS];
    size_t      i, small = 32 << 10, large = 1 << 20, n = 0;
    int         bad = 0, k, is_table = 0, has_rows = 0;
    const char *only = NULL;
    for (k = 1; k < argc; k++) {
        if (strcmp(argv[k], "--quick") == 0) small = 8 << 10, large = 128 << 10;
        else if (strcmp(argv[k], "--table") == 0) is_table = 1;
        else if (strcmp(argv[k], "--rows") == 0) has_rows = 1;
        else if (strcmp(argv[k], "--only") == 0 && k + 1 < argc) only = argv[++k];
    }
    for (i = 0; i < ROWS; i++) {
        try_  a, *b = &all[i];
        int   is_bad, tries;
        if (only && !strstr(traps[i].name, only) && *only != traps[i].kind) continue;
        a = at_length(&traps[i], small);
        *b = at_length(&traps[i], large);
        is_bad = is_over(&a, b, a.len, b->len);
        for (tries = 1; is_bad && tries < 3; tries++) { /* the machine may be busy */
            a = at_length(&traps[i], small);
            *b = at_length(&traps[i], large);
            is_bad = is_over(&a, b, a.len, b->len);
        }
        bad += is_bad;
        n++;
        if (has_rows || is_bad)
            printf("%s: %s: %lu bytes, %.2f s, %.2f us a byte (%.2f at %lu bytes), arena %.0f a byte, stack %lu KB, TM%03d%s\n", kind_name(traps[i].kind), traps[i].name, (unsigned long)b->len,
                   b->took, b->took * 1e6 / (double)b->len, a.took * 1e6 / (double)a.len, (unsigned long)a.len, (double)b->peak / (double)b->len, (unsigned long)(b->stack + 1023) / 1024,
                   (int)b->code, is_bad ? ": over its bar" : "");
        fflush(stdout);
    }
    if (is_table) table(all, ROWS);
    else printf("traps: %lu texts of %lu KB, %d over their bars\n", (unsigned long)n, (unsigned long)large / 1024, bad);
    return bad != 0;
}
