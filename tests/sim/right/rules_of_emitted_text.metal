// What the rules for emitted text allow, near what they refuse.
// emitted
// launch 2 threads 64
// buffer 0 u8 128 iota
// buffer 1 u32 128 iota
// bytes 2 i32 64
// want 0 u8 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 127
// want 1 u32 80 80 80 81 81 81 82 82 82 83 83 83 84 84 84 85 85 85 86 86 86 87 87 87 88 88 88 89 89 89 90 90 90 91 91 91 92 92 92 93 93 93 94 94 94 95 95 95 96 96 96 97 97 97 98 98 98 99 99 99 100 100 100 101 101 101 102 102 102 103 103 103 104 104 104 105 105 105 106 106 106 107 107 107 108 108 108 109 109 109 110 110 110 111 111 111 112 112 112 113 113 113 114 114 114 115 115 115 116 116 116 117 117 117 118 118 118 119 119 119 120 120 120 121 121 121 122 122
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

inline uint div_floor(uint a, uint b) {
    if (int(b) <= 0) return b == 0 ? 0 : uint(a >= b);
    const uint q = uint(int(a >> 1) / int(b)) * 2;
    return q + uint(a - q * b >= b);
}

[[max_total_threads_per_threadgroup(64)]]
kernel void test(
    device uchar *x [[buffer(0)]],
    device uint *y  [[buffer(1)]],
    constant int &n [[buffer(2)]],
    uint3 program [[threadgroup_position_in_grid]],
    uint tid [[thread_index_in_threadgroup]])
{
    threadgroup float4 s[16];
    threadgroup atomic_uint seen[1];
    device uint *const row = y + int(program.x) * n;
    const uint at = program.x * 64 + tid;
    if (tid == 0) atomic_store_explicit(seen, 0u, memory_order_relaxed);
    if (tid < 16) s[tid] = float4(1.0f, 2.0f, 3.0f, 4.0f);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_add_explicit(seen, 1u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint a[4];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        const uint k = i;
        a[k] = div_floor(row[tid], 3u) + uint(int(at) % 5) * 0 + at / 4 * 0;
    }
    float sum = 0.0f;
    for (int i = 0; i < n / 4; i++) sum += s[i].x;
    while (true) {
        if (sum <= 16.0f) break;
        sum -= 1.0f;
    }
    const float4 v = s[tid / 4];
    x[at] = uchar(x[at] + uchar(int(v[2]) - 3));
    row[tid] = a[0] + a[3] - a[1] + uint(sum) + atomic_load_explicit(seen, memory_order_relaxed);
}
