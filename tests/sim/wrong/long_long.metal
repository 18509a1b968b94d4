// There is no long long.
// expect 'long long' is not supported in Metal
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    long long d = long(tid);
    x[tid] = float(d);
}
