// int8 by uint8 is not to be had.
// msl 4.0
// expect Unsupported type
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;

kernel void test(device int8_t *a [[buffer(0)]], device uint8_t *b [[buffer(1)]]) {
    auto left = tensor(a, dextents<int, 2>(32, 32));
    auto right = tensor(b, dextents<int, 2>(32, 32));
    constexpr auto d = mpp::tensor_ops::matmul2d_descriptor(32, 32, 32, false, false, false, mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
    mpp::tensor_ops::matmul2d<d, execution_simdgroup> op;
    auto sums = op.get_destination_cooperative_tensor<remove_addrspace_t<decltype(left)>, remove_addrspace_t<decltype(right)>, int>();
    op.run(left, right, sums);
}
