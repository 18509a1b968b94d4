// Ordered atomics come with 4.1.
// msl 3.2
// expect use of undeclared identifier 'memory_order_acquire'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    atomic_load_explicit((device atomic_uint *)x, memory_order_acquire);
}
