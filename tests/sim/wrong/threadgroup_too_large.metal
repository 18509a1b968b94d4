// At most 32 KB.
// expect Threadgroup memory size (32784) exceeds the maximum threadgroup memory allowed (32768)
#include <metal_stdlib>
using namespace metal;

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    threadgroup float tile[8192];
    threadgroup float more[3];
    tile[tid] = 1.0f;
    more[0] = 1.0f;
    x[tid] = tile[tid];
}
