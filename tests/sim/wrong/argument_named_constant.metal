// As arguments.
// expect 'fragment' is a reserved name
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *fragment [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    fragment[tid] = 1.0f;
}
