// Function constants: the simulator has none.
// expect the simulator does not have 'function_constant' on program-scope variables
#include <metal_stdlib>
using namespace metal;

constant int n [[function_constant(0)]];
kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = float(n);
}
