// layer_norm: from @layer_norm (layer_norm.py:9)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 128 elements, 4 a thread
//   memory   0 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

kernel void layer_norm(
    device const float *x_ptr      [[buffer(0)]],
    device float *y_ptr            [[buffer(1)]],
    device const float *weight_ptr [[buffer(2)]],
    device const float *bias_ptr   [[buffer(3)]],
    device float *mean_ptr         [[buffer(4)]],
    device float *rstd_ptr         [[buffer(5)]],
    constant uint &stride          [[buffer(6)]],
    constant int &n_cols           [[buffer(7)]],
    constant float &eps            [[buffer(8)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    // layer_norm.py:15  total = for
    float total[4];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        total[i] = 0.0f;
    }
    // layer_norm.py:11  x_ptr
    const int x_ptr_2 = int(program.x * stride);
    device const float *const x_ptr_3 = x_ptr + x_ptr_2;
    // layer_norm.py:15  total = for
    const int index = max(n_cols, 0);
    for (uint start = 0; start < uint(index); start += 128) {
        // layer_norm.py:16  cols
        const uint offset = start + tid;
        // layer_norm.py:17  total
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // layer_norm.py:16  cols
            const int cols = int(offset + i * 32);
            // layer_norm.py:17  total = tl.load
            const float total_2 = cols < n_cols ? x_ptr_3[cols] : 0.0f;
            total[i] += total_2;
        }
    }
    // layer_norm.py:18  mean = tl.sum
    float mean = -0.0f;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        mean += total[i];
    }
    const float mean_2 = simd_sum(mean);
    // layer_norm.py:21  squares = for
    float squares[4];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        squares[i] = 0.0f;
    }
    // layer_norm.py:18  mean
    const float mean_3 = float(n_cols);
    const float mean_4 = mean_2 / mean_3;
    // layer_norm.py:21  squares = for
    for (uint start_2 = 0; start_2 < uint(index); start_2 += 128) {
        // layer_norm.py:22  cols
        const uint offset = start_2 + tid;
        // layer_norm.py:25  squares
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // layer_norm.py:22  cols
            const int cols = int(offset + i * 32);
            // layer_norm.py:23  x
            const bool x = cols < n_cols;
            const float x_2 = x ? x_ptr_3[cols] : 0.0f;
            // layer_norm.py:24  x = tl.where
            const float x_3 = x ? x_2 - mean_4 : 0.0f;
            // layer_norm.py:25  squares
            squares[i] += x_3 * x_3;
        }
    }
    // layer_norm.py:26  rstd = tl.sum
    float rstd = -0.0f;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        rstd += squares[i];
    }
    const float rstd_2 = simd_sum(rstd);
    const float rstd_3 = 1.0f / precise::sqrt(rstd_2 / mean_3 + eps);
    // layer_norm.py:27  tl.store
    if (tid == 0) {
        mean_ptr[program.x] = mean_4;
        // layer_norm.py:28  tl.store
        rstd_ptr[program.x] = rstd_3;
    }
    // layer_norm.py:12  y_ptr
    device float *const y_ptr_2 = y_ptr + x_ptr_2;
    // layer_norm.py:30  for
    for (uint start_3 = 0; start_3 < uint(index); start_3 += 128) {
        // layer_norm.py:31  cols
        const uint offset = start_3 + tid;
        // layer_norm.py:30  for
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // layer_norm.py:31  cols
            const int cols = int(offset + i * 32);
            // layer_norm.py:33  weight = tl.load
            if (cols < n_cols) {
                // layer_norm.py:36
                const float value = (x_ptr_3[cols] - mean_4) * rstd_3 * weight_ptr[cols];
                y_ptr_2[cols] = value + bias_ptr[cols];
            }
        }
    }
}
