// Scalars come by reference from a buffer.
// expect invalid type 'int' for input declaration in a kernel function
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], int n, uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = float(n);
}
