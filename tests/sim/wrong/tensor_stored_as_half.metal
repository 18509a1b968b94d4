// A store does not convert.
// msl 4.0
// expect load and store do not convert
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;

kernel void test(device half *a [[buffer(0)]]) {
    auto both = tensor(a, dextents<int, 2>(32, 32));
    constexpr auto d = mpp::tensor_ops::matmul2d_descriptor(32, 32, 32, false, false, false, mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
    mpp::tensor_ops::matmul2d<d, execution_simdgroup> op;
    auto sums = op.get_destination_cooperative_tensor<remove_addrspace_t<decltype(both)>, remove_addrspace_t<decltype(both)>, float>();
    sums.store(both);
}
