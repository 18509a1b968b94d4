// In place through two arguments: each element is counted once.
// launch 1 threads 64
// buffer 0 f32 64 iota
// same 1 0
// aliased 256
// want 0 f32 0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34 36 38 40 42 44 46 48 50 52 54 56 58 60 62 64 66 68 70 72 74 76 78 80 82 84 86 88 90 92 94 96 98 100 102 104 106 108 110 112 114 116 118 120 122 124 126
#include <metal_stdlib>
using namespace metal;

kernel void in_place(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    y[tid] = x[tid] * 2.0f;
}
