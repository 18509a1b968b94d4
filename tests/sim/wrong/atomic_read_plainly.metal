// An atomic is not a variable.
// expect error: 
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    device atomic_uint *a = (device atomic_uint *)x;
    uint v = *a;
    x[tid] = float(v);
}
