// Constant bytes have bounds.
// expect of bytes 'p', which has 8 bytes
// launch 1 threads 64
// buffer 0 f32 64 iota
// bytes 1 i32 1 2
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], constant int *p [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = float(p[tid]);
}
