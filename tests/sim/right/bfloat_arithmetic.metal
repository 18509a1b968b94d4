// bfloat rounds to nearest even after every operation and widens by itself.
// launch 1 threads 32
// buffer 0 bf16 4 1 0.0078125 257 3 read
// buffer 1 f32 8 zero
// buffer 2 bf16 4 zero
// want 1 f32 1.0078125 1 256 258 0.33203125 1 3 1
// want 2 bf16 1 256 3 0
#include <metal_stdlib>
using namespace metal;

kernel void sums(device const bfloat *x [[buffer(0)]], device float *f [[buffer(1)]], device bfloat *y [[buffer(2)]],
                 uint tid [[thread_index_in_threadgroup]]) {
    if (tid) return;
    const bfloat one = x[0], eps = x[1];
    f[0] = one + eps;                                   // exact in bfloat
    f[1] = one + bfloat(0.00390625f);                   // a tie goes to even
    f[2] = x[2];                                        // 257 became 256 when it was stored
    f[3] = bfloat(257.0f) + bfloat(1.0f) == bfloat(256.0f) ? 258.0f : 0.0f;
    f[4] = one / x[3];                                  // 1/3
    f[5] = isnan(bfloat(NAN)) && isinf(bfloat(INFINITY)) && bfloat(0x1p-130f) >= bfloat(0.0f) ? 1.0f : 0.0f;
    f[6] = tid == 0 ? x[3] : bfloat(0.0f);
    f[7] = float(as_type<bfloat>(ushort(0x3f80)));
    y[0] = one;
    y[1] = bfloat(256.5f);
    y[2] = -(-x[3]);
    y[3] = bfloat(half(0.0h));
}
