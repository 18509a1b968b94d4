// Threads that write the same value are counted, not refused.
// launch 2 threads 64
// buffer 0 f32 1 zero
// benign 127
// want 0 f32 3
#include <metal_stdlib>
using namespace metal;

kernel void same(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[0] = 3.0f;
}
