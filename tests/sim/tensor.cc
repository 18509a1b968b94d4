/* Metal 4 tensor operations: who holds which element of a cooperative tensor, and what run() does.
 *
 * Only load, store, run and get_multidimensional_index know where an element is. So that nothing
 * else can come to depend on it, the places differ from seed to seed, and with an even seed one of
 * each thread's is empty. SIM_TENSOR_MAP=m5 gives the places that MLX relies on (steel/gemm/nax.h), for probes. */
#include "machine.h"
#include "numbers.h"
#include "simd.h"

#include <cmath>
#include <cstdlib>

namespace sim {

namespace {

constexpr uint32_t nowhere = ~0u;

bool has_holes() { return M.seed % 2 == 0; }

bool map_of_m5() {
    static const char *const name = std::getenv("SIM_TENSOR_MAP");
    return name && std::string(name) == "m5";
}

/* Column in the low half, row in the high one. */
uint32_t place(unsigned columns, unsigned rows, unsigned threads, unsigned thread, unsigned i,
               unsigned role) {
    const unsigned total = columns * rows, each = (total + threads - 1) / threads;
    if (map_of_m5() && threads == simd_width && columns % 16 == 0 && rows % 16 == 0) {
        const unsigned block = i / 8, q = thread / 4, across = columns / 16;
        const unsigned row = ((q & 4) | (thread / 2 & 3)) + i % 8 / 4 * 8,
                       column = ((q & 2) | (thread & 1)) * 4 + i % 4;
        if (i >= each) return nowhere;
        return (block % across * 16 + column) | (block / across * 16 + row) << 16;
    }
    const unsigned hole =
        has_holes() ? static_cast<unsigned>((M.seed + thread * 7 + role) % (each + 1)) : each;
    if (i == hole || i > each) return nowhere;
    const uint64_t number = static_cast<uint64_t>(i - (i > hole)) * threads + thread;
    if (number >= total) return nowhere;
    /* a prime that divides no number of elements: every element has its place */
    const uint64_t e = (number * 104729 + M.seed * 31 + role * 977) % total;
    return static_cast<uint32_t>(e % columns | e / columns << 16);
}

/* -- Elements ---------------------------------------------------------------------------------- */

double element(uint32_t type, uint64_t address, bool relaxed) {
    uint32_t word = 0;
    std::memcpy(&word, reinterpret_cast<void *>(address),
                type <= SIM_U8 ? 1 : type == SIM_F16 || type == SIM_BF16 ? 2 : 4);
    switch (type) {
    case SIM_I8: return static_cast<int8_t>(word);
    case SIM_U8: return word;
    case SIM_I32: return static_cast<int32_t>(word);
    case SIM_F16: return half_to_float(static_cast<uint16_t>(word));
    case SIM_BF16: return bfloat_to_float(static_cast<uint16_t>(word));
    default: return bits_as<float>(relaxed ? word & 0xffffe000u : word); /* as TF32 */
    }
}

void put(uint32_t type, uint64_t address, double x) {
    void *const to = reinterpret_cast<void *>(address);
    if (type == SIM_I32) {
        const uint32_t word = static_cast<uint32_t>(static_cast<int64_t>(x));
        std::memcpy(to, &word, 4);
    } else if (type == SIM_F32) {
        const float f = static_cast<float>(x);
        std::memcpy(to, &f, 4);
    } else {
        const float    f = static_cast<float>(x);
        const uint16_t word = type == SIM_F16 ? float_to_half(f) : float_to_bfloat(f);
        std::memcpy(to, &word, 2);
    }
}

bool inside(const tensor_view &v, unsigned column, unsigned row) {
    return static_cast<int>(column) < v.extent[0] && static_cast<int>(row) < v.extent[1];
}

uint64_t address_of(const tensor_view &v, unsigned column, unsigned row) {
    return v.address + static_cast<uint64_t>((static_cast<int64_t>(v.stride[0]) * column +
                                              static_cast<int64_t>(v.stride[1]) * row) *
                                             v.bytes);
}

/* -- Products ---------------------------------------------------------------------------------- */

struct product {
    unsigned m, n, k, columns[2], rows[2], threads;
    bool     flipped[2], relaxed, adds, valid;
};

/* The extents of the operands decide about a K that the descriptor leaves open; one that it gives
 * must be there, since the hardware reads it (llama.cpp pull request 27064). */
product product_of(const gpu_thread &t, unsigned groups, unsigned at) {
    product p{};
    p.m = t.shape & 0xfff, p.n = t.shape >> 12 & 0xfff, p.k = t.shape >> 24 & 0xffffff;
    p.flipped[0] = t.shape >> 48 & 1, p.flipped[1] = t.shape >> 49 & 1;
    p.relaxed = t.shape >> 50 & 1, p.adds = t.shape >> 51 & 1;
    p.threads = groups * simd_width;
    p.valid = true;
    const int left = t.tensor[0].extent[p.flipped[0]], right = t.tensor[1].extent[!p.flipped[1]];
    if (p.k == 0xffffff) {
        p.k = static_cast<unsigned>(std::max(left, 0));
        p.valid = left == right;
    } else p.valid = static_cast<int>(p.k) <= std::min(left, right);
    if (!p.valid)
        violate_at(violation_kind::BOUNDS, at, "run: K is %u, but the operands have %d and %d",
                   p.k, left, right);
    p.columns[0] = p.flipped[0] ? p.m : p.k, p.rows[0] = p.flipped[0] ? p.k : p.m;
    p.columns[1] = p.flipped[1] ? p.k : p.n, p.rows[1] = p.flipped[1] ? p.n : p.k;
    return p;
}

/* Each thread answers for its share of what is read. */
void check_operands(const product &p, const gpu_thread &t, uint64_t pc) {
    for (unsigned w = 0; w < 2; w++)
        for (unsigned e = t.index % p.threads; !(t.held >> w & 1) && e < p.columns[w] * p.rows[w];
             e += p.threads) {
            const unsigned c = e % p.columns[w], r = e / p.columns[w];
            if (inside(t.tensor[w], c, r))
                check_access(address_of(t.tensor[w], c, r), t.tensor[w].bytes,
                             {false, false, true}, pc);
        }
}

/* An operand as rows; outside of the extents it is zero. `g`: who holds it; NULL: memory does. */
std::vector<double> dense(const product &p, const gpu_thread &t, unsigned w, const simdgroup *g) {
    std::vector<double> all(p.columns[w] * p.rows[w], 0.0);
    const tensor_view  &v = t.tensor[w];
    for (unsigned e = 0; !g && e < all.size(); e++)
        if (inside(v, e % p.columns[w], e / p.columns[w]))
            all[e] = element(v.type, address_of(v, e % p.columns[w], e / p.columns[w]), p.relaxed);
    for (unsigned lane = 0; g && lane < g->size; lane++)
        for (unsigned i = 0; i < all.size() / simd_width + 1; i++) {
            const uint32_t at = place(p.columns[w], p.rows[w], simd_width, lane, i, w);
            if (at != nowhere)
                all[(at >> 16) * p.columns[w] + (at & 0xffff)] =
                    element(v.type, g->by_lane[lane]->tensor[w].address + i * v.bytes, p.relaxed);
        }
    return all;
}

/* One chain of fused multiply-adds over k in float, as simdgroup matrices have it. */
void multiply(const product &p, const std::vector<double> &a, const std::vector<double> &b,
              const gpu_thread &t) {
    const tensor_view &to = t.tensor[2];
    for (unsigned i = 0; i < p.m * p.n / p.threads + 2; i++) {
        const uint32_t at = place(p.n, p.m, p.threads, t.index % p.threads, i, 2);
        if (at == nowhere) continue;
        const unsigned c = at & 0xffff, r = at >> 16;
        const uint64_t held = to.address + i * to.bytes;
        double         sum = p.adds ? element(to.type, held, false) : 0.0;
        for (unsigned k = 0; k < p.k; k++) {
            const double x = a[p.flipped[0] ? k * p.m + r : r * p.k + k],
                         y = b[p.flipped[1] ? c * p.k + k : k * p.n + c];
            /* exact in double, then rounded once; integers are exact and wrap at the end */
            sum = to.type == SIM_I32 ? sum + x * y : static_cast<double>(
                static_cast<float>(sum + x * y));
        }
        put(to.type, held, sum);
    }
}

bool same_view(const tensor_view &a, const tensor_view &b) {
    return a.address == b.address && a.extent[0] == b.extent[0] && a.extent[1] == b.extent[1] &&
           a.stride[0] == b.stride[0] && a.stride[1] == b.stride[1];
}

} // namespace

void tensor_complete(simdgroup &g) {
    const gpu_thread &first = *g.by_lane[0];
    for (unsigned i = 1; i < g.size; i++)
        for (unsigned w = 0; w < 2; w++)
            if (!(first.held >> w & 1) && !same_view(first.tensor[w], g.by_lane[i]->tensor[w])) {
                violate_at(violation_kind::UNIFORM, first.at,
                           "run: the %s operand of lane %u is not that of lane 0",
                           w ? "right" : "left", i);
                return;
            }
    const product p = product_of(first, 1, first.at);
    if (!p.valid) return;
    const std::vector<double> a = dense(p, first, 0, first.held & 1 ? &g : nullptr),
                              b = dense(p, first, 1, first.held & 2 ? &g : nullptr);
    for (unsigned i = 0; i < g.size; i++) multiply(p, a, b, *g.by_lane[i]);
}

} // namespace sim

using namespace sim;

extern "C" {

void sim_tensor_operand(unsigned which, unsigned long address, unsigned type, unsigned bytes,
                        int columns, int rows, int step, int row_step) {
    M.current->tensor[which] = {address, type, bytes, {columns, rows}, {step, row_step}};
}

unsigned sim_tensor_capacity(unsigned elements, unsigned threads) {
    return (elements + threads - 1) / threads + (has_holes() && !map_of_m5());
}

unsigned sim_tensor_index(unsigned columns, unsigned rows, unsigned threads, unsigned i,
                          unsigned role) {
    return place(columns, rows, threads, M.current->index % threads, i, role);
}

/* More simdgroups than one: all of the threadgroup, which must have been dispatched with as many. */
void sim_tensor_run(unsigned long shape, unsigned groups, unsigned held, unsigned at) {
    const uint64_t pc = SIM_CALLER;
    gpu_thread    &t = *M.current;
    t.shape = shape, t.held = held;
    if (groups != 1 && groups != M.simd_count) {
        violate_at(violation_kind::SIMD, at, "run by %u simdgroups of a threadgroup that has %u",
                   groups, M.simd_count);
        stop_dispatch();
    }
    const product p = product_of(t, groups, at);
    if (!p.valid) stop_dispatch();
    check_operands(p, t, pc);
    if (groups == 1) {
        meet_simdgroup(SIM_OP_TENSOR_RUN, at);
        return;
    }
    sim_barrier(SIM_MEM_NONE, at);
    multiply(p, dense(p, t, 0, nullptr), dense(p, t, 1, nullptr), t);
}

/* Load and store: what lies outside of the extents is read as zero and not written. */
void sim_tensor_move(unsigned columns, unsigned rows, unsigned groups, unsigned role, unsigned out,
                     unsigned long held, unsigned at) {
    const uint64_t    pc = SIM_CALLER;
    const tensor_view v = M.current->tensor[role];
    const unsigned    threads = groups * simd_width;
    if (groups == 1) meet_simdgroup(out ? SIM_OP_TENSOR_STORE : SIM_OP_TENSOR_LOAD, at);
    else sim_barrier(SIM_MEM_NONE, at);
    for (unsigned i = 0; i < columns * rows / threads + 2; i++) {
        const uint32_t e = place(columns, rows, threads, M.current->index % threads, i, role);
        if (e == nowhere) continue;
        const unsigned c = e & 0xffff, r = e >> 16;
        uint64_t       word = 0;
        if (inside(v, c, r)) {
            const uint64_t address = address_of(v, c, r);
            if (!check_access(address, v.bytes, {out != 0, false, true}, pc)) continue;
            if (out)
                std::memcpy(reinterpret_cast<void *>(address),
                            reinterpret_cast<void *>(held + i * v.bytes), v.bytes);
            else std::memcpy(&word, reinterpret_cast<void *>(address), v.bytes);
        }
        if (!out) std::memcpy(reinterpret_cast<void *>(held + i * v.bytes), &word, v.bytes);
    }
}
}
