// Positions have one number of components.
// expect positions must have one number of components
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint3 tid [[thread_position_in_threadgroup]], uint2 pid [[threadgroup_position_in_grid]]) {
    x[tid.x] = float(pid.y);
}
