// The least integer has no opposite.
// expect undefined arithmetic: signed overflow: 0 - -2147483648 in type
// launch 1 threads 32
// buffer 0 i32 32 -2147483648
#include <metal_stdlib>
using namespace metal;

kernel void test(device int *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = -x[tid];
}
