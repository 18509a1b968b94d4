// Signed arithmetic does not wrap in Metal; unsigned does.
// expect undefined arithmetic: signed overflow: 1 + 2147483647 in type
// launch 1 threads 32
// buffer 0 f32 32 1
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    int i = int(x[tid]) + 2147483647;
    x[tid] = float(i);
}
