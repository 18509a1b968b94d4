// A quad has four lanes.
// expect reads from lane 5 of 4
// launch 1 threads 32
// buffer 0 f32 32 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = quad_shuffle(x[tid], ushort(tid / 32 + 5));
}
