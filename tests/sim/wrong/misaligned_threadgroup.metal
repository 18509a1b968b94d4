// Nor does an array of floats in threadgroup memory.
// expect misaligned: 8-byte
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float part[64];
    part[tid] = 1.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float2 v = *(threadgroup float2 *)(part + (tid & 62u));
    x[tid] = v.x;
}
