// What an earlier threadgroup left does not count.
// expect uninitialised
// launch 2 threads 64
// buffer 0 f32 64 zero
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint pid [[threadgroup_position_in_grid]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float part[64];
    if (pid == 0) part[tid] = 1.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (pid == 1) x[tid] = part[tid];
}
