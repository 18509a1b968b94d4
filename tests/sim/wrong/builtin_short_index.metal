// A 32-bit position wants a 32-bit index.
// expect 'thread_index_in_threadgroup' must be uint
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint3 tid [[thread_position_in_threadgroup]], ushort i [[thread_index_in_threadgroup]]) {
    x[i] = float(tid.x);
}
