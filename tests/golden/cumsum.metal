// cumsum: from @cumsum (cumsum.py:9)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) for 8 programs along x
//   work     tiles of up to 8 x 128 elements, 4 a thread
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
    // line 10: row = tl.program_id(0) * 8 + tl.arange(0, 8)
    const int row = int(program.x * 8 + sg);
    const bool in_grid = row < programs_x;
    const int last = max(n_cols, 1) - 1;
    const int last_2 = max(programs_x, -2147483647) - 1;
    if (int(program.x * 8) < programs_x) {
        device const float *const x_start = x_ptr + int(uint(min(row, last_2)) * uint(n_cols));
        device float *const y_start = y_ptr + int(uint(row) * uint(n_cols));
        for (uint start = 0; start < uint(max(n_cols, 0)); start += 128) {
            float x[4];
            #pragma clang loop unroll(full)
            for (uint i = 0; i < 4; i++) {
                // line 13: cols = start + tl.arange(0, 128)
                const int cols = int(start + lane + i * 32);
                const float x_loaded = x_start[min(cols, last)];
                // line 15: x = tl.load(...)
                x[i] = (cols < n_cols) & in_grid ? x_loaded : 0.0f;
            }
            float carry_part = -0.0f;
            float carry_part_2 = -0.0f;
            #pragma clang loop unroll(full)
            for (uint i = 0; i < 4; i++) {
                const float x_simd = simd_prefix_exclusive_sum(x[i]);
                const float x_held = carry_part;
                carry_part += simd_shuffle(x_simd + x[i], 31);
                const int cols = int(start + lane + i * 32);
                if (cols < n_cols && in_grid) {
                    y_start[cols] = carry + ((lane != 0 ? x_held + x_simd : x_held) + x[i]);
                }
                // line 17: carry = tl.sum(...)
                carry_part_2 += x[i];
            }
            carry += simd_sum(carry_part_2);
        }
    }
}
