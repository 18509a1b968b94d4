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
    uint  group    [[simdgroup_index_in_threadgroup]])
{
    threadgroup float shared[4];

    // reductions.py:78  at
    const int at = int(program.x * 512 + tid * 4);
    // reductions.py:79  tl.load
    const float4 loaded = at < n ? *(device const float4 *)(x_ptr + at) : float4(0.0f);
    const float value = loaded.x + loaded.y + loaded.z + loaded.w;
    const float value_2 = simd_sum(value);
    if (lane == 0) {
        shared[group] = value_2;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // shared is complete
    const float value_3 = lane < 4 ? shared[lane] : -0.0f;
    const float value_4 = simd_sum(value_3);
    if (tid == 0) {
        part_ptr[program.x] = value_4;
    }
}
