// In a kernel of one simdgroup a barrier names both memories.
// emitted
// expect with one simdgroup a barrier must name mem_device and mem_threadgroup
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

kernel void test(
    device float *x [[buffer(0)]],
    uint tid [[thread_index_in_threadgroup]])
{
    threadgroup float s[32];
    s[tid] = x[tid];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[tid] = s[31 - tid];
}
