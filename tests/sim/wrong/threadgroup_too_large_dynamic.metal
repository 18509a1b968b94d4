// Dynamic and static memory count together.
// expect Threadgroup memory size (32784) exceeds
// launch 1 threads 64
// buffer 0 f32 64 zero
// threadgroup 0 32768
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], threadgroup float *t [[threadgroup(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float one[4];
    one[0] = 1.0f;
    t[tid] = 1.0f;
    x[tid] = t[tid];
}
