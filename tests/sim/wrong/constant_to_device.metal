// Constant memory is not device memory.
// expect converts between mismatching address spaces
#include <metal_stdlib>
using namespace metal;

constant float TABLE[2] = {1.0f, 2.0f};

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    device const float *p = (device const float *)TABLE;
    x[tid] = p[tid & 1u];
}
