// A constant has a value.
// expect variable in constant address space must be initialized
#include <metal_stdlib>
using namespace metal;

constant float COUNT;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = COUNT;
}
