// Division, remainders, shifts and bits as Metal defines them.
// launch 1 threads 32
// buffer 0 i32 8 -7 2 0 -2147483648 -1 33 1 255 read
// buffer 1 u32 32 zero
// zero-divisions 4
// want 1 u32 1
#include <metal_stdlib>
using namespace metal;

kernel void integers(device const int *x [[buffer(0)]], device uint *ok [[buffer(1)]], uint tid [[thread_index_in_threadgroup]]) {
    if (tid == 0) {
        bool good = x[0] / x[1] == -3 && x[0] % x[1] == -1 && uint(x[7]) / 16u == 15u && uint(x[7]) % 16u == 15u;
        const int by_zero = x[0] / x[2], rest = x[0] % x[2], least = x[3] / x[4];    // no trap; the values are not used
        int q = x[7];
        q /= x[1];
        q %= 10;
        good = good && q == 7 && (by_zero != 0 || rest != 0 || least != 0);
        good = good && (x[6] << x[5]) == 2 && (x[0] >> 1) == -4 && (uint(x[0]) >> 31) == 1u;    // counts are masked
        good = good && clz(x[6]) == 31 && clz(x[2]) == 32 && ctz(x[2]) == 32 && popcount(uchar(x[7])) == 8 && clz(short(1)) == 15;
        good = good && mulhi(0x80000000u, 4u) == 2u && mulhi(-1l, 2l) == -1l && mulhi(0xfffffffffffffffful, 16ul) == 15ul && mulhi(x[0], 1) == -1;
        good = good && rotate(0x80000001u, 4u) == 0x18u && reverse_bits(1u) == 0x80000000u && abs(x[0]) == 7 && absdiff(x[0], x[1]) == 9u;
        good = good && addsat(uchar(250), uchar(10)) == 255 && subsat(char(-120), char(100)) == -128 && hadd(7u, 8u) == 7u && rhadd(7u, 8u) == 8u;
        good = good && extract_bits(0xabcdu, 4, 8) == 0xbcu && extract_bits(-16, 4, 4) == -1 && insert_bits(0u, 0xffu, 8, 4) == 0xf00u;
        good = good && clamp(x[7], 0, 100) == 100 && max3(1, 3, 2) == 3 && median3(5, 1, 3) == 3 && mad24(3, 4, 5) == 17 && select(1, 2, true) == 2;
        const int4 v = int4(7, -7, 9, 0) / int4(2, 2, 0, 5);                         // one more division by zero
        good = good && v.x == 3 && v.y == -3 && v.w == 0 && all((int2(5, 6) % 4) == int2(1, 2));
        good = good && int(-2.9f) == -2 && uint(3.9f) == 3u && int(NAN) == 0 && uchar(300) == 44 && char(uchar(200)) == -56;
        ok[0] = good ? 1u : 0u;
    } else ok[tid] = 1u;
}
