// An index past the end of an array.
// expect out of bounds: index 63 is outside of 'threadgroup float[63]'
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float part[63];
    part[tid] = 1.0f;
    x[tid] = part[tid];
}
