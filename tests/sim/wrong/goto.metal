// No goto, and no labels.
// expect 'goto' is not supported in Metal
// expect labeled statements are not supported in Metal
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    again:
    if (x[tid] < 1.0f) {
        x[tid] += 1.0f;
        goto again;
    }
}
