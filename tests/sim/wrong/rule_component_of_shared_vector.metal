// A component of a shared vector that several threads write is written with its neighbours.
// emitted
// expect a component of a vector in memory is written with the others
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device float *x [[buffer(0)]],
    uint tid [[thread_index_in_threadgroup]])
{
    threadgroup float4 s[16];
    s[tid / 4].x = x[tid];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[tid] = s[tid / 4].x;
}
