// row_sum: from @row_sum (row_sum.py:9)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 256 elements, 4 a thread
//   memory   16 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void row_sum(
    device const float *x_ptr [[buffer(0)]],
    device float *out_ptr     [[buffer(1)]],
    constant int &n_cols      [[buffer(2)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  group    [[simdgroup_index_in_threadgroup]])
{
    threadgroup float acc_shared[2];

    // row_sum.py:12  acc = for
    float acc[4];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        acc[i] = -0.0f;
    }
    // row_sum.py:14  x
    device const float *const x = x_ptr + int(program.x * n_cols);
    // row_sum.py:12  acc = for
    for (uint start = 0; start < uint(max(n_cols, 0)); start += 256) {
        // row_sum.py:13  cols
        const uint offset = start + tid;
        // row_sum.py:15  acc
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // row_sum.py:13  cols
            const int cols = int(offset + i * 64);
            // row_sum.py:14  x = tl.load
            const float x_2 = cols < n_cols ? x[cols] : 0.0f;
            // row_sum.py:15  acc
            acc[i] += x_2;
        }
    }
    float acc_2 = -0.0f;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        acc_2 += acc[i];
    }
    const float acc_3 = simd_sum(acc_2);
    if (lane == 0) {
        acc_shared[group] = acc_3;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // acc_shared is complete
    const float acc_4 = acc_shared[0];
    const float acc_5 = acc_shared[1];
    // row_sum.py:16  tl.store
    if (tid == 0) {
        out_ptr[program.x] = 0.0f + (acc_4 + acc_5);
    }
}
