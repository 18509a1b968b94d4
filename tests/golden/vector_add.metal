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
    device const float *x_ptr [[buffer(0)]],
    device const float *y_ptr [[buffer(1)]],
    device float *out_ptr     [[buffer(2)]],
    constant int &n           [[buffer(3)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    const uint offsets_offset = program.x * 256;
    // line 10: offsets = tl.program_id(0) * 256 + tl.arange(0, 256)
    const int offsets = int(offsets_offset + tid * 4);
    // line 11: mask = offsets < n
    const bool mask = offsets < n;
    device const float *const x_start = x_ptr + offsets;
    const int offsets_base = int(offsets_offset + (tid * 4 + 1));
    const int offsets_base_2 = int(offsets_offset + (tid * 4 + 2));
    float4 x;
    const int last = max(n, -2147483647) - 1;
    const int x_base = min(offsets_base, last);
    const int x_base_2 = min(offsets_base_2, last);
    device const float *const y_start = y_ptr + offsets;
    float4 y;
    if (int(offsets_offset + (tid * 4 + 3)) < n) {
        // line 12: x = tl.load(x_ptr + offsets)
        x = *(device const float4 *)(x_start);
        // line 13: y = tl.load(y_ptr + offsets)
        y = *(device const float4 *)(y_start);
    } else {
        if (mask) {
            const float x_loaded = x_ptr[x_base];
            const float x_loaded_2 = x_ptr[x_base_2];
            x = float4(*x_start, offsets_base < n ? x_loaded : 0.0f, offsets_base_2 < n
                    ? x_loaded_2 : 0.0f, 0.0f);
            const float y_loaded = y_ptr[x_base];
            const float y_loaded_2 = y_ptr[x_base_2];
            y = float4(*y_start, offsets_base < n ? y_loaded : 0.0f, offsets_base_2 < n
                    ? y_loaded_2 : 0.0f, 0.0f);
        } else {
            x = float4(0.0f);
            y = float4(0.0f);
        }
    }
    const float4 value = x + y;
    device float *const out_start = out_ptr + offsets;
    if (int(offsets_offset + (tid * 4 + 3)) < n) {
        // line 14: tl.store(out_ptr + offsets, x + y)
        *(device float4 *)(out_start) = value;
    } else {
        if (mask) {
            *out_start = value.x;
            if (offsets_base < n) {
                out_ptr[offsets_base] = value.y;
                if (offsets_base_2 < n) out_ptr[offsets_base_2] = value.z;
            }
        }
    }
}
