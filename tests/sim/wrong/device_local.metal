// A local variable is in thread memory.
// expect error: 
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    device float d = 1.0f;
    x[tid] = d;
}
