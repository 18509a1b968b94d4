// Never bool.
// expect 'threadgroup' variable of type 'bool'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup bool seen[64];
    seen[tid] = true;
    x[tid] = seen[tid] ? 1.0f : 0.0f;
}
