// Not by a cast either.
// expect converts between mismatching address spaces
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    thread float *p = (thread float *)x;
    x[tid] = p[0];
}
