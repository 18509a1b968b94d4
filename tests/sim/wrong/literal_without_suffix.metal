// A float literal has a suffix.
// expect floating point literal '0.5' has no suffix
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = x[tid] * 0.5;
}
