// A write one element past.
// expect out of bounds: 4-byte write at byte 256 of buffer 'x'
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid + 1] = 1.0f;
}
