// A vector is not a scalar.
// expect no viable conversion from 'float4' to 'float'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float f = float4(1.0f);
    x[tid] = f;
}
