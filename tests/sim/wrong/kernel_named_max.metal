// A kernel may not take the name of a function.
// expect 'max' is a function of the standard library
#include <metal_stdlib>
using namespace metal;

kernel void max(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
