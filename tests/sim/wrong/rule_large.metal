// A body too large for the compiler says so in its head.
// emitted
// expect statements once loops are unrolled
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device float *x [[buffer(0)]],
    uint tid [[thread_index_in_threadgroup]])
{
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 64; i++) {
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 64; j++) {
            x[tid] += 1.0f;
            x[tid + 64] += 2.0f;
            x[tid + 128] += 2.0f;
        }
    }
}
