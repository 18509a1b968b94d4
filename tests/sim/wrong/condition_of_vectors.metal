// ?: takes one bool.
// expect is not contextually convertible to 'bool'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float4 a = float4(x[tid]);
    float4 b = a < a ? a : a;
    x[tid] = b.x;
}
