// Brackets must match.
// expect '{' without its partner
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    if (tid == 0) {
        x[tid] = 1.0f;
}
