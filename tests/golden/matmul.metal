// matmul: from @matmul (matmul.py:9)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 32 x 32 elements, 16 a thread, 2 of them neighbours
//   memory   5120 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
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
    uint  lane     [[thread_index_in_simdgroup]],
    uint  group    [[simdgroup_index_in_threadgroup]])
{
    threadgroup half a_shared[1280];
    threadgroup half b_shared[1280];

    // matmul.py:26  acc = for
    simdgroup_float8x8 acc_31[8];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        const int idx = i * 4;
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 4; j++) {
            const int idx_2 = j + idx;
            acc_31[idx_2].thread_elements()[0] = 0.0f;
            acc_31[idx_2].thread_elements()[1] = 0.0f;
        }
    }
    device const half *a_ptrs_29;
    a_ptrs_29 = a_ptr;
    device const half *b_ptrs_30;
    b_ptrs_30 = b_ptr;
    // matmul.py:14  group
    const int group_ = int(uint(int(uint(N) + 31) / 32) * 2);
    // matmul.py:15  first_m
    const uint first_m = uint(div_trunc(int(program.x), group_)) * 2;
    // matmul.py:16  group_m = tl.minimum
    const int group_m = min(int(int(uint(M) + 31) / 32 - first_m), 2);
    // matmul.py:17  tile_m
    const int tile_m = rem_trunc(int(program.x), group_);
    // matmul.py:20  m
    const uint m = (first_m + rem_trunc(tile_m, group_m)) * 32;
    // matmul.py:21  n
    const uint n = uint(div_trunc(tile_m, group_m)) * 32;
    // matmul.py:31  b_ptrs
    const int b_ptrs = int(stride_bk * 32);
    // matmul.py:20  m
    const uint idx_3 = m + group;
    // matmul.py:21  n
    const int n_2 = int(n + lane);
    // matmul.py:28  b
    const bool b_2 = n_2 < N;
    // matmul.py:29  acc = tl.dot
    const uint idx_4 = group * 16;
    // matmul.py:26  acc = for
    for (uint start = 0; start < uint(max(K, 0)); start += 32) {
        // matmul.py:27  a
        const int a_2 = int(K - start);
        half a[16];
        // matmul.py:28  b = tl.load
        half b[16];
        // matmul.py:27  a
        const bool a_3 = int(lane) < a_2;
        // matmul.py:28  b = tl.load
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 16; i++) {
            // matmul.py:20  m
            const int idx_5 = i * 2;
            const uint m_2 = idx_3 + idx_5;
            // matmul.py:27  a = tl.load
            const half a_4 = int(m_2) < M && a_3 ? (a_ptrs_29 + int(m_2 * stride_am))[lane] : 0.0h;
            a[i] = a_4;
            // matmul.py:20  m
            const uint m_3 = group + idx_5;
            // matmul.py:28  b = tl.load
            const half b_3 = int(m_3) < a_2 && b_2 ? (b_ptrs_30 + int(m_3 * stride_bk))[n_2] : 0.0h;
            b[i] = b_3;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // a_shared has been read
        // matmul.py:29  acc = tl.dot
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 16; i++) {
            a_shared[(group + i * 2) * 40 + lane] = a[i];
        }
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 16; i++) {
            b_shared[(group + i * 2) * 40 + lane] = b[i];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // a_shared is complete
        simdgroup_half8x8 a_tile[2];
        simdgroup_half8x8 b_tile[4];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            const int idx_6 = i * 8;
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                simdgroup_load(a_tile[j], a_shared + ((idx_4 + j * 8) * 40 + idx_6), 40);
            }
            const int idx_7 = idx_6 * 40;
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                simdgroup_load(b_tile[j], b_shared + (idx_7 + j * 8), 40);
            }
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                const int idx_8 = j * 4;
                #pragma clang loop unroll(full)
                for (uint k = 0; k < 4; k++) {
                    simdgroup_multiply_accumulate(acc_31[idx_8 + k], a_tile[j], b_tile[k], acc_31[idx_8 + k]);
                }
            }
        }
        // matmul.py:31
        a_ptrs_29 += 32;
        b_ptrs_30 += b_ptrs;
    }
    // matmul.py:20  m
    const uint idx_9 = lane / 2 % 4 + lane / 16 * 4;
    const uint idx_10 = m + (idx_9 + idx_4);
    const uint idx_11 = lane % 2 * 2 + lane / 8 % 2 * 4;
    // matmul.py:21  n
    const uint idx_12 = n + idx_11;
    const uint idx_13 = n + (idx_11 + 1);
    // matmul.py:26  acc = for
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        // matmul.py:20  m
        const uint m_4 = idx_10 + i * 8;
        // matmul.py:32
        device float *const ptr = c_ptr + int(m_4 * stride_cm);
        const bool is_set = int(m_4) < M;
        // matmul.py:26  acc = for
        const int idx_14 = i * 4;
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 4; j++) {
            const int idx_15 = j + idx_14;
            const float acc = acc_31[idx_15].thread_elements()[0];
            // matmul.py:20  m
            const int idx_16 = j * 8;
            // matmul.py:21  n
            const int n_3 = int(idx_12 + idx_16);
            // matmul.py:32  tl.store
            if (is_set && n_3 < N) {
                ptr[n_3] = acc;
            }
            // matmul.py:26  acc = for
            const float t = acc_31[idx_15].thread_elements()[1];
            // matmul.py:21  n
            const int idx_17 = int(idx_13 + idx_16);
            // matmul.py:32  tl.store
            if (is_set && idx_17 < N) {
                ptr[idx_17] = t;
            }
        }
    }
}
