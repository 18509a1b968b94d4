// 64-bit atomics have min and max only.
// expect no matching function for call to 'atomic_fetch_add_explicit'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    atomic_fetch_add_explicit((device atomic_ulong *)x, 1ul, memory_order_relaxed);
}
