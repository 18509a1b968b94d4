/* What the comments of tmetal_options promise of a field that is 0: the same bytes as its default spelt out, and other
 * bytes (or a refusal) from another value, so that the field is known to be read. */
#include "../../tmetal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char ttir[] =
    "module {\n"
    "  tt.func public @f(%p: !tt.ptr<f64>, %q: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {\n"
    "    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>\n"
    "    %b = tt.splat %q : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>\n"
    "    %a = tt.addptr %b, %r : tensor<64x!tt.ptr<f32>>, tensor<64xi32>\n"
    "    %x = tt.load %a : tensor<64x!tt.ptr<f32>>\n"
    "    %m = arith.mulf %x, %x : tensor<64xf32>\n"
    "    %y = arith.addf %m, %x : tensor<64xf32>\n"
    "    %s = \"tt.reduce\"(%y) <{axis = 0 : i32}> ({\n"
    "    ^bb0(%u: f32, %v: f32):\n"
    "      %w = arith.addf %u, %v : f32\n"
    "      tt.reduce.return %w : f32\n"
    "    }) : (tensor<64xf32>) -> f32\n"
    "    tt.print \"s: \" {hex = false, isSigned = array<i32: 0>} : %s : f32\n"
    "    %d = tt.load %p : !tt.ptr<f64>\n"
    "    %e = arith.extf %s : f32 to f64\n"
    "    %g = arith.addf %d, %e : f64\n"
    "    tt.store %p, %g : !tt.ptr<f64>\n"
    "    tt.return\n"
    "  }\n"
    "}\n";

static char       memory[2][1 << 24];
static tmetal_arena arena[2];
static unsigned   failed;

/* Everything that a host sees, as one text. */
static const char *all_of(int at, const char *src, const tmetal_options *opt) {
    tmetal_result r;
    tmetal_arena *a = &arena[at];
    const char   *plan;
    char         *out;
    uint32_t      i;
    size_t        n = 0;
    *a = tmetal_arena_on(memory[at], sizeof memory[at] - (1 << 20));
    tmetal_compile(src, strlen(src), opt, a, &r);
    plan = r.code ? "" : tmetal_plan_json(&r, a);
    out = memory[at] + sizeof memory[at] - (1 << 20);
    n = (size_t)sprintf(out, "%d %u %u\n%.400000s\n%.200000s", (int)r.code, (unsigned)r.n_diags, (unsigned)r.reports,
                        r.code ? "" : r.msl, plan);
    for (i = 0; i < r.n_diags && n < 900000; i++) n += (size_t)sprintf(out + n, "%s:%.900s\n", r.diags[i].ir.file ? r.diags[i].ir.file : "", r.diags[i].message);
    return out;
}

static void same(const char *what, const char *src, const tmetal_options *a, const tmetal_options *b, int equal) {
    if ((strcmp(all_of(0, src, a), all_of(1, src, b)) == 0) == equal) return;
    printf("defaults: %s: %s\n", what, equal ? "not what 0 gives" : "makes no difference");
    failed++;
}

#define DEFAULT(field, is, other)                                   \
    do {                                                            \
        tmetal_options one = {0}, two = {0};                        \
        one.field = is, two.field = other;                          \
        same(#field " = " #is, SRC, NULL, &one, 1);                 \
        same(#field " = " #other, SRC, NULL, &two, 0);              \
    } while (0)

int main(void) {
    static char                wrong[8000]; /* 120 lines, an error each */
    static const tmetal_options zero = {0};
    unsigned                   i;
    strcpy(wrong, "module {\n  tt.func @f() {\n");
    for (i = 0; i < 120; i++) sprintf(wrong + strlen(wrong), "    \"tt.nothing%u\"() : () -> ()\n", i);
    strcat(wrong, "    tt.return\n  }\n}\n");
#define SRC ttir
    same("all of them", ttir, NULL, &zero, 1);
    DEFAULT(gpu, "apple-m1", "apple-m5");
    DEFAULT(threads, 0, 256);
    DEFAULT(msl, 0, 210);
    DEFAULT(no_fusion, 0, 1);
    DEFAULT(no_fp64, 0, 1);
    DEFAULT(debug_bytes, 65536, 4096);
    DEFAULT(logging, 0, 1);
    DEFAULT(plain, 0, 1);
    DEFAULT(alias, NULL, "0=1");
    DEFAULT(layouts, NULL, "SIDEWAYS");
    DEFAULT(parts, 0, 1);
    DEFAULT(bounds, 0, 1);
    DEFAULT(unspecialized, 0, 1);
    DEFAULT(reports, 0, 1);
    DEFAULT(operands, TMETAL_OPERANDS_AUTO, 99);
    DEFAULT(programs, 0, 99);
    DEFAULT(two_stage, 0, 3);
    DEFAULT(mlx, 0, 3);
    DEFAULT(max_source, 4294967280u, 100);
    DEFAULT(max_ops, 0, 5);
#undef SRC
#define SRC wrong
    DEFAULT(max_errors, 100, 7);
    DEFAULT(file, "<ttir>", "other.ttir");
    printf("defaults: %u of the fields are not as their comments say\n", failed);
    return failed != 0;
}
