// sum_columns: from @sum_columns (reductions.py:59)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 16 x 64 elements, 16 a thread
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
    float x_part = -0.0f;
    // line 61: cols
    const int cols = int(program.x * 64 + tid);
    const bool x_mask = cols < N;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 16; i++) {
        // line 62: x = tl.load
        const float x = int(i) < M && x_mask ? (x_ptr + int(i * N))[cols] : 0.0f;
        // line 64: tl.sum
        x_part += x;
    }
    if (x_mask) out_ptr[cols] = x_part;
}
