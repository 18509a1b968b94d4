// The type of an argument must fit its address.
// expect not a multiple of 16, the alignment of its type
// launch 1 threads 64
// buffer 0 f32 64 iota
// buffer 1 f32 64 iota align 4
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], device const float4 *y [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
