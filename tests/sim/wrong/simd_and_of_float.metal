// Bitwise functions take integers.
// expect no matching function for call to 'simd_and'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = simd_and(x[tid]);
}
