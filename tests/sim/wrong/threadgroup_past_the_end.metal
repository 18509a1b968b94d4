// Threadgroup variables have bounds.
// expect 4-byte write at byte 252 of threadgroup memory 'part', which has 252 bytes
// allow 4-byte read at byte 252
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float part[63];
    threadgroup float *p = part;
    p[tid] = 1.0f;
    x[tid] = p[tid];
}
