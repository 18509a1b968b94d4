// Atomics write: not to what the launch bound for reading.
// expect which is bound for reading only
// launch 1 threads 64
// buffer 0 f32 64 iota read
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    atomic_fetch_add_explicit((device atomic_uint *)x + tid, 1u, memory_order_relaxed);
}
