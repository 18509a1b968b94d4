// Scratch memory begins undefined.
// expect uninitialised
// launch 1 threads 64
// buffer 0 f32 64 iota
// buffer 1 f32 64 none
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], device float *s [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = s[tid];
}
