// -2147483648 is a long.
// expect call to 'min' is ambiguous
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = float(min(1, -2147483648));
}
