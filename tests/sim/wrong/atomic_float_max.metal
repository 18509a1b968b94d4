// Floats have add and sub only.
// expect no matching function for call to 'atomic_fetch_max_explicit'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    atomic_fetch_max_explicit((device atomic_float *)x, 1.0f, memory_order_relaxed);
}
