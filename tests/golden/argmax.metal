// argmax: from @argmax (argmax.py:9)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 128 elements, 4 a thread
//   memory   0 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
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
    float tile = x[0];
    int tile_2 = int(tid);
    #pragma clang loop unroll(full)
    for (uint i = 1; i < 4; i++) {
        // argmax.py:12  x = tl.load
        const float x_3 = x[i];
        // argmax.py:13  tl.reduce
        const float value = tile;
        // argmax.py:11  cols
        const uint cols = tid + i * 32;
        // argmax.py:13  tl.reduce
        const bool test = value > x_3 || (value == x_3 && tile_2 < int(cols));
        tile = test ? value : x_3;
        tile_2 = int(test ? uint(tile_2) : cols);
    }
    const float other = simd_shuffle_xor(tile, 16);
    const int other_2 = simd_shuffle_xor(tile_2, 16);
    const bool test = tile > other || (tile == other && tile_2 < other_2);
    const float value = test ? tile : other;
    const float other_3 = simd_shuffle_xor(value, 8);
    const int offset = test ? tile_2 : other_2;
    const int other_4 = simd_shuffle_xor(offset, 8);
    const bool test_2 = value > other_3 || (value == other_3 && offset < other_4);
    const float value_2 = test_2 ? value : other_3;
    const float other_5 = simd_shuffle_xor(value_2, 4);
    const int offset_2 = test_2 ? offset : other_4;
    const int other_6 = simd_shuffle_xor(offset_2, 4);
    const bool test_3 = value_2 > other_5 || (value_2 == other_5 && offset_2 < other_6);
    const float value_3 = test_3 ? value_2 : other_5;
    const float other_7 = simd_shuffle_xor(value_3, 2);
    const int offset_3 = test_3 ? offset_2 : other_6;
    const int other_8 = simd_shuffle_xor(offset_3, 2);
    const bool test_4 = value_3 > other_7 || (value_3 == other_7 && offset_3 < other_8);
    const float value_4 = test_4 ? value_3 : other_7;
    const float other_9 = simd_shuffle_xor(value_4, 1);
    const int offset_4 = test_4 ? offset_3 : other_8;
    const int other_10 = simd_shuffle_xor(offset_4, 1);
    const bool test_5 = value_4 > other_9 || (value_4 == other_9 && offset_4 < other_10);
    // argmax.py:14  tl.store
    if (tid == 0) {
        value_ptr[program.x] = test_5 ? value_4 : other_9;
        // argmax.py:15  tl.store
        index_ptr[program.x] = test_5 ? offset_4 : other_10;
    }
}
