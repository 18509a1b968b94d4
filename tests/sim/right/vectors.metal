// Constructors, swizzles, comparisons, packed vectors and wide ones.
// launch 1 threads 32
// buffer 0 f32 16 iota
// buffer 1 i64 8 iota
// buffer 2 u32 32 zero
// want 2 u32 1
// want 0 f32 0 1 2 3 7 6 5 4 8 9 10 11 12 26 28 30
// want 1 i64 0 1 2 3 3 2 1 0
#include <metal_stdlib>
using namespace metal;

struct Mixed {
    packed_float3 position;
    uint          count;
};

kernel void vectors(device float4 *x [[buffer(0)]], device long4 *l [[buffer(1)]], device uint *ok [[buffer(2)]], uint tid [[thread_index_in_threadgroup]]) {
    bool good = true;
    if (tid == 0) {
        float4 v = x[1];
        v.xyzw = v.wzyx;
        x[1] = v;
        x[3].yzw *= 2.0f;
        long4 w = l[0];
        l[1] = w.wzyx;
        Mixed m;
        m.position = float3(1.0f, 2.0f, 3.0f);
        m.count = 5u;
        m.position.y += 1.0f;
        good = m.count == 5u && m.position.y == 3.0f && m.position[2] == 3.0f && sizeof(Mixed) == 16 && sizeof(float3) == 16 && sizeof(long3) == 32 && sizeof(bool4) == 4;
        const bool4 less = float4(1.0f, 2.0f, 3.0f, 4.0f) < float4(2.5f);
        good = good && less.x && less.y && !less.z && any(less) && !all(less) && all(less == bool4(true, true, false, false));
        const uchar4 u = uchar4(250, 251, 252, 253) + uchar4(10);
        good = good && u.x == 4 && u.w == 7 && as_type<uint>(u) == 0x07060504u;
        good = good && all(select(int2(1, 2), int2(3, 4), bool2(true, false)) == int2(3, 2)) && float4(float2(1.0f, 2.0f), 3.0f, 4.0f).z == 3.0f;
        good = good && all(half4(float4(1.5f)) == half4(1.5h)) && float3(v.xy, 9.0f).z == 9.0f && v.rgb.g == v.y && (tid == 0 ? x[0] : float4(0.0f)).y == 1.0f;
        float4 sum = 1.0f;
        sum += float4(1.0f, 2.0f, 3.0f, 4.0f) / 2.0f;
        sum[3] = 7.0f;
        good = good && sum.x == 1.5f && sum.w == 7.0f && (-sum).y == -2.0f;
    }
    ok[tid] = good ? 1u : 0u;
}
