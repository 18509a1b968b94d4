// A built-in input has no index.
// expect attribute takes no arguments
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup(0)]]) {
    x[tid] = 1.0f;
}
