// More private memory than a thread has.
// expect crash: signal 11
// launch 1 threads 32
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float big[100000];
    for (uint i = 0; i < 100000u; i++) big[(i * 7919u + tid) % 100000u] = x[(i + tid) % 64u];
    float s = 0.0f;
    for (uint i = 0; i < 100000u; i++) s += big[i];
    if (s == 12345.0f) x[0] = s;
}
