// Literals of double do not exist.
// expect invalid suffix on floating constant '1.0d'
// expect floating point literal '1.0d' has no suffix
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = float(1.0d);
}
