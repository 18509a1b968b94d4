// Every integer atomic, in device and threadgroup memory.
// launch 4 threads 64
// buffer 0 u32 16 zero
// buffer 1 f32 2 zero
// want 0 u32 256 32640 255 255 4294967040 256 0 100 256 32640 4 4 0
// want 1 f32 128 -128
#include <metal_stdlib>
using namespace metal;

kernel void atomics(device atomic_uint *a [[buffer(0)]], device atomic_float *f [[buffer(1)]],
                    uint pid [[threadgroup_position_in_grid]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup atomic_uint count;
    threadgroup atomic_int most;
    const uint i = pid * 64 + tid;
    atomic_fetch_add_explicit(&a[0], 1u, memory_order_relaxed);
    atomic_fetch_add_explicit(&a[1], i, memory_order_relaxed);
    atomic_fetch_max_explicit(&a[2], i, memory_order_relaxed);
    atomic_fetch_or_explicit(&a[3], i, memory_order_relaxed);
    atomic_fetch_sub_explicit(&a[4], 1u, memory_order_relaxed);
    // an exchange that may fail for no reason: try again
    uint old = atomic_load_explicit(&a[5], memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&a[5], &old, old + 1u, memory_order_relaxed, memory_order_relaxed)) {
    }
    atomic_fetch_and_explicit(&a[6], 0u, memory_order_relaxed);
    atomic_store_explicit(&a[7], 100u, memory_order_relaxed);
    atomic_fetch_add_explicit(&f[0], 0.5f, memory_order_relaxed);
    atomic_fetch_sub_explicit(&f[1], 0.5f, memory_order_relaxed);
    if (tid == 0) {
        atomic_store_explicit(&count, 0u, memory_order_relaxed);
        atomic_store_explicit(&most, -5, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(&count, 1u, memory_order_relaxed);
    atomic_fetch_max_explicit(&most, int(i), memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (tid == 0) {
        atomic_fetch_add_explicit(&a[8], atomic_load_explicit(&count, memory_order_relaxed), memory_order_relaxed);
        const uint top = uint(atomic_load_explicit(&most, memory_order_relaxed));
        if (top == i + 63u) atomic_fetch_add_explicit(&a[10], 1u, memory_order_relaxed);
        if (atomic_exchange_explicit(&count, 0u, memory_order_relaxed) == 64u) atomic_fetch_add_explicit(&a[11], 1u, memory_order_relaxed);
    }
    atomic_fetch_xor_explicit(&a[9], 0u, memory_order_relaxed);
    atomic_fetch_add_explicit(&a[9], i, memory_order_relaxed);
    atomic_fetch_min_explicit(&a[12], i, memory_order_relaxed);
}
