// A pointer to bytes moves on in a loop.
// emitted
// expect a pointer to one-byte elements grows by another sum
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device char *x [[buffer(0)]], constant int &n [[buffer(1)]],
    uint tid [[thread_index_in_threadgroup]])
{
    device char *p = x;
    for (int i = 0; i < n; i++) {
        *p = 1;
        p += 64;
    }
}
