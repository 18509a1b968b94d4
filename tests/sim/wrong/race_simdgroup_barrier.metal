// A simdgroup barrier does not order other simdgroups.
// expect race in a threadgroup
// allow uninitialised
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float part[64];
    part[tid] = float(tid);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    x[tid] = part[63 - tid];
}
