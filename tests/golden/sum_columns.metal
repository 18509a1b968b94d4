// sum_columns: from @sum_columns (reductions.py:59)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) a program
//   work     tiles of up to 16 x 64 elements, 4 a thread
//   memory   1024 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(256)]]
kernel void sum_columns(
    device const float *x_ptr [[buffer(0)]],
    device float *out_ptr     [[buffer(1)]],
    constant int &M           [[buffer(2)]],
    constant int &N           [[buffer(3)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  group    [[simdgroup_index_in_threadgroup]])
{
    threadgroup float shared[256];

    // reductions.py:64  tl.sum
    float tile = -0.0f;
    // reductions.py:60  rows
    const uint index = group / 2;
    // reductions.py:61  cols
    const uint cols = tid % 64;
    const int cols_2 = int(program.x * 64 + cols);
    // reductions.py:62  x
    const bool x = cols_2 < N;
    // reductions.py:64  tl.sum
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // reductions.py:60  rows
        const uint rows = index + i * 4;
        // reductions.py:62  x = tl.load
        const float x_2 = int(rows) < M && x ? (x_ptr + int(rows * N))[cols_2] : 0.0f;
        // reductions.py:64  tl.sum
        tile += x_2;
    }
    const uint index_2 = cols * 4;
    shared[index_2 + index] = tile;
    threadgroup_barrier(mem_flags::mem_threadgroup);    // shared is complete
    const float value = shared[index_2];
    const float value_2 = shared[index_2 + 1];
    const float value_3 = shared[index_2 + 2];
    const float value_4 = shared[index_2 + 3];
    if (tid < 64 && x) {
        out_ptr[cols_2] = value + value_2 + value_3 + value_4;
    }
}
