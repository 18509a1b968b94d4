// Some lanes are at a barrier.
// expect waits in threadgroup_barrier
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    if (tid % 2 == 0) x[tid] = simd_sum(1.0f);
    threadgroup_barrier(mem_flags::mem_device);
    x[tid] += 1.0f;
}
