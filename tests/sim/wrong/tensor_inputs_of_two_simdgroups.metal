// What threads hold is the operand of one simdgroup.
// msl 4.0
// expect Input cooperative tensors require a single SIMD group
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;

kernel void test(device half *a [[buffer(0)]]) {
    constexpr auto d = mpp::tensor_ops::matmul2d_descriptor(16, 32, 16, false, false, false, mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
    mpp::tensor_ops::matmul2d<d, execution_simdgroups<2>> op;
    auto left = op.get_left_input_cooperative_tensor<half, half, float>();
    auto out = tensor(a, dextents<int, 2>(16, 16));
    left.load(out);
}
