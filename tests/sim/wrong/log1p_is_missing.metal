// Nor log1p.
// expect no member named 'log1p' in namespace 'metal'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = metal::log1p(x[tid]);
}
