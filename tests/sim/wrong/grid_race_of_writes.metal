// Two threadgroups write different values.
// expect where another threadgroup wrote a different value
// launch 2 threads 64
// buffer 0 f32 64 zero
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint pid [[threadgroup_position_in_grid]], uint tid [[thread_index_in_threadgroup]]) {
    if (tid == 0) x[0] = float(pid + 1);
}
