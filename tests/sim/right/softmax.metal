// A row of softmax a threadgroup, two barriers.
// launch 2 threads 256
// buffer 0 f32 1600 0 read
// buffer 1 f32 1600 zero
// bytes 2 u32 800
// want 1 f32 0.00125
#include <metal_stdlib>
using namespace metal;

constant uint COLS       = 4;
constant uint SIMDGROUPS = 8;

kernel void softmax_row(
    device const float *x      [[buffer(0)]],
    device float       *y      [[buffer(1)]],
    constant uint      &n_cols [[buffer(2)]],
    uint row   [[threadgroup_position_in_grid]],
    uint tid   [[thread_position_in_threadgroup]],
    uint lane  [[thread_index_in_simdgroup]],
    uint group [[simdgroup_index_in_threadgroup]])
{
    threadgroup float group_max[SIMDGROUPS];
    threadgroup float group_sum[SIMDGROUPS];

    const ulong row_start = ulong(row) * n_cols;    // 64 bits: the tensor may pass 4G elements
    const uint  first_col = tid * COLS;

    float v[COLS];
    for (uint i = 0; i < COLS; i++) {
        const uint col = first_col + i;
        v[i] = col < n_cols ? x[row_start + col] : -INFINITY;
    }

    // thread, then simdgroup, then threadgroup
    float row_max = max(max(v[0], v[1]), max(v[2], v[3]));
    row_max = simd_max(row_max);
    if (lane == 0) group_max[group] = row_max;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    row_max = simd_max(lane < SIMDGROUPS ? group_max[lane] : -INFINITY);

    float sum = 0.0f;
    for (uint i = 0; i < COLS; i++) {
        v[i] = exp(v[i] - row_max);
        sum += v[i];
    }
    sum = simd_sum(sum);
    if (lane == 0) group_sum[group] = sum;    // its own array: no barrier needed before this write
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float inv_sum = 1.0f / simd_sum(lane < SIMDGROUPS ? group_sum[lane] : 0.0f);

    for (uint i = 0; i < COLS; i++) {
        const uint col = first_col + i;
        if (col < n_cols) y[row_start + col] = v[i] * inv_sum;
    }
}
