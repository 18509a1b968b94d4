// softmax: from @softmax (softmax.py:9)
//
//   grid     one threadgroup of 64 threads (2 simdgroups of 32) a program
//   work     tiles of up to 256 elements, 4 a thread
//   memory   32 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(64)]]
kernel void softmax(
    device float *out_ptr     [[buffer(0)]],
    device const float *x_ptr [[buffer(1)]],
    constant uint &x_stride   [[buffer(2)]],
    constant uint &out_stride [[buffer(3)]],
    constant int &n_cols      [[buffer(4)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  sg       [[simdgroup_index_in_threadgroup]])
{
    threadgroup float x_shared[2];
    threadgroup float denominator_shared[2];

    device const float *const x_start = x_ptr + int(program.x * x_stride);
    float x[4];
    float x_part = NAN;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // line 11: cols
        const int cols = int(tid + i * 64);
        // line 13: x = tl.load
        x[i] = cols < n_cols ? x_start[cols] : -INFINITY;
        // line 14: x = tl.max
        x_part = fmax(x_part, x[i]);
    }
    const float x_simd = simd_max(x_part);
    if (lane == 0) x_shared[sg] = x_simd;
    threadgroup_barrier(mem_flags::mem_threadgroup);    // x_shared is complete
    const float x_max = fmax(x_shared[0], x_shared[1]);
    float numerator[4];
    float denominator_part = -0.0f;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // line 15: numerator = tl.exp
        numerator[i] = fast::exp(x[i] - x_max);
        // line 16: denominator = tl.sum
        denominator_part += numerator[i];
    }
    const float denominator_simd = simd_sum(denominator_part);
    if (lane == 0) denominator_shared[sg] = denominator_simd;
    threadgroup_barrier(mem_flags::mem_threadgroup);    // denominator_shared is complete
    device float *const out_start = out_ptr + int(program.x * out_stride);
    const float denominator = denominator_shared[0] + denominator_shared[1];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        const int cols = int(tid + i * 64);
        // line 17: tl.store
        if (cols < n_cols) out_start[cols] = numerator[i] / denominator;
    }
}
