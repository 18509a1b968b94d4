// vector_add: from @vector_add (vector_add.py:9)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 256 elements, 4 a thread
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void vector_add(
    device const float *x_ptr [[buffer(0)]],
    device const float *y_ptr [[buffer(1)]],
    device float *out_ptr     [[buffer(2)]],
    constant int &n           [[buffer(3)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // line 10: offsets
        const int offsets = int(program.x * 256 + tid + i * 64);
        // line 14: tl.store
        if (offsets < n) out_ptr[offsets] = x_ptr[offsets] + y_ptr[offsets];
    }
}
