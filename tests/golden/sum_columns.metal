// sum_columns: from @sum_columns (reductions.py:59)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 16 x 64 elements, 16 a thread
//   memory   0 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void sum_columns(
    device const float *x_ptr [[buffer(0)]],
    device float *out_ptr     [[buffer(1)]],
    constant int &M           [[buffer(2)]],
    constant int &N           [[buffer(3)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    // reductions.py:64  tl.sum
    float tile = -0.0f;
    // reductions.py:61  cols
    const int cols = int(program.x * 64 + tid);
    // reductions.py:62  x
    const bool x = cols < N;
    // reductions.py:64  tl.sum
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 16; i++) {
        // reductions.py:62  x = tl.load
        const float x_2 = i < M && x ? (x_ptr + int(i * uint(N)))[cols] : 0.0f;
        // reductions.py:64  tl.sum
        tile += x_2;
    }
    if (x) {
        out_ptr[cols] = tile;
    }
}
