// Attributes of arguments have no place in a body.
// expect unknown attribute 'thread_index_in_threadgroup'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    uint again [[thread_index_in_threadgroup]] = tid;
    x[again] = 1.0f;
}
