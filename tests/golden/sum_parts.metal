// sum_parts: from @sum_parts (reductions.py:76)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 512 elements, 16 a thread, 4 of them neighbours
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

kernel void sum_parts(
    device const float *x_ptr [[buffer(0)]],
    device float *part_ptr    [[buffer(1)]],
    constant int &n           [[buffer(2)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    const int last = max(n, -2147483644) - 4;
    float4 x_loaded[4] = {};
    if (int(program.x * 512) < n) {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // line 79: tl.load(...)
            x_loaded[i] = *(device const float4 *)(x_ptr
                    + min(int(program.x * 512 + tid * 4 + i * 128), last));
        }
    }
    float4 value = float4(-0.0f);
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        value += int(program.x * 512 + tid * 4 + i * 128) < n ? x_loaded[i] : float4(0.0f);
    }
    const float simd = simd_sum(value.x + value.y + value.z + value.w);
    if (tid == 0) part_ptr[program.x] = simd;
}
