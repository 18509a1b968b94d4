// Operands that the threads hold, loaded and stored by the hardware; relaxed floats of few bits lose nothing.
// msl 4.0
// launch 1 threads 32
// buffer 0 f32 256 3 read
// buffer 1 f32 512 2 read
// buffer 2 f32 512 1
// want 2 f32 97
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;

kernel void product(device float *a [[buffer(0)]], device float *b [[buffer(1)]], device float *c [[buffer(2)]]) {
    auto left = tensor(a, dextents<int, 2>(16, 16));
    auto right = tensor(b, dextents<int, 2>(32, 16));
    auto out = tensor(c, dextents<int, 2>(32, 16));
    constexpr auto d = mpp::tensor_ops::matmul2d_descriptor(16, 32, 16, false, false, true, mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
    mpp::tensor_ops::matmul2d<d, execution_simdgroup> op;
    auto x = op.get_left_input_cooperative_tensor<float, float, float>();
    auto y = op.get_right_input_cooperative_tensor<float, float, float>();
    auto z = op.get_destination_cooperative_tensor<remove_addrspace_t<decltype(x)>, remove_addrspace_t<decltype(y)>, float>();
    x.load(left);
    y.load(right);
    z.load(out);
    op.run(x, y, z);
    z.store(out);
}
