// sum_rows: from @sum_rows (reductions.py:20)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 64 elements, 2 a thread
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

kernel void sum_rows(
    device const float *x_ptr [[buffer(0)]],
    device float *out_ptr     [[buffer(1)]],
    constant int &N           [[buffer(2)]],
    constant uint &stride_m   [[buffer(3)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    device const float *const x_start = x_ptr + int(program.x * stride_m);
    float acc[2] = {-0.0f, -0.0f};
    // line 23: for
    for (uint i = 0; i < uint(max(N, 0)); i += 64) {
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 2; j++) {
            // line 24: cols
            const int cols = int(i + tid + j * 32);
            // line 25: acc = tl.load
            const float acc_loaded = cols < N ? x_start[cols] : 0.0f;
            acc[j] += acc_loaded;
        }
    }
    float acc_part = acc[0] + acc[1];
    const float acc_simd = simd_sum(acc_part);
    // line 26: tl.store
    if (tid == 0) out_ptr[program.x] = 0.0f + acc_simd;
}
