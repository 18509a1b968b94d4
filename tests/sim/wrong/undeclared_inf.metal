// Infinity is a macro.
// expect use of undeclared identifier 'inf'
// allow expected expression
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = inf;
}
