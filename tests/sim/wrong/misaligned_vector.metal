// A vector is aligned to its size.
// expect misaligned: 16-byte read of buffer 'y' at byte 4
// launch 1 threads 64
// buffer 0 f32 64 iota
// buffer 1 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], device const float *y [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    float4 v = *(device const float4 *)(y + 1);
    x[tid] = v.x;
}
