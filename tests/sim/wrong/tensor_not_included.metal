// Tensors need their own headers.
// msl 4.0
// expect include <metal_tensor>
#include <metal_stdlib>
using namespace metal;

kernel void test(device half *a [[buffer(0)]]) {
    auto both = tensor(a, dextents<int, 2>(32, 32));
    a[0] = both.get_extent(0) > 1 ? 1.0h : 0.0h;
}
