// Vectors convert by name only.
// expect no viable conversion from 'half4' to 'float4'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    half4 h = half4(1.0h);
    float4 f = h;
    x[tid] = f.x;
}
