// Packed vectors begin at any element, and may meet in what they write if they write the same.
// launch 1 threads 32
// buffer 0 f32 37 iota
// buffer 1 f32 37 zero
// want 1 f32 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 40 42 44 46 48 50 52 54 56 58 60 62 64 66 68 70 0
#include <metal_stdlib>
using namespace metal;

kernel void packed(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                   uint tid [[thread_index_in_threadgroup]]) {
    const float4 v = float4(*(device const packed_float4 *)(x + tid + 1));
    *(device packed_float4 *)(y + tid + 1) = v + v;
}
