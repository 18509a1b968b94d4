// One kernel of a name.
// expect kernel functions cannot be overloaded: 'test'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}

kernel void test(device int *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
