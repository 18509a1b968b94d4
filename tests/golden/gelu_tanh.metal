// gelu_tanh: from @gelu_tanh (gelu.py:19)
//
//   grid     one threadgroup of 128 threads (4 simdgroups of 32) a program
//   work     tiles of up to 512 elements, 4 a thread
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(128)]]
kernel void gelu_tanh(
    device const float *x_ptr [[buffer(0)]],
    device float *y_ptr       [[buffer(1)]],
    constant int &n           [[buffer(2)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // line 20: offsets
        const int offsets = int(program.x * 512 + tid + i * 128);
        // line 25: tl.store
        if (offsets < n) {
            // line 22: x = tl.load
            const float x = x_ptr[offsets];
            y_ptr[offsets] = x * 0.5f
                    * (precise::tanh((x + x * 0.044715f * x * x) * 0.7978846f) + 1.0f);
        }
    }
}
