// A label that nobody jumps to.
// expect labeled statements are not supported in Metal
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 0.0f;
    here:
    x[tid] = 1.0f;
}
