// Nor through another.
// expect recursion: 'even' calls itself
// expect recursion: 'odd' calls itself
#include <metal_stdlib>
using namespace metal;

float odd(int n);
float even(int n) { return n == 0 ? 1.0f : odd(n - 1); }
float odd(int n) { return n == 0 ? 0.0f : even(n - 1); }

kernel void test(device float *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid] = even(int(tid));
}
