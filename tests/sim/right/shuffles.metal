// Lane exchanges, 64-bit values as uint2, bfloat as ushort.
// launch 1 threads 32
// buffer 0 u32 32 iota read
// buffer 1 u32 32 zero
// want 1 u32 1
#include <metal_stdlib>
using namespace metal;

kernel void shuffles(device const uint *x [[buffer(0)]], device uint *ok [[buffer(1)]], ushort lane [[thread_index_in_simdgroup]]) {
    const uint v = x[lane];
    bool good = simd_shuffle(v, ushort(31 - lane)) == 31u - lane;
    good = good && simd_shuffle_xor(v, 5) == (uint(lane) ^ 5u);
    good = good && simd_broadcast(v, 7) == 7u && simd_broadcast_first(v) == 0u;
    const uint up = simd_shuffle_up(v, 1), down = simd_shuffle_down(v, 3);
    good = good && (lane < 1 || up == lane - 1u) && (lane > 28 || down == lane + 3u);
    good = good && simd_shuffle_rotate_up(v, 2) == (lane + 30u) % 32u && simd_shuffle_rotate_down(v, 2) == (lane + 2u) % 32u;
    const uint filled = simd_shuffle_and_fill_up(v, v + 100u, 4);
    good = good && filled == (lane < 4 ? 128u + lane : lane - 4u);
    const long big = long(lane) << 33;
    good = good && as_type<long>(simd_shuffle(as_type<uint2>(big), ushort(3))) == long(3) << 33;
    const bfloat b = bfloat(float(lane));
    good = good && float(as_type<bfloat>(simd_shuffle(as_type<ushort>(b), ushort(9)))) == 9.0f;
    const half4 h = simd_shuffle(half4(half(lane)), ushort(4));
    good = good && all(h == half4(4.0h));
    good = good && simd_sum(v) == 496u && simd_product(lane < 5 ? v + 1u : 1u) == 120u && simd_max(int(v) - 40) == -9 && simd_min(char(v)) == 0;
    good = good && simd_and(v | 64u) == 64u && simd_or(v) == 31u && simd_xor(v) == 0u;
    good = good && simd_prefix_inclusive_sum(v) == v * (v + 1u) / 2u && simd_prefix_exclusive_sum(v) == v * (v - 1u) / 2u;
    good = good && simd_prefix_inclusive_product(lane < 3 ? 2u : 1u) == (lane == 0 ? 2u : lane == 1 ? 4u : 8u);
    good = good && simd_prefix_exclusive_product(lane < 3 ? 2.0f : 1.0f) == (lane == 0 ? 1.0f : lane == 1 ? 2.0f : lane == 2 ? 4.0f : 8.0f);
    good = good && (uint)(ulong)(simd_vote::vote_t)simd_ballot(lane < 4) == 15u && simd_any(lane == 3) && !simd_all(lane == 3) && simd_all(lane < 32);
    good = good && simd_is_first() == (lane == 0) && (uint)(ulong)simd_active_threads_mask() == 0xffffffffu;
    good = good && quad_sum(v) == (lane / 4u) * 16u + 6u && quad_broadcast(v, 2) == lane / 4u * 4u + 2u && quad_shuffle_xor(v, 1) == (lane ^ 1u);
    good = good && simd_sum(1.0f) == 32.0f && float(simd_sum(0.5h)) == 16.0f && simd_max(float(lane)) == 31.0f && isnan(simd_max(NAN));
    good = good && simd_max(lane == 5 ? NAN : float(lane)) == 31.0f;
    ok[lane] = good ? 1u : 0u;
}
