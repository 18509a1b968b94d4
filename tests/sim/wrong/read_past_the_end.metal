// A read one element past a buffer.
// expect out of bounds: 4-byte read at byte 256 of buffer 'y', which has 256 bytes
// launch 1 threads 64
// buffer 0 f32 64 iota
// buffer 1 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], device const float *y [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = y[tid + 1];
}
