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
    uint  group    [[simdgroup_index_in_threadgroup]])
{
    threadgroup half a_shared[1280];
    threadgroup half b_shared[1280];
    threadgroup float acc_shared[1152];

    // matmul.py:26  acc = for
    simdgroup_float8x8 acc[8];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        const int index = i * 4;
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 4; j++) {
            const int index_2 = j + index;
            acc[index_2].thread_elements()[0] = 0.0f;
            acc[index_2].thread_elements()[1] = 0.0f;
        }
    }
    device const half *a_ptrs = a_ptr;
    device const half *b_ptrs = b_ptr;
    // matmul.py:14  group
    const int group_ = int(uint(int(uint(N) + 31) / 32) * 2);
    // matmul.py:15  first_m
    const uint first_m = uint(div_trunc(int(program.x), group_)) * 2;
    // matmul.py:16  group_m = tl.minimum
    const int group_m = min(int(int(uint(M) + 31) / 32 - first_m), 2);
    // matmul.py:17  tile_m
    const int tile_m = rem_trunc(int(program.x), group_);
    // matmul.py:31  b_ptrs
    const int b_ptrs_2 = int(stride_bk * 32);
    // matmul.py:20  m
    const uint offset = (first_m + rem_trunc(tile_m, group_m)) * 32 + group;
    // matmul.py:21  n
    const int n = int(uint(div_trunc(tile_m, group_m)) * 32 + lane);
    // matmul.py:28  b
    const bool b_2 = n < N;
    // matmul.py:29  acc = tl.dot
    const uint index = group * 16;
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
            const int index_2 = i * 2;
            const uint m = offset + index_2;
            // matmul.py:27  a = tl.load
            const half a_4 = int(m) < M && a_3 ? (a_ptrs + int(m * stride_am))[lane] : 0.0h;
            a[i] = a_4;
            // matmul.py:20  m
            const uint m_2 = group + index_2;
            // matmul.py:28  b = tl.load
            const half b_3 = int(m_2) < a_2 && b_2 ? (b_ptrs + int(m_2 * stride_bk))[n] : 0.0h;
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
            const int index_2 = i * 8;
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                simdgroup_load(a_tile[j], a_shared + ((index + j * 8) * 40 + index_2), 40);
            }
            const int index_3 = index_2 * 40;
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 4; j++) {
                simdgroup_load(b_tile[j], b_shared + (index_3 + j * 8), 40);
            }
            #pragma clang loop unroll(full)
            for (uint j = 0; j < 2; j++) {
                const int index_4 = j * 4;
                #pragma clang loop unroll(full)
                for (uint k = 0; k < 4; k++) {
                    simdgroup_multiply_accumulate(acc[index_4 + k], a_tile[j], b_tile[k], acc[index_4 + k]);
                }
            }
        }
        // matmul.py:31
        a_ptrs += 32;
        b_ptrs += b_ptrs_2;
    }
    // matmul.py:26  acc = for
    const uint index_2 = lane / 2 % 4;
    const uint index_3 = lane % 2 * 2 + index_2 * 32 + lane / 8 % 2 * 4;
    const uint index_4 = lane / 16;
    const uint index_5 = index_3 + index_4 * 128 + group * 512;
    const uint index_6 = index_2 + index_4 * 4 + index;
    const uint index_7 = index_5 + 1;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        const int index_8 = i * 4;
        const int index_9 = i * 256;
        const uint index_10 = (index_6 + i * 8) * 4;
        const uint index_11 = index_10 + (index_9 + index_5);
        const uint index_12 = index_10 + (index_7 + index_9);
        #pragma clang loop unroll(full)
        for (uint j = 0; j < 4; j++) {
            const int index_13 = j + index_8;
            const float acc_2 = acc[index_13].thread_elements()[1];
            const int index_14 = j * 8;
            acc_shared[index_11 + index_14] = acc[index_13].thread_elements()[0];
            acc_shared[index_12 + index_14] = acc_2;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // acc_shared is complete
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 16; i++) {
        const int index_8 = i * 2;
        const float acc_2 = acc_shared[tid + i * 64 + (group + index_8) * 4];
        // matmul.py:20  m
        const uint m = offset + index_8;
        // matmul.py:32  tl.store
        if (int(m) < M && b_2) {
            (c_ptr + int(m * stride_cm))[n] = acc_2;
        }
    }
}
