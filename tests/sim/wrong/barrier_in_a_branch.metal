// A barrier that half of the threads reach.
// expect barrier not reached by all: threadgroup_barrier reached by 32 of 64 threads
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    if (tid < 32) threadgroup_barrier(mem_flags::mem_threadgroup);
    x[tid] = 1.0f;
}
