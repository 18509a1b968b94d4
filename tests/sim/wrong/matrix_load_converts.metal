// A load does not convert.
// expect no matching function for call to 'simdgroup_load'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    simdgroup_half8x8 m;
    simdgroup_load(m, x, 8);
    x[tid] = float(m.thread_elements()[0]);
}
