// Words that Metal keeps to itself.
// expect 'level' is a reserved name
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float level = 1.0f;
    x[tid] = level;
}
