// No threadgroup has more than 1024 threads.
// expect 'max_total_threads_per_threadgroup' must be between 1 and 1024
#include <metal_stdlib>
using namespace metal;

[[max_total_threads_per_threadgroup(2048)]]
kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
}
