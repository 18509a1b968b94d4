// No lambda before 3.2.
// expect lambda expressions are not supported in Metal
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    auto twice = [](float v) { return v * 2.0f; };
    x[tid] = twice(x[tid]);
}
