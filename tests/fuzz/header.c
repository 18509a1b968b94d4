/* The header as the targets see it: every part of it, assertions on, the arena closed to all but what was taken from it
 * (under the address sanitizer, with a gap behind each allocation), and a few private functions opened. */
#if defined(__SANITIZE_ADDRESS__)
#    define FUZZ_ASAN
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define FUZZ_ASAN
#    endif
#endif
#ifdef FUZZ_ASAN
#    include <sanitizer/asan_interface.h>
#    define TMI_GAP 16u
#    define TMI_CLOSE(p, n) __asan_poison_memory_region((p), (n))
#    define TMI_OPEN(p, n)  __asan_unpoison_memory_region((p), (n))
#endif
#define TMETAL_IMPLEMENTATION
#include "fuzz.h"

size_t fuzz_gap(void) { return TMI_GAP; }

void fuzz_close(void *p, size_t n) {
    (void)p, (void)n;
    TMI_CLOSE(p, n);
}

const char *fuzz_list_word(size_t i) {
    static const char *const words[] = {
#define X(id, name, ...) name,
        TMI_LIST_OPS(X)
#undef X
    };
    return i < sizeof words / sizeof *words ? words[i] : NULL;
}

const char *fuzz_python_word(size_t i) { return i < TMI_TL_ROWS ? tmi_tl_rows[i].name : NULL; }

void fuzz_tune_sum(const char *line, size_t n, char sum[17]) { tmi_tune_sum_text(line, n, sum); }

void fuzz_tune_build(char build[17]) { tmi_tune_own_build(build); }

TMI_STATIC_ASSERT(head_fits, FUZZ_CACHE_HEAD == TMI_CACHE_HEAD);

/* Bytes as a file of the cache has them, with a right head. */
void fuzz_cache_head(unsigned char head[FUZZ_CACHE_HEAD], const char *key, const void *bytes, size_t n) {
    tmi_cache_head(head, key, TMI_CACHE_RESULT, bytes, n);
}

/* -- Modules whose types, operands and attributes are others ------------------------------------------- */

/* Whether a value may stand as operand of an op: in a block around it, before it. Modules are small, and a mistake here only
 * gives a module that is refused. */
static int is_near(const tmi_module *m, uint32_t value, uint32_t op) {
    const tmi_value *v = TMI_VALUE(m, value);
    uint32_t         block = v->is_arg ? v->def : TMI_OP(m, v->def)->block, up, deep;
    for (up = op, deep = 0; up && TMI_OP(m, up)->block && deep < 64; deep++) {
        if (TMI_OP(m, up)->block == block) {
            for (op = TMI_OP(m, up)->prev; op && !v->is_arg && op != v->def;) op = TMI_OP(m, op)->prev;
            return v->is_arg || op != 0;
        }
        up = TMI_REGION(m, TMI_BLOCK(m, TMI_OP(m, up)->block)->region)->op;
    }
    return 0;
}

/* Some other type: one of the module, or a tensor's with another size, axis or element. */
static uint32_t other_type(tmi_job *job, tmi_module *m, fuzz_in *in, uint32_t old) {
    uint32_t some = 1 + fuzz_number(in) % (m->type->n - 1), how = fuzz_byte(in), dims[TMI_MAX_RANK], i, at;
    tmi_type t = *TMI_TYPE(m, old);
    if (t.kind != TMI_T_TENSOR || !t.n_dims || how % 3 == 0) return some;
    for (i = 0; i < t.n_dims; i++) dims[i] = TMI_ID(m, t.dims + i);
    at = fuzz_below(in, t.n_dims);
    if (how % 3 == 1) dims[at] = how & 4 ? dims[at] * 2 : dims[at] / 2 ? dims[at] / 2 : 1;
    else if (how & 4 && t.n_dims < TMI_MAX_RANK) dims[t.n_dims++] = 1u << (how >> 6);
    else if (how & 8 && t.n_dims > 1) t.n_dims--;
    else if (TMI_TYPE(m, some)->kind != TMI_T_TENSOR) t.elem = some;
    return tmi_type_get(job, m, &t, dims);
}

static void other_attribute(tmi_module *m, fuzz_in *in, const tmi_op *op) {
    static const int64_t ends[] = {0, 1, -1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 127, 128, 255, 256, 1024, 65536, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
    const int64_t end = ends[fuzz_below(in, sizeof ends / sizeof *ends)];
    uint32_t      id = op->attr, skip = fuzz_below(in, 4), how = fuzz_byte(in);
    tmi_attr     *a;
    for (; id && skip-- && TMI_NAMED(m, id)->next;) id = TMI_NAMED(m, id)->next;
    if (!id) return;
    a = TMI_ATTR(m, TMI_NAMED(m, id)->attr);
    if (how % 8 == 0) TMI_NAMED(m, id)->attr = 1 + fuzz_number(in) % (m->attr->n - 1);
    else if (how % 8 == 1) TMI_NAMED(m, id)->next = 0;
    else if (a->kind == TMI_A_INT) a->value = (uint64_t)tmi_sext((uint64_t)end, TMI_TYPE(m, a->type)->bits);
    else if (a->kind == TMI_A_LIST && a->n && how & 8) a->n--;
    else if (a->kind == TMI_A_LIST && a->n) TMI_WORD(m, (uint32_t)a->value + fuzz_below(in, a->n)) = (uint64_t)tmi_sext((uint64_t)end, TMI_TYPE(m, a->type)->bits);
}

static void confuse(tmi_job *job, tmi_call *c) {
    tmi_module *m = c->module;
    fuzz_in     in;
    in.p = (const uint8_t *)c->src, in.n = c->len;
    while (in.n) {
        uint32_t      how = fuzz_byte(&in), value = 1 + fuzz_number(&in) % (m->value.n - 1), id = 1 + fuzz_number(&in) % (m->op.n - 1);
        const tmi_op *op = TMI_OP(m, id);
        if (how % 4 == 0) TMI_VALUE(m, value)->type = other_type(job, m, &in, TMI_VALUE(m, value)->type);
        else if (how % 4 == 1) other_attribute(m, &in, op);
        else if (how % 16 == 2 && op->n_in) TMI_OP(m, id)->n_in--;
        else if (op->n_in && is_near(m, value, id)) TMI_ID(m, op->in + fuzz_below(&in, op->n_in)) = value;
    }
}

void fuzz_confuse(tmetal_module *m, const fuzz_in *dice, tmetal_arena *arena) {
    tmetal_result r;
    tmi_call      c = tmi_entry_call((const char *)dice->p, dice->n);
    c.module = m;
    if (m->value.n > 1 && m->op.n > 1 && m->type->n > 1 && m->attr->n > 1) (void)tmi_entry_run(confuse, &c, arena, NULL, &r);
}

/* The program of tests/triton that wants the same header: build/syntax-san. */
int syntax_main(int argc, char **argv);
#define main syntax_main
#include "../triton/syntax.c"
#undef main
