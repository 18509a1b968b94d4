// A declared limit of 32 threads breaks barriers.
// expect a limit of 32 threads or less breaks threadgroup_barrier
#include <metal_stdlib>
using namespace metal;

[[max_total_threads_per_threadgroup(32)]]
kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = 1.0f;
    threadgroup_barrier(mem_flags::mem_device);
    x[tid] += 1.0f;
}
