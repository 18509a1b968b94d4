/* Inputs whose shape is hostile: graphs with more ways than ops, chains longer than a stack is deep. Each compiles, or
 * is refused by a diagnostic, on a thread with a small stack and within a time that does not know the number of ways.
 *
 *     depth [--quick] [--only NAME]
 *
 * Op lists, then chains of 40,000 operations: each kind of the op table that keeps its type, and those that change it in
 * pairs that lead back; from constants, scalars, ranges and memory. --quick: chains of 8,000.
 *
 * Prints what missed its bar; the exit status says whether any did. */
#define _XOPEN_SOURCE 700
#include "../../tmetal.h"
#include "../bench/shapes.h"
#include "grows.h"
#include "text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STACK = 256 << 10 }; /* bytes; a thread of its own on macOS has 512 KiB, on musl 128 KiB */

typedef struct attempt {
    const char *name, *text;
    size_t      len, bytes; /* of the arena */
    int         is_list;
    double      took;       /* seconds of CPU */
    tmetal_code code;
    char        said[200];
} attempt;

static void *compile(void *of) {
    attempt      *a = (attempt *)of;
    void         *space = take_memory(a->bytes);
    tmetal_arena  arena = tmetal_arena_on(space, a->bytes);
    tmetal_result r;
    clock_t       start = clock();
    a->code = (a->is_list ? tmetal_compile_ops : tmetal_compile)(a->text, a->len, NULL, &arena, &r);
    if (a->code == TMETAL_OK && !a->is_list) { /* patterns are looked for by their own call */
        tmetal_module   *module;
        tmetal_detection found;
        arena = tmetal_arena_on(space, a->bytes);
        a->code = tmetal_parse(a->text, a->len, NULL, &arena, &module, &r);
        if (a->code == TMETAL_OK) a->code = tmetal_detect(module, &arena, &found, &r);
    }
    a->took = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (r.n_diags) {
        strncpy(a->said, r.diags[0].message, sizeof a->said - 1);
        a->said[sizeof a->said - 1] = '\0';
    }
    free(space);
    return NULL;
}

/* 1: it missed its bar. A stack that overflows ends the program, with the name printed before. */
static int run(attempt *a, const char *only) {
    pthread_attr_t attr;
    pthread_t      thread;
    if (only && !strstr(a->name, only)) return 0;
    printf("%s%c", a->name, '\r');
    fflush(stdout);
    if (!a->bytes) a->bytes = a->is_list ? tmetal_arena_bound_list(a->text, a->len) : tmetal_arena_bound(a->len);
    if (a->is_list && a->bytes > (size_t)3 << 30) a->bytes = (size_t)3 << 30; /* bounds of long lists are far above what they take */
    if (pthread_attr_init(&attr) != 0 || pthread_attr_setstacksize(&attr, STACK) != 0 || pthread_create(&thread, &attr, compile, a) != 0) {
        fprintf(stderr, "no thread of %d bytes of stack\n", STACK);
        exit(2);
    }
    pthread_join(thread, NULL);
    if (a->code != TMETAL_OK && (!a->is_list || a->code >= TMETAL_E_ARENA)) printf("%s: TM%d: %s\n", a->name, (int)a->code, a->said);
    else return 0;
    return 1;
}

/* Seconds to compile shape *of of that length. */
static double seconds_of(void *of, size_t length) {
    attempt a;
    size_t  made;
    char   *text;
    memset(&a, 0, sizeof a);
    a.name = "again";
    a.text = text = shape_text(*(size_t *)of, length, &a.len, &made);
    a.is_list = 1;
    (void)run(&a, NULL);
    free(text);
    return a.took;
}

/* Lists of the shapes of the bench: 50 layers or so, then as long as a list gets. */
static int lists(const char *only) {
    static const size_t lengths[] = {60, 300, 20000};
    size_t s, i, made;
    int    bad = 0;
    for (s = 0; s < shape_count(); s++)
        for (i = 0; i < sizeof lengths / sizeof *lengths; i++) {
            attempt a;
            char    name[80];
            char   *text;
            if (!shape_is_list(s)) continue;
            memset(&a, 0, sizeof a);
            sprintf(name, "%s of %lu", shape_name(s), (unsigned long)lengths[i]);
            a.name = name;
            a.text = text = shape_text(s, lengths[i], &a.len, &made);
            a.is_list = 1;
            bad += run(&a, only);
            free(text);
            if (!grows(seconds_of, &s, lengths[i], a.took, 0.3)) continue;
            printf("%s: %.2f s, over eight times as long as a quarter of it\n", name, a.took);
            bad++;
        }
    return bad;
}

/* -- Chains -------------------------------------------------------------------------------------------------- */

typedef struct writing {
    char  *text;
    size_t n, cap;
} writing;

static void put(writing *w, const char *format, ...) {
    va_list list;
    if (w->cap < w->n + 4096) {
        w->cap = w->cap * 2 + 65536;
        w->text = (char *)realloc(w->text, w->cap);
        if (!w->text) abort();
    }
    va_start(list, format);
    w->n += (size_t)vsnprintf(w->text + w->n, 4096, format, list);
    va_end(list);
}

/* One link: '<' is the value before, '>' the one it makes, '$' a name of this link's own, '@' the other operand. */
typedef struct link {
    const char *name, *type, *text;
} link;

#define I "tensor<256xi32>"
#define F "tensor<256xf32>"
#define P "tensor<256x!tt.ptr<f32>>"
#define Q "tensor<16x16xi32>"

static const link links[] = {
    {"cmpi and select", I, "%$c = arith.cmpi slt, <, @ : " I "\n> = arith.select %$c, <, @ : tensor<256xi1>, " I},
    {"select of one condition", I, "> = arith.select %cond, <, @ : tensor<256xi1>, " I},
    {"cmpf and select", F, "%$c = arith.cmpf olt, <, @ : " F "\n> = arith.select %$c, <, @ : tensor<256xi1>, " F},
    {"extsi and trunci", I, "%$c = arith.extsi < : " I " to tensor<256xi64>\n> = arith.trunci %$c : tensor<256xi64> to " I},
    {"extui and trunci", I, "%$c = arith.extui < : " I " to tensor<256xi64>\n> = arith.trunci %$c : tensor<256xi64> to " I},
    {"truncf and extf", F, "%$c = arith.truncf < : " F " to tensor<256xf16>\n> = arith.extf %$c : tensor<256xf16> to " F},
    {"fptosi and sitofp", F, "%$c = arith.fptosi < : " F " to " I "\n> = arith.sitofp %$c : " I " to " F},
    {"fptoui and uitofp", F, "%$c = arith.fptoui < : " F " to " I "\n> = arith.uitofp %$c : " I " to " F},
    {"products with exponentials", F, "%$c = math.exp < : " F "\n> = arith.mulf %$c, < : " F},
    {"bitcasts", I, "%$c = tt.bitcast < : " I " -> " F "\n%$d = arith.negf %$c : " F "\n> = tt.bitcast %$d : " F " -> " I},
    {"logic of truths", "tensor<256xi1>", "%$c = arith.cmpi slt, %range, %other_i : " I "\n> = arith.andi <, %$c : tensor<256xi1>"},
    {"logic of different truths", "tensor<256xi1>", "%$d = arith.extui < : tensor<256xi1> to " I "\n%$c = arith.cmpi slt, %$d, %other_i : " I "\n> = arith.andi <, %$c : tensor<256xi1>"},
    {"trans", Q, "> = tt.trans < {order = array<i32: 1, 0>} : " Q " -> " Q},
    {"reshapes", I, "%$c = tt.reshape < : " I " -> " Q "\n%$d = tt.trans %$c {order = array<i32: 1, 0>} : " Q " -> " Q "\n> = tt.reshape %$d : " Q " -> " I},
    {"expand and broadcast", I, "%$c = tt.expand_dims < {axis = 0 : i32} : " I " -> tensor<1x256xi32>\n"
                                "%$d = tt.broadcast %$c : tensor<1x256xi32> -> tensor<2x256xi32>\n"
                                "%$e = tt.trans %$d {order = array<i32: 1, 0>} : tensor<2x256xi32> -> tensor<256x2xi32>\n"
                                ">, %$f = tt.split %$e : tensor<256x2xi32> -> " I},
    {"join and split", I, "%$c = tt.join <, @ : " I " -> tensor<256x2xi32>\n>, %$d = tt.split %$c : tensor<256x2xi32> -> " I},
    {"addptr", P, "> = tt.addptr <, %other_i : " P ", " I},
    {"addptr by ranges", P, "> = tt.addptr <, %range : " P ", " I},
    {"addptr of scalars", "!tt.ptr<f32>", "> = tt.addptr <, %s : !tt.ptr<f32>, i32"},
    {"pointers as numbers", P, "%$c = tt.ptr_to_int < : " P " -> tensor<256xi64>\n> = tt.int_to_ptr %$c : tensor<256xi64> -> " P},
    {"scalars", "i32", "> = arith.addi <, %s : i32"},
    {"loads", P, "%$c = tt.load < : " P "\n%$d = arith.fptosi %$c : " F " to " I "\n> = tt.addptr <, %$d : " P ", " I},
    {"reductions", I, "%$c = \"tt.reduce\"(<) <{axis = 0 : i32}> ({\n^bb0(%$a: i32, %$b: i32):\n%$s = arith.addi %$a, %$b : i32\n"
                      "tt.reduce.return %$s : i32\n}) : (" I ") -> i32\n%$d = tt.splat %$c : i32 -> " I "\n> = arith.addi <, %$d : " I},
    {"loops in a row", "i32", "> = scf.for %$i = %c0 to %s step %c1 iter_args(%$a = <) -> (i32) : i32 {\n%$b = arith.addi %$a, %$i : i32\nscf.yield %$b : i32\n}"},
    {"branches in a row", "i32", "%$c = arith.cmpi slt, <, %s : i32\n> = scf.if %$c -> (i32) {\n%$a = arith.addi <, %s : i32\nscf.yield %$a : i32\n"
                                 "} else {\nscf.yield < : i32\n}"},
};

static void put_link(writing *w, const link *l, size_t k, const char *first) {
    const char *p;
    put(w, "    ");
    for (p = l->text; *p; p++)
        switch (*p) {
        case '<':
            if (p[1] == '{') put(w, "<"); /* of properties */
            else if (p > l->text && p[-1] >= 'a' && p[-1] <= 'z') put(w, "<"); /* of a type */
            else if (k) put(w, "%%v%lu", (unsigned long)k - 1);
            else put(w, "%s", first);
            break;
        case '>':
            if (p == l->text || p[-1] == '\n') put(w, "%%v%lu", (unsigned long)k);
            else put(w, ">");
            break;
        case '$': put(w, "n%lu", (unsigned long)k); break;
        case '@': put(w, "%s", strchr(l->type, 'f') ? "%other_f" : "%other_i"); break;
        default: put(w, "%c", *p);
        }
    put(w, "\n");
}

/* What a chain starts from. */
enum { FROM_NUMBER, FROM_SCALAR, FROM_RANGE, FROM_MEMORY, FROM_COUNT };
static const char *const from_names[FROM_COUNT] = {"a number", "a scalar", "a range", "memory"};

static const char *first_of(const link *l, int from) {
    static const char *const i32[FROM_COUNT] = {"%one_i", "%other_i", "%range", "%loaded_i"};
    static const char *const f32[FROM_COUNT] = {"%one_f", "%other_f", "%range_f", "%loaded"};
    if (strcmp(l->type, I) == 0) return i32[from];
    if (strcmp(l->type, F) == 0) return f32[from];
    if (strcmp(l->type, Q) == 0) return from == FROM_MEMORY ? "%square_l" : "%square";
    if (strcmp(l->type, P) == 0) return from == FROM_RANGE ? "%yp" : "%ys";
    if (strcmp(l->type, "i32") == 0) return "%s";
    return strcmp(l->type, "tensor<256xi1>") == 0 ? "%cond" : "%y";
}

static void put_end(writing *w, const link *l, size_t n) {
    unsigned long last = (unsigned long)n - 1;
    if (strcmp(l->type, P) == 0) put(w, "    tt.store %%v%lu, %%other_f : " P "\n", last);
    else if (strcmp(l->type, "!tt.ptr<f32>") == 0) put(w, "    %%f = arith.sitofp %%s : i32 to f32\n    tt.store %%v%lu, %%f : !tt.ptr<f32>\n", last);
    else if (strcmp(l->type, "i32") == 0) put(w, "    %%f = arith.sitofp %%v%lu : i32 to f32\n    tt.store %%y, %%f : !tt.ptr<f32>\n", last);
    else if (strcmp(l->type, "tensor<256xi1>") == 0) put(w, "    tt.store %%yp, %%other_f, %%v%lu : " P "\n", last);
    else if (strcmp(l->type, F) == 0) put(w, "    tt.store %%yp, %%v%lu : " P "\n", last);
    else {
        if (strcmp(l->type, Q) == 0) put(w, "    %%flat = tt.reshape %%v%lu : " Q " -> " I "\n", last);
        put(w, "    %%f = arith.sitofp ");
        if (strcmp(l->type, Q) == 0) put(w, "%%flat"); else put(w, "%%v%lu", last);
        put(w, " : " I " to " F "\n    tt.store %%yp, %%f : " P "\n");
    }
    put(w, "    tt.return\n  }\n}\n");
}

static char *chain_text(const link *l, int from, size_t n, size_t *len) {
    writing w;
    size_t  k;
    memset(&w, 0, sizeof w);
    put(&w, "module {\n  tt.func public @chain(%%x: !tt.ptr<f32>, %%y: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %%s: i32, %%t: f32) {\n"
            "    %%c0 = arith.constant 0 : i32\n    %%c1 = arith.constant 1 : i32\n"
            "    %%one_i = arith.constant dense<3> : " I "\n    %%one_f = arith.constant dense<1.5> : " F "\n"
            "    %%other_i = tt.splat %%s : i32 -> " I "\n    %%other_f = tt.splat %%t : f32 -> " F "\n"
            "    %%range = tt.make_range {end = 256 : i32, start = 0 : i32} : " I "\n    %%range_f = arith.sitofp %%range : " I " to " F "\n"
            "    %%cond = arith.cmpi slt, %%range, %%other_i : " I "\n    %%square = tt.reshape %%range : " I " -> " Q "\n"
            "    %%xs = tt.splat %%x : !tt.ptr<f32> -> " P "\n    %%xp = tt.addptr %%xs, %%range : " P ", " I "\n"
            "    %%ys = tt.splat %%y : !tt.ptr<f32> -> " P "\n    %%yp = tt.addptr %%ys, %%range : " P ", " I "\n"
            "    %%loaded = tt.load %%xp : " P "\n    %%loaded_i = arith.fptosi %%loaded : " F " to " I "\n"
            "    %%square_l = tt.reshape %%loaded_i : " I " -> " Q "\n");
    for (k = 0; k < n; k++) put_link(&w, l, k, first_of(l, from));
    put_end(&w, l, n);
    *len = w.n;
    return w.text;
}

/* 0 where even three links are refused and `may` says that this is no fault; else whether a long chain missed. */
static int chain(const link *l, int from, size_t n, int may, const char *only) {
    attempt a;
    char    name[120];
    size_t  i;
    int     bad = 0;
    for (i = 0; i < 2 && !bad; i++) {
        char *text;
        memset(&a, 0, sizeof a);
        sprintf(name, "%s from %s, %lu links", l->name, from_names[from], (unsigned long)(i ? n : 3));
        if (only && !strstr(name, only)) continue;
        a.name = name;
        a.text = text = chain_text(l, from, i ? n : 3, &a.len);
        if (!i && may) {
            a.bytes = tmetal_arena_bound(a.len);
            (void)compile(&a);
            if (a.code != TMETAL_OK) i = 2;
        }
        if (i < 2) bad = run(&a, only);
        free(text);
    }
    return bad;
}

static int chains(size_t n, const char *only) {
    static const char *const types[2] = {I, F};
    size_t i, k;
    int    bad = 0, from;
    for (i = 0; i < sizeof links / sizeof *links; i++)
        for (from = 0; from < FROM_COUNT; from++)
            if (from == FROM_NUMBER || strcmp(first_of(&links[i], from), first_of(&links[i], from - 1)) != 0) bad += chain(&links[i], from, n, 0, only);
    for (i = 0; i < tmetal_op_count(); i++) { /* those that keep their type, as the table gives them */
        tmetal_op_info op = tmetal_op_at(i);
        size_t         form; /* one to three operands, integers and floats: what does not fit is refused */
        for (form = 0; op.lowered && form < 6; form++) {
            char text[200];
            link l;
            sprintf(text, "> = %s <", op.name);
            for (k = 0; k < form / 2; k++) strcat(text, ", @");
            strcat(strcat(text, " : "), types[form % 2]);
            l.name = op.name;
            l.type = types[form % 2];
            l.text = text;
            bad += chain(&l, (int)(i % FROM_COUNT), n, 1, only);
        }
    }
    return bad;
}

int main(int argc, char **argv) {
    const char *only = NULL;
    size_t      n = 40000;
    int         bad, i;
    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) n = 8000;
        else if (strcmp(argv[i], "--only") == 0 && i + 1 < argc) only = argv[++i];
    }
    bad = lists(only) + chains(n, only);
    printf("%-90s\n", bad ? "some missed their bar" : "depth: all within their bars");
    return bad != 0;
}
