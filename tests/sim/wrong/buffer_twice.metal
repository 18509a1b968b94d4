// An index is used once.
// expect cannot reserve 'buffer' resource location at index 0
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], device const float *y [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = y[tid];
}
