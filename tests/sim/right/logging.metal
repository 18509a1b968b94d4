// os_log text is formatted and kept.
// msl 3.2
// launch 1 threads 32
// buffer 0 f32 32 zero
// want 0 f32 1
#include <metal_stdlib>
using namespace metal;

kernel void say(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    if (tid == 0) os_log_default.log("thread %u has %f", tid, 1.5f);
    x[tid] = 1.0f;
}
