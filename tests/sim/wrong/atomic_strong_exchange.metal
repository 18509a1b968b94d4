// Only the weak exchange exists.
// expect use of undeclared identifier 'atomic_compare_exchange_strong_explicit'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    uint e = 0;
    atomic_compare_exchange_strong_explicit((device atomic_uint *)x, &e, 1u, memory_order_relaxed, memory_order_relaxed);
}
