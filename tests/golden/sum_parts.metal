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
    float4 value = float4(-0.0f);
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // line 78: at
        const int at = int(program.x * 512 + tid * 4 + i * 128);
        const float4 x_loaded = at < n ? *(device const float4 *)(x_ptr + at) : float4(0.0f);
        // line 79: tl.sum
        value += x_loaded;
    }
    const float simd = simd_sum(value.x + value.y + value.z + value.w);
    if (tid == 0) part_ptr[program.x] = simd;
}
