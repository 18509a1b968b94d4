// range_of_rows: from @range_of_rows (reductions.py:38)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 256 elements, 8 a thread
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

kernel void range_of_rows(
    device const float *x_ptr [[buffer(0)]],
    device float *low_ptr     [[buffer(1)]],
    device float *high_ptr    [[buffer(2)]],
    device int *where_ptr     [[buffer(3)]],
    constant int &N           [[buffer(4)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    device const float *const x_start = x_ptr + int(program.x * N);
    float low[8];
    float low_part = NAN;
    float part = NAN;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 8; i++) {
        // line 40: cols
        const int cols = int(tid + i * 32);
        // line 41: inside
        const bool inside = cols < N;
        // line 42: x = tl.load
        const float x = inside ? x_start[cols] : 0.0f;
        // line 43: low = tl.where
        low[i] = inside ? x : INFINITY;
        // line 44: tl.min
        low_part = fmin(low_part, low[i]);
        // line 45: tl.max
        part = fmax(part, inside ? x : -INFINITY);
    }
    const float low_simd = simd_min(low_part);
    const float simd = simd_max(part);
    if (tid == 0) {
        low_ptr[program.x] = low_simd;
        high_ptr[program.x] = simd;
    }
    float low_part_2 = low[0];
    int cols_part = int(tid);
    #pragma clang loop unroll(full)
    for (uint i = 1; i < 8; i++) {
        const int cols = int(tid + i * 32);
        const bool flag = low_part_2 < low[i] || (low_part_2 == low[i] && cols_part < cols);
        // line 46: tl.reduce
        low_part_2 = flag ? low_part_2 : low[i];
        cols_part = flag ? cols_part : cols;
    }
    #pragma clang loop unroll(full)
    for (uint d = 16; d > 0; d >>= 1) {
        const float low_partner = simd_shuffle_xor(low_part_2, d);
        const int cols_partner = simd_shuffle_xor(cols_part, d);
        const bool flag = low_part_2 < low_partner
                || (low_part_2 == low_partner && cols_part < cols_partner);
        low_part_2 = flag ? low_part_2 : low_partner;
        cols_part = flag ? cols_part : cols_partner;
    }
    if (tid == 0) where_ptr[program.x] = cols_part;
}
