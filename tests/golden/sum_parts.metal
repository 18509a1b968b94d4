// sum_parts: from @sum_parts (reductions.py:76)
//
//   grid     one threadgroup of 128 threads (4 simdgroups of 32) a program
//   work     tiles of up to 512 elements, 4 a thread, 4 of them neighbours
//   memory   16 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(128)]]
kernel void sum_parts(
    device const float *x_ptr [[buffer(0)]],
    device float *part_ptr    [[buffer(1)]],
    constant int &n           [[buffer(2)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  sg       [[simdgroup_index_in_threadgroup]])
{
    threadgroup float shared[4];

    // line 78: at
    const int at = int(program.x * 512 + tid * 4);
    const float4 x_loaded = at < n ? *(device const float4 *)(x_ptr + at) : float4(0.0f);
    const float simd = simd_sum(x_loaded.x + x_loaded.y + x_loaded.z + x_loaded.w);
    // line 79: tl.sum
    if (lane == 0) shared[sg] = simd;
    threadgroup_barrier(mem_flags::mem_threadgroup);    // shared is complete
    const float simd_2 = simd_sum(lane < 4 ? shared[lane] : -0.0f);
    if (tid == 0) part_ptr[program.x] = simd_2;
}
