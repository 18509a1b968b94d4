// The same by lanes: the layout of thread_elements, checked against a plain product.
// launch 1 threads 32
// buffer 0 f32 64 iota read
// buffer 1 f32 64 3 1 4 1 5 9 2 6 5 3 5 8 9 7 9 read
// buffer 2 f32 64 zero
// buffer 3 u32 64 zero
// want 3 u32 1
#include <metal_stdlib>
using namespace metal;

kernel void matmul(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], device float *c [[buffer(2)]],
                   device uint *same [[buffer(3)]], uint lane [[thread_index_in_simdgroup]]) {
    const uint q = lane / 4, row = (q & 4) + (lane / 2) % 4, column = (q & 2) * 2 + (lane % 2) * 2;
    simdgroup_float8x8 fa, fb, fc = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    fa.thread_elements()[0] = a[row * 8 + column];
    fa.thread_elements()[1] = a[row * 8 + column + 1];
    reinterpret_cast<thread float2 &>(fb.thread_elements()) = float2(b[column * 8 + row], b[(column + 1) * 8 + row]);    // b transposed
    simdgroup_multiply_accumulate(fc, fa, fb, fc);
    simdgroup_store(fc, c, 8, ulong2(0ul), true);
    threadgroup_barrier(mem_flags::mem_device);
    for (uint i = lane; i < 64; i += 32) {
        const uint r = i / 8, s = i % 8;
        float want = 0.0f;
        for (uint k = 0; k < 8; k++) want += a[s * 8 + k] * b[r * 8 + k];    // c transposed
        same[i] = c[i] == want ? 1u : 0u;
    }
}
