#include "simd.h"
#include "numbers.h"

#include <cmath>

namespace sim {

namespace {

const char *const op_names[] = {
#define X(id, text) text,
    SIM_SIMD_OPS(X)
#undef X
};

/* -- Values of a lane -------------------------------------------------------------------------- */

bool is_float(uint32_t type) { return type >= SIM_F16; }

float as_float(uint32_t type, uint32_t bits) {
    return type == SIM_F16 ? half_to_float(static_cast<uint16_t>(bits)) : bits_as<float>(bits);
}
uint32_t from_float(uint32_t type, float x) {
    return type == SIM_F16 ? float_to_half(x) : bits_as<uint32_t>(x);
}

int64_t as_integer(uint32_t type, uint32_t bits) {
    switch (type) {
    case SIM_I8: return static_cast<int8_t>(bits);
    case SIM_U8: return static_cast<uint8_t>(bits);
    case SIM_I16: return static_cast<int16_t>(bits);
    case SIM_U16: return static_cast<uint16_t>(bits);
    case SIM_I32: return static_cast<int32_t>(bits);
    default: return bits;
    }
}

enum class fold { sum, product, min, max, bit_and, bit_or, bit_xor };

uint32_t combine_float(fold f, uint32_t type, uint32_t a, uint32_t b) {
    const float x = as_float(type, a), y = as_float(type, b);
    switch (f) {
    case fold::sum: return from_float(type, x + y);
    case fold::product: return from_float(type, x * y);
    case fold::min: return from_float(type, std::fmin(x, y)); /* loses NaN, as the device does */
    default: return from_float(type, std::fmax(x, y));
    }
}

uint32_t combine(fold f, uint32_t type, uint32_t a, uint32_t b) {
    if (is_float(type)) return combine_float(f, type, a, b);
    switch (f) {
    case fold::sum: return a + b;
    case fold::product: return a * b;
    case fold::min: return as_integer(type, a) < as_integer(type, b) ? a : b;
    case fold::max: return as_integer(type, a) > as_integer(type, b) ? a : b;
    case fold::bit_and: return a & b;
    case fold::bit_or: return a | b;
    default: return a ^ b;
    }
}

uint32_t neutral(fold f, uint32_t type) {
    if (f == fold::sum) return 0;
    return is_float(type) ? from_float(type, 1.0f) : 1;
}

/* -- Functions over all lanes ------------------------------------------------------------------ */

/* Neighbours first, then pairs of pairs: the order is not specified, and a tree is as good as any.
 * `width` lanes at a time: 32, or 4 for quads. */
void reduce(simdgroup &g, fold f, unsigned width) {
    for (unsigned first = 0; first < g.size; first += width) {
        uint32_t       v[simd_width];
        const unsigned n = std::min<unsigned>(width, g.size - first);
        for (unsigned i = 0; i < n; i++) v[i] = g.by_lane[first + i]->bits;
        for (unsigned step = 1; step < n; step *= 2)
            for (unsigned i = 0; i + step < n; i += 2 * step)
                v[i] = combine(f, g.by_lane[first]->type, v[i], v[i + step]);
        for (unsigned i = 0; i < n; i++) g.by_lane[first + i]->result = v[0];
    }
}

void scan(simdgroup &g, fold f, bool inclusive) {
    const uint32_t type = g.by_lane[0]->type;
    uint32_t       so_far = neutral(f, type);
    for (unsigned i = 0; i < g.size; i++) {
        const uint32_t next = combine(f, type, so_far, g.by_lane[i]->bits);
        g.by_lane[i]->result = inclusive ? next : so_far;
        so_far = next;
    }
}

void check_uniform(const simdgroup &g, const char *what) {
    for (unsigned i = 1; i < g.size; i++)
        if (g.by_lane[i]->arg != g.by_lane[0]->arg) {
            violate_at(violation_kind::UNIFORM, g.by_lane[i]->at,
                       "%s: %s is %u in lane 0 but %u in lane %u", simd_op_name(g.by_lane[i]->op),
                       what, g.by_lane[0]->arg, g.by_lane[i]->arg, i);
            return;
        }
}

/* The lanes load or store one tile together. */
void check_tile(const simdgroup &g) {
    static const char *const names[] = {"the pointer", "elements_per_row", "the column", "the row",
                                        "transpose"};
    const gpu_thread        &first = *g.by_lane[0];
    for (unsigned i = 1; i < g.size; i++)
        for (unsigned k = 0; k < 5; k++)
            if (g.by_lane[i]->tile[k] != first.tile[k]) {
                violate_at(violation_kind::UNIFORM, first.at,
                           "%s: %s of lane %u is not that of lane 0", simd_op_name(first.op),
                           names[k], i);
                return;
            }
}

uint32_t lane_bits(const simdgroup &g, unsigned lane, const gpu_thread &asker) {
    if (lane < g.size) return g.by_lane[lane]->bits;
    violate_at(violation_kind::LANE, asker.at, "%s: lane %u reads from lane %u of %u",
               simd_op_name(asker.op), asker.lane, lane, g.size);
    return 0xdeadbeef;
}

/* Past the edge the device returns something that nobody may use, so this is recognisable: NaN as
 * a float, and a large number otherwise. */
uint32_t beyond_edge(uint32_t type) {
    return type == SIM_F16 ? 0x7eadu : type == SIM_F32 ? 0x7fc0deadu : 0x5bad5badu;
}

uint32_t shifted(const simdgroup &g, const gpu_thread &t, int from) {
    return from >= 0 && from < static_cast<int>(g.size) ? g.by_lane[from]->bits
                                                        : beyond_edge(t.type);
}

/* arg: distance in the low half, modulo in the high half. Lanes past the edge of their part take
 * the fill of the part's other side. */
uint32_t filled(const simdgroup &g, const gpu_thread &t, bool up) {
    const int modulo = static_cast<int>(t.arg >> 16), delta = static_cast<int>(t.arg & 0xffff);
    const int part = t.lane / modulo * modulo, within = t.lane - part,
              from = up ? within - delta : within + delta;
    if (from >= 0 && from < modulo) return lane_bits(g, static_cast<unsigned>(part + from), t);
    return g.by_lane[part + ((from % modulo) + modulo) % modulo]->fill;
}

/* A lane of the same quad; `from` is relative to its first lane. */
uint32_t quad_lane(const simdgroup &g, const gpu_thread &t, int from) {
    const unsigned lane = (t.lane & ~3u) + static_cast<unsigned>(from);
    return from >= 0 && from < 4 && lane < g.size ? g.by_lane[lane]->bits : beyond_edge(t.type);
}

uint32_t quad_lane_checked(const simdgroup &g, const gpu_thread &t, unsigned from) {
    if (from < 4) return quad_lane(g, t, static_cast<int>(from));
    violate_at(violation_kind::LANE, t.at, "%s: lane %u reads from lane %u of 4",
               simd_op_name(t.op), t.lane % 4u, from);
    return beyond_edge(t.type);
}

void permute(simdgroup &g) {
    for (unsigned i = 0; i < g.size; i++) {
        gpu_thread &t = *g.by_lane[i];
        const int   lane = t.lane, n = static_cast<int>(t.arg);
        switch (t.op) {
        case SIM_OP_BROADCAST:
        case SIM_OP_SHUFFLE: t.result = lane_bits(g, t.arg, t); break;
        case SIM_OP_SHUFFLE_XOR:
            t.result = lane_bits(g, static_cast<unsigned>(lane) ^ t.arg, t);
            break;
        case SIM_OP_SHUFFLE_UP: t.result = shifted(g, t, lane - n); break;
        case SIM_OP_SHUFFLE_DOWN: t.result = shifted(g, t, lane + n); break;
        case SIM_OP_ROTATE_UP:
            t.result =
                g.by_lane[(static_cast<unsigned>(lane) + g.size - t.arg % g.size) % g.size]->bits;
            break;
        case SIM_OP_ROTATE_DOWN:
            t.result = g.by_lane[(static_cast<unsigned>(lane) + t.arg) % g.size]->bits;
            break;
        case SIM_OP_FILL_UP: t.result = filled(g, t, true); break;
        case SIM_OP_FILL_DOWN: t.result = filled(g, t, false); break;
        case SIM_OP_QUAD_BROADCAST:
        case SIM_OP_QUAD_SHUFFLE: t.result = quad_lane_checked(g, t, t.arg); break;
        case SIM_OP_QUAD_SHUFFLE_XOR:
            t.result = quad_lane_checked(g, t, t.arg < 4 ? (t.lane & 3u) ^ t.arg : t.arg);
            break;
        case SIM_OP_QUAD_SHUFFLE_UP: t.result = quad_lane(g, t, lane % 4 - n); break;
        default: t.result = quad_lane(g, t, lane % 4 + n); break;
        }
    }
}

void vote(simdgroup &g, uint32_t op) {
    uint32_t mask = 0;
    for (unsigned i = 0; i < g.size; i++) mask |= (g.by_lane[i]->bits & 1u) << i;
    for (unsigned i = 0; i < g.size; i++) {
        uint32_t &r = g.by_lane[i]->result;
        switch (op) {
        case SIM_OP_ALL: r = mask == g.everyone; break;
        case SIM_OP_ANY: r = mask != 0; break;
        case SIM_OP_IS_FIRST: r = i == 0; break;
        default: r = mask;
        }
    }
}

/* -- Matrices ---------------------------------------------------------------------------------- */

unsigned matrix_row(unsigned lane) { return (lane / 4 & 4) + lane / 2 % 4; }
unsigned matrix_column(unsigned lane) { return (lane / 4 & 2) * 2 + lane % 2 * 2; }

float rounded_to(uint32_t type, float x) {
    return type == SIM_F16    ? half_to_float(float_to_half(x))
           : type == SIM_BF16 ? bfloat_to_float(float_to_bfloat(x))
                              : x;
}

/* The compiler's own fused multiply-add is an instruction or a slow call; ask at run time. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define SIM_WITH_FMA __attribute__((target_clones("fma", "default")))
#else
#define SIM_WITH_FMA
#endif

/* One chain of fused multiply-adds over k, as measured on M1 and M4. A half accumulator rounds at
 * every step; a bfloat one is kept in float and rounded at the end. */
SIM_WITH_FMA void multiply(simdgroup &g) {
    float a[8][8] = {}, b[8][8] = {};
    for (unsigned l = 0; l < g.size; l++) {
        const gpu_thread &t = *g.by_lane[l];
        const unsigned    r = matrix_row(l), c = matrix_column(l);
        a[r][c] = t.pair[0].a, a[r][c + 1] = t.pair[0].b;
        b[r][c] = t.pair[1].a, b[r][c + 1] = t.pair[1].b;
    }
    for (unsigned l = 0; l < g.size; l++) {
        gpu_thread    &t = *g.by_lane[l];
        const unsigned r = matrix_row(l), c = matrix_column(l);
        float          x = t.pair[2].a, y = t.pair[2].b;
        for (unsigned k = 0; k < 8; k++) {
            x = __builtin_fmaf(a[r][k], b[k][c], x);
            y = __builtin_fmaf(a[r][k], b[k][c + 1], y);
            if (t.type == SIM_F16) x = rounded_to(SIM_F16, x), y = rounded_to(SIM_F16, y);
        }
        t.pair_result = {rounded_to(t.type, x), rounded_to(t.type, y)};
    }
}

void barrier(simdgroup &g) {
    const uint32_t mem = g.by_lane[0]->arg;
    M.stamp++;
    if (mem & SIM_MEM_DEVICE) g.ordered[order_device] = M.stamp;
    if (mem & SIM_MEM_THREADGROUP) g.ordered[order_group] = M.stamp;
}

} // namespace

const char *simd_op_name(uint32_t op) { return op < SIM_OP_COUNT ? op_names[op] : "?"; }

void simd_complete(simdgroup &g) {
    const uint32_t op = g.by_lane[0]->op;
    switch (op) {
    case SIM_OP_SUM: return reduce(g, fold::sum, simd_width);
    case SIM_OP_PRODUCT: return reduce(g, fold::product, simd_width);
    case SIM_OP_MIN: return reduce(g, fold::min, simd_width);
    case SIM_OP_MAX: return reduce(g, fold::max, simd_width);
    case SIM_OP_AND: return reduce(g, fold::bit_and, simd_width);
    case SIM_OP_OR: return reduce(g, fold::bit_or, simd_width);
    case SIM_OP_XOR: return reduce(g, fold::bit_xor, simd_width);
    case SIM_OP_QUAD_SUM: return reduce(g, fold::sum, 4);
    case SIM_OP_QUAD_PRODUCT: return reduce(g, fold::product, 4);
    case SIM_OP_QUAD_MIN: return reduce(g, fold::min, 4);
    case SIM_OP_QUAD_MAX: return reduce(g, fold::max, 4);
    case SIM_OP_QUAD_AND: return reduce(g, fold::bit_and, 4);
    case SIM_OP_QUAD_OR: return reduce(g, fold::bit_or, 4);
    case SIM_OP_QUAD_XOR: return reduce(g, fold::bit_xor, 4);
    case SIM_OP_INCLUSIVE_SUM: return scan(g, fold::sum, true);
    case SIM_OP_EXCLUSIVE_SUM: return scan(g, fold::sum, false);
    case SIM_OP_INCLUSIVE_PRODUCT: return scan(g, fold::product, true);
    case SIM_OP_EXCLUSIVE_PRODUCT: return scan(g, fold::product, false);
    case SIM_OP_BROADCAST_FIRST:
        for (unsigned i = 0; i < g.size; i++) g.by_lane[i]->result = g.by_lane[0]->bits;
        return;
    case SIM_OP_BROADCAST: check_uniform(g, "the lane"); return permute(g);
    case SIM_OP_SHUFFLE_XOR: check_uniform(g, "the mask"); return permute(g);
    case SIM_OP_SHUFFLE_UP:
    case SIM_OP_SHUFFLE_DOWN:
    case SIM_OP_ROTATE_UP:
    case SIM_OP_ROTATE_DOWN:
    case SIM_OP_FILL_UP:
    case SIM_OP_FILL_DOWN: check_uniform(g, "the distance"); return permute(g);
    case SIM_OP_BALLOT:
    case SIM_OP_ACTIVE_MASK:
    case SIM_OP_IS_FIRST:
    case SIM_OP_ALL:
    case SIM_OP_ANY: return vote(g, op);
    case SIM_OP_MATRIX_MULTIPLY: return multiply(g);
    case SIM_OP_MATRIX_LOAD:
    case SIM_OP_MATRIX_STORE: return check_tile(g); /* each lane moves its own elements */
    case SIM_OP_TENSOR_RUN: return tensor_complete(g);
    case SIM_OP_TENSOR_LOAD:
    case SIM_OP_TENSOR_STORE: return; /* each lane moves its own elements */
    case SIM_OP_BARRIER: return barrier(g);
    default: return permute(g);
    }
}

} // namespace sim

using namespace sim;

extern "C" {

unsigned sim_simd(unsigned op, unsigned type, unsigned bits, unsigned arg, unsigned fill,
                  unsigned at) {
    gpu_thread &t = *M.current;
    t.type = type, t.bits = bits, t.arg = arg, t.fill = fill;
    return meet_simdgroup(op, at);
}

sim_pair sim_matrix_multiply(sim_pair a, sim_pair b, sim_pair c, unsigned type, unsigned at) {
    gpu_thread &t = *M.current;
    t.type = type;
    t.pair[0] = a, t.pair[1] = b, t.pair[2] = c;
    meet_simdgroup(SIM_OP_MATRIX_MULTIPLY, at);
    return t.pair_result;
}
}

namespace {

/* The two elements of this lane. Unless transposed they are neighbours, and one access. */
struct fragment {
    uintptr_t element[2];
    size_t    bytes;
};

fragment fragment_of(unsigned long address, unsigned bytes, unsigned long per_row,
                     unsigned long column, unsigned long row, bool transpose) {
    const unsigned lane = M.current->lane, r = matrix_row(lane), c = matrix_column(lane);
    const auto     place = [&](unsigned i, unsigned j) {
        return address + bytes * ((row + i) * per_row + column + j);
    };
    return transpose ? fragment{{place(c, r), place(c + 1, r)}, bytes}
                     : fragment{{place(r, c), place(r, c + 1)}, bytes};
}

void note_tile(uint64_t address, uint64_t per_row, uint64_t column, uint64_t row,
               uint64_t transpose) {
    const uint64_t tile[5] = {address, per_row, column, row, transpose};
    std::memcpy(M.current->tile, tile, sizeof tile);
}

bool may_touch(const fragment &f, bool write, uint64_t pc) {
    if (f.element[1] != f.element[0] + f.bytes || f.element[0] % f.bytes) {
        const bool first = check_access(f.element[0], f.bytes, {write, false, true}, pc);
        const bool second = check_access(f.element[1], f.bytes, {write, false, true}, pc);
        return first && second;
    }
    return check_access(f.element[0], 2 * f.bytes, {write, false, false}, pc);
}

} // namespace

extern "C" {

/* That a tile is written before any lane reads it follows from the checks of its elements. */
unsigned long sim_matrix_load(unsigned long address, unsigned bytes, unsigned long per_row,
                              unsigned long column, unsigned long row, unsigned transpose,
                              unsigned at) {
    const uint64_t pc = SIM_CALLER;
    note_tile(address, per_row, column, row, transpose);
    meet_simdgroup(SIM_OP_MATRIX_LOAD, at);
    const fragment f = fragment_of(address, bytes, per_row, column, row, transpose);
    unsigned long  word[2] = {0, 0};
    if (!may_touch(f, false, pc)) return 0;
    for (int i = 0; i < 2; i++)
        std::memcpy(&word[i], reinterpret_cast<void *>(f.element[i]), bytes);
    return word[0] | word[1] << 32;
}

void sim_matrix_store(unsigned long address, unsigned bytes, unsigned long per_row,
                      unsigned long column, unsigned long row, unsigned transpose,
                      unsigned long bits, unsigned at) {
    const uint64_t pc = SIM_CALLER;
    note_tile(address, per_row, column, row, transpose);
    meet_simdgroup(SIM_OP_MATRIX_STORE, at);
    const fragment f = fragment_of(address, bytes, per_row, column, row, transpose);
    if (!may_touch(f, true, pc)) return;
    for (int i = 0; i < 2; i++) {
        const uint32_t word = static_cast<uint32_t>(bits >> (32 * i));
        std::memcpy(reinterpret_cast<void *>(f.element[i]), &word, bytes);
    }
}
}
