// rms_norm: from @rms_norm (rms_norm.py:9)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 512 elements, 16 a thread
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

kernel void rms_norm(
    device const half *x_ptr      [[buffer(0)]],
    device const half *weight_ptr [[buffer(1)]],
    device half *y_ptr            [[buffer(2)]],
    constant int &n_cols          [[buffer(3)]],
    constant float &eps           [[buffer(4)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    device const half *const x_start = x_ptr + int(program.x * n_cols);
    float x[16];
    float scale_part = -0.0f;
    float weight[16];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 16; i++) {
        // line 11: cols
        const int cols = int(tid + i * 32);
        // line 12: mask
        const bool mask = cols < n_cols;
        // line 13: x = tl.load
        const half x_loaded = mask ? x_start[cols] : 0.0h;
        x[i] = float(x_loaded);
        // line 14: scale = tl.sum
        scale_part += x[i] * x[i];
        // line 15: weight = tl.load
        const half weight_loaded = mask ? weight_ptr[cols] : 0.0h;
        weight[i] = float(weight_loaded);
    }
    const float scale_simd = simd_sum(scale_part);
    device half *const y_start = y_ptr + int(program.x * n_cols);
    const float scale = precise::rsqrt(scale_simd / float(n_cols) + eps);
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 16; i++) {
        const int cols = int(tid + i * 32);
        // line 16: tl.store
        if (cols < n_cols) y_start[cols] = half(x[i] * scale * weight[i]);
    }
}
