// truths_of_rows: from @truths_of_rows (reductions.py:50)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 256 elements, 4 a thread
//   memory   32 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void truths_of_rows(
    device const int *x_ptr [[buffer(0)]],
    device char *any_ptr    [[buffer(1)]],
    device char *all_ptr    [[buffer(2)]],
    constant int &N         [[buffer(3)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  group    [[simdgroup_index_in_threadgroup]])
{
    threadgroup char shared[2];
    threadgroup char shared_2[2];

    // reductions.py:53  positive
    device const int *const positive = x_ptr + int(program.x * N);
    // reductions.py:54  tl.reduce
    bool tile = false;
    // reductions.py:55  tl.reduce
    bool tile_2 = true;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // reductions.py:52  cols
        const uint cols = tid + i * 64;
        // reductions.py:53  positive = tl.load
        const int positive_2 = int(cols) < N ? positive[cols] : 0;
        const bool positive_3 = positive_2 > 0;
        // reductions.py:54  tl.reduce
        tile = tile || positive_3;
        // reductions.py:55  tl.reduce
        tile_2 = tile_2 && (positive_3 || int(cols) >= N);
    }
    // reductions.py:54  tl.reduce
    const bool test = simd_any(tile);
    const bool first_lane = lane == 0;
    if (first_lane) {
        shared[group] = char(uchar(test));
    }
    // reductions.py:55  tl.reduce
    const bool test_2 = simd_all(tile_2);
    if (first_lane) {
        shared_2[group] = char(uchar(test_2));
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // shared is complete
    // reductions.py:54  tl.reduce
    const char offset = shared[0];
    const char offset_2 = shared[1];
    // reductions.py:55  tl.reduce
    const char offset_3 = shared_2[0];
    const char offset_4 = shared_2[1];
    // reductions.py:54  tl.store
    if (tid == 0) {
        any_ptr[program.x] = char(uchar((offset != char(0)) || (offset_2 != char(0))));
        // reductions.py:55  tl.store
        all_ptr[program.x] = char(uchar(offset_3 != char(0) && offset_4 != char(0)));
    }
}
