// A buffer is device or constant memory.
// expect is not valid for attribute 'buffer'
#include <metal_stdlib>
using namespace metal;

kernel void test(thread float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
