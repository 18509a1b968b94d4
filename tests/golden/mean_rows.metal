// mean_rows: from @mean_rows (reductions.py:30)
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
kernel void mean_rows(
    device const float *x_ptr [[buffer(0)]],
    device float *out_ptr     [[buffer(1)]],
    constant int &N           [[buffer(2)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  group    [[simdgroup_index_in_threadgroup]])
{
    threadgroup float shared[2];

    // reductions.py:33  x
    device const float *const x = x_ptr + int(program.x * N);
    // reductions.py:34  tl.sum
    float tile = -0.0f;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // reductions.py:32  cols
        const uint cols = tid + i * 64;
        // reductions.py:33  x = tl.load
        const float x_2 = int(cols) < N ? x[cols] : 0.0f;
        // reductions.py:34  tl.sum
        tile += x_2;
    }
    const float value = simd_sum(tile);
    if (lane == 0) {
        shared[group] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // shared is complete
    const float value_2 = shared[0];
    const float value_3 = shared[1];
    if (tid == 0) {
        out_ptr[program.x] = (value_2 + value_3) / float(N);
    }
}
