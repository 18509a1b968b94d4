// transpose_: from @transpose (transpose.py:9)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) a program
//   work     tiles of up to 32 x 32 elements, 4 a thread
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
    uint  lane     [[thread_index_in_simdgroup]],
    uint  sg       [[simdgroup_index_in_threadgroup]])
{
    threadgroup float x_shared[1024];

    // line 11: j = tl.program_id(1) * 32 + tl.arange(0, 32)
    const int j = int(program.y * 32 + lane);
    const int last = max(n_rows, -2147483647) - 1;
    const int last_2 = max(n_cols, -2147483647) - 1;
    if (int(program.x * 32) < n_rows && int(program.y * 32) < n_cols) {
        const int x_base = min(j, last_2);
        #pragma clang loop unroll(full)
        for (uint k = 0; k < 4; k++) {
            // line 10: i = tl.program_id(0) * 32 + tl.arange(0, 32)
            const int i = int(program.x * 32 + sg + k * 8);
            const float x_loaded = (x_ptr + int(uint(min(i, last)) * uint(n_cols)))[x_base];
            // line 12: x = tl.load(x_ptr + i[:, None] * n_cols + j[None, :])
            x_shared[(tid + k * 256) ^ (sg + k * 8)] = (i < n_rows) & (j < n_cols) ? x_loaded
                    : 0.0f;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // x_shared is complete
        const int i = int(program.x * 32 + lane);
        #pragma clang loop unroll(full)
        for (uint k = 0; k < 4; k++) {
            const float x = x_shared[(lane * 32 + sg + k * 8) ^ lane];
            const uint j_offset = program.y * 32 + sg + k * 8;
            // line 13: tl.store(...)
            if (int(j_offset) < n_cols && i < n_rows) (out_ptr + int(j_offset * n_rows))[i] = x;
        }
    }
}
