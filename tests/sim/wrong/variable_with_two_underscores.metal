// Names of the implementation.
// expect 'x__1' is a reserved name
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float x__1 = 1.0f;
    x[tid] = x__1;
}
