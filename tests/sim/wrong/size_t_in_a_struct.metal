// Inside structs too.
// expect type 'Row' holds size_t or ptrdiff_t
#include <metal_stdlib>
using namespace metal;

struct Row {
    size_t first;
};

kernel void test(device Row *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    x[tid].first = 1;
}
