// sum_both: from @sum_both (reductions.py:68)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) a program
//   work     tiles of up to 16 x 256 elements, 16 a thread, 4 of them neighbours
//   memory   32 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(256)]]
kernel void sum_both(
    device const float *x_ptr [[buffer(0)]],
    device float *out_ptr     [[buffer(1)]],
    constant int &M           [[buffer(2)]],
    constant int &N           [[buffer(3)]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  sg       [[simdgroup_index_in_threadgroup]])
{
    threadgroup float shared[8];

    float4 x_part[2] = {float4(-0.0f), float4(-0.0f)};
    const int last = max(N, 1) - 1;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        // line 69: rows = tl.arange(0, 16)[:, None]
        const uint rows = sg + i * 8;
        device const float *const x_start = x_ptr + int(rows * N);
        if ((N > 255) & (M > 15)) {
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                // line 72: tl.store(out_ptr, tl.sum(tl.sum(x)))
                x_part[i] += float4(*(device const packed_float4 *)(x_start
                        + (lane * 4 + j * 128)));
            }
        } else {
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                // line 70: cols = tl.arange(0, 256)[None, :]
                const int cols = int(lane * 4 + j * 128);
                device const float *const x_start_2 = x_start + cols;
                float4 x;
                if ((int(rows) < M) & (int(lane * 4 + 3 + j * 128) < N)) {
                    // line 71: x = tl.load(x_ptr + rows * N + cols)
                    x = float4(*(device const packed_float4 *)(x_start_2));
                } else {
                    if ((int(rows) < M) & (cols < N)) {
                        const float x_loaded = x_start[min(int(lane * 4 + 1 + j * 128), last)];
                        const float x_loaded_2 = x_start[min(int(lane * 4 + 2 + j * 128), last)];
                        x = float4(*x_start_2, (int(rows) < M) & (int(lane * 4 + 1 + j * 128) < N)
                                ? x_loaded : 0.0f,
                                (int(rows) < M) & (int(lane * 4 + 2 + j * 128) < N) ? x_loaded_2
                                : 0.0f, 0.0f);
                    } else {
                        x = float4(0.0f);
                    }
                }
                x_part[i] += x;
            }
        }
    }
    float value = -0.0f;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        const float x_simd = simd_sum(x_part[i].x + x_part[i].y + x_part[i].z + x_part[i].w);
        value += x_simd;
    }
    if (lane == 0) shared[sg] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);    // shared is complete
    const float shared_held = shared[lane & 7];
    const float value_2 = shared_held + simd_shuffle_xor(shared_held, 4);
    const float value_3 = value_2 + simd_shuffle_xor(value_2, 2);
    const float partner = simd_shuffle_xor(value_3, 1);
    if (tid == 0) *out_ptr = value_3 + partner;
}
