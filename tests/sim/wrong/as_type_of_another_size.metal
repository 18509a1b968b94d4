// as_type keeps the size.
// expect as_type: the sizes of the types differ
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = float(as_type<half>(0x3c00));
}
