/* Counts what memory accesses would cost.
 *
 * The unit is one load or store instruction executed by one simdgroup. Lanes run one after the
 * other here, so their accesses are gathered: those of the same instruction that are the k-th of
 * their lane since the simdgroup last met belong together. At a meeting the gathered ones are
 * counted and forgotten. */
#include "machine.h"

#include <algorithm>
#include <cstring>

namespace sim {

namespace {

/* The bytes of one 128-byte line (of device memory) or row of 32 banks (of threadgroup memory). */
struct touched_line {
    uint64_t line;
    uint64_t bytes[2];
};

struct gathered {
    std::vector<touched_line> lines;
    uint64_t                  bytes = 0;
};

struct site {
    uint64_t              pc = 0;
    bool                  write = false, group = false, live = false;
    uint32_t              epoch = 0;
    uint16_t              times[simd_width] = {};
    std::vector<gathered> kth;
    unsigned              used = 0; /* of kth */
    access_site           sum;
};

std::vector<uint32_t> site_of_pc; /* offset in the module, kind of access: site number + 1 */
std::vector<site>     sites;
std::vector<uint32_t> live; /* sites with something gathered */
uint32_t              epoch;
const simdgroup      *owner; /* whose accesses are gathered */

site &find_site(uint64_t pc, bool write, bool group) {
    const size_t offset = pc - M.text_base;
    if (offset * 4 >= site_of_pc.size()) site_of_pc.resize(offset * 4 + 16384, 0);
    uint32_t &number =
        site_of_pc[offset * 4 + write * 2 + group]; /* a copy reads and writes at one place */
    if (!number) {
        sites.emplace_back();
        site &s = sites.back();
        s.pc = pc, s.write = write, s.group = group;
        number = static_cast<uint32_t>(sites.size());
    }
    return sites[number - 1];
}

void add_bytes(gathered &g, uint64_t address, size_t bytes) {
    while (bytes) {
        const uint64_t line = address / 128, first = address % 128;
        const size_t   here = std::min<size_t>(bytes, 128 - first);
        auto           found = std::find_if(g.lines.rbegin(), g.lines.rend(),
                                            [&](const touched_line &l) { return l.line == line; });
        touched_line  *l = found != g.lines.rend() ? &*found : nullptr;
        if (!l) {
            g.lines.push_back({line, {0, 0}});
            l = &g.lines.back();
        }
        for (size_t i = first; i < first + here; i++) l->bytes[i / 64] |= uint64_t{1} << (i % 64);
        address += here;
        bytes -= here;
    }
}

unsigned popcount(const touched_line &l) {
    return static_cast<unsigned>(__builtin_popcountll(l.bytes[0]) +
                                 __builtin_popcountll(l.bytes[1]));
}

void count_lines(const gathered &g, access_site &sum) {
    uint64_t distinct = 0;
    auto     lowest = g.lines.begin();
    for (auto l = g.lines.begin(); l != g.lines.end(); ++l) {
        distinct += popcount(*l);
        if (l->line < lowest->line) lowest = l;
    }
    const unsigned start =
        static_cast<unsigned>(lowest->bytes[0] ? __builtin_ctzll(lowest->bytes[0])
                                               : 64 + __builtin_ctzll(lowest->bytes[1]));
    sum.touched += g.lines.size();
    sum.fewest += (start + distinct + 127) / 128;
}

/* Each bank gives one word a cycle; the same word to all who ask. */
void count_banks(const gathered &g, access_site &sum) {
    unsigned cycles[32] = {}, words = 0, most = 0;
    for (const touched_line &l : g.lines)
        for (unsigned bank = 0; bank < 32; bank++)
            if (l.bytes[bank / 16] >> (bank % 16 * 4) & 15) words++, cycles[bank]++;
    for (unsigned c : cycles) most = std::max(most, c);
    sum.touched += most;
    sum.fewest += (words + 31) / 32;
}

void settle(site &s) {
    for (unsigned k = 0; k < s.used; k++) {
        gathered &g = s.kth[k];
        s.sum.simd_accesses++;
        s.sum.bytes += g.bytes;
        if (s.group) count_banks(g, s.sum);
        else count_lines(g, s.sum);
        g.lines.clear();
        g.bytes = 0;
    }
    s.used = 0;
    s.live = false;
}

} // namespace

void count_start(kernel_counters &k, size_t text_bytes) {
    M.tally = &k;
    sites.clear();
    live.clear();
    site_of_pc.assign(text_bytes * 4 + 4, 0);
    owner = nullptr;
}

void count_meeting(simdgroup *g) {
    if (g && g != owner) return; /* nothing of this simdgroup is gathered */
    for (uint32_t number : live) settle(sites[number]);
    live.clear();
    epoch++;
}

void count_access(const view &v, uintptr_t address, size_t bytes, bool write, uint64_t pc) {
    const gpu_thread &t = *M.current;
    if (t.group != owner) {
        count_meeting(nullptr);
        owner = t.group;
    }
    const bool group = v.track && v.track->group;
    site      &s = find_site(pc, write, group);
    if (s.epoch != epoch || !s.live) {
        s.epoch = epoch;
        s.live = true;
        std::memset(s.times, 0, sizeof s.times);
        live.push_back(static_cast<uint32_t>(&s - sites.data()));
    }
    const unsigned k = s.times[t.lane]++;
    if (k >= s.kth.size()) s.kth.resize(k + 1);
    s.used = std::max(s.used, k + 1);
    s.kth[k].bytes += bytes;
    /* A variable's own offset: where the arena put it does not change conflicts. */
    add_bytes(s.kth[k], group ? address - v.base : address, bytes);
}

void count_finish() {
    count_meeting(nullptr);
    for (site &s : sites) {
        s.sum.where = s.group ? space::threadgroup : space::device;
        s.sum.write = s.write;
        s.sum.line = static_cast<unsigned>(
            s.pc - M.text_base); /* becomes a line where the module is known */
        M.tally->sites.push_back(s.sum);
    }
    sites.clear();
}

} // namespace sim
