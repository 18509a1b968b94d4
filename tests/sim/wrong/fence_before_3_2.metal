// Fences come with 3.2.
// expect atomic_thread_fence
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    atomic_thread_fence(mem_flags::mem_device, memory_order_relaxed);
    x[tid] = 1.0f;
}
