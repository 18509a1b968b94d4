// Matrices are of floating types.
// expect invalid element type 'T' for 'simdgroup_matrix'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    simdgroup_matrix<int, 8, 8> m;
    x[tid] = float(m.thread_elements()[0]);
}
