// matmul: from @matmul (matmul.py:9)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 32 x 32 elements, 16 a thread, 2 of them neighbours
//   memory   9728 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;
#pragma METAL fp math_mode(safe)

inline int div_trunc(int a, int b) {    // no trap where Triton leaves the value open
    return b == 0 ? 0 : b == -1 ? int(0u - uint(a)) : a / b;
}

inline int rem_trunc(int a, int b) {    // sign of the dividend; % leaves negatives open in Metal
    if (b == 0 || b == -1) return 0;
    return a - b * (a / b);
}

[[max_total_threads_per_threadgroup(64)]]
kernel void matmul(
    device const half *a_ptr [[buffer(0)]],
    device const half *b_ptr [[buffer(1)]],
    device float *c_ptr      [[buffer(2)]],
    constant int &M          [[buffer(3)]],
    constant int &N          [[buffer(4)]],
    constant int &K          [[buffer(5)]],
    constant uint &stride_am [[buffer(6)]],
    constant uint &stride_bk [[buffer(7)]],
    constant uint &stride_cm [[buffer(8)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  sg       [[simdgroup_index_in_threadgroup]])
{
    threadgroup half a_shared[1280];
    threadgroup half b_shared[1280];
    threadgroup float acc_shared[1152];
    const uint a_pitch = 40;    // elements from row to row
    const uint b_pitch = 40;    // elements from row to row

    simdgroup_float8x8 acc[8];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 4; j++) {
            acc[j + i * 4].thread_elements()[0] = 0.0f;
            acc[j + i * 4].thread_elements()[1] = 0.0f;
        }
    }
    device const half *a_ptrs = a_ptr;
    device const half *b_ptrs = b_ptr;
    const int group_product = int(uint(N) + 31) / 32 * 2;
    // line 15: first_m
    const uint first_m = uint(div_trunc(int(program.x), group_product)) * 2;
    // line 16: group_m = tl.minimum
    const int group_m = min(int(int(uint(M) + 31) / 32 - first_m), 2);
    const int tile_m_rest = rem_trunc(int(program.x), group_product);
    const uint m_base = (first_m + rem_trunc(tile_m_rest, group_m)) * 32 + sg;
    // line 21: n
    const int n = int(uint(div_trunc(tile_m_rest, group_m)) * 32 + lane);
    // line 26: for
    for (uint start = 0; start < uint(max(K, 0)); start += 32) {
        half a[16];
        half b[16];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 16; i++) {
            // line 20: m
            const uint m = m_base + i * 2;
            // line 27: a = tl.load
            a[i] = int(m) < M && int(lane) < int(K - start) ? (a_ptrs + int(m * stride_am))[lane]
                    : 0.0h;
            const uint m_offset = sg + i * 2;
            // line 28: b = tl.load
            b[i] = int(m_offset) < int(K - start) && n < N
                    ? (b_ptrs + int(m_offset * stride_bk))[n] : 0.0h;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // a_shared has been read
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 16; i++) {
            // line 29: acc = tl.dot
            a_shared[(sg + i * 2) * a_pitch + lane] = a[i];
        }
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 16; i++) {
            b_shared[(sg + i * 2) * b_pitch + lane] = b[i];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // a_shared is complete
        simdgroup_half8x8 a_tile[2];
        simdgroup_half8x8 b_tile[4];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                simdgroup_load(a_tile[j], a_shared + ((sg * 16 + j * 8) * a_pitch + i * 8),
                        a_pitch);
            }
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                simdgroup_load(b_tile[j], b_shared + (i * 8 * b_pitch + j * 8), b_pitch);
            }
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                #pragma clang loop unroll(full)
                for (uint k = 0; k < 4; k++) {
                    simdgroup_multiply_accumulate(acc[j * 4 + k], a_tile[j], b_tile[k],
                            acc[j * 4 + k]);
                }
            }
        }
        // line 31
        a_ptrs += 32;
        b_ptrs += int(stride_bk * 32);
    }
    const uint acc_slot = lane % 2 * 2 + lane / 2 % 4 * 32 + lane / 8 % 2 * 4 + lane / 16 * 128
            + sg * 512;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        const uint acc_slot_2 = (lane / 2 % 4 + lane / 16 * 4 + sg * 16 + i * 8) * 4;
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 4; j++) {
            const float acc_held = acc[j + i * 4].thread_elements()[1];
            acc_shared[acc_slot_2 + (i * 256 + acc_slot) + j * 8] = acc[j
                    + i * 4].thread_elements()[0];
            acc_shared[acc_slot_2 + (acc_slot + 1 + i * 256) + j * 8] = acc_held;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // acc_shared is complete
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 16; i++) {
        const uint m = m_base + i * 2;
        // line 32: tl.store
        if (int(m) < M && n < N) {
            (c_ptr + int(m * stride_cm))[n] = acc_shared[tid + i * 64 + (sg + i * 2) * 4];
        }
    }
}
