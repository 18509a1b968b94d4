// Bytes and halves of one word belong to different threads without a race.
// launch 2 threads 64
// buffer 0 u8 128 zero
// buffer 1 f16 128 zero
// want 0 u8 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95 96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121 122 123 124 125 126 127
// want 1 f16 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
#include <metal_stdlib>
using namespace metal;

kernel void narrow(device uchar *b [[buffer(0)]], device half *h [[buffer(1)]], uint pid [[threadgroup_position_in_grid]],
                   uint tid [[thread_index_in_threadgroup]]) {
    threadgroup uchar t[64];
    threadgroup half u[64];
    t[tid] = uchar(pid * 64 + tid);
    u[tid ^ 1u] = half(float(tid ^ 1u));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    b[pid * 64 + (63 - tid)] = t[63 - tid];
    h[pid * 64 + (63 - tid)] = u[63 - tid];
}
