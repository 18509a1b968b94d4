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
    uint  group    [[simdgroup_index_in_threadgroup]])
{
    threadgroup float x_shared[2];
    threadgroup float denominator_shared[2];

    // softmax.py:13  x
    device const float *const x_3 = x_ptr + int(program.x * x_stride);
    float x[4];
    // softmax.py:14  x = tl.max
    float x_2 = NAN;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // softmax.py:11  cols
        const uint cols = tid + i * 64;
        // softmax.py:13  x = tl.load
        const float x_4 = int(cols) < n_cols ? x_3[cols] : -INFINITY;
        x[i] = x_4;
        // softmax.py:14  x = tl.max
        x_2 = fmax(x_2, x_4);
    }
    const float x_4 = simd_max(x_2);
    const bool first_lane = lane == 0;
    if (first_lane) {
        x_shared[group] = x_4;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // x_shared is complete
    const float x_5 = x_shared[0];
    const float x_6 = x_shared[1];
    const float x_7 = fmax(x_5, x_6);
    // softmax.py:15  numerator = tl.exp
    float numerator[4];
    // softmax.py:16  denominator = tl.sum
    float denominator = -0.0f;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // softmax.py:15  numerator = tl.exp
        const float numerator_2 = fast::exp(x[i] - x_7);
        numerator[i] = numerator_2;
        // softmax.py:16  denominator = tl.sum
        denominator += numerator_2;
    }
    const float denominator_2 = simd_sum(denominator);
    if (first_lane) {
        denominator_shared[group] = denominator_2;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // denominator_shared is complete
    const float denominator_3 = denominator_shared[0];
    const float denominator_4 = denominator_shared[1];
    // softmax.py:17
    device float *const ptr = out_ptr + int(program.x * out_stride);
    // softmax.py:16  denominator = tl.sum
    const float denominator_5 = denominator_3 + denominator_4;
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // softmax.py:15  numerator = tl.exp
        const float numerator_2 = numerator[i];
        // softmax.py:11  cols
        const uint cols = tid + i * 64;
        // softmax.py:17  tl.store
        if (int(cols) < n_cols) {
            ptr[cols] = numerator_2 / denominator_5;
        }
    }
}
