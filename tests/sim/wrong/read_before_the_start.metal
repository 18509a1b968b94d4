// A read before the first element.
// expect out of bounds: 4-byte read at byte -4 of buffer 'y'
// launch 1 threads 64
// buffer 0 f32 64 iota
// buffer 1 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], device const float *y [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = y[int(tid) - 1];
}
