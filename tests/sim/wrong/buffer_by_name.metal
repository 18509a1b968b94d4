// An index is a number in the text.
// expect attribute needs a literal index
#include <metal_stdlib>
using namespace metal;

constant int FIRST = 0;
kernel void test(device float *x [[buffer(FIRST)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
