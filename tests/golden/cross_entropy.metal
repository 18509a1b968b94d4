// cross_entropy: from @cross_entropy (cross_entropy.py:9)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 128 elements, 4 a thread, 4 of them neighbours
//   compile  safe math: masked elements, infinities and NaN are meant
#pragma clang diagnostic ignored "-Wall"
#include <metal_stdlib>
using namespace metal;
#pragma METAL fp math_mode(safe)

kernel void cross_entropy(
    device const float *logits_ptr [[buffer(0)]],
    device const long *labels_ptr  [[buffer(1)]],
    device float *loss_ptr         [[buffer(2)]],
    constant int &n_cols           [[buffer(3)]],
    constant int &ignore_index     [[buffer(4)]],
    uint3 program  [[threadgroup_position_in_grid]],
    uint  tid      [[thread_index_in_threadgroup]])
{
    // line 11: label = tl.load(labels_ptr + row)
    const long label = labels_ptr[program.x];
    float row_max = -INFINITY;
    float row_sum = 0.0f;
    device const float *const logits_start = logits_ptr + int(program.x * n_cols);
    const int last = max(n_cols, -2147483647) - 1;
    // line 14: for
    for (uint start = 0; start < uint(max(n_cols, 0)); start += 128) {
        const float row_max_held = row_max;
        // line 15: cols = start + tl.arange(0, 128)
        const int cols = int(start + tid * 4);
        device const float *const logits_start_2 = logits_start + cols;
        float4 x;
        if (int(start + (tid * 4 + 3)) < n_cols) {
            // line 16: x = tl.load(logits_ptr + row * n_cols + cols)
            x = float4(*(device const packed_float4 *)(logits_start_2));
        } else {
            if (cols < n_cols) {
                const float x_loaded = logits_start[min(int(start + (tid * 4 + 1)), last)];
                const float x_loaded_2 = logits_start[min(int(start + (tid * 4 + 2)), last)];
                x = float4(*logits_start_2, int(start + (tid * 4 + 1)) < n_cols ? x_loaded
                        : -INFINITY, int(start + (tid * 4 + 2)) < n_cols ? x_loaded_2 : -INFINITY,
                        -INFINITY);
            } else {
                x = float4(-INFINITY);
            }
        }
        // line 17: new_max = tl.maximum(row_max, tl.max(x))
        const float new_max = fmax(row_max_held, simd_max(fmax(fmax(fmax(x.x, x.y), x.z), x.w)));
        // line 18: row_sum = tl.exp(...)
        const float4 row_sum_exp = fast::exp(x - new_max);
        const float row_sum_part = row_sum_exp.x + row_sum_exp.y + row_sum_exp.z + row_sum_exp.w;
        const float row_sum_simd = simd_sum(row_sum_part);
        row_max = new_max;
        row_sum = row_sum * fast::exp(row_max_held - new_max) + row_sum_simd;
    }
    float value;
    // line 21: if
    if (label != long(ignore_index)) {
        // line 23: loss
        value = precise::log(row_sum) + row_max - logits_start[label];
    } else {
        value = 0.0f;
    }
    // line 24: tl.store(...)
    if (tid == 0) loss_ptr[program.x] = value;
}
