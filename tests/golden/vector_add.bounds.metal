// vector_add: from @vector_add (vector_add.py:9)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 256 elements, 4 a thread, 4 of them neighbours
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void vector_add(
    device const float *x_ptr     [[buffer(0)]],
    device const float *y_ptr     [[buffer(1)]],
    device float *out_ptr         [[buffer(2)]],
    constant int &n               [[buffer(3)]],
    constant ulong &x_ptr_bytes   [[buffer(4)]],
    constant ulong &y_ptr_bytes   [[buffer(5)]],
    constant ulong &out_ptr_bytes [[buffer(6)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    const uint offsets_offset = program.x * 256;
    // line 10: offsets = tl.program_id(0) * 256 + tl.arange(0, 256)
    const uint offsets = offsets_offset + tid * 4;
    // line 11: mask = offsets < n
    const bool mask = int(offsets) < n;
    const int offsets_base = int(offsets_offset + (tid * 4 + 1));
    const int offsets_base_2 = int(offsets_offset + (tid * 4 + 2));
    float4 x;
    float4 y;
    if (int(offsets_offset + (tid * 4 + 3)) < n) {
        const uint x_bound = uint(min(max(x_ptr_bytes / 4l, 3ul) - 3l, 2147483648ul));
        // line 12: x = tl.load(x_ptr + offsets)
        x = offsets < x_bound ? *(device const float4 *)(x_ptr + int(offsets)) : float4(0.0f);
        const uint y_bound = uint(min(max(y_ptr_bytes / 4l, 3ul) - 3l, 2147483648ul));
        // line 13: y = tl.load(y_ptr + offsets)
        y = offsets < y_bound ? *(device const float4 *)(y_ptr + int(offsets)) : float4(0.0f);
    } else {
        const uint x_bound = uint(min(x_ptr_bytes / 4l, 2147483648ul));
        const float x_loaded = mask && offsets < x_bound ? x_ptr[int(offsets)] : 0.0f;
        const float x_loaded_2 = offsets_base < n && uint(offsets_base) < x_bound
                ? x_ptr[offsets_base] : 0.0f;
        const float x_loaded_3 = offsets_base_2 < n && uint(offsets_base_2) < x_bound
                ? x_ptr[offsets_base_2] : 0.0f;
        x = float4(x_loaded, x_loaded_2, x_loaded_3, 0.0f);
        const uint y_bound = uint(min(y_ptr_bytes / 4l, 2147483648ul));
        const float y_loaded = mask && offsets < y_bound ? y_ptr[int(offsets)] : 0.0f;
        const float y_loaded_2 = offsets_base < n && uint(offsets_base) < y_bound
                ? y_ptr[offsets_base] : 0.0f;
        const float y_loaded_3 = offsets_base_2 < n && uint(offsets_base_2) < y_bound
                ? y_ptr[offsets_base_2] : 0.0f;
        y = float4(y_loaded, y_loaded_2, y_loaded_3, 0.0f);
    }
    const float4 value = x + y;
    if (int(offsets_offset + (tid * 4 + 3)) < n) {
        const uint out_bound = uint(min(max(out_ptr_bytes / 4l, 3ul) - 3l, 2147483648ul));
        // line 14: tl.store(out_ptr + offsets, x + y)
        if (offsets < out_bound) *(device float4 *)(out_ptr + int(offsets)) = value;
    } else {
        if (mask) {
            const uint out_bound = uint(min(out_ptr_bytes / 4l, 2147483648ul));
            if (offsets < out_bound) out_ptr[int(offsets)] = value.x;
            if (offsets_base < n) {
                if (uint(offsets_base) < out_bound) out_ptr[offsets_base] = value.y;
                if (offsets_base_2 < n && uint(offsets_base_2) < out_bound) {
                    out_ptr[offsets_base_2] = value.z;
                }
            }
        }
    }
}
