// bfloat literals come with 3.1.
// msl 3.0
// expect invalid suffix 'bf' on floating constant
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = float(1.0bf);
}
