// coherent comes with 3.2.
// msl 3.1
// expect use of undeclared identifier 'coherent': it comes with language version 3.2
#include <metal_stdlib>
using namespace metal;

kernel void test(coherent(device) device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
