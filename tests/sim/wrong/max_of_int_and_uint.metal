// Mixed operands are ambiguous.
// expect call to 'max' is ambiguous
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = float(max(int(tid), tid));
}
