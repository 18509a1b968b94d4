// Float functions: exact where they should be, documented traps where they are.
// launch 1 threads 32
// buffer 0 f32 8 2 0.5 -1.5 100 0 3 -0.0 1e30 read
// buffer 1 u32 32 zero
// want 1 u32 1
#include <metal_stdlib>
using namespace metal;

static bool near(float a, float b) { return fabs(a - b) <= 1e-6f * fabs(b); }

kernel void math(device const float *x [[buffer(0)]], device uint *ok [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    bool good = true;
    if (tid == 0) {
        good = near(exp(x[0]), 7.38905609893f) && near(log(x[0]), 0.69314718056f) && near(exp2(x[1]), 1.41421356237f) && near(sqrt(x[0]), 1.41421356237f);
        good = good && near(rsqrt(x[0]), 0.70710678118f) && near(precise::sin(x[3]), -0.50636564110f) && near(precise::tanh(x[3]), 1.0f) && isnan(tanh(x[3]));
        good = good && near(precise::pow(x[0], x[5]), 8.0f) && near(precise::pow(x[2], 2.0f), 2.25f) && isnan(pow(x[2], 2.0f)) && near(pow(x[0], 0.5f), 1.41421356237f);
        good = good && exp(-INFINITY) == 0.0f && isinf(precise::log(x[4])) && isnan(fast::log(x[4])) && fmax(NAN, 1.0f) == 1.0f && min(x[0], NAN) == 2.0f;
        good = good && rint(2.5f) == 2.0f && round(2.5f) == 3.0f && trunc(x[2]) == -1.0f && floor(x[2]) == -2.0f && ceil(x[2]) == -1.0f && fract(x[2]) == 0.5f;
        good = good && clamp(x[3], 0.0f, 1.0f) == 1.0f && saturate(x[2]) == 0.0f && sign(x[2]) == -1.0f && mix(1.0f, 3.0f, 0.5f) == 2.0f && step(1.0f, 2.0f) == 1.0f;
        good = good && precise::fmod(x[3], x[5]) == 1.0f && copysign(1.0f, x[6]) == -1.0f && signbit(x[6]) && ldexp(x[1], 3) == 4.0f && ilogb(x[3]) == 6;
        int power;
        float whole;
        good = good && frexp(x[3], power) == 0.78125f && power == 7 && modf(x[2], whole) == -0.5f && whole == -1.0f;
        good = good && fma(x[7], x[7], -INFINITY) == -INFINITY && isinf(x[7] * x[7]) && near(precise::divide(1.0f, x[5]), 0.333333333f) && near(atan2(1.0f, 1.0f), 0.78539816f);
        good = good && near(precise::acos(x[1]), 1.0471975512f) && near(asinh(x[0]), 1.4436354752f) && near(cosh(x[0]), 3.7621956911f) && sinpi(1.0f) == 0.0f && cospi(1.0f) == -1.0f;
        good = good && all(max(float2(1.0f, 5.0f), 3.0f) == float2(3.0f, 5.0f)) && near(dot(float3(1.0f, 2.0f, 3.0f), float3(4.0f, 5.0f, 6.0f)), 32.0f) && length(float2(3.0f, 4.0f)) == 5.0f;
        good = good && nextafter(1.0f, 2.0f) == 0x1.000002p0f && float(exp(half(1.0h))) == 2.71875f && float(tanh(half(100.0h))) == 1.0f && numeric_limits<half>::max() == 65504.0h;
    }
    ok[tid] = good ? 1u : 0u;
}
