// Only 8 by 8.
// expect _valid_simdgroup_matrix_size
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    simdgroup_matrix<float, 16, 16> m;
    x[tid] = m.thread_elements()[0];
}
