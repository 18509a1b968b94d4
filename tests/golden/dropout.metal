// dropout: from @dropout (dropout.py:9)
//
//   grid     one threadgroup of 128 threads (4 simdgroups of 32) a program
//   work     tiles of up to 512 elements, 4 a thread
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(128)]]
kernel void dropout(
    device const float *x_ptr [[buffer(0)]],
    device float *y_ptr       [[buffer(1)]],
    constant int &n           [[buffer(2)]],
    constant float &p         [[buffer(3)]],
    constant int &seed        [[buffer(4)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    const ulong keep_i64 = ulong(long(seed));
    const uint keep_i32 = uint(keep_i64 >> 32l);
    const uint keep_i32_2 = uint(keep_i64);
    const uint keep_high = mulhi(keep_i32_2, 0xD2511F53u);
    const float value = 1.0f - p;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // line 10: offsets
        const int offsets = int(program.x * 512 + tid + i * 128);
        if (offsets < n) {
            const uint keep_bits = (keep_high ^ (uint(offsets) * 0xD2511F53u))
                    ^ (keep_i32 + 0xBB67AE85u);
            const uint keep_bits_2 = mulhi(uint(offsets), 0xD2511F53u) ^ keep_i32;
            const uint keep_bits_3 = (mulhi(keep_bits, 0xCD9E8D57u) ^ (keep_bits_2 * 0xCD9E8D57u))
                    ^ (keep_i32_2 + 0x3C6EF372u);
            const uint keep_bits_4 = mulhi(keep_bits_2, 0xCD9E8D57u) ^ (keep_i32_2 + 0x9E3779B9u);
            const uint keep_bits_5 = (mulhi(keep_bits_4, 0xD2511F53u) ^ (keep_i32_2 * 0xD2511F53u))
                    ^ (keep_i32 + 0x76CF5D0Au);
            const uint keep_bits_6 = (mulhi(keep_bits_3, 0xD2511F53u)
                    ^ (keep_bits_4 * 0xD2511F53u)) ^ (keep_i32 + 0x32370B8Fu);
            const uint keep_bits_7 = (mulhi(keep_bits_5, 0xCD9E8D57u) ^ (keep_bits * 0xCD9E8D57u))
                    ^ (keep_i32_2 + 0xDAA66D2Bu);
            const uint keep_bits_8 = (mulhi(keep_bits_7, 0xD2511F53u)
                    ^ (keep_bits_3 * 0xD2511F53u)) ^ (keep_i32 + 0xED9EBA14u);
            const uint keep_bits_9 = (mulhi(keep_bits_6, 0xCD9E8D57u)
                    ^ (keep_bits_5 * 0xCD9E8D57u)) ^ (keep_i32_2 + 0x78DDE6E4u);
            const uint keep_bits_10 = (mulhi(keep_bits_9, 0xD2511F53u)
                    ^ (keep_bits_7 * 0xD2511F53u)) ^ (keep_i32 + 0xA9066899u);
            const uint keep_bits_11 = (mulhi(keep_bits_8, 0xCD9E8D57u)
                    ^ (keep_bits_6 * 0xCD9E8D57u)) ^ (keep_i32_2 + 0x1715609Du);
            const uint keep_bits_12 = (mulhi(keep_bits_11, 0xD2511F53u)
                    ^ (keep_bits_9 * 0xD2511F53u)) ^ (keep_i32 + 0x646E171Eu);
            const uint keep_bits_13 = (mulhi(keep_bits_12, 0xCD9E8D57u)
                    ^ (keep_bits_10 * 0xCD9E8D57u)) ^ (keep_i32_2 + 0x5384540Fu);
            const uint keep_bits_14 = (mulhi(keep_bits_10, 0xCD9E8D57u)
                    ^ (keep_bits_8 * 0xCD9E8D57u)) ^ (keep_i32_2 + 0xB54CDA56u);
            const uint keep_bits_15 = (mulhi(keep_bits_13, 0xD2511F53u)
                    ^ (keep_bits_14 * 0xD2511F53u)) ^ (keep_i32 + 0xDB3D7428u);
            const uint keep_bits_16 = (mulhi(keep_bits_14, 0xD2511F53u)
                    ^ (keep_bits_11 * 0xD2511F53u)) ^ (keep_i32 + 0x1FD5C5A3u);
            const uint keep_bits_17 = (mulhi(keep_bits_15, 0xCD9E8D57u)
                    ^ (keep_bits_16 * 0xCD9E8D57u)) ^ (keep_i32_2 + 0x8FF34781u);
            // line 13: keep
            const bool keep = float(int(int(keep_bits_17) < 0 ? 0 - keep_bits_17 - 1
                    : keep_bits_17)) * 4.6566126e-10f > p;
            // line 14: tl.store
            y_ptr[offsets] = keep ? x_ptr[offsets] / value : 0.0f;
        }
    }
}
