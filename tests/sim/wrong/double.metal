// There is no double.
// expect 'double' is not supported in Metal
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    double d = x[tid];
    x[tid] = float(d);
}
