// Contiguous, strided, wide and repeated accesses, in 128-byte lines a simdgroup.
// launch 1 threads 64
// buffer 0 f32 4096 iota read
// buffer 1 f32 4096 zero
// count 16 load 2 2
// count 17 load 64 2
// count 18 load 8 8
// count 19 load 2 2
// count 20 load 4 2
// count 21 store 2 2
// count 22 store 4 2
#include <metal_stdlib>
using namespace metal;

kernel void lines(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    const float a = x[tid];
    const float b = x[tid * 32];
    const float4 c = ((device const float4 *)x)[tid];
    const float d = x[7];
    const float e = x[tid * 2 + 64];
    y[tid] = a + b + c.x + c.y + c.z + c.w + d + e;
    y[1024 + tid * 2] = a;
}
