// All lanes call one, but not the same.
// expect simd function not reached by all
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float s;
    if (tid % 2 == 0)
        s = simd_sum(1.0f);
    else
        s = simd_max(1.0f);
    x[tid] = s;
}
