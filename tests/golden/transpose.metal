// transpose_: from @transpose (transpose.py:9)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) a program
//   work     tiles of up to 32 x 32 elements, 4 a thread
//   memory   4608 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(256)]]
kernel void transpose_(
    device const float *x_ptr [[buffer(0)]],
    device float *out_ptr     [[buffer(1)]],
    constant int &n_rows      [[buffer(2)]],
    constant int &n_cols      [[buffer(3)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  group    [[simdgroup_index_in_threadgroup]])
{
    threadgroup float x_shared[1152];

    // transpose.py:10  i
    const uint i = program.x * 32;
    // transpose.py:11  j
    const uint j = program.y * 32;
    // transpose.py:10  i
    const uint offset = i + group;
    // transpose.py:11  j
    const int j_2 = int(j + lane);
    // transpose.py:12  x
    const bool x_2 = j_2 < n_cols;
    // transpose.py:11  j
    #pragma clang loop unroll(full)
    for (uint k = 0; k < 4; k++) {
        // transpose.py:10  i
        const int index = k * 8;
        const uint i_2 = offset + index;
        // transpose.py:12  x = tl.load
        const float x_3 = int(i_2) < n_rows && x_2 ? (x_ptr + int(i_2 * n_cols))[j_2] : 0.0f;
        x_shared[tid + k * 256 + (group + index) * 4] = x_3;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // x_shared is complete
    float x[4];
    const uint index = lane * 4 + (lane * 32 + group);
    #pragma clang loop unroll(full)
    for (uint k = 0; k < 4; k++) {
        x[k] = x_shared[index + k * 8];
    }
    // transpose.py:11  j
    const uint offset_2 = j + group;
    // transpose.py:10  i
    const int i_2 = int(i + lane);
    // transpose.py:14
    const bool inside = i_2 < n_rows;
    // transpose.py:12  x = tl.load
    #pragma clang loop unroll(full)
    for (uint k = 0; k < 4; k++) {
        const float x_3 = x[k];
        // transpose.py:11  j
        const uint j_3 = offset_2 + k * 8;
        // transpose.py:13  tl.store
        if (int(j_3) < n_cols && inside) {
            (out_ptr + int(j_3 * n_rows))[i_2] = x_3;
        }
    }
}
