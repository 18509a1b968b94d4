// transpose_: from @transpose (transpose.py:9)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) a program
//   work     tiles of up to 32 x 32 elements, 4 a thread
//   memory   0 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
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
    uint  lane     [[thread_index_in_simdgroup]],
    uint  group    [[simdgroup_index_in_threadgroup]])
{
    // transpose.py:12  x = tl.load
    float x[4];
    // transpose.py:10  i
    const int i = int(program.x * 32 + lane);
    // transpose.py:12  x
    device const float *const x_2 = x_ptr + int(uint(i) * uint(n_cols));
    // transpose.py:11  j
    const uint offset = program.y * 32 + group;
    // transpose.py:12  x
    const bool x_3 = i < n_rows;
    #pragma clang loop unroll(full)
    for (uint k = 0; k < 4; k++) {
        // transpose.py:11  j
        const int j = int(offset + k * 8);
        // transpose.py:12  x = tl.load
        x[k] = x_3 && j < n_cols ? x_2[j] : 0.0f;
    }
    #pragma clang loop unroll(full)
    for (uint k = 0; k < 4; k++) {
        const float x_4 = x[k];
        // transpose.py:11  j
        const uint j = offset + k * 8;
        // transpose.py:13  tl.store
        if (int(j) < n_cols && x_3) {
            (out_ptr + int(j * n_rows))[i] = x_4;
        }
    }
}
