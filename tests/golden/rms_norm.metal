// rms_norm: from @rms_norm (rms_norm.py:9)
//
//   grid     one threadgroup of 128 threads (4 simdgroups of 32) a program
//   work     tiles of up to 512 elements, 4 a thread
//   memory   16 bytes of threadgroup memory
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

[[max_total_threads_per_threadgroup(128)]]
kernel void rms_norm(
    device const half *x_ptr      [[buffer(0)]],
    device const half *weight_ptr [[buffer(1)]],
    device half *y_ptr            [[buffer(2)]],
    constant int &n_cols          [[buffer(3)]],
    constant float &eps           [[buffer(4)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]],
    uint  lane     [[thread_index_in_simdgroup]],
    uint  group    [[simdgroup_index_in_threadgroup]])
{
    threadgroup float scale_shared[4];

    // rms_norm.py:13  x
    const int x_2 = int(program.x * n_cols);
    device const half *const x_3 = x_ptr + x_2;
    float x[4];
    // rms_norm.py:14  scale = tl.sum
    float scale = -0.0f;
    // rms_norm.py:15  weight
    float weight[4];
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // rms_norm.py:11  cols
        const uint cols = tid + i * 128;
        // rms_norm.py:12  mask
        const bool mask = int(cols) < n_cols;
        // rms_norm.py:13  x = tl.load
        const half x_4 = mask ? x_3[cols] : 0.0h;
        const float x_5 = float(x_4);
        x[i] = x_5;
        // rms_norm.py:14  scale = tl.sum
        scale += x_5 * x_5;
        // rms_norm.py:15  weight = tl.load
        const half weight_2 = mask ? weight_ptr[cols] : 0.0h;
        weight[i] = float(weight_2);
    }
    // rms_norm.py:14  scale = tl.sum
    const float scale_2 = simd_sum(scale);
    if (lane == 0) {
        scale_shared[group] = scale_2;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);    // scale_shared is complete
    const float scale_3 = lane < 4 ? scale_shared[lane] : -0.0f;
    const float scale_4 = simd_sum(scale_3);
    // rms_norm.py:16
    device half *const ptr = y_ptr + x_2;
    // rms_norm.py:14  scale = tl.rsqrt
    const float scale_5 = precise::rsqrt(scale_4 / float(n_cols) + eps);
    #pragma clang loop unroll(full)
    for (uint i = 0; i < 4; i++) {
        // rms_norm.py:13  x
        const float x_4 = x[i];
        // rms_norm.py:15  weight
        const float weight_2 = weight[i];
        // rms_norm.py:11  cols
        const uint cols = tid + i * 128;
        // rms_norm.py:16  tl.store
        if (int(cols) < n_cols) {
            ptr[cols] = half(x_4 * scale_5 * weight_2);
        }
    }
}
