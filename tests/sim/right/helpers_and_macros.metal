// Helpers per address space, templates, macros with divisions and swizzles, conditional text.
// msl 3.2
// launch 1 threads 32
// buffer 0 f32 32 iota
// buffer 1 f32 32 zero
// want 1 f32 3.0 3.5 4.0 4.5 5.0 5.5 6.0 6.5 7.0 7.5 8.0 8.5 9.0 9.5 10.0 10.5 11.0 11.5 12.0 12.5 13.0 13.5 14.0 14.5 15.0 15.5 16.0 16.5 17.0 17.5 18.0 18.5
#include <metal_stdlib>
using namespace metal;

#define HALF_OF(v) ((v) / 2.0f)
#define SWAPPED(v) ((v).yx)
#if __METAL_VERSION__ >= 320
constant float EXTRA = 1.0f;
#else
constant float EXTRA = undefined_name;
#endif

template <typename P> inline float at(P p, uint i) { return p[i]; }
inline float get(device const float *p, uint i) { return p[i]; }
inline float get(threadgroup const float *p, uint i) { return p[i]; }
inline void swap(thread float &a, thread float &b) {
    const float t = a;
    a = b;
    b = t;
}
enum class Step : uint { first = 1, second = 2 };

kernel void helpers(device float *x [[buffer(0)]], device float *y [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float t[32];
    t[tid] = at((device const float *)x, tid);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float a = get((threadgroup const float *)t, tid), b = EXTRA + float(Step::second) - 1.0f + (get(x, 0) == 0.0f ? 1.0f : 0.0f);
    swap(a, b);
    const float2 s = SWAPPED(float2(a, HALF_OF(b)));
    switch (uint(Step::first)) {
        case 1: y[tid] = s.x + s.y; break;
        default: y[tid] = 0.0f;
    }
}
