// bfloat to half is explicit.
// expect 'half'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    bfloat b = bfloat(1.0f);
    half h = b;
    x[tid] = float(h);
}
