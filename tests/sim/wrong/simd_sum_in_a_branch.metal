// A simd function that half of the lanes reach.
// expect simd function not reached by all: simd_sum reached by 16 of 32 threads
// launch 1 threads 32
// buffer 0 f32 32 zero
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float s = 0.0f;
    if (tid < 16) s = simd_sum(1.0f);
    x[tid] = s;
}
