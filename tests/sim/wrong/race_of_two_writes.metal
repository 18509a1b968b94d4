// Two threads write different values.
// expect where thread
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float one;
    one = float(tid);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[tid] = one;
}
