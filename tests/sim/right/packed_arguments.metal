// Scalars packed into one struct, and a 3.1 literal.
// launch 1 threads 32
// buffer 0 f32 32 zero
// bytes 1 i32 3 4
// bytes 2 f32 0.5
// threadgroup 0 128
// want 0 f32 13.5
#include <metal_stdlib>
using namespace metal;

struct Sizes {
    int rows, columns;
};

kernel void packed(device float *x [[buffer(0)]], constant Sizes &s [[buffer(1)]], constant float &f [[buffer(2)]],
                   threadgroup float *t [[threadgroup(0)]], uint tid [[thread_index_in_threadgroup]]) {
    t[tid] = float(s.rows * s.columns) + f;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[tid] = t[31 - tid] + float(1.0bf);
}
