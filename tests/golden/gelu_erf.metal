// gelu_erf: from @gelu_erf (gelu.py:10)
//
//   grid     one threadgroup of 128 threads (4 simdgroups of 32) a program
//   work     tiles of up to 512 elements, 4 a thread
//   memory   0 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

inline float erf_f32(float x) {    // our own fit: 1.2 ulp and the error of exp
    const float t = fabs(x);
    if (t <= 0.9277f) {
        const float s = x * x;
        float p = -0.000596425496f;
        p = fma(p, s, 0.00498800445f);
        p = fma(p, s, -0.0267631244f);
        p = fma(p, s, 0.112817213f);
        p = fma(p, s, -0.376124859f);
        p = fma(p, s, 0.128379151f);
        return fma(p, x, x);
    }
    if (t > 3.95f) return copysign(1.0f, x);    // also keeps the fit in its range
    if (isnan(x)) return x;
    float q = -2.1190157e-05f;
    q = fma(q, t, 0.000435563066f);
    q = fma(q, t, -0.00417639967f);
    q = fma(q, t, 0.0251334962f);
    q = fma(q, t, -0.108301871f);
    q = fma(q, t, -0.633327067f);
    q = fma(q, t, -1.12952471f);
    q = fma(q, t, 0.000176729314f);
    return copysign(1.0f - precise::exp(q), x);
}

[[max_total_threads_per_threadgroup(128)]]
kernel void gelu_erf(
    device const float *x_ptr [[buffer(0)]],
    device float *y_ptr       [[buffer(1)]],
    constant int &n           [[buffer(2)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    // gelu.py:11  offsets
    const uint idx = program.x * 512 + tid;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        const int offsets = int(idx + i * 128);
        // gelu.py:13  x = tl.load
        if (offsets < n) {
            const float x = x_ptr[offsets];
            // gelu.py:15  tl.store
            y_ptr[offsets] = x * 0.5f * (erf_f32(x * 0.70710677f) + 1.0f);
        }
    }
}
