// Its depth is known.
// msl 4.0
// expect Inner dimension cannot be dynamic with input cooperative tensors
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;

kernel void test(device half *a [[buffer(0)]]) {
    constexpr auto d = mpp::tensor_ops::matmul2d_descriptor(16, 32, static_cast<int>(dynamic_extent), false, false, false, mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
    mpp::tensor_ops::matmul2d<d, execution_simdgroup> op;
    auto left = op.get_left_input_cooperative_tensor<half, half, float>();
    auto out = tensor(a, dextents<int, 2>(16, 16));
    left.load(out);
}
