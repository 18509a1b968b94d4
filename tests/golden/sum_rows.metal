// sum_rows: from @sum_rows (reductions.py:20)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) for 16 programs along x
//   work     tiles of up to 16 x 64 elements, 4 a thread, 4 of them neighbours
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(256)]]
kernel void sum_rows(
    device const float *x_ptr [[buffer(0)]],
    device float *out_ptr     [[buffer(1)]],
    constant int &N           [[buffer(2)]],
    constant uint &stride_m   [[buffer(3)]],
    constant int &programs_x  [[buffer(4)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]])
{
    float4 acc = float4(-0.0f);
    const uint cols_offset = lane % 16 * 4;
    const int row_offset = int(program.x * 16 + tid / 16);
    const bool in_grid = row_offset < programs_x;
    device const float *const x_start = x_ptr + int(row_offset * stride_m);
    const int last = max(N, -2147483647) - 1;
    for (uint i = 0; i < uint(max(N, 0)); i += 64) {
        // line 24: cols = i + tl.arange(0, 64)
        const int cols = int(i + cols_offset);
        device const float *const x_start_2 = x_start + cols;
        float4 acc_loaded;
        if ((int(i + (cols_offset + 3)) < N) & in_grid) {
            // line 25: acc = tl.load(...)
            acc_loaded = float4(*(device const packed_float4 *)(x_start_2));
        } else {
            if ((cols < N) & in_grid) {
                const float acc_loaded_2 = x_start[min(int(i + (cols_offset + 1)), last)];
                const float acc_loaded_3 = x_start[min(int(i + (cols_offset + 2)), last)];
                acc_loaded = float4(*x_start_2, (int(i + (cols_offset + 1)) < N) & in_grid
                        ? acc_loaded_2 : 0.0f, (int(i + (cols_offset + 2)) < N) & in_grid
                        ? acc_loaded_3 : 0.0f, 0.0f);
            } else {
                acc_loaded = float4(0.0f);
            }
        }
        acc += acc_loaded;
    }
    float acc_part = acc.x + acc.y + acc.z + acc.w;
    #pragma clang loop unroll(full)
    for (uint d = 8; d > 0; d >>= 1) {
        acc_part += simd_shuffle_xor(acc_part, d);
    }
    // line 26: tl.store(...)
    if ((lane & 15) == 0 && in_grid) out_ptr[row_offset] = 0.0f + acc_part;
}
