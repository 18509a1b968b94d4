// The least finite number is no neutral element of max.
// emitted
// expect lowest() is not -INFINITY
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device float *x [[buffer(0)]],
    uint tid [[thread_index_in_threadgroup]])
{
    x[tid] = max(x[tid], numeric_limits<float>::lowest());
}
