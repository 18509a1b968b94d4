// Whole simdgroups only.
// expect 48 threads per threadgroup is not a multiple of 32
// launch 1 threads 48
// buffer 0 f32 64 zero
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
