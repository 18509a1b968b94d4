// Constructors count their arguments.
// expect a vector of this size takes other arguments
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float3 f = float3(1.0f, 2.0f);
    x[tid] = f.x;
}
