// And nothing else.
// expect a buffer is bound at index 3, which the kernel does not declare
// launch 1 threads 64
// buffer 0 f32 64 iota
// buffer 3 f32 4 zero
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
