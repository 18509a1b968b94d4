// A 32x32 product by 8x8 matrices, loaded and stored whole.
// launch 1 threads 128
// buffer 0 f16 1024 0.5 read
// buffer 1 f16 1024 2 read
// buffer 2 f32 1024 zero
// want 2 f32 32
#include <metal_stdlib>
using namespace metal;

[[max_total_threads_per_threadgroup(128)]]
kernel void matmul(device const half *a [[buffer(0)]], device const half *b [[buffer(1)]], device float *c [[buffer(2)]],
                   uint tid [[thread_index_in_threadgroup]], uint group [[simdgroup_index_in_threadgroup]]) {
    alignas(16) threadgroup half ta[32 * 40], tb[32 * 40];    // rows padded by 16 bytes
    for (uint i = tid; i < 1024; i += 128) {
        ta[i / 32 * 40 + i % 32] = a[i];
        tb[i / 32 * 40 + i % 32] = b[i];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const uint row = group / 2 * 16, column = group % 2 * 16;
    simdgroup_float8x8 acc[2][2];
    for (uint i = 0; i < 2; i++)
        for (uint j = 0; j < 2; j++) acc[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    for (uint k = 0; k < 32; k += 8) {
        simdgroup_half8x8 fa[2], fb[2];
        for (uint i = 0; i < 2; i++) simdgroup_load(fa[i], ta + (row + i * 8) * 40 + k, 40);
        for (uint j = 0; j < 2; j++) simdgroup_load(fb[j], tb, 40, ulong2(column + j * 8, k));
        for (uint i = 0; i < 2; i++)
            for (uint j = 0; j < 2; j++) simdgroup_multiply_accumulate(acc[i][j], fa[i], fb[j], acc[i][j]);
    }
    for (uint i = 0; i < 2; i++)
        for (uint j = 0; j < 2; j++) simdgroup_store(acc[i][j], c + (row + i * 8) * 32 + column + j * 8, 32);
}
