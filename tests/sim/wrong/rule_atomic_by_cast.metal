// Threadgroup memory is cast to an atomic.
// emitted
// expect atomics on cast threadgroup memory
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device uint *x [[buffer(0)]],
    uint tid [[thread_index_in_threadgroup]])
{
    threadgroup uint s[1];
    if (tid == 0) s[0] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit((threadgroup atomic_uint *)s, 1u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[tid] = s[0];
}
