/* What fences and atomics make visible from one threadgroup to another.
 *
 * Threadgroups run one after the other, so the question is only: was a write of an earlier group
 * published, and has the reader acquired? Published: the writer (or, through a barrier, one of its
 * group) executed a device fence after the write and an atomic after the fence. Acquired: the
 * reader (or, through a barrier, one of its group) executed an atomic on the same address and then
 * a device fence. From Metal 4.1 on an ordered atomic is fence and atomic in one. */
#include "machine.h"

#include <algorithm>
#include <map>

namespace sim {

namespace {

/* For every thread of a threadgroup, the stamp up to which its accesses are published, and the
 * atomics that say so. */
struct published {
    uint32_t               group_start;
    std::vector<uint32_t>  until;
    std::vector<uintptr_t> through;
};

std::vector<published> earlier; /* in the order of group_start */
published              mine;
std::vector<uintptr_t> acquired_by_all; /* atomics, through a barrier after the fence */
bool                   fenced_in_group;

/* memory_order as the headers number it; acq_rel and seq_cst do both. */
constexpr unsigned order_acquire = 2, order_release = 3, order_acq_rel = 4;

void add(std::vector<uintptr_t> &set, uintptr_t address) {
    if (std::find(set.begin(), set.end(), address) == set.end()) set.push_back(address);
}

void acquire() { M.current->acquired = M.current->touched; }

/* Accesses from here on carry a later stamp than those before the fence. */
void release() {
    M.current->fenced = M.stamp++;
    fenced_in_group = true;
}

void publish(uintptr_t address) {
    const uint32_t barrier = M.ordered[order_device];
    mine.until.resize(max_group_threads, 0);
    add(mine.through, address);
    for (unsigned v = 0; v < M.thread_count; v++) {
        uint32_t until = 0;
        if (&M.threads[v] == M.current || M.threads[v].fenced < barrier)
            until = M.threads[v].fenced;
        if (M.current->fenced >= barrier)
            until = std::max(until, barrier - 1); /* a barrier, then the fence */
        mine.until[v] = std::max(mine.until[v], until);
    }
}

bool share(const std::vector<uintptr_t> &a, const std::vector<uintptr_t> &b) {
    return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

} // namespace

void sync_start_dispatch() {
    earlier.clear();
    mine = {};
}

void sync_start_group() {
    if (!mine.through.empty()) earlier.push_back(mine);
    mine = {M.group_start, {}, {}};
    acquired_by_all.clear();
    fenced_in_group = false;
}

void sync_barrier(unsigned mem) {
    if (!(mem & SIM_MEM_DEVICE) || !fenced_in_group) return;
    for (unsigned i = 0; i < M.thread_count; i++)
        for (uintptr_t address : M.threads[i].acquired) add(acquired_by_all, address);
}

void sync_atomic(unsigned order, uintptr_t address) {
    if (order == order_release || order >= order_acq_rel) release();
    if (fenced_in_group) publish(address);
    /* The last few suffice: a fence follows the atomic that it belongs to. */
    if (M.current->touched.size() >= 64) M.current->touched.erase(M.current->touched.begin());
    add(M.current->touched, address);
    if (order != order_acquire && order < order_acq_rel) return;
    acquire();
    fenced_in_group = true;
}

bool sync_ordered(uint32_t stamp, unsigned who) {
    const auto after =
        std::upper_bound(earlier.begin(), earlier.end(), stamp,
                         [](uint32_t s, const published &p) { return s < p.group_start; });
    if (after == earlier.begin()) return false;
    const published &p = *(after - 1);
    return stamp <= p.until[who] &&
           (share(p.through, M.current->acquired) || share(p.through, acquired_by_all));
}

} // namespace sim

using namespace sim;

/* A relaxed fence orders nothing here; one for threadgroup memory concerns no other group. */
extern "C" void sim_fence(unsigned mem, unsigned order, unsigned scope) {
    constexpr unsigned scope_device = 3;
    if (order == 0 || scope != scope_device || !(mem & SIM_MEM_DEVICE)) return;
    acquire();
    release();
}
