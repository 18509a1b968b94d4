// Reading what another thread writes needs a barrier.
// expect race in a threadgroup
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float part[64];
    part[tid] = float(tid);
    x[tid] = part[tid];
    if (tid == 0) x[0] = part[63];
}
