// range_of_rows: from @range_of_rows (reductions.py:38)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 256 elements, 4 a thread
//   memory   64 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void range_of_rows(
    device const float *x_ptr [[buffer(0)]],
    device float *low_ptr     [[buffer(1)]],
    device float *high_ptr    [[buffer(2)]],
    device int *where_ptr     [[buffer(3)]],
    constant int &N           [[buffer(4)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  group    [[simdgroup_index_in_threadgroup]])
{
    threadgroup float shared[2];
    threadgroup float shared_2[2];
    threadgroup float shared_3[2];
    threadgroup int shared_4[2];

    // reductions.py:42  x
    device const float *const x = x_ptr + int(program.x * N);
    // reductions.py:43  low = tl.where
    float low[4];
    // reductions.py:44  tl.min
    float tile = NAN;
    // reductions.py:45  tl.max
    float tile_2 = NAN;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // reductions.py:40  cols
        const uint cols = tid + i * 64;
        // reductions.py:41  inside
        const bool inside = int(cols) < N;
        // reductions.py:42  x = tl.load
        const float x_2 = inside ? x[cols] : 0.0f;
        // reductions.py:43  low = tl.where
        const float low_2 = inside ? x_2 : INFINITY;
        low[i] = low_2;
        // reductions.py:44  tl.min
        tile = fmin(tile, low_2);
        // reductions.py:45  tl.max
        tile_2 = fmax(tile_2, inside ? x_2 : -INFINITY);
    }
    // reductions.py:44  tl.min
    const float value = simd_min(tile);
    const bool first_lane = lane == 0;
    if (first_lane) {
        shared[group] = value;
    }
    // reductions.py:45  tl.max
    const float value_2 = simd_max(tile_2);
    if (first_lane) {
        shared_2[group] = value_2;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // shared is complete
    // reductions.py:44  tl.min
    const float value_3 = shared[0];
    const float value_4 = shared[1];
    // reductions.py:45  tl.max
    const float value_5 = shared_2[0];
    const float value_6 = shared_2[1];
    // reductions.py:44  tl.store
    const bool first_thread = tid == 0;
    if (first_thread) {
        low_ptr[program.x] = fmin(value_3, value_4);
        // reductions.py:45  tl.store
        high_ptr[program.x] = fmax(value_5, value_6);
    }
    // reductions.py:46  tl.reduce
    float tile_3 = low[0];
    int tile_4 = int(tid);
    #pragma clang loop unroll(full)
    for (uint i = 1; i < 4; i++) {
        // reductions.py:43  low = tl.where
        const float low_2 = low[i];
        // reductions.py:40  cols
        const uint cols = tid + i * 64;
        // reductions.py:46  tl.reduce
        const bool test = tile_3 < low_2 || (tile_3 == low_2 && tile_4 < int(cols));
        tile_3 = test ? tile_3 : low_2;
        tile_4 = int(test ? uint(tile_4) : cols);
    }
    #pragma clang loop unroll(full)
    for (uint d = 16; d > 0; d >>= 1) {
        const float other = simd_shuffle_xor(tile_3, d);
        const int other_2 = simd_shuffle_xor(tile_4, d);
        const bool test = tile_3 < other || (tile_3 == other && tile_4 < other_2);
        tile_3 = test ? tile_3 : other;
        tile_4 = test ? tile_4 : other_2;
    }
    if (first_lane) {
        shared_3[group] = tile_3;
        shared_4[group] = tile_4;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // shared_3 is complete
    const float value_7 = shared_3[0];
    const int offset = shared_4[0];
    const float value_8 = shared_3[1];
    const int offset_2 = shared_4[1];
    const int offset_3 = value_7 < value_8 || (value_7 == value_8 && offset < offset_2) ? offset : offset_2;
    if (first_thread) {
        where_ptr[program.x] = offset_3;
    }
}
