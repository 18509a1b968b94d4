// A bound of 32 threads, though there is no barrier.
// emitted
// expect a bound of one simdgroup loses rows
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(32)]]
kernel void test(
    device float *x [[buffer(0)]],
    uint tid [[thread_index_in_threadgroup]])
{
    x[tid] = 1.0f;
}
