// A division by a constant that was made by hand.
// emitted
// expect a division by a constant made by hand
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device int *x [[buffer(0)]],
    uint tid [[thread_index_in_threadgroup]])
{
    x[tid] = int((long(x[tid]) * 1431655766l) >> 32);
}
