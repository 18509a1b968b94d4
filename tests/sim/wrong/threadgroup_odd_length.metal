// Dynamic lengths are multiples of 16.
// expect length(4) must be a multiple of 16 bytes
// launch 1 threads 64
// buffer 0 f32 64 zero
// threadgroup 0 4
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], threadgroup float *t [[threadgroup(0)]], uint tid [[thread_index_in_threadgroup]]) {
    t[0] = 1.0f;
    x[tid] = 1.0f;
}
