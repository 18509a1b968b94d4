// Attributes that do not exist.
// expect unknown attribute 'thread_index'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index]]) {
    x[tid] = 1.0f;
}
