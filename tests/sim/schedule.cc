/* Threads, and the places where they wait for each other.
 *
 * A thread runs until it must wait. Then the next lane of its simdgroup runs, and when none is left
 * that can, the next simdgroup. The last thread to arrive at a meeting point completes it and goes
 * on; the others become ready. Orders are shuffled for every threadgroup from the run's seed. */
#include "machine.h"
#include "simd.h"

#include <algorithm>
#include <cstdio>
#include <string>

namespace sim {

namespace {

fiber_stacks *stacks;
void (*entry_point)();

void shuffle(uint8_t *order, unsigned n) {
    for (unsigned i = 0; i < n; i++) order[i] = static_cast<uint8_t>(i);
    for (unsigned i = n; i > 1; i--) std::swap(order[i - 1], order[M.random.below(i)]);
}

void switch_to(gpu_thread *next) {
    gpu_thread *self = M.current;
    if (next == self) return;
    M.current = next;
    fiber_switch(*self, *next);
}

/* -- Who runs next ----------------------------------------------------------------------------- */

gpu_thread *ready_after(const simdgroup &g, unsigned turn) {
    const uint32_t later = turn + 1 < simd_width ? g.ready & (~0u << (turn + 1)) : 0;
    const uint32_t any = later ? later : g.ready;
    return any ? g.by_turn[__builtin_ctz(any)] : nullptr;
}

gpu_thread *ready_in_other_group(const simdgroup *self) {
    const unsigned n = M.simd_count;
    unsigned       at = 0;
    while (at < n && &M.simdgroups[M.simd_order[at]] != self) at++;
    for (unsigned i = 1; i <= n; i++) {
        simdgroup &g = M.simdgroups[M.simd_order[(at + i) % n]];
        if (g.ready) return ready_after(g, simd_width - 1);
    }
    return nullptr;
}

/* -- When no one can --------------------------------------------------------------------------- */

std::string place(unsigned at) { return "line " + std::to_string(at >> 12); }

std::string doing(const gpu_thread &t) {
    switch (t.status) {
    case thread_status::done: return "has finished";
    case thread_status::ready: return "is running";
    default: return std::string("waits in ") + simd_op_name(t.op) + " at " + place(t.at);
    }
}

/* The first thread that waits, and one that does something else: enough to find the mistake. */
void report_divergence(const gpu_thread *begin, unsigned count, violation_kind kind,
                       const char *what) {
    const gpu_thread *waiting = nullptr, *other = nullptr;
    for (unsigned i = 0; i < count && !waiting; i++)
        if (begin[i].status ==
            (kind == violation_kind::SIMD ? thread_status::at_simd : thread_status::at_barrier))
            waiting = &begin[i];
    for (unsigned i = 0; i < count && !other; i++)
        if (begin[i].status != waiting->status || begin[i].op != waiting->op ||
            begin[i].at != waiting->at)
            other = &begin[i];
    unsigned here = 0;
    for (unsigned i = 0; i < count; i++)
        here += begin[i].status == waiting->status && begin[i].op == waiting->op &&
                begin[i].at == waiting->at;
    violate_at(kind, waiting->at, "%s reached by %u of %u threads of the %s: thread %u %s",
               simd_op_name(waiting->op), here, count, what, other ? other->index : 0,
               other ? doing(*other).c_str() : "is elsewhere");
    stop_dispatch();
}

void report_simd_divergence(const simdgroup &g) {
    report_divergence(g.by_lane[0], g.size, violation_kind::SIMD, "simdgroup");
}
void report_group_divergence() {
    report_divergence(M.threads, M.thread_count, violation_kind::BARRIER, "threadgroup");
}

/* The current thread cannot go on: run another. */
void wait_here() {
    gpu_thread *self = M.current;
    simdgroup  &g = *self->group;
    g.ready &= ~(1u << self->turn);
    gpu_thread *next = ready_after(g, self->turn);
    if (!next) {
        if (g.waiting) report_simd_divergence(g);
        next = ready_in_other_group(&g);
        if (!next) report_group_divergence();
    }
    switch_to(next);
}

/* -- The life of a thread ---------------------------------------------------------------------- */

void finish_thread() {
    gpu_thread *self = M.current;
    self->status = thread_status::done;
    if (++M.finished == M.thread_count) {
        fiber_switch(*self, M.scheduler);
        __builtin_unreachable();
    }
    wait_here();
    __builtin_unreachable();
}

void thread_main() {
    entry_point();
    finish_thread();
}

void prepare_simdgroup(unsigned index) {
    simdgroup     &g = M.simdgroups[index];
    const unsigned first = index * simd_width;
    uint8_t        order[simd_width];
    g.size = static_cast<uint8_t>(std::min(simd_width, M.thread_count - first));
    g.everyone = g.size == simd_width ? ~0u : (1u << g.size) - 1;
    g.ready = g.everyone;
    g.waiting = 0;
    g.ordered[order_device] = g.ordered[order_group] = M.stamp;
    shuffle(order, g.size);
    for (unsigned lane = 0; lane < g.size; lane++) {
        gpu_thread &t = M.threads[first + lane];
        t.group = &g;
        t.index = static_cast<uint16_t>(first + lane);
        t.lane = static_cast<uint8_t>(lane);
        t.turn = order[lane];
        t.status = thread_status::ready;
        t.fenced = 0;
        t.touched.clear();
        t.acquired.clear();
        g.by_lane[lane] = &t;
        g.by_turn[order[lane]] = &t;
        fiber_prepare(t, stacks->top(first + lane), thread_main);
    }
}

} // namespace

void make_stacks(unsigned threads) {
    if (!stacks) {
        stacks = new fiber_stacks(max_group_threads); /* kept for the life of the process */
        M.stacks_base = stacks->base();
        M.stacks_bytes = stacks->bytes();
    }
    stacks->guard(std::min(threads, max_group_threads));
}

void run_threadgroup(void (*entry)()) {
    entry_point = entry;
    M.group_start = M.ordered[order_device] = M.ordered[order_group] = ++M.stamp;
    M.simd_count = (M.thread_count + simd_width - 1) / simd_width;
    M.arrived = M.finished = 0;
    shuffle(M.simd_order, M.simd_count);
    for (unsigned i = 0; i < M.simd_count; i++) prepare_simdgroup(i);
    sync_start_group();
    start_group_memory();

    simdgroup &first = M.simdgroups[M.simd_order[0]];
    M.current = first.by_turn[0];
    fiber_switch(M.scheduler, *M.current);
    settle_pending();
    if (M.counting) count_meeting(nullptr);
}

/* Leaves the dispatch from inside a kernel. The other fibers are simply never resumed. */
void stop_dispatch() {
    M.stopped = true;
    fiber dead;
    fiber_switch(M.current ? static_cast<fiber &>(*M.current) : dead, M.scheduler);
    __builtin_unreachable();
}

/* Someone else's turn, so that polling ends. Cheap calls in between, because a kernel that only
 * counts with atomics does not poll. */
void yield_thread() {
    static unsigned calls;
    if (++calls % 32) return;
    gpu_thread *self = M.current;
    gpu_thread *next =
        calls % 64 ? ready_after(*self->group, self->turn) : ready_in_other_group(self->group);
    if (next) switch_to(next);
}

/* -- Meeting points ---------------------------------------------------------------------------- */

uint32_t meet_simdgroup(uint32_t op, uint32_t at) {
    gpu_thread *self = M.current;
    simdgroup  &g = *self->group;
    self->op = op;
    self->at = at;
    self->status = thread_status::at_simd;
    if (M.counting) M.tally->simd_ops++;
    if (++g.waiting < g.size) {
        wait_here();
        return self->result;
    }
    for (unsigned i = 0; i < g.size; i++)
        if (g.by_lane[i]->op != op || g.by_lane[i]->at != at ||
            g.by_lane[i]->status != thread_status::at_simd)
            report_simd_divergence(g);
    if (M.counting) count_meeting(&g);
    simd_complete(g);
    for (unsigned i = 0; i < g.size; i++) g.by_lane[i]->status = thread_status::ready;
    g.waiting = 0;
    g.ready = g.everyone;
    return self->result;
}

namespace {

void release_barrier(unsigned mem) {
    M.arrived = 0;
    M.stamp++;
    if (mem & SIM_MEM_DEVICE) M.ordered[order_device] = M.stamp;
    if (mem & SIM_MEM_THREADGROUP) M.ordered[order_group] = M.stamp;
    sync_barrier(mem);
    for (unsigned i = 0; i < M.thread_count; i++) M.threads[i].status = thread_status::ready;
    for (unsigned i = 0; i < M.simd_count; i++) M.simdgroups[i].ready = M.simdgroups[i].everyone;
    if (M.counting) {
        count_meeting(nullptr);
        M.tally->barriers++;
    }
}

} // namespace

} // namespace sim

using namespace sim;

extern "C" void sim_barrier(unsigned mem, unsigned at) {
    gpu_thread *self = M.current;
    self->op = SIM_OP_GROUP_BARRIER;
    self->at = at;
    self->status = thread_status::at_barrier;
    if (++M.arrived < M.thread_count) {
        wait_here();
        return;
    }
    for (unsigned i = 0; i < M.thread_count; i++)
        if (M.threads[i].at != at) report_group_divergence();
    release_barrier(mem);
}

extern "C" unsigned sim_builtin(unsigned which) {
    const gpu_thread &t = *M.current;
    const uint32_t   *n = M.local_size;
    const uint32_t    local[3] = {t.index % n[0], t.index / n[0] % n[1], t.index / n[0] / n[1]};
    const unsigned    axis = which % 3;
    switch (which - (which < SIM_THREAD_INDEX ? axis : 0)) {
    case SIM_THREADGROUP_POSITION: return M.program[axis];
    case SIM_THREADGROUPS: return M.grid[axis];
    case SIM_THREAD_POSITION: return local[axis];
    case SIM_THREADS: return n[axis];
    case SIM_GRID_POSITION: return M.program[axis] * n[axis] + local[axis];
    case SIM_GRID_THREADS: return M.grid[axis] * n[axis];
    case SIM_GRID_ORIGIN: return 0;
    case SIM_THREAD_INDEX: return t.index;
    case SIM_LANE: return t.lane;
    case SIM_SIMDGROUP: return t.index / simd_width;
    case SIM_SIMDGROUPS: return M.simd_count;
    case SIM_SIMD_WIDTH: return simd_width;
    case SIM_QUAD_LANE: return t.index % 4;
    case SIM_QUAD: return t.index / 4;
    case SIM_QUADS: return M.thread_count / 4;
    default: return 0;
    }
}

extern "C" unsigned long sim_arg(unsigned index) {
    return index < 31 ? M.arg_address[index] : M.group_address[index - 31];
}
