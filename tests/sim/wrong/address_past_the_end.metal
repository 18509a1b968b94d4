// Buffers reached by their addresses have bounds too.
// expect which has 256 bytes
// launch 1 threads 64
// buffer 31 f32 64 iota
// buffer 32 f32 64 zero
// bytes 0 u64 0 0
// address 0 0 31
// address 0 8 32
#include <metal_stdlib>
using namespace metal;

struct Pointers {
    device const float *in;
    device float *out;
};

kernel void test(constant Pointers &args [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    args.out[tid] = args.in[tid + 1];
}
