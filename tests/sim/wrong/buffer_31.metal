// Indices end at 30.
// expect 'buffer' attribute parameter is out of bounds: must be between 0 and 30
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(31)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
