// dropout: from @dropout (dropout.py:9)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 512 elements, 8 a thread, 4 of them neighbours
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void dropout(
    device const float *x_ptr [[buffer(0)]],
    device float *y_ptr       [[buffer(1)]],
    constant int &n           [[buffer(2)]],
    constant float &p         [[buffer(3)]],
    constant int &seed        [[buffer(4)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    const uint offsets_offset = program.x * 512;
    const ulong keep_i64 = ulong(long(seed));
    const uint keep_i32 = uint(keep_i64 >> 32l);
    const uint keep_i32_2 = uint(keep_i64);
    const uint keep_high = mulhi(keep_i32_2, 0xD2511F53u);
    const float value = 1.0f - p;
    const int last = max(n, -2147483647) - 1;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 2; i++) {
        // line 10: offsets = tl.program_id(0) * 512 + tl.arange(0, 512)
        const int offsets = int(offsets_offset + tid * 4 + i * 256);
        // line 11: mask = offsets < n
        const bool mask = offsets < n;
        const bool mask_2 = int(offsets_offset + (tid * 4 + 3) + i * 256) < n;
        device const float *const x_start = x_ptr + offsets;
        const int offsets_base = int(offsets_offset + (tid * 4 + 1) + i * 256);
        const int offsets_base_2 = int(offsets_offset + (tid * 4 + 2) + i * 256);
        float4 x;
        if (mask_2) {
            // line 12: x = tl.load(x_ptr + offsets)
            x = *(device const float4 *)(x_start);
        } else {
            if (mask) {
                const float x_loaded = x_ptr[min(offsets_base, last)];
                const float x_loaded_2 = x_ptr[min(offsets_base_2, last)];
                x = float4(*x_start, offsets_base < n ? x_loaded : 0.0f, offsets_base_2 < n
                        ? x_loaded_2 : 0.0f, 0.0f);
            } else {
                x = float4(0.0f);
            }
        }
        const uint4 offsets_sum = uint4(tid * 4 + i * 256, tid * 4 + 1 + i * 256,
                tid * 4 + 2 + i * 256, tid * 4 + 3 + i * 256);
        const uint4 offsets_sum_2 = uint4(offsets_offset) + offsets_sum;
        const uint4 keep_bits = (uint4(keep_high) ^ (offsets_sum_2 * uint4(0xD2511F53u)))
                ^ uint4(keep_i32 + 0xBB67AE85u);
        const uint4 keep_bits_2 = mulhi(offsets_sum_2, uint4(0xD2511F53u)) ^ uint4(keep_i32);
        const uint4 keep_bits_3 = (mulhi(keep_bits, uint4(0xCD9E8D57u))
                ^ (keep_bits_2 * uint4(0xCD9E8D57u))) ^ uint4(keep_i32_2 + 0x3C6EF372u);
        const uint4 keep_bits_4 = mulhi(keep_bits_2, uint4(0xCD9E8D57u))
                ^ uint4(keep_i32_2 + 0x9E3779B9u);
        const uint4 keep_bits_5 = (mulhi(keep_bits_4, uint4(0xD2511F53u))
                ^ uint4(keep_i32_2 * 0xD2511F53u)) ^ uint4(keep_i32 + 0x76CF5D0Au);
        const uint4 keep_bits_6 = (mulhi(keep_bits_3, uint4(0xD2511F53u))
                ^ (keep_bits_4 * uint4(0xD2511F53u))) ^ uint4(keep_i32 + 0x32370B8Fu);
        const uint4 keep_bits_7 = (mulhi(keep_bits_5, uint4(0xCD9E8D57u))
                ^ (keep_bits * uint4(0xCD9E8D57u))) ^ uint4(keep_i32_2 + 0xDAA66D2Bu);
        const uint4 keep_bits_8 = (mulhi(keep_bits_7, uint4(0xD2511F53u))
                ^ (keep_bits_3 * uint4(0xD2511F53u))) ^ uint4(keep_i32 + 0xED9EBA14u);
        const uint4 keep_bits_9 = (mulhi(keep_bits_6, uint4(0xCD9E8D57u))
                ^ (keep_bits_5 * uint4(0xCD9E8D57u))) ^ uint4(keep_i32_2 + 0x78DDE6E4u);
        const uint4 keep_bits_10 = (mulhi(keep_bits_9, uint4(0xD2511F53u))
                ^ (keep_bits_7 * uint4(0xD2511F53u))) ^ uint4(keep_i32 + 0xA9066899u);
        const uint4 keep_bits_11 = (mulhi(keep_bits_8, uint4(0xCD9E8D57u))
                ^ (keep_bits_6 * uint4(0xCD9E8D57u))) ^ uint4(keep_i32_2 + 0x1715609Du);
        const uint4 keep_bits_12 = (mulhi(keep_bits_11, uint4(0xD2511F53u))
                ^ (keep_bits_9 * uint4(0xD2511F53u))) ^ uint4(keep_i32 + 0x646E171Eu);
        const uint4 keep_bits_13 = (mulhi(keep_bits_12, uint4(0xCD9E8D57u))
                ^ (keep_bits_10 * uint4(0xCD9E8D57u))) ^ uint4(keep_i32_2 + 0x5384540Fu);
        const uint4 keep_bits_14 = (mulhi(keep_bits_10, uint4(0xCD9E8D57u))
                ^ (keep_bits_8 * uint4(0xCD9E8D57u))) ^ uint4(keep_i32_2 + 0xB54CDA56u);
        const uint4 keep_bits_15 = (mulhi(keep_bits_13, uint4(0xD2511F53u))
                ^ (keep_bits_14 * uint4(0xD2511F53u))) ^ uint4(keep_i32 + 0xDB3D7428u);
        const uint4 keep_bits_16 = (mulhi(keep_bits_14, uint4(0xD2511F53u))
                ^ (keep_bits_11 * uint4(0xD2511F53u))) ^ uint4(keep_i32 + 0x1FD5C5A3u);
        const uint4 keep_bits_17 = (mulhi(keep_bits_15, uint4(0xCD9E8D57u))
                ^ (keep_bits_16 * uint4(0xCD9E8D57u))) ^ uint4(keep_i32_2 + 0x8FF34781u);
        // line 13: keep
        const bool4 keep = float4(int4(select(keep_bits_17,
                uint4(0) - keep_bits_17 + uint4(0xFFFFFFFFu),
                int4(keep_bits_17) < int4(0)))) * 4.6566126e-10f > float4(p);
        const float4 chosen = select(float4(0.0f), x / value, keep);
        device float *const y_start = y_ptr + offsets;
        if (mask_2) {
            // line 14: tl.store(...)
            *(device float4 *)(y_start) = chosen;
        } else {
            if (mask) {
                *y_start = chosen.x;
                if (offsets_base < n) {
                    y_ptr[offsets_base] = chosen.y;
                    if (offsets_base_2 < n) y_ptr[offsets_base_2] = chosen.z;
                }
            }
        }
    }
}
