// Without an initialiser.
// expect 'threadgroup' variable cannot have an initializer
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float part = 1.0f;
    x[tid] = part;
}
