// Nor by value with an index.
// expect type 'int' is not valid for attribute 'buffer'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], int n [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = float(n);
}
