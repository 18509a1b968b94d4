// A wide access that begins inside.
// expect out of bounds: 16-byte read at byte 240 of buffer 'x', which has 248 bytes
// launch 1 threads 32
// buffer 0 f32 62 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float4 v = ((device const float4 *)x)[tid / 2];
    if (v.x == -1.0f) x[0] = 1.0f;
}
