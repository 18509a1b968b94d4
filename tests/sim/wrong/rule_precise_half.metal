// precise:: and fast:: take float only.
// emitted
// expect functions of precise and fast take float only
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device half *x [[buffer(0)]],
    uint tid [[thread_index_in_threadgroup]])
{
    x[tid] = half(precise::exp(x[tid]));
}
