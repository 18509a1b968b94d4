// Variables of the program are constants.
// expect program scope variable must reside in constant address space
#include <metal_stdlib>
using namespace metal;

float COUNT = 1.0f;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = COUNT;
}
