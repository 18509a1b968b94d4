// Not in helper functions.
// expect non-kernel function variable cannot be declared in threadgroup address space
#include <metal_stdlib>
using namespace metal;

float f(uint tid) {
    threadgroup float part[32];
    part[tid] = 1.0f;
    return part[tid];
}

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = f(tid);
}
