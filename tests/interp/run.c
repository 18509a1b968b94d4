/* Launches, blocks, control flow, calls; printing and asserting. */
#include "machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST_CALLS 100

/* -- Memory of a launch ------------------------------------------------------------- */

typedef struct chunk {
    struct chunk *next;
} chunk;

static void *take(ti_machine *m, size_t bytes) {
    chunk *c = (chunk *)malloc(sizeof *c + 16 + bytes);
    if (!c) ti_stop(m, NULL, TI_FAULT, "no memory for %zu bytes", bytes);
    c->next = (chunk *)m->chunks;
    m->chunks = c;
    return (char *)c + 16;
}

/* Sizes are powers of two; what is given back waits for the next of its size. */
ti_array *ti_new(ti_machine *m, size_t n) {
    unsigned  class = 0;
    ti_array *a;
    while ((size_t)1 << class < n) class++;
    a = m->spare[class];
    if (a) {
        memcpy(&m->spare[class], a->at, sizeof(ti_array *));
    } else {
        a = (ti_array *)take(m, sizeof *a + ((size_t)8 << class));
        a->size_class = class;
    }
    a->refs = 1;
    a->n = n;
    return a;
}

void ti_release(ti_machine *m, ti_array *a) {
    if (!a || --a->refs) return;
    memcpy(a->at, &m->spare[a->size_class], sizeof(ti_array *));
    m->spare[a->size_class] = a;
}

/* tl.multiple_of and its like: the kernel's own word, right or not. */
static int is_told(const ti_op *op) {
    return op && (ti_attribute_of(op, "tt.contiguity") || ti_attribute_of(op, "tt.divisibility") || ti_attribute_of(op, "tt.constancy"));
}

/* Does the value have what is known of it? Sums are taken in the type's own width, as the facts mean them. */
static void hold_to_facts(ti_machine *m, const ti_fact *fact, const ti_array *a) {
    const ti_type *t = fact->type;
    const uint64_t mask = t->bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << t->bits) - 1, unit = t->kind == TI_PTR ? ti_bytes(t->to) : 1;
    size_t         i, stride = t->count;
    unsigned       d, rank = t->is_tensor && t->rank ? t->rank : 1;
    if (a->n != t->count) return; /* a region of scalars, on many elements at once */
    for (d = 0; d < rank; d++) {
        const ti_axis *x = &fact->axis[d];
        const uint64_t size = t->is_tensor && t->rank ? t->dims[d] : 1, low = (((uint64_t)1 << (x->divides < 62 ? x->divides : 62)) - 1) & mask;
        stride /= size;
        for (i = 0; i < t->count; i++) {
            const uint64_t at = i / stride % size, v = a->at[i] & mask;
            const char    *what = NULL;
            if (!(at & (((uint64_t)1 << x->grows) - 1))) what = v & low ? "is no multiple of 2 to the power of its divisor" : NULL;
            else if (v != ((a->at[i - stride] + unit) & mask)) what = "does not follow the one before";
            if ((at & (((uint64_t)1 << x->equal) - 1)) && v != (a->at[i - stride] & mask)) what = "is not the one before";
            if (what)
                ti_stop(m, m->at, is_told(m->at) ? TI_PROMISE : TI_FALSE_FACT, "element %lu of %s, %lld, %s (along %u: grows %u, divides %u, equal %u)", (unsigned long)i,
                        t->text, (long long)a->at[i], what, d, x->grows, x->divides, x->equal);
        }
    }
}

void ti_put(ti_machine *m, ti_frame *f, unsigned slot, ti_array *a) {
    if (a && m->launch->facts && f->function->facts[slot].type) hold_to_facts(m, &f->function->facts[slot], a);
    ti_release(m, f->slot[slot]);
    f->slot[slot] = a;
}

void ti_bind(ti_machine *m, ti_frame *f, unsigned slot, ti_array *a) {
    a->refs++;
    ti_put(m, f, slot, a);
}

void ti_share(ti_machine *m, ti_frame *f, const ti_op *op, unsigned i, ti_array *a) {
    ti_bind(m, f, op->out[i], a);
}

/* A frame's slots lie in an array like any other, so that leaving a launch frees them too. */
static void open_frame(ti_machine *m, ti_frame *f, const ti_function *function) {
    f->function = function;
    f->words = ti_new(m, (function->n_slots + 1) * sizeof(ti_array *) / 8 + 1);
    f->slot = (ti_array **)(void *)f->words->at;
    memset(f->slot, 0, (function->n_slots + 1) * sizeof *f->slot);
}

static void close_frame(ti_machine *m, ti_frame *f) {
    unsigned i;
    for (i = 0; i < f->function->n_slots; i++) ti_release(m, f->slot[i]);
    ti_release(m, f->words);
}

/* -- Leaving --------------------------------------------------------------------------- */

void ti_stop(ti_machine *m, const ti_op *op, ti_status status, const char *format, ...) {
    ti_result *r = m->result;
    va_list    list;
    size_t     n = 0;
    r->status = status;
    if (op) {
        n = (size_t)snprintf(r->text, sizeof r->text, "%s at %u:%u", op->name, op->line, op->column);
        if (op->file) n += (size_t)snprintf(r->text + n, sizeof r->text - n, " (%.80s:%u)", op->file, op->file_line);
        n += (size_t)snprintf(r->text + n, sizeof r->text - n, ", program %u %u %u: ", m->program[0], m->program[1], m->program[2]);
    }
    va_start(list, format);
    vsnprintf(r->text + n, sizeof r->text - n, format, list);
    va_end(list);
    longjmp(m->leave, 1);
}

/* What an operation holds that is for another machine is named with it. */
static void stop_unsupported(ti_machine *m, const ti_op *op) {
    const ti_attribute *text = ti_attribute_of(op, "asm_string");
    if (text) ti_stop(m, op, TI_UNSUPPORTED, "is not carried out: %s", text->text);
    ti_stop(m, op, TI_UNSUPPORTED, "is not carried out");
}

/* -- Blocks and regions ------------------------------------------------------------------ */

/* In steps: large tensors take more than one. */
static uint64_t cost_of(const ti_op *op) {
    return 1 + (op->n_out ? op->out_type[0]->words / 1024 : 0);
}

static const ti_op *run_block(ti_machine *m, ti_frame *f, const ti_block *b) {
    const ti_op *op;
    unsigned     i;
    for (op = b->first; op; op = op->next) {
        if (op->ends_block) return op;
        if (!op->row) stop_unsupported(m, op);
        if (m->launch->max_steps && (m->result->steps += cost_of(op)) > m->launch->max_steps)
            ti_stop(m, op, TI_TOO_LONG, "%llu operations and no end", (unsigned long long)m->launch->max_steps);
        m->at = op;
        op->row->run(m, f, op);
        for (i = 0; i < op->n_ends; i++) ti_put(m, f, op->ends[i], NULL);
    }
    return NULL;
}

/* Values are passed all at once: a branch may exchange two arguments. */
static void bind_all(ti_machine *m, ti_frame *f, const unsigned *to, const unsigned *from, unsigned n) {
    ti_array *few[16], *words = n > 16 ? ti_new(m, n) : NULL;
    ti_array **passed = words ? (ti_array **)(void *)words->at : few;
    unsigned  i;
    for (i = 0; i < n; i++) {
        passed[i] = f->slot[from[i]];
        passed[i]->refs++;
    }
    for (i = 0; i < n; i++) ti_put(m, f, to[i], passed[i]);
    ti_release(m, words);
}

const ti_op *ti_run_region(ti_machine *m, ti_frame *f, const ti_region *r) {
    const ti_block *b = r->first;
    const ti_op    *end;
    for (;;) {
        const ti_target *next;
        end = run_block(m, f, b);
        if (!end || !end->n_targets) return end;
        if (m->launch->max_steps && ++m->result->steps > m->launch->max_steps)
            ti_stop(m, end, TI_TOO_LONG, "%llu operations and no end", (unsigned long long)m->launch->max_steps);
        next = &end->targets[end->n_targets == 2 && !ti_scalar(f, end, 0)];
        bind_all(m, f, next->block->args, next->values, next->n);
        b = next->block;
    }
}

static void bind_one(ti_machine *m, ti_frame *f, unsigned slot, uint64_t x) {
    ti_array *a = ti_new(m, 1);
    a->at[0] = x;
    ti_put(m, f, slot, a);
}

void ti_map_region(ti_machine *m, ti_frame *f, const ti_op *op, size_t n, ti_array **arguments, unsigned n_arguments,
                   ti_array **results, unsigned n_results) {
    const ti_region *r = &op->regions[0];
    const ti_op     *end;
    size_t           i, at, count = r->elementwise ? 1 : n;
    unsigned         k;
    for (k = 0; k < n_results; k++) results[k] = ti_new(m, n);
    for (i = 0; i < count; i++) {
        for (k = 0; k < n_arguments; k++) {
            if (r->elementwise) ti_bind(m, f, r->first->args[k], arguments[k]);
            else bind_one(m, f, r->first->args[k], arguments[k]->at[i]);
        }
        end = ti_run_region(m, f, r);
        if (!end || end->n_in != n_results) ti_stop(m, op, TI_MISFIT, "its region does not end in %u values", n_results);
        for (k = 0; k < n_results; k++) {
            const ti_array *x = ti_in(f, end, k);
            if (!r->elementwise) results[k]->at[i] = x->at[0];
            else if (x->n == n) memcpy(results[k]->at, x->at, n * sizeof *x->at);
            else for (at = 0; at < n; at++) results[k]->at[at] = x->at[0];
        }
    }
}

/* -- Structured control flow ---------------------------------------------------------------- */

void ti_run_nothing(ti_machine *m, ti_frame *f, const ti_op *op) {
    (void)m, (void)f, (void)op;
}

static void give_results(ti_machine *m, ti_frame *f, const ti_op *op, const unsigned *from) {
    bind_all(m, f, op->out, from, op->n_out);
}

static const ti_op *run_body(ti_machine *m, ti_frame *f, const ti_op *op, unsigned region) {
    const ti_op *end = ti_run_region(m, f, &op->regions[region]);
    if (!end) ti_stop(m, op, TI_MISFIT, "a block without an end");
    return end;
}

/* The variable may pass the end of its type, so trips are counted in 64 bits, without it. */
void ti_run_for(ti_machine *m, ti_frame *f, const ti_op *op) {
    unsigned        bits = op->in_type[0]->bits;
    int             is_unsigned = ti_attribute_int(op, "unsignedCmp", 0) != 0;
    uint64_t        low = ti_scalar(f, op, 0), high = ti_scalar(f, op, 1), step = ti_scalar(f, op, 2), i = low;
    const ti_block *body = op->regions[0].first;
    uint64_t        room;
    const ti_op    *end;
    if (!is_unsigned) {
        low = i = (uint64_t)ti_signed(low, bits);
        high = (uint64_t)ti_signed(high, bits);
        step = (uint64_t)ti_signed(step, bits);
        if ((int64_t)step <= 0) ti_stop(m, op, TI_FAULT, "a step of %lld", (long long)step);
    }
    bind_all(m, f, body->args + 1, op->in + 3, op->n_out);
    if (is_unsigned ? low < high : (int64_t)low < (int64_t)high)
        for (room = high - low;; room -= step, i += step) {
            bind_one(m, f, body->args[0], i & ti_mask(bits));
            end = run_body(m, f, op, 0);
            bind_all(m, f, body->args + 1, end->in, op->n_out);
            if (room <= step) break;
        }
    give_results(m, f, op, body->args + 1);
}

void ti_run_if(ti_machine *m, ti_frame *f, const ti_op *op) {
    unsigned side = ti_scalar(f, op, 0) ? 0 : 1;
    if (side >= op->n_regions || !op->regions[side].first) return;
    give_results(m, f, op, run_body(m, f, op, side)->in);
}

void ti_run_while(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_block *before = op->regions[0].first, *after = op->regions[1].first;
    const ti_op    *end;
    bind_all(m, f, before->args, op->in, op->n_in);
    for (;;) {
        end = run_body(m, f, op, 0);
        if (!ti_scalar(f, end, 0)) break;
        bind_all(m, f, after->args, end->in + 1, op->n_out);
        end = run_body(m, f, op, 1);
        bind_all(m, f, before->args, end->in, op->n_in);
    }
    give_results(m, f, op, end->in + 1);
}

void ti_run_execute(ti_machine *m, ti_frame *f, const ti_op *op) {
    give_results(m, f, op, run_body(m, f, op, 0)->in);
}

/* -- Functions --------------------------------------------------------------------------------- */

/* Runs a function's body in a frame whose parameters are bound; gives its tt.return. */
static const ti_op *run_function(ti_machine *m, ti_frame *f) {
    ti_region region;
    region.first = f->function->body;
    region.elementwise = 0;
    return ti_run_region(m, f, &region);
}

void ti_run_call(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_function *callee = op->callee;
    ti_frame           inner;
    const ti_op       *end;
    unsigned           i;
    if (!callee || !callee->body) ti_stop(m, op, TI_UNSUPPORTED, "%s has no body", callee ? callee->name : "the function");
    if (++m->depth > MOST_CALLS) ti_stop(m, op, TI_FAULT, "calls nest deeper than %d", MOST_CALLS);
    open_frame(m, &inner, callee);
    for (i = 0; i < op->n_in; i++) ti_bind(m, &inner, callee->body->args[i], ti_in(f, op, i));
    end = run_function(m, &inner);
    for (i = 0; i < op->n_out; i++) ti_bind(m, f, op->out[i], ti_in(&inner, end, i));
    close_frame(m, &inner);
    m->depth--;
}

void ti_run_pid(ti_machine *m, ti_frame *f, const ti_op *op) {
    bind_one(m, f, op->out[0], m->program[op->detail < 3 ? op->detail : 0]);
}

void ti_run_programs(ti_machine *m, ti_frame *f, const ti_op *op) {
    bind_one(m, f, op->out[0], m->launch->grid[op->detail < 3 ? op->detail : 0]);
}

/* -- Printing and asserting ---------------------------------------------------------------------- */

void ti_print_line(ti_machine *m, const char *line) {
    ti_result *r = m->result;
    size_t     n = strlen(line);
    if (m->printed_used + n + 2 > m->printed_room) {
        size_t room = 2 * m->printed_room + n + 1024;
        char  *more = (char *)realloc(r->printed, room);
        if (!more) ti_stop(m, NULL, TI_FAULT, "no memory for what is printed");
        r->printed = more;
        m->printed_room = room;
    }
    memcpy(r->printed + m->printed_used, line, n);
    m->printed_used += n;
    memcpy(r->printed + m->printed_used, "\n", 2);
    m->printed_used++;
}

static int put_number(char *to, size_t size, const ti_type *t, uint64_t x, int is_signed, int hex) {
    if (hex) return snprintf(to, size, "0x%0*llx", (int)(t->bits / 4 ? t->bits / 4 : 1), (unsigned long long)x);
    if (t->kind == TI_FLOAT) return snprintf(to, size, "%f", ti_decode(t->format, x));
    if (t->kind != TI_INT) return snprintf(to, size, "0x%llx", (unsigned long long)x);
    if (is_signed) return snprintf(to, size, "%lld", (long long)ti_signed(x, t->bits));
    return snprintf(to, size, "%llu", (unsigned long long)x);
}

static int put_index(char *to, size_t size, const ti_type *t, size_t i) {
    size_t   at[TI_MAX_RANK];
    unsigned d;
    int      n = snprintf(to, size, "(");
    for (d = t->rank; d-- > 0; i /= t->dims[d]) at[d] = i % t->dims[d];
    for (d = 0; t->is_tensor && d < t->rank; d++) n += snprintf(to + n, size - (size_t)n, d ? ", %zu" : "%zu", at[d]);
    return n + snprintf(to + n, size - (size_t)n, ")");
}

/* pid (X, Y, Z) idx (i, j)PREFIX[(operand N) ]VALUE */
void ti_run_print(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_attribute *prefix = ti_attribute_of(op, "prefix"), *is_signed = ti_attribute_of(op, "isSigned");
    int                 hex = ti_attribute_int(op, "hex", 0) != 0;
    char                line[512];
    unsigned            k;
    size_t              i;
    int                 n = snprintf(line, sizeof line, "pid (%u, %u, %u)", m->program[0], m->program[1], m->program[2]), at;
    if (!op->n_in) {
        snprintf(line + n, sizeof line - (size_t)n, "%.200s", prefix->text);
        ti_print_line(m, line);
    }
    for (k = 0; k < op->n_in; k++) {
        const ti_type *t = op->in_type[k];
        int            s = is_signed && k < is_signed->n_words ? is_signed->words[k] != 0 : 1;
        for (i = 0; i < t->count; i++) {
            at = n + snprintf(line + n, sizeof line - (size_t)n, " idx ");
            at += put_index(line + at, sizeof line - (size_t)at, t, i);
            at += snprintf(line + at, sizeof line - (size_t)at, "%.200s", prefix->text);
            if (op->n_in > 1) at += snprintf(line + at, sizeof line - (size_t)at, "(operand %u) ", k);
            put_number(line + at, sizeof line - (size_t)at, t, ti_in(f, op, k)->at[i], s, hex);
            ti_print_line(m, line);
        }
    }
}

void ti_run_assert(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_array     *a = ti_in(f, op, 0);
    const ti_attribute *text = ti_attribute_of(op, "message");
    size_t              i;
    if (!text) text = ti_attribute_of(op, "msg");
    for (i = 0; i < a->n; i++)
        if (!a->at[i]) ti_stop(m, op, TI_ASSERTED, "%s", text ? text->text : "");
}

void ti_run_assume(ti_machine *m, ti_frame *f, const ti_op *op) {
    if (!ti_scalar(f, op, 0)) ti_stop(m, op, TI_PROMISE, "does not hold");
}

/* -- Launches --------------------------------------------------------------------------------------- */

static ti_array *pointer_value(ti_machine *m, const ti_type *t, unsigned i) {
    const ti_launch   *l = m->launch;
    const ti_argument *arg = &l->arguments[i];
    ti_array          *a = ti_new(m, t->words);
    unsigned           d, rank;
    a->at[0] = arg->is_pointer ? ti_address(l, arg->buffer, arg->offset) : arg->bits;
    if (t->kind != TI_DESC) return a;
    rank = t->to->rank;
    if (i + 2 * rank >= l->n_arguments) ti_stop(m, NULL, TI_MISFIT, "a descriptor without its sizes and strides");
    a->at[1] = (uint64_t)arg->nan_padding;
    for (d = 0; d < rank; d++) {
        a->at[2 + d] = (uint64_t)ti_signed(l->arguments[i + 1 + d].bits, 32);
        a->at[2 + rank + d] = l->arguments[i + 1 + rank + d].bits;
    }
    return a;
}

static void bind_arguments(ti_machine *m, ti_frame *f) {
    const ti_function *function = f->function;
    unsigned           i;
    if (m->launch->n_arguments != function->n_parameters)
        ti_stop(m, NULL, TI_MISFIT, "%s has %u parameters, the launch %zu arguments", function->name, function->n_parameters,
                m->launch->n_arguments);
    for (i = 0; i < function->n_parameters; i++) {
        const ti_type *t = function->parameter_type[i];
        const int64_t  value = m->launch->arguments[i].is_pointer ? m->launch->arguments[i].offset : (int64_t)m->launch->arguments[i].bits;
        if (function->divides[i] > 1 && t->kind != TI_FLOAT && value % function->divides[i])
            ti_stop(m, NULL, TI_PROMISE, "argument %u is no multiple of %lld, as tt.divisibility has it", i, (long long)function->divides[i]);
        if (t->kind == TI_PTR || t->kind == TI_DESC) {
            ti_put(m, f, function->body->args[i], pointer_value(m, t, i));
        } else if (!t->is_tensor && (t->kind == TI_INT || t->kind == TI_FLOAT)) {
            if (m->launch->arguments[i].is_pointer) ti_stop(m, NULL, TI_MISFIT, "parameter %u is %s, its argument a buffer", i, t->text);
            bind_one(m, f, function->body->args[i], m->launch->arguments[i].bits & ti_mask(t->bits));
        } else {
            ti_stop(m, NULL, TI_UNSUPPORTED, "a parameter of type %s", t->text);
        }
    }
}

static void run_program(ti_machine *m, const ti_function *function) {
    ti_frame f;
    m->depth = 0;
    open_frame(m, &f, function);
    bind_arguments(m, &f);
    if (!run_function(m, &f)) ti_stop(m, NULL, TI_MISFIT, "%s does not return", function->name);
    close_frame(m, &f);
}

static void run_grid(ti_machine *m) {
    const ti_function *function = ti_function_named(m->module, m->launch->kernel);
    uint32_t          *at = m->program;
    const uint32_t    *n = m->launch->grid;
    uint64_t           i, count;
    if (!function || !function->body) ti_stop(m, NULL, TI_MISFIT, "no kernel %s", m->launch->kernel ? m->launch->kernel : "at all");
    count = (uint64_t)n[0] * n[1] * n[2];
    for (i = 0; i < count; i++) { /* in another order where what is open varies */
        uint64_t k = !ti_vary ? i : m->launch->vary % 2 ? count - 1 - i : (i + count / 2) % count;
        at[0] = (uint32_t)(k % n[0]), at[1] = (uint32_t)(k / n[0] % n[1]), at[2] = (uint32_t)(k / n[0] / n[1]);
        m->running = (uint32_t)k + 1;
        run_program(m, function);
    }
}

void ti_run(ti_module *module, const ti_launch *launch, ti_result *result) {
    ti_machine *m = (ti_machine *)calloc(1, sizeof *m);
    chunk      *c, *next;
    memset(result, 0, sizeof *result);
    if (!m) {
        result->status = TI_FAULT;
        return;
    }
    m->module = module;
    m->launch = launch;
    m->result = result;
    ti_vary = launch->vary;
    ti_opened = 0, ti_opens_as = launch->vary <= 4 || launch->vary % 4 == 0 ? (int)(launch->vary % 4) : 2;
    if (!setjmp(m->leave)) run_grid(m);
    ti_vary = 0;
    if (ti_opened) result->open |= TI_VALUE;
    for (c = (chunk *)m->chunks; c; c = next) {
        next = c->next;
        free(c);
    }
    free(m);
}
