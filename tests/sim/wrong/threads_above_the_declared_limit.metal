// What the kernel promised holds.
// expect 64 threads per threadgroup, but max_total_threads_per_threadgroup is 48
// launch 1 threads 64
// buffer 0 f32 64 zero
#include <metal_stdlib>
using namespace metal;

[[max_total_threads_per_threadgroup(48)]]
kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
