// Matrix functions likewise.
// expect simdgroup_multiply_accumulate reached by
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    simdgroup_float8x8 m = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
    if (tid % 32 < 8) simdgroup_multiply_accumulate(m, m, m, m);
    x[tid] = m.thread_elements()[0];
}
