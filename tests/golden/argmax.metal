// argmax: from @argmax (argmax.py:9)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 128 elements, 4 a thread
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
    device const float *const x_start = x_ptr + int(program.x * n_cols);
    float x[4];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // line 11: cols
        const int cols = int(tid + i * 32);
        // line 12: x = tl.load
        x[i] = cols < n_cols ? x_start[cols] : -INFINITY;
    }
    float x_part = x[0];
    int cols = int(tid);
    #pragma clang loop unroll(full)
    for (uint i = 1; i < 4; i++) {
        const int cols_bound = int(tid + i * 32);
        const bool flag = x_part > x[i] || (x_part == x[i] && cols < cols_bound);
        // line 13: tl.reduce
        x_part = flag ? x_part : x[i];
        cols = flag ? cols : cols_bound;
    }
    #pragma clang loop unroll(full)
    for (uint d = 16; d > 0; d >>= 1) {
        const float x_partner = simd_shuffle_xor(x_part, d);
        const int cols_partner = simd_shuffle_xor(cols, d);
        const bool flag = x_part > x_partner || (x_part == x_partner && cols < cols_partner);
        x_part = flag ? x_part : x_partner;
        cols = flag ? cols : cols_partner;
    }
    if (tid == 0) {
        // line 14: tl.store
        value_ptr[program.x] = x_part;
        // line 15: tl.store
        index_ptr[program.x] = cols;
    }
}
