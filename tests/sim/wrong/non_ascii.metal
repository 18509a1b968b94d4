// A byte outside ASCII, even in a comment.
// expect is not ASCII
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    // café
    x[tid] = 1.0f;
}
