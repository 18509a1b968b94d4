// Threadgroup memory by rows, by columns, and by padded columns: cycles of 32 banks.
// launch 1 threads 32
// buffer 0 f32 32 zero
// count 15 store 32 32
// count 17 load 1 1
// count 18 load 32 1
// count 19 load 1 1
// count 20 load 1 1
// count 21 load 2 1
#include <metal_stdlib>
using namespace metal;

kernel void banks(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float t[33 * 32];
    for (uint i = 0; i < 33; i++) if (i < 32) t[i * 32 + tid] = 1.0f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float row = t[tid];
    const float column = t[tid * 32];
    const float padded = t[tid * 31];
    const float same = t[5];
    const float even = t[tid * 2];
    x[tid] = row + column + padded + same + even;
}
