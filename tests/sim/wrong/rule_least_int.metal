// The least int is a long when it is written as one number.
// emitted
// expect -2147483648 is a long
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device int *x [[buffer(0)]],
    uint tid [[thread_index_in_threadgroup]])
{
    x[tid] = x[tid] == -2147483648 ? 1 : 0;
}
