// Simdgroups of one threadgroup make progress, so one may poll for another.
// launch 1 threads 64
// buffer 0 u32 64 zero
// want 0 u32 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9 9
#include <metal_stdlib>
using namespace metal;

kernel void poll(device uint *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup atomic_uint ready;
    if (tid == 0) atomic_store_explicit(&ready, 0u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid < 32) atomic_store_explicit(&ready, 9u, memory_order_relaxed);
    uint seen = 0;
    while (tid >= 32 && seen == 0) seen = atomic_load_explicit(&ready, memory_order_relaxed);
    x[tid] = seen;
}
