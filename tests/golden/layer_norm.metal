// layer_norm: from @layer_norm (layer_norm.py:9)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) for 8 programs along x
//   work     tiles of up to 8 x 128 elements, 4 a thread
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(256)]]
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
    constant int &programs_x       [[buffer(9)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  sg       [[simdgroup_index_in_threadgroup]])
{
    // line 18: mean = tl.sum(total) / n_cols
    const float mean_f32 = float(n_cols);
    float total[4] = {};
    const int total_bound = max(n_cols, 0);
    // line 10: row = tl.program_id(0) * 8 + tl.arange(0, 8)
    const int row = int(program.x * 8 + sg);
    device const float *const x_start = x_ptr + int(row * stride);
    const bool in_grid = row < programs_x;
    const int last = max(n_cols, 1) - 1;
    const int last_2 = max(programs_x, -2147483647) - 1;
    if (int(program.x * 8) < programs_x) {
        device const float *const x_start_2 = x_ptr + int(min(row, last_2) * stride);
        // line 15: for
        for (uint start = 0; start < uint(total_bound); start += 128) {
            #pragma clang loop unroll(full)
            for (uint i = 0; i < 4; i++) {
                // line 16: cols = start + tl.arange(0, 128)
                const int cols = int(start + lane + i * 32);
                const float total_loaded = x_start_2[min(cols, last)];
                // line 17: total
                total[i] += (cols < n_cols) & in_grid ? total_loaded : 0.0f;
            }
        }
        float mean_part = total[0] + total[1] + total[2] + total[3];
        const float mean = simd_sum(mean_part) / mean_f32;
        float squares[4] = {};
        // line 21: for
        for (uint start = 0; start < uint(total_bound); start += 128) {
            #pragma clang loop unroll(full)
            for (uint i = 0; i < 4; i++) {
                // line 22: cols = start + tl.arange(0, 128)
                const int cols = int(start + lane + i * 32);
                const float x_loaded = x_start_2[min(cols, last)];
                // line 24: x = tl.where(...)
                const float x = cols < n_cols
                        ? ((cols < n_cols) & in_grid ? x_loaded : 0.0f) - mean : 0.0f;
                // line 25: squares
                squares[i] += x * x;
            }
        }
        float rstd_part = squares[0] + squares[1] + squares[2] + squares[3];
        // line 26: rstd = 1.0 / tl.sqrt(tl.sum(squares) / n_cols + eps)
        const float rstd_simd = simd_sum(rstd_part);
        const float rstd = 1.0f / precise::sqrt(rstd_simd / mean_f32 + eps);
        if (lane == 0 && in_grid) {
            // line 27: tl.store(mean_ptr + row, mean)
            mean_ptr[row] = mean;
            // line 28: tl.store(rstd_ptr + row, rstd)
            rstd_ptr[row] = rstd;
        }
        device float *const y_start = y_ptr + int(row * stride);
        // line 30: for
        for (uint start = 0; start < uint(total_bound); start += 128) {
            float weight[4];
            float bias_[4];
            #pragma clang loop unroll(full)
            for (uint i = 0; i < 4; i++) {
                // line 31: cols = start + tl.arange(0, 128)
                const int cols = int(start + lane + i * 32);
                const int weight_base = min(cols, last);
                const float weight_loaded = weight_ptr[weight_base];
                // line 32: mask = cols < n_cols
                const bool mask = cols < n_cols;
                // line 33: weight = tl.load(weight_ptr + cols)
                weight[i] = mask ? weight_loaded : 0.0f;
                const float bias_loaded = bias_ptr[weight_base];
                // line 34: bias = tl.load(bias_ptr + cols)
                bias_[i] = mask ? bias_loaded : 0.0f;
            }
            if (int(start + lane) < n_cols && in_grid) {
                float x_loaded[4] = {};
                if (int(start + lane) < n_cols && in_grid) {
                    #pragma clang loop unroll(full)
                    for (uint i = 0; i < 4; i++) {
                        device const float *const x_start_3 = x_start
                                + int(int(start + lane + i * 32) < n_cols && in_grid
                                ? start + lane + i * 32 : start + lane);
                        // line 35: x = tl.load(...)
                        x_loaded[i] = *x_start_3;
                    }
                }
                #pragma clang loop unroll(full)
                for (uint i = 0; i < 4; i++) {
                    const int cols = int(start + lane + i * 32);
                    const bool x_mask = (cols < n_cols) & in_grid;
                    // line 36: tl.store(...)
                    if (x_mask) {
                        y_start[cols] = ((x_mask ? x_loaded[i] : 0.0f) - mean) * rstd * weight[i]
                                + bias_[i];
                    }
                }
            }
        }
    }
}
