/* The builder, call by call: the input is a program for a small machine whose instructions are calls. Most of them take
 * operands that fit, so that long programs come to an end; some take anything. */
#include "fuzz.h"

#include <stdio.h>

static const char *op_name(size_t i) { return i < tmetal_op_count() ? tmetal_op_at(i).name : NULL; }
static const char *const more[] = {"{axis = 0 : i32}", "{predicate = \"slt\"}", "{value = dense<1> : tensor<8xi32>}", "{callee = @f}", NULL};
const fuzz_about fuzz_target = {"builder", op_name, more};

/* What is known of a value's type: element, and the dimensions as powers of two. */
static const char *const elems[] = {"i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64", "!tt.ptr<f32>", "!tt.ptr<i32>", "!tt.ptr<f16>"};
enum { I1, I8, I16, I32, I64, F16, BF16, F32, F64, P_F32, P_I32, P_F16, ELEMS };
typedef struct kind {
    uint8_t elem, rank, dim[3];
} kind;
typedef struct item {
    tmetal_value v;
    kind         k;
} item;

enum { MOST = 200, DEEP = 12 };
typedef struct machine {
    fuzz_in         in;
    tmetal_builder *b;
    item            item[MOST];
    uint32_t        n, n_open, n_func, n_block;
    struct {
        uint32_t from, op;
        kind     k, gives; /* what it yields, and its result */
        int      is_second;
    } open[DEEP];
    tmetal_block block[8];
} machine;

static tmetal_type type_of(machine *m, kind k) {
    char     text[120] = "";
    uint32_t i;
    if (k.rank) strcpy(text, "tensor<");
    for (i = 0; i < k.rank; i++) sprintf(text + strlen(text), "%ux", 1u << k.dim[i]);
    strcat(strcat(text, elems[k.elem]), k.rank ? ">" : "");
    return tmetal_build_type(m->b, text);
}

static void keep(machine *m, tmetal_value v, kind k) {
    if (m->n == MOST) m->n--;
    m->item[m->n].v = v;
    m->item[m->n++].k = k;
}

static item any(machine *m) {
    static const item none = {0, {I32, 0, {0, 0, 0}}};
    return m->n ? m->item[m->n - 1 - fuzz_below(&m->in, m->n)] : none;
}

static int same(kind a, kind b) { return memcmp(&a, &b, sizeof a) == 0; }

/* A value of this kind: one that is there, else a constant. */
static tmetal_value like(machine *m, kind k) {
    uint32_t i, skip = fuzz_below(&m->in, 4);
    for (i = m->n; i-- > 0;)
        if (same(m->item[i].k, k) && !skip--) return m->item[i].v;
    for (i = m->n; i-- > 0;)
        if (same(m->item[i].k, k)) return m->item[i].v;
    if (k.elem >= P_F32) return 0;
    return k.elem >= F16 ? tmetal_build_float(m->b, type_of(m, k), (double)fuzz_byte(&m->in) - 1.5) : tmetal_build_int(m->b, type_of(m, k), (int64_t)fuzz_byte(&m->in) - 3);
}

static kind with(kind k, uint32_t elem) { return k.elem = (uint8_t)elem, k; }

static void emit(machine *m, const char *op, const tmetal_value *in, uint32_t n, const char *attrs, kind k, int is_typed) {
    tmetal_type  type = is_typed ? type_of(m, k) : 0;
    tmetal_value v = tmetal_build_op(m->b, op, in, n, attrs, type);
    keep(m, v, k);
}

static void binary(machine *m) {
    static const char *const ints[] = {"arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori", "arith.shli", "arith.shrsi", "arith.shrui",
                                       "arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.maxsi", "arith.minui"};
    static const char *const floats[] = {"arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.remf", "arith.maximumf", "arith.minnumf", "arith.maxnumf"};
    static const char *const orders[] = {"{predicate = \"slt\"}", "{predicate = \"eq\"}", "{predicate = \"uge\"}", "{predicate = \"ne\"}"};
    static const char *const forders[] = {"{predicate = \"olt\"}", "{predicate = \"une\"}", "{predicate = \"uno\"}", "{predicate = \"oge\"}"};
    item         a = any(m);
    tmetal_value in[2];
    uint32_t     how = fuzz_byte(&m->in);
    if (a.k.elem >= P_F32) return;
    in[0] = a.v;
    in[1] = like(m, a.k);
    if (how & 1) emit(m, a.k.elem >= F16 ? "arith.cmpf" : "arith.cmpi", in, 2, a.k.elem >= F16 ? forders[how / 2 % 4] : orders[how / 2 % 4], with(a.k, I1), 0);
    else if (a.k.elem >= F16) emit(m, floats[how / 2 % 8], in, 2, NULL, a.k, 0);
    else emit(m, ints[how / 2 % 15], in, 2, NULL, a.k, 0);
}

static void unary(machine *m) {
    static const char *const ops[] = {"math.exp", "math.sqrt", "math.sin", "math.erf", "arith.negf", "math.floor", "math.log2", "math.absf"};
    item a = any(m);
    if (a.k.elem >= F16 && a.k.elem <= F64) emit(m, ops[fuzz_below(&m->in, 8)], &a.v, 1, NULL, a.k, 0);
}

static void cast(machine *m) {
    static const uint8_t bits[] = {1, 8, 16, 32, 64, 16, 16, 32, 64};
    item        a = any(m);
    uint32_t    to = fuzz_below(&m->in, 9), was_float = a.k.elem >= F16, is_float = to >= F16;
    const char *op;
    if (a.k.elem >= P_F32 || to == a.k.elem) return;
    if (was_float && is_float) op = bits[to] > bits[a.k.elem] ? "arith.extf" : bits[to] < bits[a.k.elem] ? "arith.truncf" : "tt.bitcast";
    else if (was_float) op = "arith.fptosi";
    else if (is_float) op = a.k.elem == I1 ? "arith.uitofp" : "arith.sitofp";
    else op = bits[to] > bits[a.k.elem] ? "arith.extui" : "arith.trunci";
    emit(m, op, &a.v, 1, NULL, with(a.k, to), 1);
}

static void shape(machine *m) {
    item         a = any(m);
    kind         k = a.k;
    uint32_t     i, axis;
    char         attrs[100];
    tmetal_value in[2];
    switch (fuzz_below(&m->in, 7)) {
    case 0: /* a range */
        k.elem = I32, k.rank = 1, k.dim[0] = (uint8_t)fuzz_below(&m->in, 12);
        sprintf(attrs, "{start = 0 : i32, end = %u : i32}", 1u << k.dim[0]);
        emit(m, "tt.make_range", NULL, 0, attrs, k, 1);
        break;
    case 1: /* a splat */
        if (k.rank) return;
        k.rank = (uint8_t)(1 + fuzz_below(&m->in, 3));
        for (i = 0; i < k.rank; i++) k.dim[i] = (uint8_t)fuzz_below(&m->in, 7);
        emit(m, "tt.splat", &a.v, 1, NULL, k, 1);
        break;
    case 2: /* one more axis */
        if (k.rank == 3 || !k.rank) return;
        axis = fuzz_below(&m->in, k.rank + 1u);
        for (i = k.rank++; i > axis; i--) k.dim[i] = k.dim[i - 1];
        k.dim[axis] = 0;
        sprintf(attrs, "{axis = %u : i32}", axis);
        emit(m, "tt.expand_dims", &a.v, 1, attrs, k, 0);
        break;
    case 3: /* axes of one element stretched */
        for (i = 0; i < k.rank; i++)
            if (!k.dim[i]) k.dim[i] = (uint8_t)fuzz_below(&m->in, 7);
        if (k.rank) emit(m, "tt.broadcast", &a.v, 1, NULL, k, 1);
        break;
    case 4:
        if (k.rank != 2) return;
        k.dim[0] = a.k.dim[1], k.dim[1] = a.k.dim[0];
        emit(m, "tt.trans", &a.v, 1, "{order = array<i32: 1, 0>}", k, 0);
        break;
    case 5: /* all in a row */
        if (k.rank < 2) return;
        k.dim[0] = (uint8_t)(k.dim[0] + k.dim[1] + (k.rank == 3 ? k.dim[2] : 0));
        k.rank = 1;
        emit(m, "tt.reshape", &a.v, 1, NULL, k, 1);
        break;
    default: /* a product */
        if (k.rank != 2 || k.elem < F16 || k.elem > F32) return;
        in[0] = a.v;
        k.dim[0] = a.k.dim[1], k.dim[1] = (uint8_t)(3 + fuzz_below(&m->in, 4));
        in[1] = like(m, k);
        {
            tmetal_value three[3];
            k.dim[0] = a.k.dim[0], k.elem = F32;
            three[0] = in[0], three[1] = in[1], three[2] = like(m, k);
            emit(m, "tt.dot", three, 3, NULL, k, 0);
        }
    }
}

static void memory(machine *m) {
    static const uint8_t of[] = {F32, I32, F16};
    item         a = any(m);
    tmetal_value in[3];
    uint32_t     n = 2, how = fuzz_byte(&m->in);
    if (a.k.elem < P_F32) { /* its own kind of pointer, from the first argument */
        kind scalar = {P_F32, 0, {0, 0, 0}};
        scalar.elem = (uint8_t)(P_F32 + how % 3);
        in[0] = like(m, scalar);
        if (!in[0] || !a.k.rank) return;
        emit(m, "tt.splat", in, 1, NULL, with(a.k, scalar.elem), 1);
        return;
    }
    in[0] = a.v;
    switch (how % 3) {
    case 0:
        in[1] = like(m, with(a.k, how & 4 ? I64 : I32));
        emit(m, "tt.addptr", in, 2, NULL, a.k, 0);
        break;
    case 1:
        if (how & 4) in[n - 1] = like(m, with(a.k, I1));
        else n = 1;
        emit(m, "tt.load", in, n, NULL, with(a.k, of[a.k.elem - P_F32]), 0);
        break;
    default:
        in[1] = like(m, with(a.k, of[a.k.elem - P_F32]));
        if (how & 4) in[n++] = like(m, with(a.k, I1));
        (void)tmetal_build_op(m->b, "tt.store", in, n, NULL, 0);
    }
}

/* -- Regions --------------------------------------------------------------------------------------------- */

enum { FOR, IF, WHILE, REDUCE, SCAN, EXECUTE, OPS };

static void open_region(machine *m) {
    static const char *const names[] = {"scf.for", "scf.if", "scf.while", "tt.reduce", "tt.scan", "scf.execute_region"};
    static const kind index = {I32, 0, {0, 0, 0}}, truth = {I1, 0, {0, 0, 0}};
    item         a = any(m);
    uint32_t     op = fuzz_below(&m->in, OPS), n = 0, i, from = m->n;
    kind         inner = a.k;
    tmetal_value in[4];
    tmetal_type  type;
    char         attrs[60] = "";
    if (m->n_open == DEEP || (a.k.elem >= P_F32 && op >= REDUCE)) return;
    if (op == FOR) in[0] = like(m, index), in[1] = like(m, index), in[2] = like(m, index), n = 3;
    if (op == IF) in[n++] = like(m, truth);
    if (op == FOR || op == WHILE || op == REDUCE || op == SCAN) in[n++] = a.v;
    if (op == REDUCE || op == SCAN) {
        if (!a.k.rank) return;
        i = fuzz_below(&m->in, a.k.rank);
        sprintf(attrs, op == SCAN ? "{axis = %u : i32, reverse = false}" : "{axis = %u : i32}", i);
        inner.rank = 0;
        memset(inner.dim, 0, sizeof inner.dim);
        if (op == REDUCE) {
            for (; i + 1 < a.k.rank; i++) a.k.dim[i] = a.k.dim[i + 1];
            a.k.dim[--a.k.rank] = 0;
        }
    }
    type = type_of(m, a.k);
    tmetal_build_open(m->b, names[op], in, n, *attrs ? attrs : NULL, op == IF || op == EXECUTE ? &type : NULL, op == IF || op == EXECUTE);
    if (op == FOR) keep(m, tmetal_build_body_arg(m->b, 0), index), keep(m, tmetal_build_body_arg(m->b, 1), a.k);
    if (op == WHILE) keep(m, tmetal_build_body_arg(m->b, 0), a.k);
    if (op == REDUCE || op == SCAN) keep(m, tmetal_build_body_arg(m->b, 0), inner), keep(m, tmetal_build_body_arg(m->b, 1), inner);
    m->open[m->n_open].from = from;
    m->open[m->n_open].op = op;
    m->open[m->n_open].k = op == REDUCE || op == SCAN ? inner : a.k;
    m->open[m->n_open].is_second = 0;
    m->open[m->n_open].gives = a.k;
    m->n_open++;
}

static void close_region(machine *m) {
    uint32_t     at;
    kind         k;
    tmetal_value v[2];
    if (!m->n_open) return;
    at = m->n_open - 1;
    k = m->open[at].k;
    if ((m->open[at].op == IF || m->open[at].op == WHILE) && !m->open[at].is_second) {
        kind truth = {I1, 0, {0, 0, 0}};
        v[0] = like(m, truth);
        v[1] = like(m, k);
        m->open[at].is_second = 1;
        if (m->open[at].op == IF) tmetal_build_next(m->b, v + 1, 1);
        else tmetal_build_next(m->b, v, 2);
        m->n = m->open[at].from;
        if (m->open[at].op == WHILE) keep(m, tmetal_build_body_arg(m->b, 0), k);
        return;
    }
    v[0] = like(m, k);
    v[1] = tmetal_build_close(m->b, v, 1);
    m->n_open--;
    m->n = m->open[at].from;
    keep(m, v[1], m->open[at].gives);
}

/* -- Functions, blocks, and what fits nowhere ------------------------------------------------------------ */

static void begin(machine *m) {
    static const uint8_t args[] = {P_F32, P_F32, P_I32, P_F16, I32, F32};
    tmetal_type type[6];
    char        name[20];
    uint32_t    i;
    for (i = 0; i < 6; i++) {
        kind k = {args[i], 0, {0, 0, 0}};
        type[i] = type_of(m, k);
    }
    sprintf(name, "k%u", m->n_func++);
    if (fuzz_below(&m->in, 4) == 3) tmetal_build_func(m->b, name, type, NULL, 6, type + 5, 1);
    else tmetal_build_kernel(m->b, name, type, NULL, 6);
    m->n = m->n_open = m->n_block = 0;
    for (i = 0; i < 6; i++) {
        kind k = {args[i], 0, {0, 0, 0}};
        keep(m, tmetal_build_arg(m->b, i), k);
    }
    if (fuzz_byte(&m->in) & 1) tmetal_build_divisible(m->b, 0, 16);
}

static void blocks(machine *m) {
    static const kind truth = {I1, 0, {0, 0, 0}};
    item         a = any(m);
    tmetal_block x = m->block[fuzz_below(&m->in, m->n_block)], y = m->block[fuzz_below(&m->in, m->n_block)];
    tmetal_type  type;
    switch (fuzz_below(&m->in, 4)) {
    case 0:
        type = type_of(m, a.k);
        if (m->n_block < 8) m->block[m->n_block++] = tmetal_build_block(m->b, &type, fuzz_byte(&m->in) & 1);
        break;
    case 1: tmetal_build_branch(m->b, x, &a.v, fuzz_byte(&m->in) & 1); break;
    case 2: tmetal_build_branch_if(m->b, like(m, truth), x, &a.v, fuzz_byte(&m->in) & 1, y, NULL, 0); break;
    default:
        tmetal_build_enter(m->b, x);
        keep(m, tmetal_build_block_arg(m->b, x, 0), a.k);
    }
}

static void wild(machine *m) {
    tmetal_value in[4];
    tmetal_type  types[3];
    uint32_t     n = fuzz_below(&m->in, 5), i, k;
    const char  *op = tmetal_op_at(fuzz_number(&m->in) % tmetal_op_count()).name, *text;
    for (i = 0; i < n; i++) in[i] = fuzz_byte(&m->in) & 128 ? fuzz_number(&m->in) : any(m).v;
    k = fuzz_below(&m->in, 4);
    text = fuzz_text(&m->in);
    for (i = 0; i < k; i++) types[i] = fuzz_byte(&m->in) & 1 ? fuzz_number(&m->in) : type_of(m, any(m).k);
    switch (fuzz_below(&m->in, 14)) {
    case 0: keep(m, tmetal_build_op(m->b, op, in, n, text, k ? types[0] : 0), any(m).k); break;
    case 1: keep(m, tmetal_build_op_n(m->b, op, in, n, text, types, k), any(m).k); break;
    case 2: tmetal_build_open(m->b, op, in, n, text, types, k); break;
    case 3: tmetal_build_next(m->b, in, n); break;
    case 4: (void)tmetal_build_close(m->b, in, n); break;
    case 5: (void)tmetal_build_body_arg(m->b, fuzz_number(&m->in)); break;
    case 6: (void)tmetal_build_type(m->b, text ? text : ""); break;
    case 7: tmetal_build_attrs(m->b, text ? text : "{}"); break;
    case 8: tmetal_build_arg_attrs(m->b, fuzz_byte(&m->in), text ? text : "{}"); break;
    case 9: tmetal_build_place(m->b, text, fuzz_number(&m->in), k); break;
    case 10: tmetal_build_name(m->b, any(m).v, text ? text : ""); break;
    case 11: (void)tmetal_build_result(m->b, any(m).v, fuzz_number(&m->in)); break;
    case 12: tmetal_build_divisible(m->b, fuzz_byte(&m->in), fuzz_number(&m->in)); break;
    default: tmetal_build_kernel(m->b, text ? text : "", types, NULL, k); break;
    }
}

static void step(machine *m) {
    item a;
    switch (fuzz_byte(&m->in) % 16) {
    case 0: case 1: case 2: binary(m); break;
    case 3: unary(m); break;
    case 4: cast(m); break;
    case 5: case 6: shape(m); break;
    case 7: case 8: memory(m); break;
    case 9: open_region(m); break;
    case 10: close_region(m); break;
    case 11: blocks(m); break;
    case 12:
        a = any(m);
        if (fuzz_byte(&m->in) & 1) tmetal_build_return(m->b, &a.v, 1);
        else while (m->n_open) close_region(m), tmetal_build_return(m->b, NULL, 0);
        begin(m);
        break;
    case 13: case 14: {
        static const kind k = {I32, 0, {0, 0, 0}};
        emit(m, "tt.get_program_id", NULL, 0, fuzz_byte(&m->in) & 1 ? "{axis = 0 : i32}" : "{axis = 2 : i32}", k, 0);
        break;
    }
    default: wild(m); break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    machine        m;
    tmetal_arena   arena, other;
    tmetal_module *module, *again;
    tmetal_options opt;
    tmetal_result  r;
    const char    *text;
    size_t         n;
    fuzz_begin();
    memset(&m, 0, sizeof m);
    m.in.p = data;
    m.in.n = size;
    arena = fuzz_arena((size_t)1 << 21);
    m.b = tmetal_build_begin(&arena);
    if (!m.b) return 0;
    begin(&m);
    while (m.in.n) step(&m);
    while (m.n_open) close_region(&m), close_region(&m);
    tmetal_build_return(m.b, NULL, 0);
    (void)tmetal_build_end(m.b, &module, &r);
    fuzz_result(&r, FUZZ_MAY_BE_FULL);
    if (!module) return 0;
    m.in.p = data, m.in.n = size < 8 ? size : 8;
    fuzz_options(&m.in, &opt);
    if (tmetal_print(module, &arena, &text, &n, &r) == TMETAL_OK) {
        other = fuzz_arena(tmetal_arena_bound(n));
        if (tmetal_parse(text, n, NULL, &other, &again, &r) != TMETAL_OK) fuzz_fail("what was built and printed is not read", r.diags[0].message);
    }
    other = fuzz_arena((size_t)1 << 22);
    (void)tmetal_emit(module, &opt, &other, &r);
    fuzz_result(&r, FUZZ_MAY_BE_FULL);
    fuzz_reports(&r, &other);
    return 0;
}
