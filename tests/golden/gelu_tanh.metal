// gelu_tanh: from @gelu_tanh (gelu.py:19)
//
//   grid     one threadgroup of 128 threads (4 simdgroups of 32) a program
//   work     tiles of up to 512 elements, 4 a thread, 4 of them neighbours
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
    const uint offsets_offset = program.x * 512;
    // line 20: offsets = tl.program_id(0) * 512 + tl.arange(0, 512)
    const int offsets = int(offsets_offset + tid * 4);
    // line 21: mask = offsets < n
    const bool mask = offsets < n;
    device const float *const x_start = x_ptr + offsets;
    const int offsets_base = int(offsets_offset + (tid * 4 + 1));
    const int offsets_base_2 = int(offsets_offset + (tid * 4 + 2));
    float4 x;
    const int last = max(n, -2147483647) - 1;
    if (int(offsets_offset + (tid * 4 + 3)) < n) {
        // line 22: x = tl.load(x_ptr + offsets)
        x = *(device const float4 *)(x_start);
    } else {
        if (mask) {
            const float x_loaded = x_ptr[min(offsets_base, last)];
            const float x_loaded_2 = x_ptr[min(offsets_base_2, last)];
            x = float4(*x_start, offsets_base < n ? x_loaded : 0.0f, offsets_base_2 < n
                    ? x_loaded_2 : 0.0f, 0.0f);
        } else {
            x = float4(0.0f);
        }
    }
    // line 23: inner = (x + x * 0.044715 * x * x) * 0.7978846
    const float4 inner = fma(x * 0.044715f * x, x, x) * 0.7978846f;
    // line 24: y
    const float4 y_value = float4(precise::tanh(inner.x), precise::tanh(inner.y),
            precise::tanh(inner.z), precise::tanh(inner.w));
    const float4 y = x * 0.5f * (y_value + 1.0f);
    device float *const y_start = y_ptr + offsets;
    if (int(offsets_offset + (tid * 4 + 3)) < n) {
        // line 25: tl.store(y_ptr + offsets, y)
        *(device float4 *)(y_start) = y;
    } else {
        if (mask) {
            *y_start = y.x;
            if (offsets_base < n) {
                y_ptr[offsets_base] = y.y;
                if (offsets_base_2 < n) y_ptr[offsets_base_2] = y.z;
            }
        }
    }
}
