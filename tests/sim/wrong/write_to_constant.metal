// Constant memory cannot be written.
// expect cannot assign to variable 'n'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], constant int &n [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    n = 2;
    x[tid] = float(n);
}
