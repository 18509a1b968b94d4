// matmul: from @matmul (matmul.py:9)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 32 x 32 elements, 16 a thread
//   memory   5120 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
#if !defined(__HAVE_TENSOR__)
#error "compile with language version 4.0: languageVersion, -std=metal4.0"
#endif
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
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
    constant int &stride_am  [[buffer(6)]],
    constant uint &stride_bk [[buffer(7)]],
    constant uint &stride_cm [[buffer(8)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  sg       [[simdgroup_index_in_threadgroup]])
{
    threadgroup ulong memory[640];    // used by several arrays in turn
    threadgroup half4 *const a_shared = (threadgroup half4 *)memory;    // 320 entries
    threadgroup half4 *const b_shared = (threadgroup half4 *)(memory + 320);    // 320 entries
    threadgroup float *const acc_shared = (threadgroup float *)memory;    // 1152 entries
    threadgroup half *const a_shared_2 = (threadgroup half *)memory;    // 1280 entries
    threadgroup half *const b_shared_2 = (threadgroup half *)(memory + 320);    // 1280 entries

    device const half *a_ptrs = a_ptr;
    device const half *b_ptrs = b_ptr;
    // line 29: acc = tl.dot(a, b)
    auto acc_left = tensor((threadgroup half *)a_shared + sg * 16 * 40,
            dextents<int, 2>(32, 16), array<int, 2>({1, 40}));
    auto acc_right = tensor((threadgroup half *)b_shared,
            dextents<int, 2>(32, 32), array<int, 2>({1, 40}));
    constexpr auto shape = mpp::tensor_ops::matmul2d_descriptor(16, 32, 32, false, false, false,
            mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
    mpp::tensor_ops::matmul2d<shape, execution_simdgroup> acc_matmul;
    auto acc_sums = acc_matmul.get_destination_cooperative_tensor<
            remove_addrspace_t<decltype(acc_left)>,
            remove_addrspace_t<decltype(acc_right)>, float>();
    #pragma clang loop unroll(full)
    for (ushort element = 0; element < acc_sums.get_capacity(); element++)
        if (acc_sums.is_valid_element(element)) acc_sums[element] = 0.0f;
    const int group_product = int(uint(N) + 31) / 32 * 2;
    // line 15: first_m = group * 2
    const uint first_m = uint(div_trunc(int(program.x), group_product)) * 2;
    // line 16: group_m = tl.minimum(tiles_m - first_m, 2)
    const int group_m = min(int(int(uint(M) + 31) / 32 - first_m), 2);
    const int tile_m_rest = rem_trunc(int(program.x), group_product);
    const int m_offset = int((first_m + rem_trunc(tile_m_rest, group_m)) * 32);
    const int n_offset = int(uint(div_trunc(tile_m_rest, group_m)) * 32);
    const bool flag = max(M, 0) - max(m_offset, 0) >= 32 && max(N, 0) - max(n_offset, 0) >= 32;
    const bool flag_2 = (m_offset >= 0 && stride_am >= 0)
            && (long(m_offset) + 31l) * long(stride_am) <= 2147483616l;
    const bool flag_3 = (n_offset >= 0 && int(stride_bk) >= 0)
            && long(n_offset) + 31l + long(int(stride_bk)) * 31l <= 2147483647l;
    const int bound = max(K, 0);
    const uint whole = ((flag && flag_2) && flag_3 ? uint(bound) / 32 : 0) * 32;
    // line 20: m = tile_m * 32 + tl.arange(0, 32)
    const uint m = lane % 8 * 4;
    // line 21: n = tile_n * 32 + tl.arange(0, 32)
    const uint n = n_offset + m;
    threadgroup half4 *const a_write = a_shared + (tid / 8 * 10 + lane % 8);
    threadgroup half4 *const b_write = b_shared + (tid / 8 * 10 + lane % 8);
    // line 26: for
    for (uint start = 0; start < whole; start += 32) {
        half4 a[4];
        half4 b[4];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // line 27: a = tl.load(...)
            a[i] = half4(*(device const packed_half4 *)(a_ptrs
                    + int((m_offset + tid / 8 + i * 8) * stride_am + m)));
            // line 28: b = tl.load(...)
            b[i] = half4(*(device const packed_half4 *)(b_ptrs
                    + int((tid / 8 + i * 8) * stride_bk + n)));
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // a_shared has been read
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            a_write[i * 8 * 10] = a[i];
        }
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            b_write[i * 8 * 10] = b[i];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // a_shared is complete
        acc_matmul.run(acc_left, acc_right, acc_sums);
        a_ptrs += 32;
        b_ptrs += int(stride_bk * 32);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // a_shared has been read
    #pragma clang loop unroll(full)
    for (ushort element = 0; element < acc_sums.get_capacity(); element++) {
        const auto at = acc_sums.get_multidimensional_index(element);    // column, row
        if (acc_sums.is_valid_element(element))
            acc_shared[sg * 16 * 36 + uint(at[1] * 36 + at[0])] = acc_sums[element];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // acc_shared is complete
    float acc[16] = {};
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 16; i++) {
        acc[i] += acc_shared[(sg + i % 8 * 2 + i / 8 * 16) * 36 + lane];
    }
    auto acc_left_2 = tensor((threadgroup half *)a_shared_2 + sg * 16 * 40,
            dextents<int, 2>(32, 16), array<int, 2>({1, 40}));
    auto acc_right_2 = tensor((threadgroup half *)b_shared_2,
            dextents<int, 2>(32, 32), array<int, 2>({1, 40}));
    constexpr auto shape_2 = mpp::tensor_ops::matmul2d_descriptor(16, 32, 32, false, false, false,
            mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
    mpp::tensor_ops::matmul2d<shape_2, execution_simdgroup> acc_matmul_2;
    auto acc_sums_2 = acc_matmul_2.get_destination_cooperative_tensor<
            remove_addrspace_t<decltype(acc_left_2)>,
            remove_addrspace_t<decltype(acc_right_2)>, float>();
    #pragma clang loop unroll(full)
    for (ushort element = 0; element < acc_sums_2.get_capacity(); element++)
        if (acc_sums_2.is_valid_element(element)) acc_sums_2[element] = 0.0f;
    const int n_offset_2 = int(n_offset + lane);
    const int last = max(N, -2147483647) - 1;
    b_ptrs += min(n_offset_2, last);
    const int last_2 = max(M, -2147483647) - 1;
    threadgroup half *const a_write_2 = a_shared_2 + (sg * 40 + lane);
    threadgroup half *const b_write_2 = b_shared_2 + (sg * 40 + lane);
    // the other steps, under their masks
    for (uint start = whole; start < uint(bound); start += 32) {
        const int last_3 = max(int(K - start), 1) - 1;
        const int a_base = min(int(lane), last_3);
        half a_loaded[16] = {};
        if (m_offset < M && int(K - start) > 0) {
            #pragma clang loop unroll(full)
            for (uint i = 0; i < 16; i++) {
                a_loaded[i] = (a_ptrs
                        + int(uint(min(int(m_offset + sg + i * 2), last_2))
                        * uint(stride_am)))[a_base];
            }
        }
        half b_loaded[16] = {};
        if (int(K - start) > 0 && n_offset < N) {
            #pragma clang loop unroll(full)
            for (uint i = 0; i < 16; i++) {
                b_loaded[i] = b_ptrs[int(min(int(sg + i * 2), last_3) * stride_bk)];
            }
        }
        half a[16];
        half b[16];
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 16; i++) {
            a[i] = (int(m_offset + sg + i * 2) < M) & (int(lane) < int(K - start)) ? a_loaded[i]
                    : 0.0h;
            b[i] = (int(sg + i * 2) < int(K - start)) & (n_offset_2 < N) ? b_loaded[i] : 0.0h;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // acc_shared has been read
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 16; i++) {
            a_write_2[i * 2 * 40] = a[i];
        }
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 16; i++) {
            b_write_2[i * 2 * 40] = b[i];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);    // a_shared_2 is complete
        acc_matmul_2.run(acc_left_2, acc_right_2, acc_sums_2);
        a_ptrs += 32;
        b_ptrs += int(stride_bk * 32);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // acc_shared has been read
    #pragma clang loop unroll(full)
    for (ushort element = 0; element < acc_sums_2.get_capacity(); element++) {
        const auto at = acc_sums_2.get_multidimensional_index(element);    // column, row
        if (acc_sums_2.is_valid_element(element))
            acc_shared[sg * 16 * 36 + uint(at[1] * 36 + at[0])] = acc_sums_2[element];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // acc_shared is complete
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 16; i++) {
        acc[i] += acc_shared[(sg + i % 8 * 2 + i / 8 * 16) * 36 + lane];
        const uint m_offset_2 = m_offset + sg + i * 2;
        // line 32: tl.store(c_ptr + m[:, None] * stride_cm + n[None, :], acc)
        if (int(m_offset_2) < M && n_offset_2 < N) {
            (c_ptr + int(m_offset_2 * stride_cm))[n_offset_2] = acc[i];
        }
    }
}
