// Nor does a signed difference wrap.
// expect undefined arithmetic: signed overflow: -2147483647 - 3 in type
// launch 1 threads 32
// buffer 0 i32 32 -2147483647
#include <metal_stdlib>
using namespace metal;

kernel void test(device int *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = x[tid] - 3;
}
