// sum_both: from @sum_both (reductions.py:68)
//
//   grid     one threadgroup of 256 threads (8 simdgroups of 32) a program
//   work     tiles of up to 16 x 256 elements, 16 a thread
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

    float x_part[2] = {-0.0f, -0.0f};
    const int last = max(M, 1) - 1;
    const int last_2 = max(N, 1) - 1;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        // line 69: rows = tl.arange(0, 16)[:, None]
        const int rows = int(sg + i * 8);
        device const float *const x_start = x_ptr + int(uint(min(rows, last)) * uint(N));
        float x_loaded[8] = {};
        if (M > 0 && N > 0) {
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 8; j++) {
                // line 71: x = tl.load(x_ptr + rows * N + cols)
                x_loaded[j] = x_start[min(int(lane + j * 32), last_2)];
            }
        }
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 8; j++) {
            // line 72: tl.store(out_ptr, tl.sum(tl.sum(x)))
            x_part[i] += (rows < M) & (int(lane + j * 32) < N) ? x_loaded[j] : 0.0f;
        }
    }
    float value = -0.0f;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        x_part[i] = simd_sum(x_part[i]);
        value += x_part[i];
    }
    if (lane == 0) shared[sg] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);    // shared is complete
    const float shared_held = shared[lane & 7];
    const float value_2 = shared_held + simd_shuffle_xor(shared_held, 4);
    const float value_3 = value_2 + simd_shuffle_xor(value_2, 2);
    const float partner = simd_shuffle_xor(value_3, 1);
    if (tid == 0) *out_ptr = value_3 + partner;
}
