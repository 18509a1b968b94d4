// A float2 has no z.
// expect illegal vector component name
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float2 f = float2(1.0f);
    x[tid] = f.yz.x;
}
