// mean_rows: from @mean_rows (reductions.py:30)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 256 elements, 8 a thread, 4 of them neighbours
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

kernel void mean_rows(
    device const float *x_ptr [[buffer(0)]],
    device float *out_ptr     [[buffer(1)]],
    constant int &N           [[buffer(2)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    device const float *const x_start = x_ptr + int(program.x * N);
    float4 x_part = float4(-0.0f);
    const int last = max(N, 1) - 1;
    if (N > 255) {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            // line 34: tl.store(out_ptr + row, tl.sum(x) / N)
            x_part += float4(*(device const packed_float4 *)(x_start + (tid * 4 + i * 128)));
        }
    } else {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            // line 32: cols = tl.arange(0, 256)
            const int cols = int(tid * 4 + i * 128);
            device const float *const x_start_2 = x_start + cols;
            float4 x;
            if (int(tid * 4 + 3 + i * 128) < N) {
                // line 33: x = tl.load(x_ptr + row * N + cols)
                x = float4(*(device const packed_float4 *)(x_start_2));
            } else {
                if (cols < N) {
                    const float x_loaded = x_start[min(int(tid * 4 + 1 + i * 128), last)];
                    const float x_loaded_2 = x_start[min(int(tid * 4 + 2 + i * 128), last)];
                    x = float4(*x_start_2, int(tid * 4 + 1 + i * 128) < N ? x_loaded : 0.0f,
                            int(tid * 4 + 2 + i * 128) < N ? x_loaded_2 : 0.0f, 0.0f);
                } else {
                    x = float4(0.0f);
                }
            }
            x_part += x;
        }
    }
    const float x_part_2 = x_part.x + x_part.y + x_part.z + x_part.w;
    const float x_simd = simd_sum(x_part_2);
    if (tid == 0) out_ptr[program.x] = x_simd / float(N);
}
