// Atomics stand at multiples of their size.
// expect is not aligned to its size
// launch 1 threads 32
// buffer 0 f32 64 zero
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    atomic_fetch_add_explicit((device atomic_uint *)((device char *)(x + tid) + 2), 1u, memory_order_relaxed);
}
