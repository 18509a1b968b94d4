// argmax: from @argmax (argmax.py:9)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) for 8 programs along x
//   work     tiles of up to 8 x 128 elements, 4 a thread, 4 of them neighbours
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(256)]]
kernel void argmax(
    device const float *x_ptr [[buffer(0)]],
    device float *value_ptr   [[buffer(1)]],
    device int *index_ptr     [[buffer(2)]],
    constant int &n_cols      [[buffer(3)]],
    constant int &programs_x  [[buffer(4)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  sg       [[simdgroup_index_in_threadgroup]])
{
    const int x_offset = int(program.x * 8 + sg);
    const bool x_mask = x_offset < programs_x;
    device const float *const x_start = x_ptr + int(uint(x_offset) * uint(n_cols));
    device const float *const x_start_2 = x_start + lane * 4;
    float4 x;
    const int last = max(n_cols, 1) - 1;
    if ((int(lane * 4 + 3) < n_cols) & x_mask) {
        // line 12: x = tl.load(...)
        x = float4(*(device const packed_float4 *)(x_start_2));
    } else {
        if ((int(lane * 4) < n_cols) & x_mask) {
            const float x_loaded = x_start[min(int(lane * 4 + 1), last)];
            const float x_loaded_2 = x_start[min(int(lane * 4 + 2), last)];
            x = float4(*x_start_2, (int(lane * 4 + 1) < n_cols) & x_mask ? x_loaded : -INFINITY,
                    (int(lane * 4 + 2) < n_cols) & x_mask ? x_loaded_2 : -INFINITY, -INFINITY);
        } else {
            x = float4(-INFINITY);
        }
    }
    const float x_simd = simd_max(fmax(fmax(fmax(x.x, x.y), x.z), x.w));
    const bool test = isnan(x_simd);
    // line 11: cols = tl.arange(0, 128)
    const uint4 cols = uint4(lane * 4) + uint4(0, 1, 2, 3);
    const uint4 chosen = select(uint4(2147483647), cols, (x == float4(x_simd)) | bool4(test));
    const int simd = simd_min(min(min(min(int(chosen.x), int(chosen.y)), int(chosen.z)),
            int(chosen.w)));
    // line 13: tl.where(...)
    const float4 x_chosen = select(float4(-INFINITY), x, int4(cols) == int4(simd));
    const float part = fmax(fmax(fmax(x_chosen.x, x_chosen.y), x_chosen.z), x_chosen.w);
    const float simd_2 = simd_max(part);
    if (lane == 0 && x_mask) {
        // line 14: tl.store(...)
        value_ptr[x_offset] = test ? x_simd : simd_2;
        // line 15: tl.store(...)
        index_ptr[x_offset] = simd;
    }
}
