// transpose_: from @transpose (transpose.py:9)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) a program
//   work     tiles of up to 32 x 32 elements, 4 a thread, 4 of them neighbours
//   memory   4096 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(256)]]
kernel void transpose_(
    device const float *x_ptr [[buffer(0)]],
    device float *out_ptr     [[buffer(1)]],
    constant int &n_rows      [[buffer(2)]],
    constant int &n_cols      [[buffer(3)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]])
{
    threadgroup float x_shared[1024];

    const uint i_offset = program.x * 32;
    const uint j_offset = program.y * 32;
    // line 10: i = tl.program_id(0) * 32 + tl.arange(0, 32)
    const uint i = i_offset + tid / 8;
    const uint i_offset_2 = lane % 8 * 4;
    // line 11: j = tl.program_id(1) * 32 + tl.arange(0, 32)
    const int j = int(j_offset + i_offset_2);
    device const float *const x_start = x_ptr + int(i * n_cols);
    device const float *const x_start_2 = x_start + j;
    float4 x_loaded;
    const int last = max(n_cols, -2147483647) - 1;
    if ((int(i) < n_rows) & (int(j_offset + (i_offset_2 + 3)) < n_cols)) {
        // line 12: x = tl.load(x_ptr + i[:, None] * n_cols + j[None, :])
        x_loaded = float4(*(device const packed_float4 *)(x_start_2));
    } else {
        if ((int(i) < n_rows) & (j < n_cols)) {
            const float x_loaded_2 = x_start[min(int(j_offset + (i_offset_2 + 1)), last)];
            const float x_loaded_3 = x_start[min(int(j_offset + (i_offset_2 + 2)), last)];
            const float x_chosen = (int(i) < n_rows) & (int(j_offset + (i_offset_2 + 1)) < n_cols)
                    ? x_loaded_2 : 0.0f;
            const float x_chosen_2 = (int(i) < n_rows)
                    & (int(j_offset + (i_offset_2 + 2)) < n_cols) ? x_loaded_3 : 0.0f;
            x_loaded = float4(*x_start_2, x_chosen, x_chosen_2, 0.0f);
        } else {
            x_loaded = float4(0.0f);
        }
    }
    x_shared[(tid * 4) ^ (tid / 8)] = x_loaded.x;
    x_shared[(tid * 4 + 1) ^ (tid / 8)] = x_loaded.y;
    x_shared[(tid * 4 + 2) ^ (tid / 8)] = x_loaded.z;
    x_shared[(tid * 4 + 3) ^ (tid / 8)] = x_loaded.w;
    threadgroup_barrier(mem_flags::mem_threadgroup);    // x_shared is complete
    const uint x_slot = lane % 8 * 128 + tid / 8;
    const float x_held = x_shared[x_slot ^ i_offset_2];
    const float x_held_2 = x_shared[(x_slot + 32) ^ (i_offset_2 + 1)];
    const float x_held_3 = x_shared[(x_slot + 64) ^ (i_offset_2 + 2)];
    const float4 x = float4(x_held, x_held_2, x_held_3, x_shared[(x_slot + 96) ^ (i_offset_2 + 3)]);
    const uint j_offset_2 = j_offset + tid / 8;
    const bool mask = int(j_offset_2) < n_cols;
    const int i_offset_3 = int(i_offset + i_offset_2);
    device float *const out_start = out_ptr + int(j_offset_2 * n_rows);
    device float *const out_start_2 = out_start + i_offset_3;
    if (mask & (int(i_offset + (i_offset_2 + 3)) < n_rows)) {
        // line 13: tl.store(...)
        *(device packed_float4 *)(out_start_2) = x;
    } else {
        if (mask && i_offset_3 < n_rows) {
            *out_start_2 = x_held;
            if (mask && int(i_offset + (i_offset_2 + 1)) < n_rows) {
                out_start[int(i_offset + (i_offset_2 + 1))] = x_held_2;
                if (mask && int(i_offset + (i_offset_2 + 2)) < n_rows) {
                    out_start[int(i_offset + (i_offset_2 + 2))] = x_held_3;
                }
            }
        }
    }
}
