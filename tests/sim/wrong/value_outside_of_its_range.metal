// TMI_CHECK_RANGES of tmetal.h: the text was built on a range that a value leaves. i16 counts as 16 bits, read as signed.
// expect is outside of its range, 0 to 62
// launch 1 threads 32
// buffer 0 i32 32 iota
#include <metal_stdlib>
using namespace metal;

kernel void test(device int *x [[buffer(0)]], uint tid [[thread_index_in_threadgroup]]) {
    const int other = sim_in_range(int(tid) + 0x1ffe0, -32l, -1l, 16);
    x[tid] = sim_in_range(int(tid) + 34, 0l, 62l, 32) + other;
}
