// half rounds after every operation and keeps denormals.
// launch 1 threads 32
// buffer 0 f16 4 1 0.00048828125 5.9604644775390625e-08 2048 read
// buffer 1 f32 6 zero
// want 1 f32 1 2048 5.9604644775390625e-08 1.1920928955078125e-07 inf 1
#include <metal_stdlib>
using namespace metal;

#pragma METAL fp contract(off)
kernel void sums(device const half *x [[buffer(0)]], device float *f [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    if (tid) return;
    f[0] = float(x[0] + x[1]);               // half an ulp: to even
    f[1] = float(x[3] + x[0]);
    f[2] = float(x[2]);                      // the smallest denormal
    f[3] = float(x[2] + x[2]);
    f[4] = float(x[3] * x[3]);
    f[5] = x[0] * 2.0f == 2.0f && fma(x[3], x[3], -HUGE_VALH) == half(-INFINITY) ? 1.0f : 0.0f;
}
