// argmax: from @argmax (argmax.py:9)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 128 elements, 4 a thread
//   memory   0 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

kernel void argmax(
    device const float *x_ptr [[buffer(0)]],
    device float *value_ptr   [[buffer(1)]],
    device int *index_ptr     [[buffer(2)]],
    constant int &n_cols      [[buffer(3)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    // argmax.py:12  x
    device const float *const x_2 = x_ptr + int(program.x * n_cols);
    float x[4];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // argmax.py:11  cols
        const uint cols = tid + i * 32;
        // argmax.py:12  x = tl.load
        x[i] = int(cols) < n_cols ? x_2[cols] : -INFINITY;
    }
    // argmax.py:13  tl.reduce
    float tile;
    tile = x[0];
    int tile_2;
    tile_2 = int(tid);
    #pragma clang loop unroll(full)
    for (uint i = 1; i < 4; i++) {
        // argmax.py:12  x = tl.load
        const float x_3 = x[i];
        // argmax.py:13  tl.reduce
        const float t = tile;
        // argmax.py:11  cols
        const uint cols_2 = tid + i * 32;
        // argmax.py:13  tl.reduce
        const bool t_2 = t > x_3 || (t == x_3 && tile_2 < int(cols_2));
        tile = t_2 ? t : x_3;
        tile_2 = int(t_2 ? uint(tile_2) : cols_2);
    }
    const float other = simd_shuffle_xor(tile, 16);
    const int other_2 = simd_shuffle_xor(tile_2, 16);
    const bool t_3 = tile > other || (tile == other && tile_2 < other_2);
    const float t_4 = t_3 ? tile : other;
    const float other_3 = simd_shuffle_xor(t_4, 8);
    const int idx = t_3 ? tile_2 : other_2;
    const int other_4 = simd_shuffle_xor(idx, 8);
    const bool t_5 = t_4 > other_3 || (t_4 == other_3 && idx < other_4);
    const float t_6 = t_5 ? t_4 : other_3;
    const float other_5 = simd_shuffle_xor(t_6, 4);
    const int idx_2 = t_5 ? idx : other_4;
    const int other_6 = simd_shuffle_xor(idx_2, 4);
    const bool t_7 = t_6 > other_5 || (t_6 == other_5 && idx_2 < other_6);
    const float t_8 = t_7 ? t_6 : other_5;
    const float other_7 = simd_shuffle_xor(t_8, 2);
    const int idx_3 = t_7 ? idx_2 : other_6;
    const int other_8 = simd_shuffle_xor(idx_3, 2);
    const bool t_9 = t_8 > other_7 || (t_8 == other_7 && idx_3 < other_8);
    const float t_10 = t_9 ? t_8 : other_7;
    const float other_9 = simd_shuffle_xor(t_10, 1);
    const int idx_4 = t_9 ? idx_3 : other_8;
    const int other_10 = simd_shuffle_xor(idx_4, 1);
    const bool t_11 = t_10 > other_9 || (t_10 == other_9 && idx_4 < other_10);
    // argmax.py:14  tl.store
    if (tid == 0) {
        value_ptr[program.x] = t_11 ? t_10 : other_9;
        // argmax.py:15  tl.store
        index_ptr[program.x] = t_11 ? idx_4 : other_10;
    }
}
