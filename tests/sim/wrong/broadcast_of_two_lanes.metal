// The lane of a broadcast is uniform.
// expect argument differs between lanes: simd_broadcast: the lane is
// launch 1 threads 64
// buffer 0 f32 64 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = simd_broadcast(x[tid], ushort(tid % 2));
}
