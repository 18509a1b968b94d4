// Diagonals, mixed element types, half and bfloat accumulators.
// launch 1 threads 32
// buffer 0 f32 8 zero
// want 0 f32 6 6 0 12 2 2 7 1
#include <metal_stdlib>
using namespace metal;

kernel void matrices(device float *x [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
    simdgroup_float8x8 d = simdgroup_float8x8(2.0f), s;
    simdgroup_half8x8 h = make_filled_simdgroup_matrix<half, 8, 8>(3.0h);
    simdgroup_bfloat8x8 b = make_filled_simdgroup_matrix<bfloat, 8, 8>(bfloat(3.0f));
    simdgroup_multiply(s, d, h);
    simdgroup_half8x8 p = h * simdgroup_half8x8(2.0h);
    simdgroup_bfloat8x8 acc = simdgroup_bfloat8x8(bfloat(0.0f));
    simdgroup_multiply_accumulate(acc, b, d, make_filled_simdgroup_matrix<bfloat, 8, 8>(bfloat(1.0f)));
    simdgroup_float8x8 twice;
    simdgroup_multiply_accumulate(twice, d, h, s);
    if (lane == 0) {
        x[0] = s.thread_elements()[0];
        x[1] = float(p.thread_elements()[1]);
        x[2] = d.thread_elements()[1];
        x[3] = twice.thread_elements()[0];
        x[4] = d.thread_elements()[0];
        x[6] = float(acc.thread_elements()[0]);
    }
    if (lane == 5) x[5] = d.thread_elements()[0];    // row 2, column 2
    if (lane == 31) x[7] = d.thread_elements()[0] == 0.0f && d.thread_elements()[1] == 2.0f ? 1.0f : 0.0f;    // (7, 6) and (7, 7)
}
