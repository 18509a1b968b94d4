// bfloat comes with 3.1.
// msl 3.0
// expect bfloat
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    bfloat b = bfloat(1.0f);
    x[tid] = float(b);
}
