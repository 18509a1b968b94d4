// mean_rows: from @mean_rows (reductions.py:30)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 256 elements, 8 a thread
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
    const int last = max(N, 1) - 1;
    float x_loaded[8] = {};
    if (N > 0) {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 8; i++) {
            // line 33: x = tl.load(x_ptr + row * N + cols)
            x_loaded[i] = x_start[min(int(tid + i * 32), last)];
        }
    }
    float x_part = -0.0f;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 8; i++) {
        // line 34: tl.store(out_ptr + row, tl.sum(x) / N)
        x_part += int(tid + i * 32) < N ? x_loaded[i] : 0.0f;
    }
    const float x_simd = simd_sum(x_part);
    if (tid == 0) out_ptr[program.x] = x_simd / float(N);
}
