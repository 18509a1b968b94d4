// A pointer names its address space.
// expect pointer type must have explicit address space qualifier
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float *p = x;
    x[tid] = p[0];
}
