// A kernel that does not end.
// expect time limit: still running after 0.5 seconds
// launch 1 threads 32
// buffer 0 u32 64 zero
// seconds 0.5
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    device atomic_uint *a = (device atomic_uint *)x;
    while (atomic_load_explicit(a, memory_order_relaxed) == 0u) {
    }
    x[1] = 1.0f;
}
