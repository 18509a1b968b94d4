/* The builder can make whatever the reader reads: each module of the files given is parsed, made again
 * call by call through tmetal_build_*, and must then be the same, but for names and places.
 *
 *   rebuild FILE.ttir...      or FILE names on standard input, one a line
 *
 * Prints the files that came out different and how many did not. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct again {
    tmetal_builder *b;
    tmi_job        *job; /* for texts of types and attributes */
    tmi_module     *m;   /* the one read */
    uint32_t       *value, *block; /* of each value and block of it, what stands for it */
    uint8_t        *filled;        /* blocks */
} again;

static const char *attr_text(again *a, uint32_t list) {
    tmi_printer p;
    tmi_text    t;
    memset(&p, 0, sizeof p);
    tmi_text_init(a->job, &t);
    p.job = a->job;
    p.m = a->m;
    p.t = &t;
    tmi_print_dict(&p, list);
    return tmi_text_join(&t, 1);
}

static tmetal_type type_of(again *a, uint32_t type) { return tmetal_build_type(a->b, tmi_type_text(a->job, a->m, type)); }

static uint32_t *values(again *a, uint32_t first, uint32_t n) {
    uint32_t *v = TMI_TEMP(a->job, uint32_t, n + 1), i;
    for (i = 0; i < n; i++) v[i] = a->value[TMI_ID(a->m, first + i)];
    return v;
}

static uint32_t *types(again *a, uint32_t first, uint32_t n) {
    uint32_t *t = TMI_TEMP(a->job, uint32_t, n + 1), i;
    for (i = 0; i < n; i++) t[i] = type_of(a, tmi_value_type(a->m, TMI_ID(a->m, first + i)));
    return t;
}

static int known(const again *a, uint32_t first, uint32_t n) {
    uint32_t i;
    for (i = 0; i < n; i++)
        if (!a->value[TMI_ID(a->m, first + i)]) return 0;
    return 1;
}

static void region_of_blocks(again *a, uint32_t region);

static void bind_results(again *a, const tmi_op *op, tmetal_value first) {
    uint32_t i;
    for (i = 0; i < op->n_out; i++) a->value[tmi_out(a->m, op, i)] = i ? tmetal_build_result(a->b, first, i) : first;
}

static void body_args(again *a, uint32_t block) {
    uint32_t i;
    for (i = 0; i < TMI_BLOCK(a->m, block)->n_arg; i++) a->value[tmi_block_arg(a->m, block, i)] = tmetal_build_body_arg(a->b, i);
}

/* The block that the op around it closes: of several the one that yields, wherever it stands. */
static uint32_t closing_block(const again *a, uint32_t region) {
    uint32_t b, last = TMI_REGION(a->m, region)->last_block;
    for (b = TMI_REGION(a->m, region)->first_block; b; b = TMI_BLOCK(a->m, b)->next)
        if (TMI_OP(a->m, TMI_BLOCK(a->m, b)->last_op)->kind == TMI_OP_YIELD) last = b;
    return last;
}

static void op_again(again *a, uint32_t id) {
    const tmi_op *op = TMI_OP(a->m, id), *end;
    const char   *attrs = attr_text(a, op->attr);
    uint32_t     *in = values(a, op->in, op->n_in), *out = types(a, op->out, op->n_out), r;
    int           given = op->kind == TMI_OP_IF || op->kind == TMI_OP_MAP || op->kind == TMI_OP_EXECUTE;
    if (!tmi_makes_region(op->kind)) {
        bind_results(a, op, tmetal_build_op_n(a->b, tmi_ops[op->kind].name, in, op->n_in, attrs, out, op->n_out));
        return;
    }
    tmetal_build_open(a->b, tmi_ops[op->kind].name, in, op->n_in, attrs, given ? out : NULL, given ? op->n_out : 0);
    for (r = op->region; r; r = TMI_REGION(a->m, r)->next) {
        uint32_t last = closing_block(a, r);
        body_args(a, TMI_REGION(a->m, r)->first_block);
        region_of_blocks(a, r);
        end = TMI_OP(a->m, TMI_BLOCK(a->m, last)->last_op);
        in = values(a, end->in, end->n_in);
        if (TMI_REGION(a->m, r)->next) tmetal_build_next(a->b, in, end->n_in);
        else bind_results(a, op, tmetal_build_close(a->b, in, end->n_in));
    }
}

static void end_again(again *a, const tmi_op *op) {
    const tmi_succ *s = op->n_succ ? TMI_SUCC(a->m, op->succ) : NULL, *t = op->n_succ > 1 ? TMI_SUCC(a->m, op->succ + 1) : NULL;
    if (op->kind == TMI_OP_RETURN) tmetal_build_return(a->b, values(a, op->in, op->n_in), op->n_in);
    else if (op->kind == TMI_OP_BR) tmetal_build_branch(a->b, a->block[s->block], values(a, s->in, s->n_in), s->n_in);
    else if (op->kind == TMI_OP_COND_BR)
        tmetal_build_branch_if(a->b, a->value[tmi_in(a->m, op, 0)], a->block[s->block], values(a, s->in, s->n_in), s->n_in, a->block[t->block],
                               values(a, t->in, t->n_in), t->n_in);
    /* any other is made by what opened the region */
}

static int block_is_ready(const again *a, uint32_t block) { /* are all values from other blocks there? */
    uint32_t op, k;
    for (op = TMI_BLOCK(a->m, block)->first_op; op; op = TMI_OP(a->m, op)->next) {
        const tmi_op *o = TMI_OP(a->m, op);
        for (k = 0; k < o->n_in; k++) {
            uint32_t v = tmi_in(a->m, o, k);
            if (!known(a, o->in + k, 1) && (TMI_VALUE(a->m, v)->is_arg || TMI_OP(a->m, TMI_VALUE(a->m, v)->def)->block != block)) return 0;
        }
    }
    return 1;
}

static void fill(again *a, uint32_t block) {
    uint32_t op;
    for (op = TMI_BLOCK(a->m, block)->first_op; op; op = TMI_OP(a->m, op)->next) {
        tmi_mark mark = tmi_mark_take(a->job);
        if (tmi_ops[TMI_OP(a->m, op)->kind].traits & TMI_ENDS) end_again(a, TMI_OP(a->m, op));
        else op_again(a, op);
        tmi_mark_drop(a->job, mark);
    }
}

static void region_of_blocks(again *a, uint32_t region) {
    uint32_t first = TMI_REGION(a->m, region)->first_block, last = closing_block(a, region), b, i, left = 0, moved;
    int      closed = TMI_OP(a->m, TMI_REGION(a->m, region)->op)->kind == TMI_OP_EXECUTE;
    for (b = TMI_BLOCK(a->m, first)->next; b; b = TMI_BLOCK(a->m, b)->next, left++) {
        a->block[b] = tmetal_build_block(a->b, types(a, TMI_BLOCK(a->m, b)->arg, TMI_BLOCK(a->m, b)->n_arg), TMI_BLOCK(a->m, b)->n_arg);
        for (i = 0; i < TMI_BLOCK(a->m, b)->n_arg; i++) a->value[tmi_block_arg(a->m, b, i)] = tmetal_build_block_arg(a->b, a->block[b], i);
    }
    fill(a, first);
    do { /* in an order in which values exist before they are read; the block of scf.execute_region that yields is closed by its op */
        moved = 0;
        for (b = TMI_BLOCK(a->m, first)->next; b; b = TMI_BLOCK(a->m, b)->next) {
            if (a->filled[b] || (closed && b == last && left > 1) || !block_is_ready(a, b)) continue;
            tmetal_build_enter(a->b, a->block[b]);
            fill(a, b);
            a->filled[b] = 1;
            left--;
            moved = 1;
        }
    } while (moved);
}

/* Attributes that tmetal_build_kernel and _func make themselves. */
static uint32_t other_attrs(again *a, uint32_t list) {
    static const char *const own[] = {"sym_name", "sym_visibility", "function_type", "arg_attrs"};
    uint32_t first = 0, last = 0, i, k, id;
    for (i = list; i; i = TMI_NAMED(a->m, i)->next) {
        for (k = 0; k < 4 && strcmp(own[k], TMI_STR(a->m, TMI_NAMED(a->m, i)->name)) != 0; k++) {}
        if (k < 4) continue;
        id = a->m->named->n;
        *(tmi_named *)tmi_vec_add(a->job, a->m->named) = *TMI_NAMED(a->m, i);
        TMI_NAMED(a->m, id)->next = 0;
        if (last) TMI_NAMED(a->m, last)->next = id;
        else first = id;
        last = id;
    }
    return first;
}

static void func_again(again *a, uint32_t id) {
    const tmi_op   *op = TMI_OP(a->m, id);
    const tmi_type *t = TMI_TYPE(a->m, tmi_attr_of(a->m, op, "function_type")->type);
    const tmi_attr *list = tmi_attr_of(a->m, op, "arg_attrs");
    uint32_t        body = tmi_op_body(a->m, op, 0), i, n = t->bits, *ty = TMI_TEMP(a->job, uint32_t, t->n_dims + 1), rest;
    for (i = 0; i < t->n_dims; i++) ty[i] = type_of(a, TMI_ID(a->m, t->dims + i));
    if (strcmp(tmi_attr_str(a->m, op, "sym_visibility"), "private") == 0)
        tmetal_build_func(a->b, tmi_attr_str(a->m, op, "sym_name"), ty, NULL, n, ty + n, t->n_dims - n);
    else tmetal_build_kernel(a->b, tmi_attr_str(a->m, op, "sym_name"), ty, NULL, n);
    for (i = 0; i < n; i++) {
        uint32_t dict = (uint32_t)TMI_ATTR(a->m, TMI_ID(a->m, (uint32_t)list->value + i))->value;
        a->value[tmi_block_arg(a->m, body, i)] = tmetal_build_arg(a->b, i);
        if (dict) tmetal_build_arg_attrs(a->b, i, attr_text(a, dict));
    }
    rest = other_attrs(a, op->attr);
    if (rest) tmetal_build_attrs(a->b, attr_text(a, rest));
    region_of_blocks(a, op->region);
}

static void forget(tmi_module *m) { /* names and places */
    uint32_t i;
    for (i = 1; i < m->value.n; i++) TMI_VALUE(m, i)->name = TMI_VALUE(m, i)->loc = 0;
    for (i = 1; i < m->op.n; i++) TMI_OP(m, i)->loc = 0;
}

/* A function without visibility is public. */
static void say_public(tmi_job *job, tmi_module *m) {
    uint32_t op;
    for (op = TMI_BLOCK(m, tmi_op_body(m, TMI_OP(m, m->top), 0))->first_op; op; op = TMI_OP(m, op)->next)
        if (TMI_OP(m, op)->kind == TMI_OP_FUNC && !tmi_attr_of(m, TMI_OP(m, op), "sym_visibility"))
            tmi_op_set_attr(job, m, op, "sym_visibility", tmi_attr_new(job, m, TMI_A_STRING, 0, tmi_intern(job, m->strings, "public", 6)));
}

static void op_name_last(const tmetal_module *m, char *name, size_t n) {
    snprintf(name, n, "%s", m->op.n > 1 ? tmi_ops[TMI_OP(m, m->op.n - 1)->kind].name : "nothing");
}

static int file_again(const char *path, char *memory, size_t half) {
    static char   text[16 << 20];
    tmetal_arena  arena = tmetal_arena_on(memory, half), other = tmetal_arena_on(memory + half, half), scratch;
    tmetal_result r;
    tmetal_module *m, *built;
    tmi_job        job;
    again          a;
    uint32_t       op;
    FILE          *f = fopen(path, "rb");
    size_t         n = f ? fread(text, 1, sizeof text, f) : 0;
    char           name[64];
    if (!f) return printf("%s: cannot be read\n", path), 0;
    fclose(f);
    if (tmetal_parse(text, n, NULL, &arena, &m, &r) != TMETAL_OK) return printf("%s: is not right: %s\n", path, r.diags[0].message), 0;
    memset(&a, 0, sizeof a);
    if (!tmi_entry_begin(&job, &arena, NULL, &r)) return printf("%s: no memory\n", path), 0;
    a.job = &job;
    a.m = m;
    a.value = TMI_TEMP(&job, uint32_t, m->value.n);
    a.block = TMI_TEMP(&job, uint32_t, m->block.n);
    a.filled = TMI_TEMP(&job, uint8_t, m->block.n);
    a.b = tmetal_build_begin(&other);
    forget(m);
    say_public(&job, m);
    if (TMI_OP(m, m->top)->attr) tmetal_build_attrs(a.b, attr_text(&a, TMI_OP(m, m->top)->attr));
    for (op = TMI_BLOCK(m, tmi_op_body(m, TMI_OP(m, m->top), 0))->first_op; op; op = TMI_OP(m, op)->next)
        if (tmi_op_body(m, TMI_OP(m, op), 0)) func_again(&a, op);
        else return printf("%s: has a declaration, which no builder makes\n", path), 0;
    op_name_last(a.b->m, name, sizeof name);
    if (tmetal_build_end(a.b, &built, &r) != TMETAL_OK) {
        const char *say = tmetal_diag_text(&r.diags[0], &other);
        printf("%s: after %s: %s", path, name, say ? say : "no memory\n");
        return 0;
    }
    forget(built);
    scratch = tmetal_arena_on(memory + half + other.used, half - other.used);
    if (tmetal_same(m, built, &scratch)) return 1;
    printf("%s: came out different\n", path);
    return 0;
}

int main(int argc, char **argv) {
    size_t half = (size_t)1 << 30;
    char  *memory = (char *)malloc(2 * half), line[4096];
    int    i, files = 0, same = 0;
    if (!memory) return 2;
    for (i = 1; i < argc; i++, files++) same += file_again(argv[i], memory, half);
    while (argc < 2 && fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        same += file_again(line, memory, half);
        files++;
    }
    printf("rebuild: %d of %d modules came out the same\n", same, files);
    free(memory);
    return same == files && files ? 0 : 1;
}
