// cross_entropy: from @cross_entropy (cross_entropy.py:9)
//
//   grid     one threadgroup of 32 threads (1 simdgroup of 32) a program
//   work     tiles of up to 128 elements, 4 a thread
//   memory   0 bytes of threadgroup memory
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
    // cross_entropy.py:11  label = tl.load
    const long label = labels_ptr[program.x];
    // cross_entropy.py:14  row_sum = for
    float row_max = -INFINITY;
    float row_sum = 0.0f;
    // cross_entropy.py:16  x
    device const float *const x_2 = logits_ptr + int(program.x * n_cols);
    // cross_entropy.py:14  row_sum = for
    for (uint start = 0; start < uint(max(n_cols, 0)); start += 128) {
        const float row_max_2 = row_max;
        // cross_entropy.py:16  x = tl.load
        float x[4];
        // cross_entropy.py:17  new_max = tl.max
        float new_max = NAN;
        // cross_entropy.py:15  cols
        const uint offset = start + tid;
        // cross_entropy.py:17  new_max = tl.max
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            // cross_entropy.py:15  cols
            const int cols = int(offset + i * 32);
            // cross_entropy.py:16  x = tl.load
            const float x_3 = cols < n_cols ? x_2[cols] : -INFINITY;
            x[i] = x_3;
            // cross_entropy.py:17  new_max = tl.max
            new_max = fmax(new_max, x_3);
        }
        const float new_max_2 = simd_max(new_max);
        const float new_max_3 = fmax(row_max_2, new_max_2);
        // cross_entropy.py:18  row_sum = tl.sum
        float row_sum_2 = -0.0f;
        #pragma clang loop unroll(full)
        for (uint i = 0; i < 4; i++) {
            row_sum_2 += fast::exp(x[i] - new_max_3);
        }
        const float row_sum_3 = simd_sum(row_sum_2);
        // cross_entropy.py:19
        row_max = new_max_3;
        row_sum = row_sum * fast::exp(row_max_2 - new_max_3) + row_sum_3;
    }
    // cross_entropy.py:21  if
    float tile;
    if (label != long(ignore_index)) {
        // cross_entropy.py:23  loss
        const float loss = precise::log(row_sum) + row_max - x_2[label];
        tile = loss;
    } else {
        // cross_entropy.py:21
        tile = 0.0f;
    }
    // cross_entropy.py:24  tl.store
    if (tid == 0) {
        loss_ptr[program.x] = tile;
    }
}
