// Elements of a buffer have a fixed width.
// expect type 'size_t' may not stand in a buffer
#include <metal_stdlib>
using namespace metal;

kernel void test(device size_t *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1;
}
