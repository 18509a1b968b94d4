// Packed vectors begin at any element, and may meet in what they write if they write the same.
// launch 1 threads 4
// buffer 0 f32 9 iota
// buffer 1 f32 9 zero
// want 1 f32 0 2 4 6 8 10 12 14 0
#include <metal_stdlib>
using namespace metal;

kernel void packed(device const float *x [[buffer(0)]], device float *y [[buffer(1)]],
                   uint tid [[thread_index_in_threadgroup]]) {
    const float4 v = float4(*(device const packed_float4 *)(x + tid + 1));
    *(device packed_float4 *)(y + tid + 1) = v + v;
}
