// float to bfloat is explicit.
// expect cannot initialize a variable of type 'bfloat' with an rvalue of type 'float'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    bfloat b = 1.0f;
    x[tid] = float(b);
}
