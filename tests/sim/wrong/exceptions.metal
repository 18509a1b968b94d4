// No exceptions.
// expect exceptions are not supported in Metal
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    try {
        x[tid] = 1.0f;
    } catch (...) {
    }
}
