// No new.
// expect 'new' is not supported in Metal
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    thread float *p = new float(1.0f);
    x[tid] = *p;
}
