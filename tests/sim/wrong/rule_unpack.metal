// Functions that M3 gets wrong.
// emitted
// expect the unpack functions are wrong on M3
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device uint *x [[buffer(0)]],
    uint tid [[thread_index_in_threadgroup]])
{
    x[tid] = uint(unpack_unorm2x16_to_float(x[tid]).x);
}
