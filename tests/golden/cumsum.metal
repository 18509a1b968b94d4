// cumsum: from @cumsum (cumsum.py:9)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 128 elements, 4 a thread
//   memory   0 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

kernel void cumsum(
    device const float *x_ptr [[buffer(0)]],
    device float *y_ptr       [[buffer(1)]],
    constant int &n_cols      [[buffer(2)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]])
{
    // cumsum.py:12  carry = for
    float tile = 0.0f;
    // cumsum.py:15  x
    const int x_2 = int(program.x * n_cols);
    device const float *const x_3 = x_ptr + x_2;
    // cumsum.py:16
    device float *const ptr = y_ptr + x_2;
    const uint index = (lane - 1) & 31;
    const bool test = (lane & 31) == 0;
    const bool test_2 = !test;
    const uint index_2 = lane | 31;
    // cumsum.py:12  carry = for
    for (uint start = 0; start < uint(max(n_cols, 0)); start += 128) {
        // cumsum.py:15  x = tl.load
        float x[4];
        // cumsum.py:13  cols
        const uint offset = start + tid;
        // cumsum.py:15  x = tl.load
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // cumsum.py:13  cols
            const int cols = int(offset + i * 32);
            // cumsum.py:15  x = tl.load
            x[i] = cols < n_cols ? x_3[cols] : 0.0f;
        }
        // cumsum.py:16
        float tile_2[4];
        float carry = 0.0f;
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // cumsum.py:15  x = tl.load
            const float x_4 = x[i];
            // cumsum.py:16
            tile_2[i] = x_4;
            const float value = simd_prefix_inclusive_sum(x_4);
            const float other = simd_shuffle(value, index);
            const float other_2 = simd_shuffle(value, index_2);
            const float value_2 = tile_2[i];
            const bool test_3 = i == 0;
            const float value_3 = test_3 ? other : test ? carry : carry + other;
            tile_2[i] = test_2 || !test_3 ? value_3 + value_2 : value_2;
            carry = test_3 ? other_2 : carry + other_2;
        }
        // cumsum.py:17  carry = tl.sum
        float carry_2 = -0.0f;
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // cumsum.py:16
            const float value = tile_2[i];
            // cumsum.py:13  cols
            const int cols = int(offset + i * 32);
            // cumsum.py:16  tl.store
            if (cols < n_cols) {
                ptr[cols] = tile + value;
            }
            // cumsum.py:17  carry = tl.sum
            carry_2 += x[i];
        }
        const float carry_3 = simd_sum(carry_2);
        tile += carry_3;
    }
}
