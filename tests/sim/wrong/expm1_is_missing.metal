// Nor expm1.
// expect use of undeclared identifier 'expm1'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = expm1(x[tid]);
}
