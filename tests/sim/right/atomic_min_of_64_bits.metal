// 64-bit minimum and maximum, which give nothing back.
// launch 2 threads 64
// buffer 0 u64 2 1000 0
// want 0 u64 7 134
#include <metal_stdlib>
using namespace metal;

kernel void extremes(device atomic_ulong *a [[buffer(0)]], uint pid [[threadgroup_position_in_grid]], uint tid [[thread_index_in_threadgroup]]) {
    atomic_min_explicit(&a[0], ulong(pid * 64 + tid + 7), memory_order_relaxed);
    atomic_max_explicit(&a[1], ulong(pid * 64 + tid + 7), memory_order_relaxed);
}
