// A product by four simdgroups together, straight from device memory; the last row and column of tiles are cut off.
// msl 4.0
// launch 2 2 threads 128
// buffer 0 f16 1800 0.5 read
// buffer 1 f16 1840 2 read
// buffer 2 f32 1840 7
// want 2 f32 45
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;

kernel void matmul(device half *a [[buffer(0)]], device half *b [[buffer(1)]], device float *c [[buffer(2)]],
                   uint2 tile [[threadgroup_position_in_grid]]) {
    const int M = 40, N = 46, K = 45, row = int(tile.y) * 32, column = int(tile.x) * 32;
    auto left = tensor(a + row * 45, dextents<int, 2>(K, M - row), array<int, 2>({1, 45}));
    auto right = tensor(b + column * 40, dextents<int, 2>(K - 5, N - column), array<int, 2>({1, 40}));
    auto short_left = tensor(a + row * 45, dextents<int, 2>(K - 5, M - row), array<int, 2>({1, 45}));
    constexpr auto d = mpp::tensor_ops::matmul2d_descriptor(32, 32, static_cast<int>(dynamic_extent), false, true, false,
            mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
    mpp::tensor_ops::matmul2d<d, execution_simdgroups<4>> op;
    auto sums = op.get_destination_cooperative_tensor<remove_addrspace_t<decltype(short_left)>,
            remove_addrspace_t<decltype(right)>, float>();
    for (ushort i = 0; i < sums.get_capacity(); i++)
        if (sums.is_valid_element(i)) sums[i] = 5.0f;
    op.run(short_left, right, sums);
    auto out = tensor(c + row * 46 + column, dextents<int, 2>(N - column, M - row), array<int, 2>({1, 46}));
    sums.store(out);
}
