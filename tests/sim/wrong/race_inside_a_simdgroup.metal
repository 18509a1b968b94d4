// Lanes are not in lockstep.
// expect race in a threadgroup
// allow uninitialised
// launch 1 threads 32
// buffer 0 f32 32 zero
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float part[32];
    part[tid] = float(tid);
    x[tid] = part[31 - tid];
}
