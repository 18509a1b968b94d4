// Atomics do not order plain accesses.
// expect race in a threadgroup
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    device atomic_uint *a = (device atomic_uint *)x;
    if (tid == 0) atomic_store_explicit(a, 7u, memory_order_relaxed);
    if (tid == 32) x[1] = x[0];
}
