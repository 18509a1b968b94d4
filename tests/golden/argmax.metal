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
    // line 10: row = tl.program_id(0) * 8 + tl.arange(0, 8)
    const int row = int(program.x * 8 + sg);
    const int last = max(n_cols, 1) - 1;
    const int last_2 = max(programs_x, -2147483647) - 1;
    device const float *const x_start = x_ptr + int(uint(min(row, last_2)) * uint(n_cols));
    float x_loaded[4] = {};
    if (n_cols > 0 && int(program.x * 8) < programs_x) {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // line 12: x = tl.load(...)
            x_loaded[i] = x_start[min(int(lane + i * 32), last)];
        }
    }
    float x[4];
    float x_part = NAN;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        x[i] = (int(lane + i * 32) < n_cols) & (row < programs_x) ? x_loaded[i] : -INFINITY;
        // line 13: tl.max(...)
        x_part = fmax(x_part, x[i]);
    }
    const float x_simd = simd_max(x_part);
    const bool test = isnan(x_simd);
    int part = 2147483647;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        part = min(part, (x[i] == x_simd) | test ? int(lane + i * 32) : 2147483647);
    }
    const int simd = simd_min(part);
    float part_2 = NAN;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        part_2 = fmax(part_2, int(lane + i * 32) == simd ? x[i] : -INFINITY);
    }
    const float simd_2 = simd_max(part_2);
    if (lane == 0 && row < programs_x) {
        // line 14: tl.store(...)
        value_ptr[row] = test ? x_simd : simd_2;
        // line 15: tl.store(...)
        index_ptr[row] = simd;
    }
}
