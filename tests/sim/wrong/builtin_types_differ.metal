// Lane inputs have one type.
// expect 'simdgroup_index_in_threadgroup' must have the type of its companions, 'uint'
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint lane [[thread_index_in_simdgroup]], ushort sg [[simdgroup_index_in_threadgroup]]) {
    x[lane] = float(sg);
}
