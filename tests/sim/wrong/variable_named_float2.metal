// Names of types.
// expect 'float2' is a reserved name
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float float2 = 1.0f;
    x[tid] = 2.0f;
}
