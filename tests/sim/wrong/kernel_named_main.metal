// Nor be called main.
// expect 'main' is a function of the standard library
#include <metal_stdlib>
using namespace metal;

kernel void main(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
