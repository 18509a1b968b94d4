// Threadgroup arrays are flat.
// emitted
// expect an array of threadgroup memory has one dimension
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device float *x [[buffer(0)]],
    uint tid [[thread_index_in_threadgroup]])
{
    threadgroup float s[8][8];
    s[tid / 8][tid % 8] = x[tid];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[tid] = s[tid % 8][tid / 8];
}
