// No static local variables.
// expect static local variables are not supported in Metal
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    static int calls = 0;
    x[tid] = float(calls);
}
