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
    uint  sg       [[simdgroup_index_in_threadgroup]])
{
    threadgroup char positive_shared[2];
    threadgroup char shared[2];

    device const int *const x_start = x_ptr + int(program.x * N);
    bool positive_flag = false;
    bool flag = true;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // line 52: cols
        const int cols = int(tid + i * 64);
        const int positive_loaded = cols < N ? x_start[cols] : 0;
        // line 53: positive
        const bool positive = positive_loaded > 0;
        // line 54: tl.reduce
        positive_flag = positive_flag || positive;
        // line 55: tl.reduce
        flag = flag && (positive || cols >= N);
    }
    const bool positive_flag_2 = simd_any(positive_flag);
    if (lane == 0) positive_shared[sg] = char(uchar(positive_flag_2));
    const bool flag_2 = simd_all(flag);
    if (lane == 0) shared[sg] = char(uchar(flag_2));
    threadgroup_barrier(mem_flags::mem_threadgroup);    // positive_shared is complete
    const char shared_held = shared[0];
    const char shared_held_2 = shared[1];
    if (tid == 0) {
        any_ptr[program.x] = char(uchar((positive_shared[0] != char(0))
                || (positive_shared[1] != char(0))));
        all_ptr[program.x] = char(uchar(shared_held != char(0) && shared_held_2 != char(0)));
    }
}
