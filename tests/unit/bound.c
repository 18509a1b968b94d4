/* tmetal_arena_bound: every module compiles in an arena of just that size. Files as they are and squeezed
 * (no places, names of one or two letters, no indentation), and modules generated to be as costly for their
 * length as we could think of; each at several lengths, so that a cost that grows faster than the text shows.
 *
 * Then the bounds of op lists, both ways: never less than a list takes, and at most so many times as much.
 *
 *   bound FILE...           or names on standard input, one a line; .json is an op list; -v prints the costliest,
 *                           -f leaves out what is generated */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"
#include "../bench/shapes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char  *memory;
static size_t room = (size_t)1 << 31;
static int    verbose, failed, n_texts, only_files;

typedef struct costly {
    double per_byte;
    size_t len, peak;
    char   name[160];
} costly;
static costly costliest;

static void measure(const char *name, const char *text, size_t len) {
    size_t        bound = tmetal_arena_bound(len);
    tmetal_arena  arena = tmetal_arena_on(memory, bound < room ? bound : room);
    tmetal_result r;
    tmetal_options opt;
    tmetal_code   code;
    double        per_byte;
    memset(&opt, 0, sizeof opt);
    opt.reports = 1; /* they take memory too */
    code = tmetal_compile(text, len, &opt, &arena, &r);
    n_texts++;
    if (code == TMETAL_E_ARENA || code == TMETAL_E_BUG) {
        printf("%s, %lu bytes: %s\n", name, (unsigned long)len, r.diags[0].message);
        failed++;
        return;
    }
    per_byte = arena.peak > TMI_BOUND_FIXED ? (double)(arena.peak - TMI_BOUND_FIXED) / (double)len : 0.0;
    if (per_byte > costliest.per_byte || !*costliest.name) {
        costliest.per_byte = per_byte;
        costliest.len = len;
        costliest.peak = arena.peak;
        snprintf(costliest.name, sizeof costliest.name, "%.150s", name);
    }
    if (verbose > 1 || (verbose && per_byte * 4 > TMI_BOUND_PER_BYTE))
        printf("%-70.70s %9lu bytes of text, peak %11lu, %8.1f a byte %s\n", name, (unsigned long)len, (unsigned long)arena.peak, (double)arena.peak / (double)len,
               code == TMETAL_OK ? "" : "refused");
}

/* -- Op lists ------------------------------------------------------------------------------- */

/* In sum over all lists: what compiling takes, and what the two bounds ask. */
static double lists_take, lists_ask[2], closest = 99;

/* Never less than is needed; the bound that knows the kernels at most four times as much, the other `most` times. */
static void list(const char *name, const char *text, size_t len, double most) {
    tmetal_options opt;
    memset(&opt, 0, sizeof opt);
    for (opt.reports = 0; opt.reports < 2; opt.reports++) {
        static const char *const layouts[] = {"COALESCED", "ROW_MAJOR", "COLUMN_MAJOR", "TILED", NULL}; /* NULL: plain */
        tmetal_arena  arena = tmetal_arena_on(memory, room);
        size_t        bound[2], i;
        tmetal_result r;
        tmetal_code   code;
        bound[0] = tmetal_arena_bound_graph(text, len, &opt, &arena);
        bound[1] = tmetal_arena_bound_list(text, len);
        if (arena.used || arena.peak || bound[1] > room) abort();
        code = tmetal_compile_ops(text, len, &opt, &arena, &r);
        n_texts++;
        if ((code == TMETAL_OK) != (bound[0] != 0)) printf("list %s: TM%d, but the bound is %lu\n", name, (int)code, (unsigned long)bound[0]), failed++;
        if (code == TMETAL_OK) lists_take += (double)arena.peak;
        for (i = 0; i < 2 && code == TMETAL_OK; i++) {
            lists_ask[i] += (double)bound[i];
            if (!i && (double)bound[0] / (double)arena.peak < closest) closest = (double)bound[0] / (double)arena.peak;
            if (bound[i] >= arena.peak && (double)bound[i] <= (i ? most : 4) * (double)arena.peak) continue;
            printf("list %s, %lu bytes, reports %u: tmetal_arena_bound_%s is %lu, peak %lu\n", name, (unsigned long)len, (unsigned)opt.reports,
                   i ? "list" : "graph", (unsigned long)bound[i], (unsigned long)arena.peak);
            failed++;
        }
        for (i = 0; i < 5 && len < 2000; i++) {
            opt.layouts = layouts[i];
            opt.plain = !layouts[i];
            arena = tmetal_arena_on(memory, room);
            bound[0] = tmetal_arena_bound_graph(text, len, &opt, &arena);
            code = tmetal_compile_ops(text, len, &opt, &arena, &r);
            if (code != TMETAL_OK || bound[0] >= arena.peak) continue;
            printf("list %s, %s: tmetal_arena_bound_graph is %lu, peak %lu\n", name, opt.plain ? "plain" : opt.layouts, (unsigned long)bound[0], (unsigned long)arena.peak);
            failed++;
        }
        opt.layouts = NULL;
        opt.plain = 0;
    }
}

/* -- Files, squeezed ------------------------------------------------------------------------ */

static size_t squeeze(const char *text, size_t len, char *out, size_t cap) {
    tmetal_arena   arena = tmetal_arena_on(memory, room);
    tmetal_result  r;
    tmetal_module *m;
    const char    *s;
    size_t         n, i, k = 0;
    tmi_job        job;
    if (tmetal_parse(text, len, NULL, &arena, &m, &r) != TMETAL_OK || !tmi_entry_begin(&job, &arena, NULL, &r)) return 0;
    for (i = 1; i < m->value.n; i++) {
        tmi_value *v = TMI_VALUE(m, (uint32_t)i);
        char name[24];
        if (i < 26) snprintf(name, sizeof name, "%c", (char)('a' + (int)i));
        else snprintf(name, sizeof name, "%c%x", (char)('a' + (int)(i % 26)), (unsigned)(i / 26));
        v->name = tmi_intern(&job, m->strings, name, strlen(name));
        v->loc = 0;
    }
    for (i = 1; i < m->op.n; i++) TMI_OP(m, (uint32_t)i)->loc = 0;
    if (tmetal_print(m, &arena, &s, &n, &r) != TMETAL_OK) return 0;
    for (i = 0; i < n && k < cap; i++)
        if (s[i] != ' ' || (k && out[k - 1] != '\n' && out[k - 1] != ' ')) out[k++] = s[i];
    return k;
}

static void file(const char *path) {
    static char text[16 << 20], small[16 << 20];
    FILE  *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, sizeof text, f) : 0, k;
    char   name[256];
    if (!f) {
        printf("%s: cannot be read\n", path);
        failed++;
        return;
    }
    fclose(f);
    if (strlen(path) > 5 && strcmp(path + strlen(path) - 5, ".json") == 0) {
        list(path, text, n, 100);
        return;
    }
    measure(path, text, n);
    k = squeeze(text, n, small, sizeof small);
    snprintf(name, sizeof name, "%.200s, squeezed", path);
    if (k) measure(name, small, k);
}

/* -- Generated -------------------------------------------------------------------------------- */

static char  made[24 << 20];
static size_t made_len;

static void say(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    made_len += (size_t)vsnprintf(made + made_len, sizeof made - made_len, fmt, ap);
    va_end(ap);
}

/* A line repeated inside one kernel, or a kernel repeated; %u is the line's number. */
static void repeated(const char *name, const char *head, const char *line, const char *tail, unsigned n) {
    unsigned i;
    char     label[200];
    made_len = 0;
    say("%s", head);
    for (i = 0; i < n; i++) say(line, i, i, i, i);
    say("%s", tail);
    snprintf(label, sizeof label, "%s, %u times", name, n);
    measure(label, made, made_len);
}

static const char kernel[] = "tt.func @k(%p:!tt.ptr<f32>,%q:!tt.ptr<f64>,%n:i32){\n";

static const struct {
    const char *name, *head, *line, *tail;
    unsigned    most;
} shapes[] = {
    {"a letter", "", "a", "", 10000},
    {"an opening bracket", "", "(", "", 10000},
    {"an unknown op", "", "x\n", "", 10000},
    {"a symbol", "", "@a", "", 10000},
    {"a type alias", "", "!a=i32\n", "", 10000},
    {"a location alias", "", "#l%u=loc(#l%u)\n", "", 10000},
    {"an unfinished string", "", "\"a\n", "", 10000},
    {"an empty kernel", "", "tt.func @k%u(){tt.return}\n", "", 10000},
    {"a kernel with a private callee", "tt.func private @f(){tt.return}\n", "tt.func @k%u(){tt.call @f():()->()\ntt.return}\n", "", 10000},
    {"a kernel that stores", "", "tt.func @k%u(%%p:!tt.ptr<f32>,%%x:f32){tt.store %%p,%%x:!tt.ptr<f32>\ntt.return}\n", "", 10000},
    {"a kernel with a root of a double", "", "tt.func @k%u(%%p:!tt.ptr<f64>,%%x:f64){%%y=math.sqrt %%x:f64\ntt.store %%p,%%y:!tt.ptr<f64>\ntt.return}\n", "", 10000},
    {"a kernel with a fused product of doubles", "", "tt.func @k%u(%%p:!tt.ptr<f64>,%%x:f64){%%y=math.fma %%x,%%x,%%x:f64\ntt.store %%p,%%y:!tt.ptr<f64>\ntt.return}\n", "", 10000},
    {"a kernel with a reduction", "", "tt.func @k%u(%%p:!tt.ptr<i32>){%%r=tt.make_range{end=64:i32,start=0:i32}:tensor<64xi32>\n%%s=\"tt.reduce\"(%%r)<{axis=0:i32}>({^b(%%a:i32,%%b:i32):%%c=arith.addi %%a,%%b:i32\ntt.reduce.return %%c:i32\n}):(tensor<64xi32>)->i32\ntt.store %%p,%%s:!tt.ptr<i32>\ntt.return}\n", "", 10000},
    {"an addition", kernel, "%%v%u=arith.addi %%n,%%n:i32\n", "tt.return}\n", 10000},
    {"a store of a scalar", kernel, "%%v%u=arith.addi %%n,%%n:i32\n%%p%u=tt.addptr %%p,%%v%u:!tt.ptr<f32>,i32\n%%x%u=tt.load %%p:!tt.ptr<f32>\ntt.store %%p,%%x0:!tt.ptr<f32>\n", "tt.return}\n", 10000},
    {"a tile stored", "tt.func @k(%p:!tt.ptr<f32>,%m:i1,%x:f32){%r=tt.make_range{end=64:i32,start=0:i32}:tensor<64xi32>\n%q=tt.splat %p:!tt.ptr<f32>->tensor<64x!tt.ptr<f32>>\n%s=tt.addptr %q,%r:tensor<64x!tt.ptr<f32>>,tensor<64xi32>\n", "%%y%u=tt.load %%s:tensor<64x!tt.ptr<f32>>\ntt.store %%s,%%y%u:tensor<64x!tt.ptr<f32>>\n", "tt.return}\n", 10000},
    {"a double multiplied", kernel, "%%v%u=tt.load %%q:!tt.ptr<f64>\n%%w%u=arith.mulf %%v%u,%%v%u:f64\ntt.store %%q,%%w0:!tt.ptr<f64>\n", "tt.return}\n", 10000},
    {"a branch", kernel, "%%c%u=arith.cmpi slt,%%n,%%n:i32\nscf.if %%c%u{}\n", "tt.return}\n", 10000},
    {"a loop", kernel, "scf.for %%i%u=%%n to %%n step %%n:i32{}\n", "tt.return}\n", 10000},
    {"a loop that loads halves and reduces them", "tt.func @k(%p:!tt.ptr<f16>,%q:!tt.ptr<f16>,%n:i32){%c=arith.constant 64:i32\n%z=arith.constant 0.0:f16\n%r=tt.make_range{end=64:i32,start=0:i32}:tensor<64xi32>\n%t=tt.splat %p:!tt.ptr<f16>->tensor<64x!tt.ptr<f16>>\n", "%%w%u=scf.for %%i%u=%%n to %%n step %%c iter_args(%%g=%%z)->(f16):i32{%%s=tt.splat %%i%u:i32->tensor<64xi32>\n%%o=arith.addi %%s,%%r:tensor<64xi32>\n%%a=tt.addptr %%t,%%o:tensor<64x!tt.ptr<f16>>,tensor<64xi32>\n%%x=tt.load %%a:tensor<64x!tt.ptr<f16>>\n%%y=\"tt.reduce\"(%%x)<{axis=0:i32}>({^b(%%d:f16,%%e:f16):%%f=arith.addf %%d,%%e:f16\ntt.reduce.return %%f:f16\n}):(tensor<64xf16>)->f16\n%%h=arith.addf %%g,%%y:f16\nscf.yield %%h:f16\n}\ntt.store %%q,%%w%u:!tt.ptr<f16>\n", "tt.return}\n", 300},
    {"a reduction", "tt.func @k(%p:!tt.ptr<i32>){%r=tt.make_range{end=1024:i32,start=0:i32}:tensor<1024xi32>\n", "%%s%u=\"tt.reduce\"(%%r)<{axis=0:i32}>({^b(%%a:i32,%%b:i32):%%c=arith.addi %%a,%%b:i32\ntt.reduce.return %%c:i32\n}):(tensor<1024xi32>)->i32\ntt.store %%p,%%s%u:!tt.ptr<i32>\n", "tt.return}\n", 300},
    {"a scan", "tt.func @k(%q:!tt.ptr<i32>){%p=tt.splat %q:!tt.ptr<i32>->tensor<1024x!tt.ptr<i32>>\n%r=tt.make_range{end=1024:i32,start=0:i32}:tensor<1024xi32>\n", "%%s%u=\"tt.scan\"(%%r)<{axis=0:i32,reverse=false}>({^b(%%a:i32,%%b:i32):%%c=arith.addi %%a,%%b:i32\ntt.scan.return %%c:i32\n}):(tensor<1024xi32>)->tensor<1024xi32>\ntt.store %%p,%%s%u:tensor<1024x!tt.ptr<i32>>\n", "tt.return}\n", 300},
    {"a product", "tt.func @k(%p:!tt.ptr<f32>){%z=arith.constant dense<0.0>:tensor<64x64xf32>\n%q=tt.splat %p:!tt.ptr<f32>->tensor<64x64x!tt.ptr<f32>>\n%a=tt.load %q:tensor<64x64x!tt.ptr<f32>>\n", "%%d%u=tt.dot %%a,%%a,%%z:tensor<64x64xf32>*tensor<64x64xf32>->tensor<64x64xf32>\ntt.store %%q,%%d%u:tensor<64x64x!tt.ptr<f32>>\n", "tt.return}\n", 300},
    {"a transpose", "tt.func @k(%p:!tt.ptr<f32>){%q=tt.splat %p:!tt.ptr<f32>->tensor<64x64x!tt.ptr<f32>>\n%a=tt.load %q:tensor<64x64x!tt.ptr<f32>>\n", "%%t%u=tt.trans %%a{order=array<i32:1,0>}:tensor<64x64xf32>->tensor<64x64xf32>\ntt.store %%q,%%t%u:tensor<64x64x!tt.ptr<f32>>\n", "tt.return}\n", 300},
};

/* Each function calls the next one twice; the last has a body. */
static void calls(unsigned depth, const char *name, const char *body) {
    unsigned i;
    char     label[120];
    made_len = 0;
    say("tt.func @f0(%%p:!tt.ptr<f64>,%%q:!tt.ptr<f32>){%%t=tt.splat %%q:!tt.ptr<f32>->tensor<64x64x!tt.ptr<f32>>\ntt.call @f1(%%p,%%t):(!tt.ptr<f64>,tensor<64x64x!tt.ptr<f32>>)->()\ntt.return}\n");
    for (i = 1; i <= depth; i++) {
        say("tt.func private @f%u(%%p:!tt.ptr<f64>,%%t:tensor<64x64x!tt.ptr<f32>>){", i);
        if (i == depth) say("%s\ntt.return}\n", body);
        else say("tt.call @f%u(%%p,%%t):(!tt.ptr<f64>,tensor<64x64x!tt.ptr<f32>>)->()\ntt.call @f%u(%%p,%%t):(!tt.ptr<f64>,tensor<64x64x!tt.ptr<f32>>)->()\ntt.return}\n", i + 1, i + 1);
    }
    snprintf(label, sizeof label, "calls of %s that double, %u deep", name, depth);
    measure(label, made, made_len);
}

/* One function called many times: up to the limit of copies. */
static void called(unsigned n, const char *name, const char *body) {
    unsigned i;
    char     label[120];
    made_len = 0;
    say("tt.func @k(%%p:!tt.ptr<f64>,%%q:!tt.ptr<f32>){%%t=tt.splat %%q:!tt.ptr<f32>->tensor<64x64x!tt.ptr<f32>>\n");
    for (i = 0; i < n; i++) say("tt.call @f(%%p,%%t):(!tt.ptr<f64>,tensor<64x64x!tt.ptr<f32>>)->()\n");
    say("tt.return}\ntt.func private @f(%%p:!tt.ptr<f64>,%%t:tensor<64x64x!tt.ptr<f32>>){%s\ntt.return}\n", body);
    snprintf(label, sizeof label, "%s, called %u times", name, n);
    measure(label, made, made_len);
}

static void blocks(unsigned n, int cycle) { /* every block may leave, or jump back to the first */
    unsigned i;
    char     label[64];
    made_len = 0;
    say("tt.func @k(%%p:!tt.ptr<i32>,%%c:i1,%%n:i32){cf.br ^b0\n");
    for (i = 0; i < n; i++) {
        say("^b%u:%%v%u=tt.load %%p:!tt.ptr<i32>\ntt.store %%p,%%v%u:!tt.ptr<i32>\n", i, i, i / 2);
        if (i + 1 < n) say("cf.cond_br %%c,^b%u,^b%u\n", i + 1, cycle ? i / 2 : n - 1);
        else say("tt.return");
    }
    say("}\n");
    snprintf(label, sizeof label, "%u blocks%s", n, cycle ? " with cycles" : "");
    measure(label, made, made_len);
}

static void skipping(unsigned n, int adds) { /* each may go to the next or to the one behind it: more ways than blocks */
    unsigned i;
    char     label[64];
    made_len = 0;
    say("tt.func @k(%%n:i32,%%c:i1){\n");
    for (i = 0; i < n; i++) {
        if (i) say("^b%u:", i);
        if (adds) say("%%v%u=arith.addi %%n,%%n:i32\n", i);
        if (i + 1 < n) say("cf.cond_br %%c,^b%u,^b%u\n", i + 1, i + 2 < n ? i + 2 : i + 1);
        else say("tt.return");
    }
    say("}\n");
    snprintf(label, sizeof label, "%u blocks that skip one%s", n, adds ? ", with sums" : "");
    measure(label, made, made_len);
}

static void nested(unsigned n, const char *open, const char *name) {
    unsigned i;
    char     label[64];
    made_len = 0;
    say("tt.func @k(%%c:i1,%%n:i32){\n");
    for (i = 0; i < n; i++) say(open, i);
    for (i = 0; i < n; i++) say("}");
    say("\ntt.return}\n");
    snprintf(label, sizeof label, "%s, %u deep", name, n);
    measure(label, made, made_len);
}

#define DOT(x, y) "%" y "=tt.dot %" x ",%" x ",%" x ":tensor<64x64xf32>*tensor<64x64xf32>->tensor<64x64xf32>\n"
static const struct {
    const char *name, *text;
} bodies[] = {
    {"nothing", ""},
    {"a product of doubles", "%x=tt.load %p:!tt.ptr<f64>\n%y=arith.mulf %x,%x:f64\ntt.store %p,%y:!tt.ptr<f64>"},
    {"a transposed tile", "%x=tt.load %t:tensor<64x64x!tt.ptr<f32>>\n%y=tt.trans %x{order=array<i32:1,0>}:tensor<64x64xf32>->tensor<64x64xf32>\ntt.store %t,%y:tensor<64x64x!tt.ptr<f32>>"},
    {"a matrix product", "%x=tt.load %t:tensor<64x64x!tt.ptr<f32>>\n" DOT("x", "y") "tt.store %t,%y:tensor<64x64x!tt.ptr<f32>>"},
    {"four matrix products", "%x=tt.load %t:tensor<64x64x!tt.ptr<f32>>\n" DOT("x", "y") DOT("y", "z") DOT("z", "v") DOT("v", "w") "tt.store %t,%w:tensor<64x64x!tt.ptr<f32>>"},
};

/* Kernels that call one external function each: the text of the library comes with every kernel. */
static void externals(unsigned n) {
    uint32_t e, i, k;
    char     label[120];
    for (e = 0; e < TMI_EXTERN_COUNT; e++) {
        const char *sig = tmi_externs[e].sig, *type[8];
        for (k = 0; sig[k] && k < 8; k++) type[k] = sig[k] == 'd' ? "f64" : strchr("fht", sig[k]) ? "f32" : "i32";
        made_len = 0;
        for (i = 0; i < n; i++) {
            say("tt.func @k%u(%%p:!tt.ptr<%s>", i, type[0]);
            for (k = 2; sig[k] && sig[k] != ')'; k++) say(",%%x%u:%s", k, type[k]);
            say("){%%y=tt.extern_elementwise ");
            for (k = 2; sig[k] && sig[k] != ')'; k++) say(k > 2 ? ",%%x%u" : "%%x%u", k);
            say("{symbol=\"%s\"}:(", tmi_externs[e].symbol);
            for (k = 2; sig[k] && sig[k] != ')'; k++) say(k > 2 ? ",%s" : "%s", type[k]);
            say(")->%s\ntt.store %%p,%%y:!tt.ptr<%s>\ntt.return}\n", type[0], type[0]);
        }
        snprintf(label, sizeof label, "%u kernels that call %s", n, tmi_externs[e].symbol);
        measure(label, made, made_len);
    }
}

static void generated(unsigned most) {
    size_t   i;
    unsigned n;
    for (i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (n = 1; n <= most && n <= shapes[i].most; n *= 10) repeated(shapes[i].name, shapes[i].head, shapes[i].line, shapes[i].tail, n);
    for (i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        for (n = 1; n <= 40; n += 1 + n / 12) calls(n, bodies[i].name, bodies[i].text);
        for (n = 10; n <= 300; n += n / 2) called(n, bodies[i].name, bodies[i].text);
    }
    for (n = 2; n <= 1200; n *= 2) blocks(n, 0), blocks(n, 1);
    for (n = 12; n <= 80; n += 1 + n / 16) skipping(n, 0), skipping(n, 1);
    for (n = 1; n <= 300; n += 33) nested(n, "scf.if %%c{", "branches"), nested(n, "scf.for %%i%u=%%n to %%n step %%n:i32{", "loops"), nested(n, "(", "brackets");
}

/* -- Op lists --------------------------------------------------------------------------------- */

/* Lists whose words say little of what they cost. */
static const struct {
    const char *name, *text;
    double      most;
} said[] = {
    {"the longest alias", "[{\"type\":\"scaled_dot_product_attention\",\"input_shapes\":[[2,50,64],[2,50,64],[2,50,64]]}]", 4},
    {"keys named like operations", "[{\"type\":\"clamp\",\"input_shapes\":[[37,53]],\"args\":{\"min\" : -1,\"max\":1}}]", 4},
    {"a name spelt with an escape", "[{\"type\":\"s\\u006frt\",\"input_shapes\":[[64,4096]]}]", 4},
    {"ids named like operations", "[{\"id\":\"sort\",\"type\":\"exp\",\"input_shapes\":[[64,64]]}]", 4},
    {"inputs named like operations", "[{\"inputs\":[\"sort\"],\"type\":\"exp\",\"input_shapes\":[[64,64]]}]", 4},
    {"an operation behind one with an id", "[{\"type\":\"exp\",\"input_shapes\":[[64,4096]],\"id\":\"y\"},{\"id\":\"z\",\"type\":\"sort\",\"input_shapes\":[[64,4096]]}]", 4},
    {"a long sort", "tt.sort:[64,4096]\n", 4},
    {"a sort along the first axis", "[{\"type\":\"sort\",\"args\":{\"axis\":0},\"dtype\":\"i32\",\"input_shapes\":[[128,128]]}]", 8},
    {"an attention", "tt.attention:[40,64],[65,64],[65,64],[40,65]\n", 4},
    {"an op", "tt.exp:[64,64]\n", 4},
    {"a matrix streamed by columns", "[{\"type\":\"matmul\",\"dtype\":\"bf16\",\"args\":{\"transpose_a\":true},\"input_shapes\":[[128,2050],[128,16],[16]]}]", 4},
    {"a matrix streamed by rows", "tt.matmul:[16,65536],[65536,100]\n", 8},
    {"a long layer norm", "tt.layer_norm:[1,33001],[33001],[33001]\n", 4},
    {"a log, then a product", "tt.log:[8,4,125]\ntt.matmul:[8,4,125],[125,23]\n", 200},
};

/* A concat has as many inputs as it says, each by a name of a letter or by a shape of a digit; or one chain, many times. */
static void joined(unsigned n) {
    unsigned i;
    made_len = 0;
    say("tt.concat:[8]");
    for (i = 1; i < n; i++) say(",[%u]", 1 + i % 9);
    say(":0\n");
    list("concat of shapes", made, made_len, 100);
    made_len = 0;
    say("[{\"type\":\"cat\",\"inputs\":[ \"x\"");
    for (i = 1; i < n; i++) say(" , \"x\"");
    say("],\"input_shapes\":[[8]]}]");
    list("concat of names", made, made_len, 100);
    made_len = 0;
    for (i = 0; i < 46; i++)
        say("%s\"type\":\"tanh\",\"id\":\"v%u\",\"inputs\":[\"v%d\"]%s}", i ? ",{" : "[{", i, (int)i - 1, i ? "" : ",\"input_shapes\":[[8]]");
    say(",{\"type\":\"concat\",\"inputs\":[\"v45\"");
    for (i = 1; i < n; i++) say(",\"v45\"");
    say("]}]");
    list("concat of a chain", made, made_len, 200);
}

/* The bench's shapes: ops that become one kernel, or do the same as others, are counted by their words as if each were one. */
static void lists(void) {
    size_t   i, n, len, ops;
    for (i = 0; i < sizeof said / sizeof *said; i++) list(said[i].name, said[i].text, strlen(said[i].text), said[i].most);
    for (n = 2; n <= 200; n = n * 3 / 2 + 1) joined((unsigned)n);
    made_len = 0;
    say("[{\"type\":\"cat\",\"dtype\":\"bf16\",\"args\":{\"axis\":1},\"id\":\"c\",\"input_shapes\":[[5,8]");
    for (i = 1; i < 92; i++) say(",[5,%u]", (unsigned)(1 + i % 9));
    say("]},{\"type\":\"gelu\",\"inputs\":[\"c\"]}]");
    list("concat along rows, then gelu", made, made_len, 100);
    for (i = 0; i < shape_count(); i++)
        for (n = 1; n <= 1000 && shape_is_list(i); n *= 10) {
            char *text = shape_text(i, n, &len, &ops);
            list(shape_name(i), text, len, 200);
            free(text);
        }
}

int main(int argc, char **argv) {
    char line[4096];
    int  i, files = 0;
    memory = (char *)malloc(room);
    if (!memory) return 2;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-v") == 0) verbose++;
        else if (strcmp(argv[i], "-f") == 0) only_files = 1;
        else file(argv[i]), files++;
    }
    while (!files && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        file(line);
    }
    if (!only_files) generated(10000), externals(1), externals(100);
    lists();
    printf("lists: bounds are %.2f (at least %.2f) and %.2f times what they take\n", lists_ask[0] / lists_take, closest, lists_ask[1] / lists_take);
    printf("bound: %d texts, %d failed; the costliest takes %.0f of %u bytes a byte beside the fixed part (%s, %lu bytes of text, peak %lu)\n", n_texts, failed, costliest.per_byte,
           (unsigned)TMI_BOUND_PER_BYTE, costliest.name, (unsigned long)costliest.len, (unsigned long)costliest.peak);
    free(memory);
    return failed != 0;
}
