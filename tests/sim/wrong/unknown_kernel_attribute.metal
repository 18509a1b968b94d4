// Nor on kernels.
// expect unknown attribute 'num_threads'
#include <metal_stdlib>
using namespace metal;

[[num_threads(32)]]
kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
