// row_sum: from @row_sum (row_sum.py:9)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 256 elements, 8 a thread
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
    float acc[8];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 8; i++) {
        acc[i] = -0.0f;
    }
    device const float *const x_start = x_ptr + int(program.x * n_cols);
    const int last = max(n_cols, 1) - 1;
    // line 12: for
    for (uint start = 0; start < uint(max(n_cols, 0)); start += 256) {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 8; i++) {
            // line 13: cols = start + tl.arange(0, 256)
            const int cols = int(start + tid + i * 32);
            const float x_loaded = x_start[min(cols, last)];
            // line 15: acc
            acc[i] += cols < n_cols ? x_loaded : 0.0f;
        }
    }
    float acc_part = -0.0f;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 8; i++) {
        acc_part += acc[i];
    }
    const float acc_simd = simd_sum(acc_part);
    // line 16: tl.store(out_ptr + row, acc)
    if (tid == 0) out_ptr[program.x] = 0.0f + acc_simd;
}
