// A reference needs all of its bytes.
// expect 'n' needs 8 bytes, 4 are bound
// launch 1 threads 64
// buffer 0 f32 64 iota
// bytes 1 i32 1
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], constant long &n [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = float(n);
}
