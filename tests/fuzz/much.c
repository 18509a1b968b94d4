/* Kernels in Python built to be too much, numbers, loops, lengths, circles: each ends in Metal or in a message, soon.
 *
 *   much [--say]
 */
#define _XOPEN_SOURCE 700
#include "fuzz.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void         *memory;
static const size_t  room = (size_t)64 << 20;
static uint32_t      n_good, n_modules;
static double        slowest;
static int           says;

/* -- One attempt ---------------------------------------------------------------------------------- */

static void hung(int signal_number) {
    static const char what[] = "much: more than 20 s\n";
    (void)signal_number;
    if (write(2, what, sizeof what - 1) < 0) _exit(3);
    abort();
}

static void clock_on(int seconds) { /* of the processor, so that a busy machine changes nothing */
    struct itimerval t;
    memset(&t, 0, sizeof t);
    t.it_value.tv_sec = seconds;
    setitimer(ITIMER_PROF, &t, NULL);
}

static void judge(const tmetal_result *out) {
    uint32_t i;
    if (out->code == TMETAL_OK) return;
    if (!out->n_diags && out->code != TMETAL_E_ARENA) abort(); /* refused without a word */
    if (says && out->code == TMETAL_E_ARENA) printf("    %.150s\n", out->full.message);
    for (i = 0; i < out->n_diags; i++) {
        if (says) printf("    %.150s\n", out->diags[i].message);
        if (out->diags[i].code != TMETAL_E_BUG) continue;
        fprintf(stderr, "much: TM902 %s\n", out->diags[i].message);
        abort();
    }
}

static void attempt(const char *text, size_t len, const tmetal_triton_call *call, double *seconds) {
    tmetal_arena   arena = tmetal_arena_on(memory, room);
    tmetal_options opt;
    tmetal_result  out;
    tmetal_module *m = NULL;
    clock_t        begin = clock();
    int            good;
    memset(&opt, 0, sizeof opt);
    opt.file = "much.py";
    clock_on(60);
    good = tmetal_triton(text, len, call, &opt, &arena, &m, &out) == TMETAL_OK;
    judge(&out);
    if (good) {
        n_modules++;
        arena = tmetal_arena_on(memory, room);
        good = tmetal_compile_triton(text, len, call, &opt, &arena, &out) == TMETAL_OK;
        judge(&out);
    }
    clock_on(0);
    n_good += (uint32_t)good;
    *seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (*seconds > slowest) slowest = *seconds;
}

/* head, `unit` (its %u is the count) so often, tail. A line of `body` is the body of a kernel. */
typedef struct much {
    const char *what, *head, *unit;
    uint32_t    times;
    const char *tail;
} much;

#define IN "import triton\nimport triton.language as tl\n"
#define DEF "@triton.jit\ndef k(p):\n"
#define BODY(text) IN DEF " " text "\n tl.store(p, 1)\n"
#define ONE(text) {text, BODY(text), "", 0, ""}
#define OUTSIDE(text) {text, IN text "\n" DEF " x: tl.constexpr = X\n tl.store(p, x)\n", "", 0, ""}

static const much muches[] = {
    ONE("x = 'a' * 10**9"),
    ONE("x = 10**9 * 'a'"),
    ONE("x = 'a' * -10**30"),
    ONE("x = (1,) * 10**8"),
    ONE("x = 10**8 * (1,)"),
    ONE("x = (1,) * 2**64"),
    ONE("x = (1, 2, 3, 4) * (2**62 + 1)"), /* 4 modulo 2**64 */
    ONE("x = (1, 2, 3)[1:2:2**63 - 1]"),
    ONE("x = (1, 2, 3)[::-2**63]"),
    ONE("x = 'a'\n for i in tl.static_range(64): x = f'{x}{x}'"),
    ONE("x = (1,)\n for i in tl.static_range(60000): x = x[:] + (1,)"),
    ONE("x = 1 << 10**6"),
    ONE("x = 1 << -1"),
    ONE("x = 1 >> -1"),
    ONE("x = -1 >> 10**20"),
    ONE("x = (1 << 126) << 1"),
    ONE("x = 10**10**10"),
    ONE("x = 2**1000000"),
    ONE("x = (-2)**127 * -1"),
    ONE("x = (-2**126 - 2**126) // -1"),
    ONE("x = (-2**126 * 2) % -1"),
    ONE("x = 2**-10**20"),
    ONE("x = 0**-1"),
    ONE("x = 0.0**-1"),
    ONE("x = (-8)**0.5"),
    ONE("x = 1 // 0"),
    ONE("x = 1.0 % 0.0"),
    ONE("x = int(1e300)"),
    ONE("x = int(float('nan'))"),
    ONE("x = int(float('inf'))"),
    ONE("x = 2**100 + 1.5"),
    ONE("x = 1e308 * 10; y = int(x)"),
    ONE("x = tl.full([16], 2**100, tl.int32)"),
    ONE("x = tl.full([16], 1e300, tl.int8)"),
    ONE("x = tl.full([16], float('nan'), tl.int64)"),
    ONE("x = tl.full([2**40], 1, tl.int8)"),
    ONE("x = tl.full([2**20, 2**20, 2**20, 2**20], 1, tl.int8)"),
    ONE("x = tl.full([1.5], 1, tl.int8)"),
    ONE("x = tl.full([-4], 1, tl.int8)"),
    ONE("x = tl.full([], 1, tl.int8)"),
    ONE("x = tl.arange(-2**31, 2**31)"),
    ONE("x = tl.arange(0, 2**31)"),
    ONE("x = tl.arange(0, 2**70)"),
    ONE("x = tl.arange(2**31 - 16, 2**31)"),
    ONE("x = tl.arange(0, 16.0)"),
    ONE("for i in tl.static_range(10**12): pass"),
    ONE("for i in tl.static_range(2**126): pass"),
    ONE("for i in tl.static_range(-2**126, 2**126, 2**125): pass"),
    ONE("for i in tl.static_range(2**63 - 2, 2**63 + 2): pass"),
    ONE("for i in tl.static_range(0, 8, 0): pass"),
    ONE("for i in tl.static_range(0, 10**9, 10**8): pass"),
    ONE("for i in tl.static_range(10**5):\n  for j in tl.static_range(10**5): pass"),
    ONE("for i in tl.static_range(1000):\n  for j in tl.static_range(1000):\n   for k in tl.static_range(1000): pass"),
    ONE("for i in range(0, 8, 0): pass"),
    ONE("for i in range(0, 2**40): pass"),
    ONE("for i in range(0, 2**100): pass"),
    ONE("for i in range(-2**63, 2**63 - 1): pass"),
    ONE("for i in range(0, 8, -1): p += 1"),
    ONE("while True: pass"),
    ONE("while 1:\n  x = 1"),
    ONE("x = 0\n while x < 10**12: x += 1"),
    ONE("x = (1,)\n for i in tl.static_range(64): x = (x, x)"),
    ONE("x = (1,)\n for i in tl.static_range(64): x = x + x"),
    ONE("x = 'a'\n for i in tl.static_range(64): x = x + x"),
    ONE("x = 3\n for i in tl.static_range(64): x = x * x"),
    ONE("x = 1.5\n for i in tl.static_range(2000): x = x * x"),
    ONE("x = (1, 2)[2**70]"),
    ONE("x = (1, 2)[-2**63]"),
    ONE("x = (1, 2)[5]"),
    ONE("x = (1, 2)[1.5]"),
    ONE("x = (1, 2)[2**62:-2**62:2**63]"),
    ONE("x = (1, 2)[::0]"),
    ONE("x = (1, 2)[::-2**63]"),
    ONE("x = (1, 2, 3)[-2**100:2**100:-1]"),
    ONE("x = 'abc'[2**31]"),
    ONE("x = 'abc'[-1:-9:-2]"),
    ONE("x, y = (1,)"),
    ONE("x = y"),
    ONE("x = x + 1"),
    ONE("x: tl.constexpr\n y = x + 1"),
    ONE("if tl.load(p) > 0:\n  x = 1\n y = x + 1"),
    ONE("x = k(p)"),
    ONE("x = lambda a: x(a)\n y = x(1)"),
    ONE("x = tl.load(p + 2**70)"),
    ONE("x = tl.load(p) + 2**70"),
    ONE("x = tl.load(p) << 2**70"),
    ONE("x = tl.reshape(tl.arange(0, 16), [2**32, 2**32, 16])"),
    ONE("x = tl.reshape(tl.arange(0, 16), [-1, -1])"),
    ONE("x = tl.permute(tl.arange(0, 16), [2**33])"),
    ONE("x = tl.sum(tl.arange(0, 16), axis=-2**40)"),
    ONE("x = tl.expand_dims(tl.arange(0, 16), 2**32)"),
    ONE("x = tl.program_id(2**32)"),
    ONE("x = tl.program_id(-1)"),
    ONE("x = tl.load(p, eviction_policy=2**70)"),
    ONE("x = f'{1:>1000000000}'"),
    ONE("x = '%1000000000d' % 5"),
    ONE("x = tl.dtype('int' + '9' * 100)"),
    ONE("x = min(); y = max(()); z = len()"),
    ONE("x = range(10**9)[5]"),
    ONE("x = [i for i in range(10**9)]"),
    ONE("x = tuple(range(10**9))"),
    ONE("x = sum(range(10**9))"),
    ONE("x = abs(-2**126 * 2)"),
    ONE("x = round(1e300); y = int(-1e19)"),
    ONE("x = tl.static_print(*(1,) * 1000)"),
    ONE("x = tl.inline_asm_elementwise('', '', [], 2**70, 0, 2**70)"),
    ONE("x = tl.make_block_ptr(p, [2**70], [2**70], [0], [2**40], [9])"),
    ONE("x = tl.make_tensor_descriptor(p, [0], [2**63], [2**63])"),
    ONE("int = 5; float = int; while_ = float; device = while_; kernel = device; thread = kernel; x = thread"),
    OUTSIDE("X = Y\nY = X"),
    OUTSIDE("X = X + 1"),
    OUTSIDE("def f(a=X): return a\nX = f()"),
    OUTSIDE("@triton.jit\ndef f(a): return a(a)\nX = 1"),
    OUTSIDE("X = [x for x in range(10**9)]"),
    OUTSIDE("X = {i: i for i in range(10**9)}"),
    OUTSIDE("X = 'a' * 10**12"),
    OUTSIDE("from k import X"),
    OUTSIDE("from a import X"),
    OUTSIDE("import a, b\nX = a.X"),
    OUTSIDE("if X: X = 1"),
    OUTSIDE("def f(n):\n while True: n += 1\n return n\nX = f(1)"),
    OUTSIDE("def f(n): return f(n + 1)\nX = f(1)"),
    OUTSIDE("def f(n): return f(n - 1) + f(n - 2) if n > 1 else 1\nX = f(60)"),
    OUTSIDE("def f(n):\n for i in range(10**12): n += i\n return n\nX = f(1)"),
    {"f(f) of kernels", IN "@triton.jit\ndef f(g, n: tl.constexpr): return g(g, n)\n" DEF " f(f, 1)\n", "", 0, ""},
    {"twice at each step", IN "@triton.jit\ndef f(n: tl.constexpr):\n if n > 0:\n  f(n - 1)\n  f(n - 1)\n" DEF " f(60)\n", "", 0, ""},
    {"its own default", IN "@triton.jit\ndef f(a, g=f): return g(a)\n" DEF " x = f(1)\n", "", 0, ""},
    {"decorated by itself", IN "def d(f): return d(f)\n@d\n@triton.jit\ndef k(p):\n tl.store(p, 1)\n", "", 0, ""},
    {"configs without end", IN "@triton.autotune(configs=[triton.Config({'A': i}) for i in range(10**9)], key=[])\n" DEF " tl.store(p, 1)\n", "", 0, ""},
    {"configs past the last number", IN "@triton.autotune(configs=[triton.Config({'A': i}) for i in range(1, 2**63 - 1, 2**62)], key=[])\n" DEF " tl.store(p, 1)\n", "", 0, ""},
    {"configs of configs", IN "@triton.autotune(configs=[triton.Config({'A': i + j}) for i in range(10**5) if i < 0 for j in range(10**5)], key=[])\n" DEF " tl.store(p, 1)\n", "", 0, ""},
    {"heuristics that loop", IN "@triton.heuristics({'A': lambda args: args['A']})\n@triton.jit\ndef k(p, A: tl.constexpr):\n tl.store(p, A)\n", "", 0, ""},
    {"a long name", IN DEF " ", "x", 10000, " = 1\n"},
    {"parameters", IN "@triton.jit\ndef k(p", ", x%u: tl.constexpr = 1", 10000, "):\n tl.store(p, 1)\n"},
    {"parameters that are missing", IN "@triton.jit\ndef k(p", ", x%u", 10000, "):\n tl.store(p, 1)\n"},
    {"tuple", IN DEF " x = (", "%u, ", 20000, ")\n tl.store(p, 1)\n"},
    {"elif", IN DEF " a = tl.load(p)\n if a > 0:\n  tl.store(p, 1)\n", " elif a > %u:\n  tl.store(p, 1)\n", 5000, ""},
    {"sum", IN DEF " x = 1", " + %u", 20000, "\n tl.store(p, x)\n"},
    {"power", IN DEF " x = 1", " ** 2", 5000, "\n tl.store(p, x)\n"},
    {"minus", IN DEF " x = ", "-", 5000, "1\n tl.store(p, x)\n"},
    {"attributes", IN DEF " x = p", ".T", 5000, "\n"},
    {"subscripts", IN DEF " x = tl.arange(0, 16)", "[None]", 5000, "\n"},
    {"calls", IN DEF " x = ", "tl.abs(", 5000, "1\n"},
    {"comparison", IN DEF " x = 1", " < 2", 5000, "\n"},
    {"lambdas", IN DEF " x = ", "(lambda a: ", 500, "1\n"},
    {"functions", IN, "@triton.jit\ndef f%u(): pass\n", 5000, DEF " tl.store(p, 1)\n"},
    {"globals in a row", IN "X0 = 1\nY = 1\n", "X%u = Y + Y\nY = X%u\n", 5000, DEF " x: tl.constexpr = Y\n tl.store(p, x)\n"},
    {"names given in two ways", IN "import u\nif u.a:\n x = tl.constexpr(1)\nelse:\n x = tl.constexpr(2)\n",
     "if u.a%u:\n x = tl.constexpr(x + 1)\nelse:\n x = tl.constexpr(1 + x)\n", 500, DEF " tl.store(p, x)\n"},
    {"tests of what nobody can tell", IN "import u\nx = u.a\n", "if x > %u:\n x = x + x\nelif x + x < 3:\n x = x - x\n", 500,
     DEF " tl.store(p, x)\n"},
    {"names of loops", IN "x = tl.constexpr(1)\n", "while x < %u:\n x = tl.constexpr(x + x)\n", 500, DEF " tl.store(p, x)\n"},
    {"non-ASCII", IN "\xc3\xa9\xce\xb1 = 3\n" DEF " \xe5\x8f\x98 = \xc3\xa9\xce\xb1\n tl.store(p, \xe5\x8f\x98)\n", "", 0, ""},
    {"words of Metal", IN "@triton.jit\ndef kernel(p, float, device, thread, metal, vertex, half, bool): tl.store(p, float + half)\n", "", 0, ""},
    {"named main", IN "@triton.jit\ndef main(p): tl.store(p, 1)\n", "", 0, ""},
};

/* Each ends by itself: ifs, one in the other. */
static size_t nested_ifs(char *t, size_t cap, uint32_t depth) {
    size_t   n = (size_t)snprintf(t, cap, IN DEF " a = tl.load(p)\n");
    uint32_t i;
    for (i = 1; i <= depth; i++) n += (size_t)snprintf(t + n, cap - n, "%*sif a > %u:\n", (int)i, "", i);
    return n + (size_t)snprintf(t + n, cap - n, "%*stl.store(p, 1)\n", (int)i, "");
}

static int try_one(const char *what, const char *text, size_t len) {
    static const tmetal_triton_file files[] = {
        {"a", "from b import X\nimport b", 24}, {"b", "from a import X\nimport a\nfrom b import *", 40}, {"k", "from k import *", 15}};
    tmetal_triton_call call;
    double             seconds;
    char              *exact = (char *)malloc(len + !len);
    memcpy(exact, text, len);
    memset(&call, 0, sizeof call);
    call.args = "*fp32";
    call.files = files;
    call.n_files = 3;
    if (strstr(what, "Metal")) call.args = "*fp32, fp32, i32, i32, i32, i32, fp32, i32";
    if (strstr(what, "f(") || strstr(what, "twice") || strstr(what, "its own") || strstr(what, "functions")) call.kernel = "k";
    if (says) printf("%.60s\n", what);
    attempt(exact, len, &call, &seconds);
    free(exact);
    if (seconds < 15) return 0; /* on any machine: with sanitizers the slowest takes 1 here */
    printf("much: %.1f s: %s\n", seconds, what);
    return 1;
}

static int hand(void) {
    const size_t cap = (size_t)32 << 20;
    char        *text = (char *)malloc(cap);
    uint32_t     i, j, slow = 0;
    for (i = 0; i < sizeof muches / sizeof *muches; i++) {
        const much *m = &muches[i];
        size_t      n = (size_t)snprintf(text, cap, "%s", m->head);
        for (j = 0; j < m->times; j++) { /* %u at most twice */
            const char *c = m->unit;
            for (; *c; c++)
                if (c[0] == '%') n += (size_t)snprintf(text + n, cap - n, "%u", j), c++;
                else text[n++] = *c;
        }
        n += (size_t)snprintf(text + n, cap - n, "%s", m->tail);
        slow += (uint32_t)try_one(m->what, text, n);
    }
    for (i = 50; i <= 5000; i *= 10) slow += (uint32_t)try_one("ifs in ifs", text, nested_ifs(text, cap, i));
    free(text);
    printf("much: %u texts by hand, %u slow, %u modules, %u compiled, the slowest in %.1f s\n",
           (unsigned)(sizeof muches / sizeof *muches) + 3, slow, n_modules, n_good, slowest);
    return slow != 0;
}

int main(int argc, char **argv) {
    memory = malloc(room);
    signal(SIGPROF, hung);
    setvbuf(stdout, NULL, _IOLBF, 0);
    says = argc > 1 && strcmp(argv[1], "--say") == 0;
    return hand();
}
