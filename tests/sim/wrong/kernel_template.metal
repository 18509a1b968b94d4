// Which of them is launched?
// expect the simulator has no templates of kernels
#include <metal_stdlib>
using namespace metal;

template <typename T>
kernel void test(device T *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = T(1);
}
