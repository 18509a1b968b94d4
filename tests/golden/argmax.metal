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
        // argmax.py:11  cols
        const uint cols = tid + i * 32;
        // argmax.py:13  tl.reduce
        const bool test = tile > x_3 || (tile == x_3 && tile_2 < int(cols));
        tile = test ? tile : x_3;
        tile_2 = int(test ? uint(tile_2) : cols);
    }
    #pragma clang loop unroll(full)
    for (uint d = 16; d > 0; d >>= 1) {
        const float other = simd_shuffle_xor(tile, d);
        const int other_2 = simd_shuffle_xor(tile_2, d);
        const bool test = tile > other || (tile == other && tile_2 < other_2);
        tile = test ? tile : other;
        tile_2 = test ? tile_2 : other_2;
    }
    // argmax.py:14  tl.store
    if (tid == 0) {
        value_ptr[program.x] = tile;
        // argmax.py:15  tl.store
        index_ptr[program.x] = tile_2;
    }
}
