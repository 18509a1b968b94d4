// gelu_tanh: from @gelu_tanh (gelu.py:19)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 512 elements, 8 a thread, 4 of them neighbours
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void gelu_tanh(
    device const float *x_ptr [[buffer(0)]],
    device float *y_ptr       [[buffer(1)]],
    constant int &n           [[buffer(2)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    const uint offsets_offset = program.x * 512;
    const uint offsets_base = offsets_offset + tid * 4;
    const int last = max(n, -2147483647) - 1;
    if ((n > 511) & (int(offsets_offset) < int(uint(n) - 511))) {
        float4 x[2];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            // line 22: x = tl.load(x_ptr + offsets)
            x[i] = *(device const float4 *)(x_ptr + int(offsets_base + i * 256));
        }
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            // line 23: inner = (x + x * 0.044715 * x * x) * 0.7978846
            const float4 inner = fma(x[i] * 0.044715f * x[i], x[i], x[i]) * 0.7978846f;
            // line 24: y
            const float4 y_value = float4(precise::tanh(inner.x), precise::tanh(inner.y),
                    precise::tanh(inner.z), precise::tanh(inner.w));
            // line 25: tl.store(y_ptr + offsets, y)
            *(device float4 *)(y_ptr + int(offsets_base + i * 256)) = x[i] * 0.5f
                    * (y_value + 1.0f);
        }
    } else {
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 2; i++) {
            // line 20: offsets = tl.program_id(0) * 512 + tl.arange(0, 512)
            const int offsets = int(offsets_base + i * 256);
            // line 21: mask = offsets < n
            const bool mask = offsets < n;
            const bool mask_2 = int(offsets_offset + (tid * 4 + 3) + i * 256) < n;
            device const float *const x_start = x_ptr + offsets;
            const int offsets_base_2 = int(offsets_offset + (tid * 4 + 1) + i * 256);
            const int offsets_base_3 = int(offsets_offset + (tid * 4 + 2) + i * 256);
            float4 x;
            if (mask_2) {
                x = *(device const float4 *)(x_start);
            } else {
                if (mask) {
                    const float x_loaded = x_ptr[min(offsets_base_2, last)];
                    const float x_loaded_2 = x_ptr[min(offsets_base_3, last)];
                    x = float4(*x_start, offsets_base_2 < n ? x_loaded : 0.0f, offsets_base_3 < n
                            ? x_loaded_2 : 0.0f, 0.0f);
                } else {
                    x = float4(0.0f);
                }
            }
            const float4 inner = fma(x * 0.044715f * x, x, x) * 0.7978846f;
            const float4 y_value = float4(precise::tanh(inner.x), precise::tanh(inner.y),
                    precise::tanh(inner.z), precise::tanh(inner.w));
            const float4 y = x * 0.5f * (y_value + 1.0f);
            device float *const y_start = y_ptr + offsets;
            if (mask_2) {
                *(device float4 *)(y_start) = y;
            } else {
                if (mask) {
                    *y_start = y.x;
                    if (offsets_base_2 < n) {
                        y_ptr[offsets_base_2] = y.y;
                        if (offsets_base_3 < n) y_ptr[offsets_base_3] = y.z;
                    }
                }
            }
        }
    }
}
