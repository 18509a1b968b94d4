// range_of_rows: from @range_of_rows (reductions.py:38)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 256 elements, 8 a thread, 4 of them neighbours
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
    float4 low[2];
    float4 low_part = float4(NAN);
    float4 part = float4(NAN);
    float4 low_part_2 = float4(NAN);
    const int last = max(N, 1) - 1;
    if (N > 255) {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            const float4 x = float4(*(device const packed_float4 *)(x_start + (tid * 4 + i * 128)));
            // line 40: cols = tl.arange(0, 256)
            const int4 cols = int4(uint4(tid * 4 + i * 128, tid * 4 + 1 + i * 128,
                    tid * 4 + 2 + i * 128, tid * 4 + 3 + i * 128));
            // line 41: inside = cols < N
            const bool4 inside = cols < int4(N);
            // line 43: low = tl.where(inside, x, inf)
            low[i] = select(float4(INFINITY), x, inside);
            // line 44: tl.store(low_ptr + row, tl.min(low))
            low_part = fmin(low_part, low[i]);
            // line 45: tl.store(high_ptr + row, tl.max(tl.where(inside, x, -inf)))
            part = fmax(part, select(float4(-INFINITY), x, inside));
            // line 46: tl.min(...)
            low_part_2 = fmin(low_part_2, low[i]);
        }
    } else {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            device const float *const x_start_2 = x_start + (tid * 4 + i * 128);
            const int cols_sum = int(tid * 4 + 1 + i * 128);
            const int cols_sum_2 = int(tid * 4 + 2 + i * 128);
            float4 x;
            if (int(tid * 4 + 3 + i * 128) < N) {
                // line 42: x = tl.load(x_ptr + row * N + cols)
                x = float4(*(device const packed_float4 *)(x_start_2));
            } else {
                if (int(tid * 4 + i * 128) < N) {
                    const float x_loaded = x_start[min(cols_sum, last)];
                    const float x_loaded_2 = x_start[min(cols_sum_2, last)];
                    x = float4(*x_start_2, cols_sum < N ? x_loaded : 0.0f, cols_sum_2 < N
                            ? x_loaded_2 : 0.0f, 0.0f);
                } else {
                    x = float4(0.0f);
                }
            }
            const bool4 inside = int4(uint4(tid * 4 + i * 128, uint(cols_sum), uint(cols_sum_2),
                    tid * 4 + 3 + i * 128)) < int4(N);
            low[i] = select(float4(INFINITY), x, inside);
            low_part = fmin(low_part, low[i]);
            part = fmax(part, select(float4(-INFINITY), x, inside));
            low_part_2 = fmin(low_part_2, low[i]);
        }
    }
    const float low_part_3 = fmin(fmin(fmin(low_part.x, low_part.y), low_part.z), low_part.w);
    const float low_simd = simd_min(low_part_3);
    const float part_2 = fmax(fmax(fmax(part.x, part.y), part.z), part.w);
    const float simd = simd_max(part_2);
    const float low_part_4 = fmin(fmin(fmin(low_part_2.x, low_part_2.y), low_part_2.z),
            low_part_2.w);
    const float low_simd_2 = simd_min(low_part_4);
    if (tid == 0) {
        low_ptr[program.x] = low_simd;
        high_ptr[program.x] = simd;
    }
    const bool test = isnan(low_simd_2);
    int4 part_3 = int4(2147483647);
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        const uint4 cols = uint4(tid * 4 + i * 128, tid * 4 + 1 + i * 128, tid * 4 + 2 + i * 128,
                tid * 4 + 3 + i * 128);
        part_3 = min(part_3,
                select(int4(2147483647), int4(cols), (low[i] == float4(low_simd_2)) | bool4(test)));
    }
    const int part_4 = min(min(min(part_3.x, part_3.y), part_3.z), part_3.w);
    const int simd_2 = simd_min(part_4);
    if (tid == 0) where_ptr[program.x] = simd_2;
}
