// A flag alone hands nothing over: it needs fences.
// expect race between threadgroups
// launch 4 threads 64
// buffer 0 u32 129 zero
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint pid [[threadgroup_position_in_grid]], uint tid [[thread_index_in_threadgroup]]) {
    device atomic_uint *done = (device atomic_uint *)(x + 128);
    if (tid == 0) {
        x[pid] = float(pid + 1);
        if (atomic_fetch_add_explicit(done, 1u, memory_order_relaxed) == 3u)
            x[64] = x[0] + x[1] + x[2] + x[3];
    }
}
