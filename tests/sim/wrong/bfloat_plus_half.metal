// No arithmetic of bfloat and half.
// expect overload resolution selected deleted operator '+'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = float(bfloat(1.0f) + half(1.0h));
}
