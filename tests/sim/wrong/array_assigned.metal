// Arrays are not assigned.
// expect array type
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float a[2] = {1.0f, 2.0f};
    float b[2];
    b = a;
    x[tid] = b[0];
}
