// An array of one thread under an index that is known at run time only.
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
    float a[4] = {0.0f, 1.0f, 2.0f, 3.0f};
    x[tid] = a[n & 3];
}
