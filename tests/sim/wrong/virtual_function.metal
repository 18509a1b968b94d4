// No virtual functions.
// expect virtual functions are not supported in Metal
#include <metal_stdlib>
using namespace metal;

struct S {
    virtual float f() const { return 1.0f; }
};

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = S().f();
}
