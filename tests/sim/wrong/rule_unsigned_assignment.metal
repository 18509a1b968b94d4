// In an assignment as well.
// emitted
// expect unsigned / and % may be wrong but for powers of two
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device uint *x [[buffer(0)]], constant uint &n [[buffer(1)]],
    uint tid [[thread_index_in_threadgroup]])
{
    uint v = x[tid];
    v %= 10;
    x[tid] = v;
}
