// row_sum: from @row_sum (row_sum.py:9)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 256 elements, 8 a thread, 4 of them neighbours
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

kernel void row_sum(
    device const float *x_ptr [[buffer(0)]],
    device float *out_ptr     [[buffer(1)]],
    constant int &n_cols      [[buffer(2)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    float4 acc[2] = {float4(-0.0f), float4(-0.0f)};
    device const float *const x_start = x_ptr + int(program.x * n_cols);
    const int last = max(n_cols, -2147483647) - 1;
    // line 12: for
    for (uint start = 0; start < uint(max(n_cols, 0)); start += 256) {
        if ((n_cols > 255) & (int(start) < int(uint(n_cols) - 255))) {
            #pragma clang loop unroll(full)
            for (uint i = 0; i < 2; i++) {
                // line 15: acc
                acc[i] += float4(*(device const packed_float4 *)(x_start
                        + int(start + tid * 4 + i * 128)));
            }
        } else {
            #pragma clang loop unroll(full)
            for (uint i = 0; i < 2; i++) {
                // line 13: cols = start + tl.arange(0, 256)
                const int cols = int(start + tid * 4 + i * 128);
                device const float *const x_start_2 = x_start + cols;
                float4 x;
                if (int(start + (tid * 4 + 3) + i * 128) < n_cols) {
                    // line 14: x = tl.load(x_ptr + row * n_cols + cols)
                    x = float4(*(device const packed_float4 *)(x_start_2));
                } else {
                    if (cols < n_cols) {
                        const float x_loaded = x_start[min(int(start + (tid * 4 + 1) + i * 128),
                                last)];
                        const float x_loaded_2 = x_start[min(int(start + (tid * 4 + 2) + i * 128),
                                last)];
                        x = float4(*x_start_2, int(start + (tid * 4 + 1) + i * 128) < n_cols
                                ? x_loaded : 0.0f, int(start + (tid * 4 + 2) + i * 128) < n_cols
                                ? x_loaded_2 : 0.0f, 0.0f);
                    } else {
                        x = float4(0.0f);
                    }
                }
                acc[i] += x;
            }
        }
    }
    float4 acc_part = acc[0] + acc[1];
    const float acc_part_2 = acc_part.x + acc_part.y + acc_part.z + acc_part.w;
    const float acc_simd = simd_sum(acc_part_2);
    // line 16: tl.store(out_ptr + row, acc)
    if (tid == 0) out_ptr[program.x] = 0.0f + acc_simd;
}
