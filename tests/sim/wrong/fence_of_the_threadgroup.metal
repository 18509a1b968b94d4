// Nor does a fence of a smaller scope.
// msl 3.2
// expect race between threadgroups
// launch 4 threads 32
// buffer 0 u32 129 zero
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint pid [[threadgroup_position_in_grid]], uint tid [[thread_index_in_threadgroup]]) {
    device atomic_uint *done = (device atomic_uint *)(x + 128);
    if (tid) return;
    x[pid] = float(pid + 1);
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_threadgroup);
    if (atomic_fetch_add_explicit(done, 1u, memory_order_relaxed) != 3u) return;
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_threadgroup);
    x[64] = x[0] + x[1] + x[2] + x[3];
}
