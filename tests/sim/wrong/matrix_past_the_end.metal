// A matrix load has no bounds of its own.
// expect of buffer 'x', which has 252 bytes
// launch 1 threads 32
// buffer 0 f32 63 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    simdgroup_float8x8 m;
    simdgroup_load(m, x, 8);
    if (m.thread_elements()[0] == -1.0f) x[0] = 1.0f;
}
