// Threadgroup barriers with mem_threadgroup do not order device memory.
// expect race in a threadgroup
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = float(tid);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float v = x[63 - tid];
    threadgroup_barrier(mem_flags::mem_device);
    x[tid] = v;
}
