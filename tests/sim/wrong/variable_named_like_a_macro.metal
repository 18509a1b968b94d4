// Names of macros.
// expect 'M_PI_F' is a reserved name
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float M_PI_F = 1.0f;
    x[tid] = M_PI_F;
}
