// Headers that do not exist for kernels.
// expect the simulator has no <vector>
#include <metal_stdlib>
using namespace metal;

#include <vector>
kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
