// dropout: from @dropout (dropout.py:9)
//
//   grid     one threadgroup of 128 threads (4 simdgroups of 32) a program
//   work     tiles of up to 512 elements, 4 a thread
//   memory   0 bytes of threadgroup memory
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
    // dropout.py:13  keep
    const ulong keep = ulong(long(seed));
    const uint keep_2 = uint(int((keep >> 32l) & 4294967295l));
    const uint keep_3 = uint(int(keep & 4294967295l));
    const uint keep_4 = keep_3 + (-1640531527);
    const uint keep_5 = keep_2 + (-1150833019);
    const uint keep_6 = mulhi(keep_3, 0xD2511F53u);
    const uint keep_7 = keep_3 * (-766435501);
    const uint keep_8 = keep_3 + 1013904242;
    const uint keep_9 = keep_2 + 1993301258;
    const uint keep_10 = keep_3 + (-626627285);
    const uint keep_11 = keep_2 + 842468239;
    const uint keep_12 = keep_3 + 2027808484;
    const uint keep_13 = keep_2 + (-308364780);
    const uint keep_14 = keep_3 + 387276957;
    const uint keep_15 = keep_2 + (-1459197799);
    const uint keep_16 = keep_3 + (-1253254570);
    const uint keep_17 = keep_2 + 1684936478;
    const uint keep_18 = keep_3 + 1401181199;
    const uint keep_19 = keep_2 + 534103459;
    const uint keep_20 = keep_2 + (-616729560);
    const uint keep_21 = keep_3 + (-1879881855);
    // dropout.py:14
    const float value = 1.0f - p;
    // dropout.py:10  offsets
    const uint offset = program.x * 512 + tid;
    // dropout.py:14
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // dropout.py:10  offsets
        const int offsets = int(offset + i * 128);
        // dropout.py:12  x = tl.load
        if (offsets < n) {
            // dropout.py:13  keep
            const uint keep_22 = (keep_6 ^ (uint(offsets) * 0xD2511F53u)) ^ keep_5;
            const uint keep_23 = mulhi(uint(offsets), 0xD2511F53u) ^ keep_2;
            const uint keep_24 = (mulhi(keep_22, 0xCD9E8D57u) ^ (keep_23 * (-845247145))) ^ keep_8;
            const uint keep_25 = mulhi(keep_23, 0xCD9E8D57u) ^ keep_4;
            const uint keep_26 = (mulhi(keep_25, 0xD2511F53u) ^ keep_7) ^ keep_9;
            const uint keep_27 = (mulhi(keep_24, 0xD2511F53u) ^ (keep_25 * (-766435501))) ^ keep_11;
            const uint keep_28 = (mulhi(keep_26, 0xCD9E8D57u) ^ (keep_22 * (-845247145))) ^ keep_10;
            const uint keep_29 = (mulhi(keep_28, 0xD2511F53u) ^ (keep_24 * (-766435501))) ^ keep_13;
            const uint keep_30 = (mulhi(keep_27, 0xCD9E8D57u) ^ (keep_26 * (-845247145))) ^ keep_12;
            const uint keep_31 = (mulhi(keep_30, 0xD2511F53u) ^ (keep_28 * (-766435501))) ^ keep_15;
            const uint keep_32 = (mulhi(keep_29, 0xCD9E8D57u) ^ (keep_27 * (-845247145))) ^ keep_14;
            const uint keep_33 = mulhi((mulhi(keep_32, 0xD2511F53u) ^ (keep_30 * (-766435501))) ^ keep_17, 0xCD9E8D57u);
            const uint keep_34 = (mulhi(keep_31, 0xCD9E8D57u) ^ (keep_29 * (-845247145))) ^ keep_16;
            const uint keep_35 = mulhi((keep_33 ^ (keep_31 * (-845247145))) ^ keep_18, 0xD2511F53u) ^ (keep_34 * (-766435501));
            const uint keep_36 = ((mulhi(keep_34, 0xD2511F53u) ^ (keep_32 * (-766435501))) ^ keep_19) * (-845247145);
            const uint keep_37 = (mulhi(keep_35 ^ keep_20, 0xCD9E8D57u) ^ keep_36) ^ keep_21;
            const float keep_38 = float(int(int(keep_37) < 0 ? 0 - keep_37 - 1 : keep_37)) * 4.6566126e-10f;
            // dropout.py:14  tl.store
            y_ptr[offsets] = keep_38 > p ? x_ptr[offsets] / value : 0.0f;
        }
    }
}
