/* Buffers, loads and stores, atomics. */
#include "machine.h"

#include <math.h>

/* -- Addresses ------------------------------------------------------------------ */

static void add_one(uint32_t *to, uint32_t one) {
    *to = *to && *to != one ? UINT32_MAX : one;
}

/* Of several programs, and of elements of one operation, whoever comes first; of elements of several atomic ones too, whose
 * threads nothing orders. Atomics of one kind may, unless it shows. */
static int is_race(const ti_machine *m, const ti_mark *k, int writes) {
    const uint32_t me = m->running;
    if (k->writer && k->writer != me) return 1;
    if (m->atomic) {
        if (k->reader && k->reader != me) return 1;
        if (k->kind == m->atomic && m->atomic != TI_ANY_KIND) return 0;
        return k->atomic && (k->atomic != me || k->wrote == m->result->steps || k->element != m->element);
    }
    if (k->atomic && k->atomic != me) return 1;
    return writes && ((k->reader && k->reader != me) || k->wrote);
}

static void look_for_races(ti_machine *m, ti_mark *marks, unsigned bytes, int writes) {
    ti_mark *k;
    for (k = marks; k < marks + bytes; k++) {
        if (is_race(m, k, writes)) m->result->open |= TI_RACE;
        if (m->atomic) {
            k->kind = k->atomic && k->kind != m->atomic ? TI_ANY_KIND : m->atomic;
            add_one(&k->atomic, m->running);
            add_one(&k->element, m->element);
            k->wrote = m->result->steps;
        } else if (writes) {
            k->writer = m->running, k->wrote = m->result->steps;
        } else {
            add_one(&k->reader, m->running);
        }
    }
}

static uint8_t *place_at(ti_machine *m, const ti_op *op, uint64_t address, unsigned bytes, const char *doing, int writes) {
    uint64_t   from = address - ti_skew(m->launch);
    uint64_t   apart = 1 + m->launch->vary % 3, place = (from >> TI_BUFFER_SHIFT) - 16 * (m->launch->vary % 64);
    uint64_t   buffer = place % apart ? 0 : place / apart, offset = from & ti_mask(TI_BUFFER_SHIFT);
    ti_buffer *b;
    if (buffer == 0 || buffer > m->launch->n_buffers)
        ti_stop(m, op, TI_OUTSIDE, "%s %u bytes at address 0x%llx, which is in no buffer", doing, bytes, (unsigned long long)address);
    b = &m->launch->buffers[buffer - 1];
    if (offset + bytes > b->size)
        ti_stop(m, op, TI_OUTSIDE, "%s %u bytes at byte %lld of buffer %llu, which has %llu", doing, bytes,
                (long long)ti_signed(offset, TI_BUFFER_SHIFT), (unsigned long long)(buffer - 1), (unsigned long long)b->size);
    if (offset % bytes)
        ti_stop(m, op, TI_UNALIGNED, "%s %u bytes at byte %llu of buffer %llu", doing, bytes, (unsigned long long)offset, (unsigned long long)(buffer - 1));
    if (writes) b->written = 1;
    if (b->marks && !(m->atomic && writes)) look_for_races(m, b->marks + offset, bytes, writes);
    return b->bytes + offset;
}

uint64_t ti_read_memory(ti_machine *m, const ti_op *op, uint64_t address, unsigned bytes) {
    const uint8_t *p = place_at(m, op, address, bytes, "reads", 0);
    uint64_t       x = 0;
    unsigned       i;
    for (i = bytes; i-- > 0;) x = x << 8 | p[i];
    return x;
}

void ti_write_memory(ti_machine *m, const ti_op *op, uint64_t address, unsigned bytes, uint64_t value) {
    uint8_t *p = place_at(m, op, address, bytes, "writes", 1);
    unsigned i;
    for (i = 0; i < bytes; i++) p[i] = (uint8_t)(value >> (8 * i));
}

/* -- Loads and stores ------------------------------------------------------------- */

void ti_run_load(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_type  *elem = op->in_type[0]->to;
    const ti_array *pointers = ti_in(f, op, 0), *mask = op->n_in > 1 ? ti_in(f, op, 1) : NULL;
    const ti_array *other = op->n_in > 2 ? ti_in(f, op, 2) : NULL;
    ti_array       *out;
    size_t          i;
    if (op->in_type[0]->kind == TI_BLOCK_PTR) {
        ti_load_block(m, f, op);
        return;
    }
    out = ti_new(m, pointers->n);
    for (i = 0; i < out->n; i++) {
        if (mask && !mask->at[i]) out->at[i] = other ? other->at[i] : ti_open(0) & ti_mask(elem->bits);
        else out->at[i] = ti_read_memory(m, op, pointers->at[i], ti_bytes(elem)) & ti_mask(elem->bits);
    }
    ti_put(m, f, op->out[0], out);
}

/* The ith element to be written: where a launch varies what is open, from the last on. */
static size_t element_at(size_t n, size_t i) {
    return ti_vary ? n - 1 - i : i;
}

void ti_run_store(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_array *pointers = ti_in(f, op, 0), *values = ti_in(f, op, 1), *mask = op->n_in > 2 ? ti_in(f, op, 2) : NULL;
    unsigned        bytes = ti_bytes(op->in_type[1]);
    size_t          i;
    if (op->in_type[0]->kind == TI_BLOCK_PTR) {
        ti_store_block(m, f, op);
        return;
    }
    for (i = 0; i < pointers->n; i++) {
        size_t k = element_at(pointers->n, i);
        if (!mask || mask->at[k]) ti_write_memory(m, op, pointers->at[k], bytes, values->at[k]);
    }
}

/* -- Atomics ------------------------------------------------------------------------ */

/* Kinds as in Triton's TritonAttrDefs.td. */
enum { AND = 1, OR, XOR, ADD, FADD, MAX, MIN, UMAX, UMIN, EXCH };

/* The order of atomics shows in what is kept of an exchange, and in every old value that is read. */
static int kind_of_atomic(const ti_op *op, int64_t kind) {
    unsigned i;
    for (i = 0; i < op->n_ends; i++)
        if (op->ends[i] == op->out[0]) return kind == EXCH ? TI_ANY_KIND : (int)kind;
    return TI_ANY_KIND;
}

uint64_t ti_rmw_result(ti_machine *m, const ti_op *op, const ti_type *elem, int64_t kind, uint64_t old, uint64_t value) {
    int64_t x = ti_signed(old, elem->bits), y = ti_signed(value, elem->bits);
    switch (kind) {
    case AND: return old & value;
    case OR: return old | value;
    case XOR: return old ^ value;
    case ADD: return (old + value) & ti_mask(elem->bits);
    case FADD: return ti_round(elem->format, ti_decode(elem->format, old) + ti_decode(elem->format, value));
    case MAX: return x > y ? old : value;
    case MIN: return x < y ? old : value;
    case UMAX: return old > value ? old : value;
    case UMIN: return old < value ? old : value;
    case EXCH: return value;
    default: ti_stop(m, op, TI_UNSUPPORTED, "atomic of kind %lld", (long long)kind);
    }
}

void ti_run_rmw(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_type  *elem = op->in_type[0]->to;
    const ti_array *pointers = ti_in(f, op, 0), *values = ti_in(f, op, 1), *mask = op->n_in > 2 ? ti_in(f, op, 2) : NULL;
    int64_t         kind = ti_attribute_int(op, "atomic_rmw_op", 0);
    unsigned        bytes = ti_bytes(elem);
    ti_array       *out = ti_new(m, pointers->n);
    size_t          i, done;
    if (kind == FADD && elem->kind != TI_FLOAT) ti_stop(m, op, TI_FAULT, "fadd on %s", elem->text);
    m->atomic = kind_of_atomic(op, kind);
    for (done = 0; done < out->n; done++) {
        i = element_at(out->n, done);
        out->at[i] = ti_open(0) & ti_mask(elem->bits);
        if (mask && !mask->at[i]) continue;
        m->element = (uint32_t)i + 1;
        out->at[i] = ti_read_memory(m, op, pointers->at[i], bytes);
        ti_write_memory(m, op, pointers->at[i], bytes, ti_rmw_result(m, op, elem, kind, out->at[i], values->at[i]));
    }
    m->atomic = 0;
    ti_put(m, f, op->out[0], out);
}

void ti_run_cas(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_array *pointers = ti_in(f, op, 0), *expected = ti_in(f, op, 1), *values = ti_in(f, op, 2);
    unsigned        bytes = ti_bytes(op->in_type[0]->to);
    ti_array       *out = ti_new(m, pointers->n);
    size_t          i;
    m->atomic = TI_ANY_KIND;
    for (i = 0; i < out->n; i++) {
        m->element = (uint32_t)i + 1;
        out->at[i] = ti_read_memory(m, op, pointers->at[i], bytes);
        if (out->at[i] == expected->at[i]) ti_write_memory(m, op, pointers->at[i], bytes, values->at[i]);
    }
    m->atomic = 0;
    ti_put(m, f, op->out[0], out);
}

void ti_run_atomic_load(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_type  *elem = op->in_type[0]->to;
    const ti_array *pointers = ti_in(f, op, 0), *mask = op->n_in > 1 ? ti_in(f, op, 1) : NULL;
    ti_array       *out = ti_new(m, pointers->n);
    size_t          i;
    m->atomic = TI_ANY_KIND;
    for (i = 0; i < out->n; i++) {
        m->element = (uint32_t)i + 1;
        out->at[i] = mask && !mask->at[i] ? ti_open(0) & ti_mask(elem->bits)
                                          : ti_read_memory(m, op, pointers->at[i], ti_bytes(elem)) & ti_mask(elem->bits);
    }
    m->atomic = 0;
    ti_put(m, f, op->out[0], out);
}

void ti_run_atomic_store(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_array *pointers = ti_in(f, op, 0), *values = ti_in(f, op, 1), *mask = op->n_in > 2 ? ti_in(f, op, 2) : NULL;
    size_t          done, i;
    m->atomic = TI_ANY_KIND;
    for (done = 0; done < pointers->n; done++) {
        i = element_at(pointers->n, done);
        m->element = (uint32_t)i + 1;
        if (!mask || mask->at[i]) ti_write_memory(m, op, pointers->at[i], ti_bytes(op->in_type[1]), values->at[i]);
    }
    m->atomic = 0;
}

/* Programs run one after another here, so memory does not change while one waits. */
void ti_run_atomic_poll(ti_machine *m, ti_frame *f, const ti_op *op) {
    const ti_type  *elem = op->in_type[0]->to;
    const ti_array *pointers = ti_in(f, op, 0), *expected = ti_in(f, op, 1);
    ti_array       *out = ti_new(m, pointers->n);
    size_t          i;
    m->atomic = TI_ANY_KIND;
    for (i = 0; i < out->n; i++) {
        m->element = (uint32_t)i + 1;
        out->at[i] = ti_read_memory(m, op, pointers->at[i], ti_bytes(elem)) == expected->at[i];
        if (!out->at[i] && op->n_in < 3) ti_stop(m, op, TI_UNSUPPORTED, "a poll that never ends");
    }
    m->atomic = 0;
    ti_put(m, f, op->out[0], out);
}
