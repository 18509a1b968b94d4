// A stored tile is read before the barrier.
// expect race in a threadgroup
// allow uninitialised
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]], uint sg [[simdgroup_index_in_threadgroup]]) {
    threadgroup float tile[128];
    simdgroup_float8x8 m = make_filled_simdgroup_matrix<float, 8, 8>(1.0f);
    simdgroup_store(m, tile + sg * 64, 8);
    simdgroup_load(m, tile + (1 - sg) * 64, 8);
    x[tid] = m.thread_elements()[0];
}
