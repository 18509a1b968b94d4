// The mask of shuffle_xor is uniform.
// expect argument differs between lanes: simd_shuffle_xor: the mask is
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = simd_shuffle_xor(x[tid], ushort(tid % 32 < 16 ? 1 : 2));
}
