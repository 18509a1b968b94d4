// A function of floats, given an int.
// expect call to 'exp' is ambiguous
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = exp(int(tid));
}
