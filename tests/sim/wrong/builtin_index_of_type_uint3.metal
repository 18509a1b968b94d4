// An index has one component.
// expect type 'uint3' is not valid for attribute 'thread_index_in_simdgroup'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint3 lane [[thread_index_in_simdgroup]]) {
    x[lane.x] = 1.0f;
}
