// Not even max.
// expect no matching function for call to 'max'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    bfloat b = bfloat(x[tid]);
    x[tid] = float(max(b, b));
}
