// Threadgroup memory is complete before a product reads it.
// msl 4.0
// expect race
// launch 1 threads 64
// buffer 0 f32 1024 iota
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float s[1024];
    for (uint i = tid; i < 1024; i += 64) s[i] = x[i];
    auto both = tensor(s, dextents<int, 2>(32, 32));
    constexpr auto d = mpp::tensor_ops::matmul2d_descriptor(32, 32, 32, false, false, false, mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
    mpp::tensor_ops::matmul2d<d, execution_simdgroup> op;
    auto sums = op.get_destination_cooperative_tensor<remove_addrspace_t<decltype(both)>, remove_addrspace_t<decltype(both)>, float>();
    op.run(both, both, sums);
    if (tid == 0) x[0] = sums.get(0);
}
