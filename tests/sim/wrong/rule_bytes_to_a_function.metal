// The same where the access is in a function.
// emitted
// expect an address of one-byte elements by more than one sum
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

inline char get(device const char *p) { return *p; }

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device char *x [[buffer(0)]], constant int &n [[buffer(1)]],
    uint tid [[thread_index_in_threadgroup]])
{
    device char *const row = x + n * 64;
    x[tid] = get(row + tid);
}
