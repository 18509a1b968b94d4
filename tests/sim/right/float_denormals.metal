// Float denormals are zero, with their sign; bits that only move are kept.
// launch 1 threads 32
// buffer 0 u32 4 1 2147483649 226492416 813694976 read
// buffer 1 u32 6 zero
// want 1 u32 0 0 1 1 1 2147483649
#include <metal_stdlib>
using namespace metal;

kernel void flush(device const uint *bits [[buffer(0)]], device uint *out [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    if (tid) return;
    device const float *x = (device const float *)bits;
    out[0] = as_type<uint>(x[0] * 2.0f);
    out[1] = as_type<uint>(x[2] * x[3]);
    out[2] = as_type<uint>(x[0]);
    out[3] = x[0] == 0.0f ? 1u : 0u;
    out[4] = (as_type<uint>(x[1] * 2.0f) | 0x80000000u) == 0x80000000u ? 1u : 0u;
    out[5] = as_type<uint>(x[1]);
}
