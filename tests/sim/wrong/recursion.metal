// A function may not call itself.
// expect recursion: 'down' calls itself
#include <metal_stdlib>
using namespace metal;

float down(float v) { return v < 1.0f ? v : down(v - 1.0f); }

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = down(x[tid]);
}
