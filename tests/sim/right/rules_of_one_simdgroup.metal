// A kernel of one simdgroup declares no bound, and its barriers name both memories.
// emitted
// launch 1 threads 32
// buffer 0 f32 32 iota
// want 0 f32 31 30 29 28 27 26 25 24 23 22 21 20 19 18 17 16 15 14 13 12 11 10 9 8 7 6 5 4 3 2 1 0
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float s[32];
    s[tid] = x[tid];
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    x[tid] = s[31 - tid];
}
