// The launch bound it for reading.
// expect of buffer 'x' at byte
// launch 1 threads 64
// buffer 0 f32 64 iota read
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
