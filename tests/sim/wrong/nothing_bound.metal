// Every argument must be bound.
// expect argument 'y' at index 1 has nothing bound
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], device const float *y [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = y[tid];
}
