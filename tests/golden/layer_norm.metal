// layer_norm: from @layer_norm (layer_norm.py:9)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) for 8 programs along x
//   work     tiles of up to 8 x 128 elements, 4 a thread, 4 of them neighbours
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
    float4 total = float4(0.0f);
    const int total_bound = max(n_cols, 0);
    const int row_offset = int(program.x * 8 + sg);
    const bool in_grid = row_offset < programs_x;
    device const float *const x_start = x_ptr + int(row_offset * stride);
    const int last = max(n_cols, -2147483647) - 1;
    // line 15: for
    for (uint start = 0; start < uint(total_bound); start += 128) {
        // line 16: cols = start + tl.arange(0, 128)
        const int cols = int(start + lane * 4);
        device const float *const x_start_2 = x_start + cols;
        float4 total_loaded;
        if ((int(start + (lane * 4 + 3)) < n_cols) & in_grid) {
            // line 17: total = tl.load(...)
            total_loaded = float4(*(device const packed_float4 *)(x_start_2));
        } else {
            if ((cols < n_cols) & in_grid) {
                const float total_loaded_2 = x_start[min(int(start + (lane * 4 + 1)), last)];
                const float total_loaded_3 = x_start[min(int(start + (lane * 4 + 2)), last)];
                total_loaded = float4(*x_start_2, (int(start + (lane * 4 + 1)) < n_cols) & in_grid
                        ? total_loaded_2 : 0.0f, (int(start + (lane * 4 + 2)) < n_cols) & in_grid
                        ? total_loaded_3 : 0.0f, 0.0f);
            } else {
                total_loaded = float4(0.0f);
            }
        }
        total += total_loaded;
    }
    // line 18: mean = tl.sum(total) / n_cols
    const float mean_simd = simd_sum(total.x + total.y + total.z + total.w);
    float4 squares = float4(0.0f);
    const float mean_f32 = float(n_cols);
    const float mean = mean_simd / mean_f32;
    const uint4 cols_offset = uint4(lane * 4) + uint4(0, 1, 2, 3);
    // line 21: for
    for (uint start = 0; start < uint(total_bound); start += 128) {
        // line 22: cols = start + tl.arange(0, 128)
        const int cols = int(start + lane * 4);
        device const float *const x_start_2 = x_start + cols;
        float4 x;
        if ((int(start + (lane * 4 + 3)) < n_cols) & in_grid) {
            // line 23: x = tl.load(...)
            x = float4(*(device const packed_float4 *)(x_start_2));
        } else {
            if ((cols < n_cols) & in_grid) {
                const float x_loaded = x_start[min(int(start + (lane * 4 + 1)), last)];
                const float x_loaded_2 = x_start[min(int(start + (lane * 4 + 2)), last)];
                x = float4(*x_start_2, (int(start + (lane * 4 + 1)) < n_cols) & in_grid ? x_loaded
                        : 0.0f, (int(start + (lane * 4 + 2)) < n_cols) & in_grid ? x_loaded_2
                        : 0.0f, 0.0f);
            } else {
                x = float4(0.0f);
            }
        }
        // line 24: x = tl.where(...)
        const float4 x_chosen = select(float4(0.0f), x - mean,
                int4(uint4(start) + cols_offset) < int4(n_cols));
        // line 25: squares
        squares += x_chosen * x_chosen;
    }
    const float rstd_part = squares.x + squares.y + squares.z + squares.w;
    // line 26: rstd = 1.0 / tl.sqrt(tl.sum(squares) / n_cols + eps)
    const float rstd_simd = simd_sum(rstd_part);
    const float rstd = 1.0f / precise::sqrt(rstd_simd / mean_f32 + eps);
    if (lane == 0 && in_grid) {
        // line 27: tl.store(mean_ptr + row, mean)
        mean_ptr[row_offset] = mean;
        // line 28: tl.store(rstd_ptr + row, rstd)
        rstd_ptr[row_offset] = rstd;
    }
    device float *const y_start = y_ptr + int(row_offset * stride);
    // line 30: for
    for (uint start = 0; start < uint(total_bound); start += 128) {
        // line 31: cols = start + tl.arange(0, 128)
        const int cols = int(start + lane * 4);
        // line 32: mask = cols < n_cols
        const bool mask = cols < n_cols;
        device const float *const weight_start = weight_ptr + cols;
        const bool mask_2 = int(start + (lane * 4 + 1)) < n_cols;
        const bool mask_3 = int(start + (lane * 4 + 2)) < n_cols;
        float4 weight;
        const int weight_base = min(int(start + (lane * 4 + 1)), last);
        const int weight_base_2 = min(int(start + (lane * 4 + 2)), last);
        device const float *const bias_start = bias_ptr + cols;
        float4 bias_;
        if (int(start + (lane * 4 + 3)) < n_cols) {
            // line 33: weight = tl.load(weight_ptr + cols)
            weight = *(device const float4 *)(weight_start);
            // line 34: bias = tl.load(bias_ptr + cols)
            bias_ = *(device const float4 *)(bias_start);
        } else {
            if (mask) {
                const float weight_loaded = weight_ptr[weight_base];
                const float weight_loaded_2 = weight_ptr[weight_base_2];
                weight = float4(*weight_start, mask_2 ? weight_loaded : 0.0f, mask_3
                        ? weight_loaded_2 : 0.0f, 0.0f);
                const float bias_loaded = bias_ptr[weight_base];
                const float bias_loaded_2 = bias_ptr[weight_base_2];
                bias_ = float4(*bias_start, mask_2 ? bias_loaded : 0.0f, mask_3 ? bias_loaded_2
                        : 0.0f, 0.0f);
            } else {
                weight = float4(0.0f);
                bias_ = float4(0.0f);
            }
        }
        device const float *const x_start_2 = x_start + cols;
        float4 x;
        if ((int(start + (lane * 4 + 3)) < n_cols) & in_grid) {
            // line 35: x = tl.load(...)
            x = float4(*(device const packed_float4 *)(x_start_2));
        } else {
            if (mask & in_grid) {
                const float x_loaded = x_start[weight_base];
                const float x_loaded_2 = x_start[weight_base_2];
                x = float4(*x_start_2, mask_2 & in_grid ? x_loaded : 0.0f, mask_3 & in_grid
                        ? x_loaded_2 : 0.0f, 0.0f);
            } else {
                x = float4(0.0f);
            }
        }
        const float4 value = fma((x - mean) * rstd, weight, bias_);
        device float *const y_start_2 = y_start + cols;
        if ((int(start + (lane * 4 + 3)) < n_cols) & in_grid) {
            // line 36: tl.store(...)
            *(device packed_float4 *)(y_start_2) = value;
        } else {
            if (mask & in_grid) {
                *y_start_2 = value.x;
                if (mask_2 & in_grid) {
                    y_start[int(start + (lane * 4 + 1))] = value.y;
                    if (mask_3 & in_grid) y_start[int(start + (lane * 4 + 2))] = value.z;
                }
            }
        }
    }
}
