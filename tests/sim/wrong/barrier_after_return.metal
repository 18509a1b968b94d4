// Threads that returned do not count as waiting.
// expect has finished
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    if (tid >= 32) return;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[tid] = 1.0f;
}
