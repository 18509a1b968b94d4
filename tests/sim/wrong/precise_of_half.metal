// precise:: is for float.
// expect no matching function for call to 'tanh'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    half2 h = half2(1.0h);
    x[tid] = float(precise::tanh(h).x);
}
