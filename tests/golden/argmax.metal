// argmax: from @argmax (argmax.py:9)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) for 8 programs along x
//   work     tiles of up to 8 x 128 elements, 4 a thread
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(256)]]
kernel void argmax(
    device const float *x_ptr [[buffer(0)]],
    device float *value_ptr   [[buffer(1)]],
    device int *index_ptr     [[buffer(2)]],
    constant int &n_cols      [[buffer(3)]],
    constant int &programs_x  [[buffer(4)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  sg       [[simdgroup_index_in_threadgroup]])
{
    float x[4];
    float x_part = NAN;
    // line 10: row
    const int row = int(program.x * 8 + sg);
    device const float *const x_start = x_ptr + int(uint(row) * uint(n_cols));
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // line 11: cols
        const int cols = int(lane + i * 32);
        // line 12: x = tl.load
        x[i] = cols < n_cols && row < programs_x ? x_start[cols] : -INFINITY;
        // line 13: tl.max
        x_part = fmax(x_part, x[i]);
    }
    const float x_simd = simd_max(x_part);
    const bool test = isnan(x_simd);
    bool flag[4];
    int part = 2147483647;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        flag[i] = (x[i] == x_simd) | test;
        part = min(part, flag[i] ? int(lane + i * 32) : 2147483647);
    }
    const int simd = simd_min(part);
    int part_2 = 0;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        part_2 = part_2 | (flag[i] && int(lane + i * 32) == simd ? as_type<int>(x[i]) : 0);
    }
    const int simd_2 = simd_or(part_2);
    if (lane == 0 && row < programs_x) {
        // line 14: tl.store
        value_ptr[row] = as_type<float>(simd_2);
        // line 15: tl.store
        index_ptr[row] = simd;
    }
}
