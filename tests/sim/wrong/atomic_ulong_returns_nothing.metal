// And give no value back.
// expect error: 
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    ulong old = atomic_max_explicit((device atomic_ulong *)x, 1ul, memory_order_relaxed);
    x[tid] = float(old);
}
