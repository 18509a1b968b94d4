// A simdgroup barrier likewise.
// expect simdgroup_barrier reached by
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    if (tid % 2 == 0) simdgroup_barrier(mem_flags::mem_device);
    x[tid] = 1.0f;
}
