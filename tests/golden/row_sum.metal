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
    const int bound = max(n_cols, 0);
    const uint whole = uint(bound) / 256 * 256;
    float4 acc[2] = {float4(-0.0f), float4(-0.0f)};
    device const float *const x_start = x_ptr + int(program.x * n_cols);
    // line 12: for
    for (uint start = 0; start < whole; start += 256) {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            // line 15: acc
            acc[i] += float4(*(device const packed_float4 *)(x_start
                    + (start + tid * 4 + i * 128)));
        }
    }
    const int last = max(n_cols, 1) - 1;
    // the other steps, under their masks
    for (uint start = whole; start < uint(bound); start += 256) {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            // line 13: cols = start + tl.arange(0, 256)
            const int cols = int(start + tid * 4 + i * 128);
            const float x_loaded = x_start[min(cols, last)];
            const float x_loaded_2 = x_start[min(int(start + (tid * 4 + 1) + i * 128), last)];
            const float x_loaded_3 = x_start[min(int(start + (tid * 4 + 2) + i * 128), last)];
            const float x_loaded_4 = x_start[min(int(start + (tid * 4 + 3) + i * 128), last)];
            // line 14: x = tl.load(x_ptr + row * n_cols + cols)
            const float4 x = float4(cols < n_cols ? x_loaded : 0.0f,
                    int(start + (tid * 4 + 1) + i * 128) < n_cols ? x_loaded_2 : 0.0f,
                    int(start + (tid * 4 + 2) + i * 128) < n_cols ? x_loaded_3 : 0.0f,
                    int(start + (tid * 4 + 3) + i * 128) < n_cols ? x_loaded_4 : 0.0f);
            acc[i] += x;
        }
    }
    float4 acc_part = acc[0] + acc[1];
    const float acc_part_2 = acc_part.x + acc_part.y + acc_part.z + acc_part.w;
    const float acc_simd = simd_sum(acc_part_2);
    // line 16: tl.store(out_ptr + row, acc)
    if (tid == 0) out_ptr[program.x] = 0.0f + acc_simd;
}
