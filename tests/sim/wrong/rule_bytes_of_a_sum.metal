// The same within one expression, and by more bytes at once.
// emitted
// expect an address of one-byte elements by more than one sum
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device char *x [[buffer(0)]], constant int &n [[buffer(1)]],
    uint tid [[thread_index_in_threadgroup]])
{
    *(device char4 *)(x + n * 64 + tid * 4) = char4(1);
}
