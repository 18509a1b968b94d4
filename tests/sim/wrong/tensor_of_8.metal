// A product has 16 rows or 16 columns at least.
// msl 4.0
// expect At least one of M or N must be a multiple of 16
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    auto left = tensor(x, dextents<int, 2>(32, 32));
    auto right = tensor(x + 1024, dextents<int, 2>(32, 32));
    constexpr auto d = mpp::tensor_ops::matmul2d_descriptor(8, 8, 16, false, false, false, mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
    mpp::tensor_ops::matmul2d<d, execution_simdgroup> op;
    auto sums = op.get_destination_cooperative_tensor<remove_addrspace_t<decltype(left)>, remove_addrspace_t<decltype(right)>, float>();
    op.run(left, right, sums);
    auto out = tensor(x + 2048, dextents<int, 2>(32, 32));
    sums.store(out);
}
