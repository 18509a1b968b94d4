// An element of a vector is as one of an array.
// emitted
// expect a private array under a run-time index reads 0
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device float *x [[buffer(0)]], constant int &n [[buffer(1)]],
    uint tid [[thread_index_in_threadgroup]])
{
    const float4 a = float4(0.0f, 1.0f, 2.0f, 3.0f);
    x[tid] = a[n & 3];
}
