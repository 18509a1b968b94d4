// Memory that is used again needs a barrier before the write.
// expect race in a threadgroup
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float part[64];
    part[tid] = float(tid);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float v = part[63 - tid];
    part[tid] = v;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[tid] = part[tid];
}
