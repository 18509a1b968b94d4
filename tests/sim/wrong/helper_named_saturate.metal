// Nor a helper.
// expect 'saturate' is a function of the standard library
#include <metal_stdlib>
using namespace metal;

float saturate(float v) { return v; }

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = saturate(x[tid]);
}
