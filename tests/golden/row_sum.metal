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
    uint  sg       [[simdgroup_index_in_threadgroup]])
{
    threadgroup float acc_shared[2];

    float acc[4] = {-0.0f, -0.0f, -0.0f, -0.0f};
    device const float *const x_start = x_ptr + int(program.x * n_cols);
    // line 12: for
    for (uint start = 0; start < uint(max(n_cols, 0)); start += 256) {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // line 13: cols
            const int cols = int(start + tid + i * 64);
            // line 14: x = tl.load
            const float x = cols < n_cols ? x_start[cols] : 0.0f;
            // line 15: acc
            acc[i] += x;
        }
    }
    float acc_part = acc[0] + acc[1] + acc[2] + acc[3];
    const float acc_simd = simd_sum(acc_part);
    if (lane == 0) acc_shared[sg] = acc_simd;
    threadgroup_barrier(mem_flags::mem_threadgroup);    // acc_shared is complete
    // line 16: tl.store
    if (tid == 0) out_ptr[program.x] = 0.0f + (acc_shared[0] + acc_shared[1]);
}
