// A kernel returns nothing.
// expect invalid return type 'int' for kernel function
#include <metal_stdlib>
using namespace metal;

kernel int test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
    return 0;
}
