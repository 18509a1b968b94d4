// A division of what the rules know no type of may be one of uint.
// emitted
// expect the rules cannot tell the types of this division
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device float *x [[buffer(0)]],
    uint tid [[thread_index_in_threadgroup]])
{
    const auto n = tid;
    x[tid] = float(n / 3);
}
