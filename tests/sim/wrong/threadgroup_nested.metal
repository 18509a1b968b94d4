// Threadgroup variables stand in the outermost block.
// expect can only be declared in the outermost scope of a kernel function
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    if (tid < 32) {
        threadgroup float part[32];
        part[tid] = 1.0f;
        x[tid] = part[tid];
    }
}
