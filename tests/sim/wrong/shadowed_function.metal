// A variable hides the function of its name.
// expect called object type 'float' is not a function
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    float max = 1.0f;
    x[tid] = max(max, x[tid]);
}
