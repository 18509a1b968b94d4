// Nor bool.
// expect no matching function for call to 'simd_shuffle'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = simd_shuffle(tid > 3u, 0) ? 1.0f : 0.0f;
}
