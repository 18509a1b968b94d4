// truths_of_rows: from @truths_of_rows (reductions.py:50)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 256 elements, 8 a thread, 4 of them neighbours
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
    bool4 positive_flag = bool4(false);
    bool4 flag = bool4(true);
    const int last = max(N, 1) - 1;
    if (N > 255) {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            // line 53: positive = tl.load(x_ptr + row * N + cols) > 0
            const bool4 positive = int4(*(device const packed_int4 *)(x_start
                    + (tid * 4 + i * 128))) > int4(0);
            // line 54: tl.reduce(...)
            positive_flag = positive_flag | positive;
            // line 52: cols = tl.arange(0, 256)
            const int4 cols = int4(uint4(tid * 4 + i * 128, tid * 4 + 1 + i * 128,
                    tid * 4 + 2 + i * 128, tid * 4 + 3 + i * 128));
            // line 55: tl.reduce(...)
            flag = flag & (positive | (cols >= int4(N)));
        }
    } else {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            device const int *const x_start_2 = x_start + (tid * 4 + i * 128);
            const int cols_sum = int(tid * 4 + 1 + i * 128);
            const int cols_sum_2 = int(tid * 4 + 2 + i * 128);
            int4 positive_loaded;
            if (int(tid * 4 + 3 + i * 128) < N) {
                positive_loaded = int4(*(device const packed_int4 *)(x_start_2));
            } else {
                if (int(tid * 4 + i * 128) < N) {
                    const int positive_loaded_2 = x_start[min(cols_sum, last)];
                    const int positive_loaded_3 = x_start[min(cols_sum_2, last)];
                    positive_loaded = int4(*x_start_2, cols_sum < N ? positive_loaded_2 : 0,
                            cols_sum_2 < N ? positive_loaded_3 : 0, 0);
                } else {
                    positive_loaded = int4(0);
                }
            }
            const bool4 positive = positive_loaded > int4(0);
            positive_flag = positive_flag | positive;
            const bool4 test = int4(uint4(tid * 4 + i * 128, uint(cols_sum), uint(cols_sum_2),
                    tid * 4 + 3 + i * 128)) >= int4(N);
            flag = flag & (positive | test);
        }
    }
    const bool positive_flag_2 = (positive_flag.x || positive_flag.y) || positive_flag.z;
    const bool positive_flag_3 = simd_any(positive_flag_2 || positive_flag.w);
    const bool flag_2 = simd_all(((flag.x && flag.y) && flag.z) && flag.w);
    if (tid == 0) {
        any_ptr[program.x] = char(uchar(positive_flag_3));
        all_ptr[program.x] = char(uchar(flag_2));
    }
}
