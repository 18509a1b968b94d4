// Casting const away does not make memory writable.
// expect write to read-only memory
// launch 1 threads 64
// buffer 0 f32 64 iota
// buffer 1 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], device const float *y [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    ((device float *)y)[tid] = 1.0f;
    x[tid] = 1.0f;
}
