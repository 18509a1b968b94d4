// One reads what the other writes.
// expect race between threadgroups
// launch 2 threads 64
// buffer 0 f32 128 zero
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint pid [[threadgroup_position_in_grid]], uint tid [[thread_index_in_threadgroup]]) {
    if (pid == 0) x[tid] = 5.0f;
    if (pid == 1) x[64 + tid] = x[tid];
}
