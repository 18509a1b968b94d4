// The last of several threadgroups sums what the others handed over by fences.
// msl 3.2
// launch 8 threads 64
// buffer 0 f32 8 none
// buffer 1 u32 1 zero
// buffer 2 f32 1 zero
// want 2 f32 36
#include <metal_stdlib>
using namespace metal;

kernel void last_block(coherent(device) float *part [[buffer(0)]], device atomic_uint *done [[buffer(1)]], device float *out [[buffer(2)]],
                       uint pid [[threadgroup_position_in_grid]], uint groups [[threadgroups_per_grid]], uint tid [[thread_index_in_threadgroup]]) {
    if (tid != 0) return;
    part[pid] = float(pid + 1);
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
    if (atomic_fetch_add_explicit(done, 1u, memory_order_relaxed) + 1u != groups) return;
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
    float sum = 0.0f;
    for (uint i = 0; i < groups; i++) sum += part[i];
    out[0] = sum;
}
