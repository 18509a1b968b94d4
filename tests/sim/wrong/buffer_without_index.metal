// Every buffer has an index.
// expect kernel argument 'y' has no [[buffer(n)]]
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], device const float *y, uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = y[tid];
}
