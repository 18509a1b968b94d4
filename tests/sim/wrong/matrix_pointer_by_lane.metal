// All lanes give the same tile.
// expect argument differs between lanes: simdgroup_load: the pointer of lane
// launch 1 threads 32
// buffer 0 f32 128 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    simdgroup_float8x8 m;
    simdgroup_load(m, x + tid, 8);
    if (m.thread_elements()[0] == -1.0f) x[0] = 1.0f;
}
