// transpose is a constant.
// expect argument to 'simdgroup_load' must be a constant
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    simdgroup_float8x8 m;
    simdgroup_load(m, x, 8, ulong2(0ul), tid == 0);
    x[tid] = m.thread_elements()[0];
}
