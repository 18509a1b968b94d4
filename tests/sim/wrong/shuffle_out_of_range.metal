// There is no lane 32.
// expect lane out of range: simd_shuffle: lane 31 reads from lane 32 of 32
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = simd_shuffle(x[tid], ushort(tid % 32 + 1));
}
