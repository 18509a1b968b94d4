// softmax: from @softmax (softmax.py:9)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 256 elements, 8 a thread
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

kernel void softmax(
    device float *out_ptr     [[buffer(0)]],
    device const float *x_ptr [[buffer(1)]],
    constant uint &x_stride   [[buffer(2)]],
    constant uint &out_stride [[buffer(3)]],
    constant int &n_cols      [[buffer(4)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    device const float *const x_start = x_ptr + int(program.x * x_stride);
    float x[8];
    float x_part = NAN;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 8; i++) {
        // line 11: cols
        const int cols = int(tid + i * 32);
        // line 13: x = tl.load
        x[i] = cols < n_cols ? x_start[cols] : -INFINITY;
        // line 14: x = tl.max
        x_part = fmax(x_part, x[i]);
    }
    const float x_simd = simd_max(x_part);
    float numerator[8];
    float denominator_part = -0.0f;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 8; i++) {
        // line 15: numerator = tl.exp
        numerator[i] = fast::exp(x[i] - x_simd);
        // line 16: denominator = tl.sum
        denominator_part += numerator[i];
    }
    const float denominator = simd_sum(denominator_part);
    device float *const out_start = out_ptr + int(program.x * out_stride);
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 8; i++) {
        const int cols = int(tid + i * 32);
        // line 17: tl.store
        if (cols < n_cols) out_start[cols] = numerator[i] / denominator;
    }
}
