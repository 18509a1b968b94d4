// And not in threadgroup memory before 4.1.
// expect no matching function for call to 'atomic_fetch_add_explicit'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup atomic_float sum;
    atomic_fetch_add_explicit(&sum, 1.0f, memory_order_relaxed);
    x[tid] = 1.0f;
}
