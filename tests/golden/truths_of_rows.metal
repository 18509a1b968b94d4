// truths_of_rows: from @truths_of_rows (reductions.py:50)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 256 elements, 8 a thread
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

kernel void truths_of_rows(
    device const int *x_ptr [[buffer(0)]],
    device char *any_ptr    [[buffer(1)]],
    device char *all_ptr    [[buffer(2)]],
    constant int &N         [[buffer(3)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    device const int *const x_start = x_ptr + int(program.x * N);
    const int last = max(N, 1) - 1;
    int positive_loaded[8] = {};
    if (N > 0) {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 8; i++) {
            // line 53: positive = tl.load(x_ptr + row * N + cols) > 0
            positive_loaded[i] = x_start[min(int(tid + i * 32), last)];
        }
    }
    bool positive_flag = false;
    bool flag = true;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 8; i++) {
        // line 52: cols = tl.arange(0, 256)
        const int cols = int(tid + i * 32);
        const bool positive = (cols < N ? positive_loaded[i] : 0) > 0;
        // line 54: tl.reduce(...)
        positive_flag = positive_flag || positive;
        // line 55: tl.reduce(...)
        flag = flag && (positive || cols >= N);
    }
    const bool positive_flag_2 = simd_any(positive_flag);
    const bool flag_2 = simd_all(flag);
    if (tid == 0) {
        any_ptr[program.x] = char(uchar(positive_flag_2));
        all_ptr[program.x] = char(uchar(flag_2));
    }
}
