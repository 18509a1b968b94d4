/* From text to a program: the one file that looks into tmetal.h. */
#define TMETAL_IMPLEMENTATION
#include "tmetal.h"

#include "program.h"

#include <stdio.h>
#include <stdlib.h>

/* -- Memory: chunks that live as long as the module ------------------------------ */

typedef struct chunk {
    struct chunk *next;
    size_t        used, size;
} chunk;

static void *take(ti_module *m, size_t count, size_t size) {
    size_t bytes = (count * size + 15) & ~(size_t)15;
    chunk *c = (chunk *)m->chunks;
    char  *at;
    if (!c || c->size - c->used < bytes) {
        size_t room = bytes > 65536 ? bytes : 65536;
        c = (chunk *)malloc(sizeof *c + 16 + room);
        if (!c) {
            fputs("interp: out of memory\n", stderr);
            exit(2);
        }
        c->next = (chunk *)m->chunks;
        c->used = 0;
        c->size = room;
        m->chunks = c;
    }
    at = (char *)c + ((sizeof *c + 15) & ~(size_t)15) + c->used;
    c->used += bytes;
    return memset(at, 0, bytes);
}

#define TAKE(m, type, count) ((type *)take((m), (count), sizeof(type)))

static const char *keep(ti_module *m, const char *text) {
    size_t n = strlen(text) + 1;
    return (const char *)memcpy(take(m, n, 1), text, n);
}

void ti_free(ti_module *m) {
    chunk *c, *next;
    if (!m) return;
    for (c = (chunk *)m->chunks; c; c = next) {
        next = c->next;
        free(c);
    }
    free(m);
}

/* -- Reading through tmetal's interface --------------------------------------------- */

/* An arena that grows until tmetal has enough; the module lives in it. */
typedef struct reading {
    void          *memory;
    tmetal_arena   arena;
    tmetal_module *module;
    tmetal_result  result;
} reading;

static int read_once(reading *r, const char *text, size_t len, size_t bytes) {
    tmetal_code code;
    r->memory = malloc(bytes);
    if (!r->memory) return TMETAL_E_ARENA;
    r->arena = tmetal_arena_on(r->memory, bytes);
    code = tmetal_parse(text, len, NULL, &r->arena, &r->module, &r->result);
    if (code == TMETAL_OK) code = tmetal_verify(r->module, NULL, &r->arena, &r->result);
    return (int)code;
}

static int begin_reading(reading *r, const char *text, size_t len, size_t extra, char *why, size_t why_size) {
    size_t bytes = (size_t)1 << 20;
    int    code;
    memset(r, 0, sizeof *r);
    while (bytes < len * 64 + extra) bytes *= 2;
    for (; (code = read_once(r, text, len, bytes)) == TMETAL_E_ARENA && bytes < (size_t)1 << 34; bytes *= 4) free(r->memory);
    if (code == TMETAL_OK) return 1;
    if (r->result.n_diags)
        snprintf(why, why_size, "%u:%u: TM%d: %s", r->result.diags[0].ir.line, r->result.diags[0].ir.col,
                 (int)r->result.diags[0].code, r->result.diags[0].message);
    else snprintf(why, why_size, "TM%d", code);
    free(r->memory);
    return 0;
}

/* -- Types ------------------------------------------------------------------------------ */

typedef struct translator {
    ti_module        *to;
    const tmi_module *m;
    const char       *text;
    size_t            len, at; /* `at`, `line`: where the last line count stopped */
    unsigned          line;
    unsigned         *slot;       /* of tmetal's values, in the function at hand */
    ti_block        **block;      /* of tmetal's blocks */
    const ti_type   **slot_types; /* unused beyond translation */
    unsigned          n_slots;
} translator;

static ti_type *type_of(translator *t, uint32_t id);

static void scalar_type(translator *t, ti_type *to, const tmi_type *from) {
    to->bits = from->bits;
    switch (from->kind) {
    case TMI_T_INT:
        to->kind = TI_INT;
        to->is_unsigned = from->sign == 2;
        break;
    case TMI_T_INDEX:
        to->kind = TI_INT;
        to->bits = 64;
        break;
    case TMI_T_FLOAT:
        to->kind = TI_FLOAT;
        to->format = ti_format_named(tmi_float_names[from->format]);
        if (!to->format) to->kind = TI_NOTHING;
        break;
    case TMI_T_PTR:
        to->to = type_of(t, from->elem);
        to->kind = to->to->is_tensor ? TI_BLOCK_PTR : TI_PTR;
        to->bits = 64;
        break;
    case TMI_T_DESC:
        to->to = type_of(t, from->elem);
        to->kind = TI_DESC;
        to->bits = 64;
        break;
    default: to->kind = TI_NOTHING; break;
    }
}

static void type_text(translator *t, ti_type *to, uint32_t id) {
    char         memory[4096];
    tmetal_arena arena = tmetal_arena_on(memory, sizeof memory);
    tmi_job      job;
    memset(&job, 0, sizeof job);
    job.arena = &arena;
    job.end = job.top = sizeof memory;
    if (setjmp(job.full)) return;
    snprintf(to->text, sizeof to->text, "%s", tmi_type_text(&job, t->m, id));
}

static ti_type *type_of(translator *t, uint32_t id) {
    const tmi_type *from = TMI_TYPE(t->m, id);
    ti_type        *to = t->to->types[id];
    unsigned        i;
    if (to) return to;
    t->to->types[id] = to = TAKE(t->to, ti_type, 1);
    to->count = 1;
    if (from->kind == TMI_T_TENSOR) {
        *to = *type_of(t, from->elem);
        to->is_tensor = 1;
        to->rank = from->n_dims < TI_MAX_RANK ? from->n_dims : TI_MAX_RANK;
        for (i = 0; i < to->rank; i++) to->count *= to->dims[i] = TMI_ID(t->m, from->dims + i);
    } else {
        scalar_type(t, to, from);
    }
    to->words = to->count;
    if (to->kind == TI_BLOCK_PTR) to->words = 1 + 3 * to->to->rank;
    if (to->kind == TI_DESC) to->words = 2 + 2 * to->to->rank;
    type_text(t, to, id);
    return to;
}

/* -- Attributes ------------------------------------------------------------------------------ */

static void copy_words(translator *t, ti_attribute *to, const tmi_attr *from) {
    uint64_t *words = TAKE(t->to, uint64_t, from->n ? from->n : 1);
    uint32_t  i;
    for (i = 0; i < from->n; i++) words[i] = TMI_WORD(t->m, (uint32_t)from->value + i);
    to->words = words;
    to->n_words = from->n;
}

static void copy_attribute(translator *t, ti_attribute *to, const tmi_named *named) {
    const tmi_attr *from = TMI_ATTR(t->m, named->attr);
    to->name = keep(t->to, TMI_STR(t->m, named->name));
    to->text = "";
    switch (from->kind) {
    case TMI_A_INT:
    case TMI_A_FLOAT:
    case TMI_A_BOOL: to->value = (int64_t)from->value; break;
    case TMI_A_UNIT: to->value = 1; break;
    case TMI_A_STRING:
    case TMI_A_SYMBOL: to->text = keep(t->to, TMI_STR(t->m, (uint32_t)from->value)); break;
    case TMI_A_DENSE:
    case TMI_A_LIST: copy_words(t, to, from); break;
    default: break;
    }
}

const ti_attribute *ti_attribute_of(const ti_op *op, const char *name) {
    unsigned i;
    for (i = 0; i < op->n_attributes; i++)
        if (strcmp(op->attributes[i].name, name) == 0) return &op->attributes[i];
    return NULL;
}

int64_t ti_attribute_int(const ti_op *op, const char *name, int64_t missing) {
    const ti_attribute *a = ti_attribute_of(op, name);
    return a ? a->value : missing;
}

static void copy_attributes(translator *t, ti_op *to, const tmi_op *from) {
    uint32_t i;
    unsigned n = 0;
    for (i = from->attr; i; i = TMI_NAMED(t->m, i)->next) to->n_attributes++;
    to->attributes = TAKE(t->to, ti_attribute, to->n_attributes + 1);
    for (i = from->attr; i; i = TMI_NAMED(t->m, i)->next) copy_attribute(t, &to->attributes[n++], TMI_NAMED(t->m, i));
}

/* -- Operations ------------------------------------------------------------------------------- */

static void place_of(translator *t, ti_op *to, const tmi_op *from) {
    size_t       want = from->src ? from->src - 1 : 0, start;
    tmetal_place p = tmi_loc_place(t->m, from->loc);
    to->file = p.file ? keep(t->to, p.file) : NULL;
    to->file_line = p.line;
    if (want < t->at) t->at = 0, t->line = 1;
    for (; t->at < want; t->at++) t->line += t->text[t->at] == '\n';
    for (start = want; start > 0 && t->text[start - 1] != '\n'; start--) {}
    to->line = t->line;
    to->column = (unsigned)(want - start) + 1;
}

/* The one attribute that an operation asks for on every element. */
static int64_t detail_of(const ti_op *op) {
    static const char *const names[] = {"predicate", "axis", "atomic_rmw_op", "kind", "propagateNan", "rounding"};
    size_t                   i;
    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (ti_attribute_of(op, names[i])) return ti_attribute_int(op, names[i], 0);
    return strcmp(op->name, "tt.fp_to_fp") == 0 ? 1 : 0; /* to even, when it does not say */
}

static unsigned *slots_of(translator *t, uint32_t first, uint32_t n) {
    unsigned *slots = TAKE(t->to, unsigned, n + 1);
    uint32_t  i;
    for (i = 0; i < n; i++) slots[i] = t->slot[TMI_ID(t->m, first + i)];
    return slots;
}

static const ti_type **types_of(translator *t, uint32_t first, uint32_t n) {
    const ti_type **types = TAKE(t->to, const ti_type *, n + 1);
    uint32_t        i;
    for (i = 0; i < n; i++) types[i] = type_of(t, tmi_value_type(t->m, TMI_ID(t->m, first + i)));
    return types;
}

static void translate_region(translator *t, ti_region *to, uint32_t region);

static ti_op *translate_op(translator *t, uint32_t id) {
    const tmi_op *from = TMI_OP(t->m, id);
    ti_op        *to = TAKE(t->to, ti_op, 1);
    uint32_t      i;
    to->name = tmi_ops[from->kind].name;
    to->row = ti_row_named(to->name);
    to->ends_block = (tmi_ops[from->kind].traits & TMI_ENDS) != 0;
    to->n_in = from->n_in;
    to->n_out = from->n_out;
    to->in = slots_of(t, from->in, from->n_in);
    to->out = slots_of(t, from->out, from->n_out);
    to->in_type = types_of(t, from->in, from->n_in);
    to->out_type = types_of(t, from->out, from->n_out);
    copy_attributes(t, to, from);
    place_of(t, to, from);
    to->detail = detail_of(to);
    to->n_regions = from->n_region;
    to->regions = TAKE(t->to, ti_region, from->n_region + 1u);
    for (i = 0; i < from->n_region; i++) translate_region(t, &to->regions[i], tmi_op_region(t->m, from, i));
    to->n_targets = from->n_succ;
    to->targets = TAKE(t->to, ti_target, from->n_succ + 1u);
    for (i = 0; i < from->n_succ; i++) {
        const tmi_succ *s = TMI_SUCC(t->m, from->succ + i);
        to->targets[i].block = t->block[s->block];
        to->targets[i].n = s->n_in;
        to->targets[i].values = slots_of(t, s->in, s->n_in);
    }
    if (strcmp(to->name, "tt.call") == 0) to->callee = ti_function_named(t->to, tmi_attr_str(t->m, from, "callee"));
    return to;
}

/* May the region run on many elements at once? Its operations must be elementwise, on scalars. */
static int is_elementwise(const ti_region *r) {
    const ti_op *op;
    unsigned     i;
    if (!r->first || r->first->next) return 0;
    for (op = r->first->first; op; op = op->next) {
        if (op->ends_block) continue;
        if (!op->row || (!op->row->scalar && strcmp(op->name, "arith.constant") != 0)) return 0;
        for (i = 0; i < op->n_in; i++)
            if (op->in_type[i]->words != 1) return 0;
    }
    return 1;
}

static void translate_region(translator *t, ti_region *to, uint32_t region) {
    uint32_t   b, id;
    ti_block **link = &to->first;
    for (b = TMI_REGION(t->m, region)->first_block; b; b = TMI_BLOCK(t->m, b)->next) {
        const tmi_block *from = TMI_BLOCK(t->m, b);
        ti_op          **op = &t->block[b]->first;
        t->block[b]->n_args = from->n_arg;
        t->block[b]->args = slots_of(t, from->arg, from->n_arg);
        for (id = from->first_op; id; id = TMI_OP(t->m, id)->next) {
            *op = translate_op(t, id);
            op = &(*op)->next;
        }
        *link = t->block[b];
        link = &t->block[b]->next;
    }
    to->elementwise = is_elementwise(to);
}

/* -- Ends of values: what nothing reads any more need not be kept ------------------------------- */

typedef struct lifetimes {
    const ti_block **home; /* the block that defines a slot; NULL: keep it */
    ti_op          **last; /* the last operation there that reads it, itself or inside */
} lifetimes;

/* Notes what `op`, standing in `at_home`'s block or deeper, reads. `outer` are the operations around
 * it, innermost last. */
static void note_use(lifetimes *l, unsigned slot, ti_op **path, const ti_block **blocks, unsigned depth) {
    unsigned d;
    for (d = depth; d-- > 0;)
        if (blocks[d] == l->home[slot]) {
            l->last[slot] = path[d];
            return;
        }
    l->home[slot] = NULL; /* read in another block of the same region: lives on */
}

static void note_block(lifetimes *l, const ti_block *b, int only, ti_op **path, const ti_block **blocks, unsigned depth) {
    ti_op   *op;
    unsigned i, k;
    if (depth >= 200) return;
    blocks[depth] = b;
    for (i = 0; i < b->n_args; i++) l->home[b->args[i]] = NULL;
    for (op = b->first; op; op = op->next) {
        path[depth] = op;
        for (i = 0; i < op->n_out; i++) {
            l->home[op->out[i]] = only ? b : NULL;
            l->last[op->out[i]] = op;
        }
        for (i = 0; i < op->n_in; i++) note_use(l, op->in[i], path, blocks, depth + 1);
        for (i = 0; i < op->n_targets; i++)
            for (k = 0; k < op->targets[i].n; k++) l->home[op->targets[i].values[k]] = NULL;
        for (i = 0; i < op->n_regions; i++) {
            const ti_block *inner = op->regions[i].first;
            int             alone = inner && !inner->next;
            for (; inner; inner = inner->next) note_block(l, inner, alone, path, blocks, depth + 1);
        }
    }
}

static void set_ends(ti_module *m, lifetimes *l, unsigned n_slots) {
    unsigned i;
    for (i = 0; i < n_slots; i++)
        if (l->home[i] && l->last[i] && !l->last[i]->ends_block) l->last[i]->n_ends++;
    for (i = 0; i < n_slots; i++) {
        ti_op *op = l->home[i] ? l->last[i] : NULL;
        if (!op || op->ends_block) continue;
        if (!op->ends) {
            op->ends = TAKE(m, unsigned, op->n_ends);
            op->n_ends = 0;
        }
        op->ends[op->n_ends++] = i;
    }
}

static void find_ends(ti_module *m, ti_function *f) {
    lifetimes        l;
    ti_op          **path = TAKE(m, ti_op *, 201);
    const ti_block **blocks = TAKE(m, const ti_block *, 201);
    const ti_block  *b;
    l.home = TAKE(m, const ti_block *, f->n_slots + 1);
    l.last = TAKE(m, ti_op *, f->n_slots + 1);
    for (b = f->body; b; b = b->next) note_block(&l, b, f->body && !f->body->next, path, blocks, 0);
    set_ends(m, &l, f->n_slots);
}

/* -- Functions and modules ------------------------------------------------------------------------ */

/* Numbers every value and makes every block below an operation. */
static void number_values(translator *t, uint32_t func) {
    uint32_t op, r, b, i;
    t->n_slots = 0;
    for (op = func; op; op = tmi_walk_next(t->m, func, op)) {
        const tmi_op *o = TMI_OP(t->m, op);
        for (i = 0; i < o->n_out; i++) t->slot[tmi_out(t->m, o, i)] = t->n_slots++;
        for (r = o->region; r; r = TMI_REGION(t->m, r)->next)
            for (b = TMI_REGION(t->m, r)->first_block; b; b = TMI_BLOCK(t->m, b)->next) {
                t->block[b] = TAKE(t->to, ti_block, 1);
                for (i = 0; i < TMI_BLOCK(t->m, b)->n_arg; i++) t->slot[tmi_block_arg(t->m, b, i)] = t->n_slots++;
            }
    }
}

static void declare(translator *t, uint32_t id, ti_function *f) {
    const tmi_op   *op = TMI_OP(t->m, id);
    const tmi_attr *type = tmi_attr_of(t->m, op, "function_type");
    const tmi_type *fn = TMI_TYPE(t->m, type->type);
    uint32_t        i;
    f->name = keep(t->to, tmi_attr_str(t->m, op, "sym_name"));
    f->is_public = strcmp(tmi_attr_str(t->m, op, "sym_visibility"), "private") != 0;
    f->n_parameters = fn->bits;
    f->parameter_type = TAKE(t->to, const ti_type *, fn->bits + 1);
    f->divides = TAKE(t->to, int64_t, fn->bits + 1);
    for (i = 0; i < fn->bits; i++) {
        f->parameter_type[i] = type_of(t, TMI_ID(t->m, fn->dims + i));
        f->divides[i] = tmi_analyse_hint(t->m, id, i, "tt.divisibility");
    }
}

/* -- What tmetal knows of the values --------------------------------------------------------------- */

typedef struct knowing {
    tmi_call     call; /* first: it is what the step is handed */
    translator  *t;
    ti_function *f;
    uint32_t     id;
} knowing;

static void keep_facts(tmi_job *job, tmi_call *call) {
    knowing    *k = (knowing *)(void *)call;
    translator *t = k->t;
    tmi_axes    axes;
    uint32_t    v, d;
    tmi_axis_make(job, (tmi_module *)(uintptr_t)t->m, k->id, tmi_walk_order(job, t->m, k->id), &axes);
    for (v = 0; v < t->m->value.n; v++) {
        const ti_type *type = axes.at[v] ? type_of(t, tmi_value_type(t->m, v)) : NULL;
        ti_fact       *fact;
        if (!type || (type->kind != TI_INT && type->kind != TI_PTR)) continue;
        fact = &k->f->facts[t->slot[v]];
        fact->type = type;
        fact->axis = TAKE(t->to, ti_axis, tmi_axis_rank(t->m, v));
        for (d = 0; d < tmi_axis_rank(t->m, v); d++) {
            const tmi_axis x = tmi_axis_get(&axes, v, d);
            fact->axis[d].grows = x.c;
            fact->axis[d].divides = x.v;
            fact->axis[d].equal = x.k;
        }
    }
}

static void know(translator *t, uint32_t id, ti_function *f) {
    const size_t  bytes = ((size_t)4 << 20) + 1024 * (size_t)t->m->value.n;
    void         *memory = malloc(bytes);
    tmetal_arena  arena = tmetal_arena_on(memory, bytes);
    tmetal_result result;
    knowing       k;
    memset(&k, 0, sizeof k);
    k.call = tmi_entry_call(NULL, 0);
    k.t = t;
    k.f = f;
    k.id = id;
    f->facts = TAKE(t->to, ti_fact, t->n_slots + 1);
    if (tmi_entry_run(keep_facts, &k.call, &arena, NULL, &result) != TMETAL_OK) {
        fprintf(stderr, "interp: the facts of a function: %s\n", result.full_text);
        exit(2);
    }
    free(memory);
}

static void define(translator *t, uint32_t id, ti_function *f) {
    ti_region region;
    memset(&region, 0, sizeof region);
    number_values(t, id);
    translate_region(t, &region, TMI_OP(t->m, id)->region);
    f->body = region.first;
    f->n_slots = t->n_slots;
    if (f->body) find_ends(t->to, f);
    if (f->body) know(t, id, f);
    else f->facts = TAKE(t->to, ti_fact, 1);
}

static uint32_t next_function(const tmi_module *m, uint32_t op) {
    while (op && TMI_OP(m, op)->kind != TMI_OP_FUNC) op = TMI_OP(m, op)->next;
    return op;
}

static void translate_module(translator *t) {
    uint32_t      first = TMI_BLOCK(t->m, tmi_op_body(t->m, TMI_OP(t->m, t->m->top), 0))->first_op, id;
    ti_function **link = &t->to->functions, *f;
    for (id = next_function(t->m, first); id; id = next_function(t->m, TMI_OP(t->m, id)->next)) {
        *link = TAKE(t->to, ti_function, 1);
        declare(t, id, *link);
        link = &(*link)->next;
    }
    f = t->to->functions;
    for (id = next_function(t->m, first); id; id = next_function(t->m, TMI_OP(t->m, id)->next), f = f->next) define(t, id, f);
}

ti_module *ti_read(const char *text, size_t len, char *why, size_t why_size) {
    reading    r;
    translator t;
    *why = 0;
    if (!begin_reading(&r, text, len, 0, why, why_size)) return NULL;
    memset(&t, 0, sizeof t);
    t.to = (ti_module *)calloc(1, sizeof *t.to);
    t.m = r.module;
    t.text = text;
    t.len = len;
    t.line = 1;
    t.to->types = TAKE(t.to, ti_type *, t.m->type->n);
    t.slot = (unsigned *)calloc(t.m->value.n + 1, sizeof *t.slot);
    t.block = (ti_block **)calloc(t.m->block.n + 1, sizeof *t.block);
    translate_module(&t);
    free(t.slot);
    free(t.block);
    free(r.memory);
    return t.to;
}

ti_function *ti_function_named(const ti_module *m, const char *name) {
    ti_function *f;
    for (f = m->functions; f; f = f->next)
        if (name ? strcmp(f->name, name) == 0 : f->is_public && f->body) return f;
    return NULL;
}

int ti_parameters(const ti_module *m, const char *kernel) {
    const ti_function *f = ti_function_named(m, kernel);
    return f ? (int)f->n_parameters : -1;
}

int ti_descriptor_rank(const ti_module *m, const char *kernel, unsigned parameter) {
    const ti_function *f = ti_function_named(m, kernel);
    if (!f || parameter >= f->n_parameters || f->parameter_type[parameter]->kind != TI_DESC) return 0;
    return (int)f->parameter_type[parameter]->to->rank;
}

const char *ti_pointee(const ti_module *m, const char *kernel, unsigned parameter) {
    const ti_function *f = ti_function_named(m, kernel);
    const ti_type     *t;
    if (!f || parameter >= f->n_parameters) return "";
    t = f->parameter_type[parameter];
    return t->is_tensor || t->kind != TI_PTR ? "" : t->to->text;
}

const char *ti_scalar_type(const ti_module *m, const char *kernel, unsigned parameter) {
    const ti_function *f = ti_function_named(m, kernel);
    const ti_type     *t;
    if (!f || parameter >= f->n_parameters) return "";
    t = f->parameter_type[parameter];
    return t->is_tensor || (t->kind != TI_INT && t->kind != TI_FLOAT) ? "" : t->text;
}

/* -- tmetal's op table -------------------------------------------------------------------------------- */

int ti_table_at(unsigned index, ti_table_row *row) {
    static const char *const words[][2] = {
        {"", ""},
#define X(id, name, group, in, out, types, text, lower, tf, traits) {#types, #text},
        TMI_OPS(X)
#undef X
    };
    if (++index >= TMI_OP_COUNT) return 0;
    row->name = tmi_ops[index].name;
    row->group = tmi_ops[index].group;
    row->types = words[index][0];
    row->text = words[index][1];
    row->in = tmi_ops[index].in;
    row->out = tmi_ops[index].out;
    row->pure = (tmi_ops[index].traits & TMI_PURE) != 0;
    row->elementwise = (tmi_ops[index].traits & TMI_ELT) != 0;
    row->inner = (tmi_ops[index].traits & TMI_INNER) != 0;
    return 1;
}

/* -- Reading what was printed ------------------------------------------------------------------------- */

char *ti_reprint(const char *text, size_t len, char *why, size_t why_size) {
    reading     r;
    const char *printed = NULL;
    char       *copy = NULL;
    size_t      n = 0;
    if (!begin_reading(&r, text, len, len * 64 + ((size_t)1 << 20), why, why_size)) return NULL;
    if (tmetal_print(r.module, &r.arena, &printed, &n, &r.result) == TMETAL_OK) {
        copy = (char *)malloc(n + 1);
        if (copy) memcpy(copy, printed, n), copy[n] = 0;
    } else {
        snprintf(why, why_size, "it cannot be printed");
    }
    free(r.memory);
    return copy;
}

int ti_round_trip(const char *text, size_t len, char *why, size_t why_size) {
    reading        r;
    tmetal_module *again = NULL;
    const char    *printed = NULL;
    size_t         n = 0;
    int            ok = 0;
    *why = 0;
    if (!begin_reading(&r, text, len, len * 256 + ((size_t)1 << 22), why, why_size)) return 0;
    if (tmetal_print(r.module, &r.arena, &printed, &n, &r.result) != TMETAL_OK)
        snprintf(why, why_size, "it cannot be printed");
    else if (tmetal_parse(printed, n, NULL, &r.arena, &again, &r.result) != TMETAL_OK)
        snprintf(why, why_size, "what was printed cannot be read: %s", r.result.n_diags ? r.result.diags[0].message : "?");
    else if (tmetal_verify(again, NULL, &r.arena, &r.result) != TMETAL_OK)
        snprintf(why, why_size, "what was printed does not verify: %s", r.result.n_diags ? r.result.diags[0].message : "?");
    else if (!tmetal_same(r.module, again, &r.arena)) snprintf(why, why_size, "what was printed says something else");
    else ok = 1;
    free(r.memory);
    return ok;
}
