// Nothing is near address zero.
// expect far from every buffer
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    device float *p = (device float *)(ulong)(tid * 4u);
    x[tid] = p[tid];
}
