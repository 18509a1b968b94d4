// Vectors and bfloat in volatile memory move like any other.
// launch 1 threads 32
// buffer 0 f32 128 iota
// buffer 1 i64 128 iota
// buffer 2 bf16 64 2
// want 0 f32 3 0 2 1 7 8 6 5 11 16 10 9 15 24 14 13 19 32 18 17 23 40 22 21 27 48 26 25 31 56 30 29 35 64 34 33 39 72 38 37 43 80 42 41 47 88 46 45 51 96 50 49 55 104 54 53 59 112 58 57 63 120 62 61 67 128 66 65 71 136 70 69 75 144 74 73 79 152 78 77 83 160 82 81 87 168 86 85 91 176 90 89 95 184 94 93 99 192 98 97 103 200 102 101 107 208 106 105 111 216 110 109 115 224 114 113 119 232 118 117 123 240 122 121 127 248 126 125
#include <metal_stdlib>
using namespace metal;

kernel void moves(volatile device float4 *x [[buffer(0)]], volatile device long4 *l [[buffer(1)]], volatile device bfloat *b [[buffer(2)]],
                  uint tid [[thread_index_in_threadgroup]]) {
    float4 v = x[tid];
    v = x[tid];
    long4 w = l[tid];
    w = l[tid];
    bfloat c = b[tid];
    c = b[tid];
    const float y = x[tid].z;
    x[tid] = float4(v.w, v.x * float(b[tid]), y, float(w.y));
    l[tid] = w;
    b[tid] = c + b[tid];
}
