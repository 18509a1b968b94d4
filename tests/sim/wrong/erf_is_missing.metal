// Metal has no erf.
// expect use of undeclared identifier 'erf'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = erf(x[tid]);
}
