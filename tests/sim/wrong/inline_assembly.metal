// No inline assembly.
// expect illegal asm statement
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    asm("nop");
    x[tid] = 1.0f;
}
