// Nor bfloat.
// expect no matching function for call to 'simd_shuffle'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = float(simd_shuffle(bfloat(x[tid]), 0));
}
