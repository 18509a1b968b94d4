// No more than 1024 threads.
// expect 2048 threads per threadgroup; the device takes 1 to 1024
// launch 1 threads 2048
// buffer 0 f32 64 zero
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    if (tid < 64) x[tid] = 1.0f;
}
