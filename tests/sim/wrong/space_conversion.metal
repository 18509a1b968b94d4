// Pointers into different spaces do not convert.
// expect cannot initialize a variable of type 'thread float *' with an
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    thread float *p = x;
    x[tid] = p[0];
}
