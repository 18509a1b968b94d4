// Compare and exchange of floats never ends where NaN lies.
// emitted
// expect an exchange of floats compares them
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device atomic_float *x [[buffer(0)]],
    uint tid [[thread_index_in_threadgroup]])
{
    float old = 0.0f;
    atomic_compare_exchange_weak_explicit(x + tid, &old, 1.0f, memory_order_relaxed, memory_order_relaxed);
}
