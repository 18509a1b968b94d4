// Neighbouring bytes are separate, the same byte is not.
// expect race in a threadgroup
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup uchar b[64];
    b[tid] = uchar(tid);
    b[tid ^ 1u] = uchar(tid);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[tid] = float(b[tid]);
}
