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
    const int last = max(N, 1) - 1;
    float x_loaded[8] = {};
    if (N > 0) {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 8; i++) {
            // line 42: x = tl.load(x_ptr + row * N + cols)
            x_loaded[i] = x_start[min(int(tid + i * 32), last)];
        }
    }
    float low[8];
    float low_part = NAN;
    float part = NAN;
    float low_part_2 = NAN;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 8; i++) {
        // line 41: inside = cols < N
        const bool inside = int(tid + i * 32) < N;
        const float x = inside ? x_loaded[i] : 0.0f;
        // line 43: low = tl.where(inside, x, inf)
        low[i] = inside ? x : INFINITY;
        // line 44: tl.store(low_ptr + row, tl.min(low))
        low_part = fmin(low_part, low[i]);
        // line 45: tl.store(high_ptr + row, tl.max(tl.where(inside, x, -inf)))
        part = fmax(part, inside ? x : -INFINITY);
        // line 46: tl.min(...)
        low_part_2 = fmin(low_part_2, low[i]);
    }
    const float low_simd = simd_min(low_part);
    const float simd = simd_max(part);
    const float low_simd_2 = simd_min(low_part_2);
    if (tid == 0) {
        low_ptr[program.x] = low_simd;
        high_ptr[program.x] = simd;
    }
    const bool test = isnan(low_simd_2);
    int part_2 = 2147483647;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 8; i++) {
        part_2 = min(part_2, (low[i] == low_simd_2) | test ? int(tid + i * 32) : 2147483647);
    }
    const int simd_2 = simd_min(part_2);
    if (tid == 0) where_ptr[program.x] = simd_2;
}
