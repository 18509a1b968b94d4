// A loop that nothing leaves.
// emitted
// expect nothing leaves this loop
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device float *x [[buffer(0)]],
    uint tid [[thread_index_in_threadgroup]])
{
    float v = x[tid];
    while (true) {
        v += 1.0f;
    }
    x[tid] = v;
}
