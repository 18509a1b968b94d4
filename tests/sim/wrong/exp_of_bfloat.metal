// bfloat has arithmetic, not functions.
// expect no matching function for call to 'exp'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = float(exp(bfloat(x[tid])));
}
