// A reference names its address space.
// expect reference type must have explicit address space qualifier
#include <metal_stdlib>
using namespace metal;

void set(float &v) { v = 1.0f; }

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    set(x[tid]);
}
