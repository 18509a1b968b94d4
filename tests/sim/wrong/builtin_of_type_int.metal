// Built-in inputs are unsigned.
// expect type 'int' is not valid for attribute 'thread_index_in_threadgroup'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], int tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
