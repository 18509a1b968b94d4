// A kernel is not called by a function.
// expect kernel function 'test' cannot be called from 'again'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}

void again(device float *x) { test(x, 0); }
