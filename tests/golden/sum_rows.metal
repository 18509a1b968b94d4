// sum_rows: from @sum_rows (reductions.py:20)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 64 elements, 2 a thread
//   memory   0 bytes of threadgroup memory
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
    // reductions.py:23  acc = for
    float acc[2];
    #pragma clang loop unroll(full)
    for (uint j = 0; j < 2; j++) {
        acc[j] = -0.0f;
    }
    // reductions.py:21  row_ptr
    device const float *const row_ptr = x_ptr + int(program.x * stride_m);
    // reductions.py:23  acc = for
    for (uint i = 0; i < uint(max(N, 0)); i += 64) {
        // reductions.py:24  cols
        const uint offset = i + tid;
        // reductions.py:25  acc
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 2; j++) {
            // reductions.py:24  cols
            const int cols = int(offset + j * 32);
            // reductions.py:25  acc = tl.load
            const float acc_3 = cols < N ? row_ptr[cols] : 0.0f;
            acc[j] += acc_3;
        }
    }
    float acc_2 = -0.0f;
    #pragma clang loop unroll(full)
    for (uint j = 0; j < 2; j++) {
        acc_2 += acc[j];
    }
    const float acc_3 = simd_sum(acc_2);
    // reductions.py:26  tl.store
    if (tid == 0) {
        out_ptr[program.x] = 0.0f + acc_3;
    }
}
