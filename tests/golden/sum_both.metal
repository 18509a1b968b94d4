// sum_both: from @sum_both (reductions.py:68)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) a program
//   work     tiles of up to 16 x 256 elements, 16 a thread
//   memory   32 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(256)]]
kernel void sum_both(
    device const float *x_ptr [[buffer(0)]],
    device float *out_ptr     [[buffer(1)]],
    constant int &M           [[buffer(2)]],
    constant int &N           [[buffer(3)]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  group    [[simdgroup_index_in_threadgroup]])
{
    threadgroup float shared[8];

    // reductions.py:72  tl.sum
    float tile[2];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        tile[i] = -0.0f;
    }
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        // reductions.py:69  rows
        const uint rows = group + i * 8;
        // reductions.py:71  x
        device const float *const x = x_ptr + int(rows * N);
        const bool x_2 = int(rows) < M;
        // reductions.py:72  tl.sum
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 8; j++) {
            // reductions.py:70  cols
            const uint cols = lane + j * 32;
            // reductions.py:71  x = tl.load
            const float x_3 = x_2 && int(cols) < N ? x[cols] : 0.0f;
            // reductions.py:72  tl.sum
            tile[i] += x_3;
        }
    }
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        tile[i] = simd_sum(tile[i]);
    }
    float tile_2 = -0.0f;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        tile_2 += tile[i];
    }
    if (lane == 0) {
        shared[group] = tile_2;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // shared is complete
    const float value = lane < 8 ? shared[lane] : -0.0f;
    const float value_2 = simd_sum(value);
    if (tid == 0) {
        *out_ptr = value_2;
    }
}
