// Fences around atomics on different addresses hand nothing over.
// msl 3.2
// expect race between threadgroups
// launch 4 threads 32
// buffer 0 u32 132 zero
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint pid [[threadgroup_position_in_grid]], uint tid [[thread_index_in_threadgroup]]) {
    device atomic_uint *done = (device atomic_uint *)(x + 128);
    if (tid) return;
    x[pid] = float(pid + 1);
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
    atomic_fetch_add_explicit(done + pid, 1u, memory_order_relaxed);
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
    x[4 + pid] = x[3 - pid];
}
