// A loop over an array of one thread that is not marked to be unrolled.
// emitted
// expect a private array under a run-time index reads 0
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device float *x [[buffer(0)]],
    uint tid [[thread_index_in_threadgroup]])
{
    float a[4];
    for (uint i = 0; i < 4; i++) {
        a[i] = x[i * 64 + tid];
    }
    x[tid] = a[0] + a[3];
}
