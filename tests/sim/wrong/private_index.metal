// Private arrays have bounds too.
// expect out of bounds: index 4 is outside of 'float[4]'
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float v[4] = {1.0f, 2.0f, 3.0f, 4.0f};
    float s = 0.0f;
    for (uint i = 0; i <= 4 + tid / 64; i++) s += v[i];
    x[tid] = s;
}
