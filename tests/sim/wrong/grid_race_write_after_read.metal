// One writes what the other has read.
// expect race between threadgroups
// launch 2 threads 64
// buffer 0 f32 192 zero
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint pid [[threadgroup_position_in_grid]], uint tid [[thread_index_in_threadgroup]]) {
    const float v = x[tid];
    x[64 + pid * 64 + tid] = v;
    if (pid == 1) x[tid] = 5.0f;
}
