// Each element of the sums has a place, which get_multidimensional_index tells: column, row.
// msl 4.0
// launch 1 threads 64
// buffer 0 i8 1024 -2 read
// buffer 1 i8 1024 3 read
// buffer 2 i32 512 zero
// want 2 i32 -190 -189 -188 -187 -186 -185 -184 -183 -182 -181 -180 -179 -178 -177 -176 -175 -174 -173 -172 -171 -170 -169 -168 -167 -166 -165 -164 -163 -162 -161 -160 -159 -158
#include <metal_stdlib>
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace metal;

kernel void places(device int8_t *a [[buffer(0)]], device int8_t *b [[buffer(1)]], device int *c [[buffer(2)]],
                   uint group [[simdgroup_index_in_threadgroup]]) {
    threadgroup int8_t sa[1024], sb[1024];
    for (uint i = group * 512; i < group * 512 + 512; i++) {
        sa[i] = a[i];
        sb[i] = b[i];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    auto left = tensor(sa + int(group) * 512, dextents<int, 2>(32, 16));
    auto right = tensor(sb, dextents<int, 2>(32, 32));
    constexpr auto d = mpp::tensor_ops::matmul2d_descriptor(16, 32, 32, false, false, false, mpp::tensor_ops::matmul2d_descriptor::mode::multiply_accumulate);
    mpp::tensor_ops::matmul2d<d, execution_simdgroup> op;
    auto sums = op.get_destination_cooperative_tensor<remove_addrspace_t<decltype(left)>, remove_addrspace_t<decltype(right)>, int32_t>();
    for (ushort i = 0; i < sums.get_capacity(); i++)
        if (sums.is_valid_element(i)) sums[i] = 2;
    op.run(left, right, sums);
    if (group) return;
    for (ushort i = 0; i < sums.get_capacity(); i++) {
        const auto at = sums.get_multidimensional_index(i);
        if (sums.is_valid_element(i)) c[at[1] * 32 + at[0]] = sums[i] + min(at[1] * 32 + at[0], 32);
    }
}
