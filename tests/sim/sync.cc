/* What fences and atomics make visible from one threadgroup to another.
 *
 * Threadgroups run one after the other, so the question is only: was a write of an earlier group
 * published, and has the reader acquired? Published: the writer (or, through a barrier, one of its
 * group) executed a device fence after the write and an atomic after the fence. Acquired: the
 * reader (or, through a barrier, one of its group) executed an atomic and then a device fence.
 * From Metal 4.1 on an ordered atomic is fence and atomic in one. */
#include "machine.h"

#include <algorithm>
#include <map>

namespace sim {

namespace {

/* For every thread of a threadgroup, the stamp up to which its accesses are published. */
struct published {
    uint32_t              group_start;
    std::vector<uint32_t> until;
};

std::vector<published> earlier; /* in the order of group_start */
published              mine;
bool                   all_acquired, fenced_in_group;

/* memory_order as the headers number it; acq_rel and seq_cst do both. */
constexpr unsigned order_acquire = 2, order_release = 3, order_acq_rel = 4;

void acquire() {
    if (M.current->touched_atomic) M.current->acquired = true;
}

/* Accesses from here on carry a later stamp than those before the fence. */
void release() {
    M.current->fenced = M.stamp++;
    fenced_in_group = true;
}

void publish() {
    if (!fenced_in_group) return;
    const uint32_t barrier = M.ordered[order_device];
    mine.until.resize(max_group_threads, 0);
    for (unsigned v = 0; v < M.thread_count; v++) {
        uint32_t until = 0;
        if (&M.threads[v] == M.current || M.threads[v].fenced < barrier)
            until = M.threads[v].fenced;
        if (M.current->fenced >= barrier)
            until = std::max(until, barrier - 1); /* a barrier, then the fence */
        mine.until[v] = std::max(mine.until[v], until);
    }
}

void keep_last_group() {
    if (!mine.until.empty()) earlier.push_back(mine);
    mine.until.clear();
}

} // namespace

void sync_start_dispatch() {
    earlier.clear();
    mine.until.clear();
}

void sync_start_group() {
    keep_last_group();
    mine.group_start = M.group_start;
    all_acquired = fenced_in_group = false;
}

void sync_barrier(unsigned mem) {
    if (!(mem & SIM_MEM_DEVICE) || !fenced_in_group) return;
    for (unsigned i = 0; i < M.thread_count && !all_acquired; i++)
        all_acquired = M.threads[i].acquired;
}

void sync_atomic(unsigned order) {
    if (order == order_release || order >= order_acq_rel) release();
    publish();
    M.current->touched_atomic = true;
    if (order == order_acquire || order >= order_acq_rel) {
        acquire();
        fenced_in_group = true;
    }
}

bool sync_ordered(uint32_t stamp, unsigned who) {
    if (!all_acquired && !M.current->acquired) return false;
    const auto after =
        std::upper_bound(earlier.begin(), earlier.end(), stamp,
                         [](uint32_t s, const published &p) { return s < p.group_start; });
    if (after == earlier.begin()) return false;
    const published &p = *(after - 1);
    return stamp <= p.until[who];
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
