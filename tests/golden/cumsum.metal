// cumsum: from @cumsum (cumsum.py:9)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) for 8 programs along x
//   work     tiles of up to 8 x 128 elements, 4 a thread, 4 of them neighbours
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(256)]]
kernel void cumsum(
    device const float *x_ptr [[buffer(0)]],
    device float *y_ptr       [[buffer(1)]],
    constant int &n_cols      [[buffer(2)]],
    constant int &programs_x  [[buffer(3)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  sg       [[simdgroup_index_in_threadgroup]])
{
    float carry = 0.0f;
    const bool in_grid = int(program.x * 8 + sg) < programs_x;
    device const float *const x_start = x_ptr + int((program.x * 8 + sg) * n_cols);
    const int last = max(n_cols, -2147483647) - 1;
    device float *const y_start = y_ptr + int((program.x * 8 + sg) * n_cols);
    for (uint start = 0; start < uint(max(n_cols, 0)); start += 128) {
        // line 13: cols = start + tl.arange(0, 128)
        const int cols = int(start + lane * 4);
        const bool x_mask = (cols < n_cols) & in_grid;
        device const float *const x_start_2 = x_start + cols;
        float4 x;
        if ((int(start + (lane * 4 + 3)) < n_cols) & in_grid) {
            // line 15: x = tl.load(...)
            x = float4(*(device const packed_float4 *)(x_start_2));
        } else {
            if (x_mask) {
                const float x_loaded = x_start[min(int(start + (lane * 4 + 1)), last)];
                const float x_loaded_2 = x_start[min(int(start + (lane * 4 + 2)), last)];
                x = float4(*x_start_2, (int(start + (lane * 4 + 1)) < n_cols) & in_grid ? x_loaded
                        : 0.0f, (int(start + (lane * 4 + 2)) < n_cols) & in_grid ? x_loaded_2
                        : 0.0f, 0.0f);
            } else {
                x = float4(0.0f);
            }
        }
        float x_value[4];
        const float x_value_2 = x.x;
        x_value[0] = x_value_2;
        float x_part = x_value_2;
        #pragma clang loop unroll(full)
        for (uint i = 1; i < 4; i++) {
            x_part += x[i];
            x_value[i] = x_part;
        }
        const float x_simd = simd_prefix_exclusive_sum(x_part);
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            x_value[i] = lane != 0 ? x_simd + x_value[i] : x_value[i];
        }
        const float4 value = carry + float4(x_value[0], x_value[1], x_value[2], x_value[3]);
        device float *const y_start_2 = y_start + cols;
        if ((int(start + (lane * 4 + 3)) < n_cols) & in_grid) {
            *(device packed_float4 *)(y_start_2) = value;
        } else {
            if (x_mask) {
                *y_start_2 = value.x;
                if ((int(start + (lane * 4 + 1)) < n_cols) & in_grid) {
                    y_start[int(start + (lane * 4 + 1))] = value.y;
                    if ((int(start + (lane * 4 + 2)) < n_cols) & in_grid) {
                        y_start[int(start + (lane * 4 + 2))] = value.z;
                    }
                }
            }
        }
        carry += simd_sum(x_value_2 + x.y + x.z + x.w);
    }
}
