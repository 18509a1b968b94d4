// From 4.1 an ordered atomic does the same without fences.
// msl 4.1
// launch 8 threads 64
// buffer 0 f32 512 none
// buffer 1 u32 1 zero
// buffer 2 f32 64 zero
// want 2 f32 36
#include <metal_stdlib>
using namespace metal;

kernel void last_block(device float *part [[buffer(0)]], device atomic_uint *done [[buffer(1)]], device float *out [[buffer(2)]],
                       uint pid [[threadgroup_position_in_grid]], uint groups [[threadgroups_per_grid]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup uint order;
    part[pid * 64 + tid] = float(pid + 1);
    threadgroup_barrier(mem_flags::mem_device);
    if (tid == 0) order = atomic_fetch_add_explicit(done, 1u, memory_order_acq_rel, mem_flags::mem_device);
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    if (order + 1u != groups) return;
    float sum = 0.0f;
    for (uint i = 0; i < groups; i++) sum += part[i * 64 + tid];
    out[tid] = sum;
}
