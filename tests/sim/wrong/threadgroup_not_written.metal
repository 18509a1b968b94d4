// Threadgroup memory begins undefined.
// expect uninitialised: 4-byte read of threadgroup memory 'part' at byte
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float part[64];
    if (tid < 32) part[tid] = 1.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[tid] = part[tid];
}
