// sum_rows: from @sum_rows (reductions.py:20)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) for 16 programs along x
//   work     tiles of up to 16 x 64 elements, 4 a thread
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(256)]]
kernel void sum_rows(
    device const float *x_ptr [[buffer(0)]],
    device float *out_ptr     [[buffer(1)]],
    constant int &N           [[buffer(2)]],
    constant uint &stride_m   [[buffer(3)]],
    constant int &programs_x  [[buffer(4)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  sg       [[simdgroup_index_in_threadgroup]])
{
    float acc[4];
    const int last = max(N, 1) - 1;
    const int last_2 = max(programs_x, -2147483647) - 1;
    if (int(program.x * 16) < programs_x) {
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 2; j++) {
            #pragma clang loop unroll(full)
            for (uint k = 0; k < 2; k++) {
                acc[k + j * 2] = -0.0f;
            }
        }
        // line 23: for
        for (uint i = 0; i < uint(max(N, 0)); i += 64) {
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                // line 21: row_ptr
                const int row_ptr = int(program.x * 16 + sg + j * 8);
                const bool in_grid = row_ptr < programs_x;
                device const float *const x_start = x_ptr + int(min(row_ptr, last_2) * stride_m);
                #pragma clang loop unroll(full)
                for (uint k = 0; k < 2; k++) {
                    // line 24: cols = i + tl.arange(0, 64)
                    const int cols = int(i + lane + k * 32);
                    const float acc_loaded = x_start[min(cols, last)];
                    // line 25: acc
                    acc[k + j * 2] += (cols < N) & in_grid ? acc_loaded : 0.0f;
                }
            }
        }
        float acc_part[2] = {-0.0f, -0.0f};
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 2; j++) {
            #pragma clang loop unroll(full)
            for (uint k = 0; k < 2; k++) {
                acc_part[j] += acc[k + j * 2];
            }
            acc_part[j] = simd_sum(acc_part[j]);
            const int row_ptr = int(program.x * 16 + sg + j * 8);
            // line 26: tl.store(...)
            if (lane == 0 && row_ptr < programs_x) out_ptr[row_ptr] = 0.0f + acc_part[j];
        }
    }
}
