// Nor a literal of that type.
// expect 'long long' is not supported in Metal
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = float(1ll);
}
