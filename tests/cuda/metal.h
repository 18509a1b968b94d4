/* Metal's standard library in CUDA C++, for text that build/cuda-text has prepared (text.cc).
 *
 * Everything is in namespace metal, and so is the text: its float4 then means ours, not CUDA's. A
 * simdgroup is a warp. With METAL_MATRICES defined, the lanes of a warp are numbered in another
 * order, so that lane l has those elements of an 8x8 matrix that it has on an Apple GPU and,
 * without any shuffle, in mma.sync as well. METAL_TF32 multiplies floats as tf32.
 *
 * As under math_mode(safe): functions without a namespace are precise, division and square root are
 * rounded correctly; fast:: is the hardware's approximation. */
#ifndef CUDA_METAL_H
#define CUDA_METAL_H
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <type_traits>

#define MTL __device__ __forceinline__
#undef INFINITY
#undef NAN
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define M_PI_F 3.14159265358979323846f
#define M_LN2_F 0.69314718055994530942f
#define M_LOG2E_F 1.44269504088896340736f
#define MAXFLOAT 0x1.fffffep127f

namespace metal {

typedef unsigned char  uchar;
typedef unsigned short ushort;
typedef unsigned int   uint;
typedef unsigned long  ulong;
typedef signed char    int8_t;
typedef unsigned char  uint8_t;
typedef short          int16_t;
typedef unsigned short uint16_t;
typedef int            int32_t;
typedef unsigned int   uint32_t;
typedef long           int64_t;
typedef unsigned long  uint64_t;
using std::conditional;
using std::conditional_t;
using std::enable_if;
using std::enable_if_t;
using std::integral_constant;
using std::is_same;
template <class A, class B> constexpr bool is_same_v = std::is_same<A, B>::value;

template <class T, class U> MTL T as_type(U x) {
    static_assert(sizeof(T) == sizeof(U), "as_type: the sizes of the types differ");
    T r;
    memcpy(&r, &x, sizeof r);
    return r;
}

/* -- half and bfloat -------------------------------- */

/* Operators take two of one type and are templates, so that nothing converts to fit them: a half
 * and a float find the built-in operator of floats. */
template <class T> struct is_short_float : std::false_type {};
/* A half of an integer in one conversion: by way of a float they are two, of which the hardware does few. */
template <class U> MTL __half number_to_half(U x) {
    if constexpr (!std::is_integral<U>::value || sizeof(U) > 4) return __float2half_rn(float(x));
    else if constexpr (std::is_signed<U>::value) return __int2half_rn(x);
    else return __uint2half_rn(x);
}
template <class U> MTL __nv_bfloat16 number_to_bfloat(U x) { return __float2bfloat16_rn(float(x)); }
#define X(name, raw, from_float, to_float)                                                         \
    struct name {                                                                                  \
        raw v;                                                                                     \
        name() = default;                                                                          \
        MTL name(raw r) : v(r) {}                                                                  \
        template <class U, class = enable_if_t<std::is_arithmetic<U>::value>>                      \
        MTL name(U x) : v(number_to_##name(x)) {}                                                  \
        template <class U, class = enable_if_t<is_short_float<U>::value>, class = void>            \
        MTL explicit name(U x) : v(from_float(float(x))) {}                                        \
        MTL operator float() const { return to_float(v); }                                         \
        MTL name  operator-() const { return name(__hneg(v)); }                                    \
        MTL name &operator+=(float o) { return *this = name(float(*this) + o); }                   \
        MTL name &operator-=(float o) { return *this = name(float(*this) - o); }                   \
        MTL name &operator*=(float o) { return *this = name(float(*this) * o); }                   \
        MTL name &operator/=(float o) { return *this = name(float(*this) / o); }                   \
    };                                                                                             \
    template <> struct is_short_float<name> : std::true_type {};
X(half, __half, __float2half_rn, __half2float)
X(bfloat, __nv_bfloat16, __float2bfloat16_rn, __bfloat162float)
#undef X
#define X(op, f)                                                                                   \
    template <class H> MTL enable_if_t<is_short_float<H>::value, H> operator op(H a, H b) {        \
        return H(f(a.v, b.v));                                                                     \
    }
X(+, __hadd_rn) X(-, __hsub_rn) X(*, __hmul_rn)
#undef X
template <class H> MTL enable_if_t<is_short_float<H>::value, H> operator/(H a, H b) {
    return H(float(a) / float(b));
}

/* -- Vectors -------------------------------- */

/* Plain members, so that a vector is loaded and stored whole: alignment is that of the vector. */
template <class T, int N> struct elements;
template <class T> struct alignas(2 * sizeof(T)) elements<T, 2> { T x, y; };
template <class T> struct alignas(4 * sizeof(T)) elements<T, 3> { T x, y, z; };
template <class T> struct alignas(4 * sizeof(T)) elements<T, 4> { T x, y, z, w; };
template <class T, int N> struct packed_vec;
template <class T, int N> struct vec;
template <class V, int... I> struct swizzle;

#define EACH(n) _Pragma("unroll") for (int i = 0; i < (n); i++)
#define EACH_OF(expr)                                                                              \
    vec r;                                                                                         \
    EACH(N) r[i] = T(expr);                                                                        \
    return r;

template <class T, int N> struct vec : elements<T, N> {
    typedef T component;
    vec() = default;
    MTL vec(T s) { EACH(N) (*this)[i] = s; }
    MTL vec(T a, T b) { put(0, a, b); }
    MTL vec(T a, T b, T c) { put(0, a, b, c); }
    MTL vec(T a, T b, T c, T d) { put(0, a, b, c, d); }
    MTL explicit vec(vec<T, 2> a, vec<T, 2> b) { put(0, a.x, a.y, b.x, b.y); }
    MTL explicit vec(vec<T, 2> a, T b) { put(0, a.x, a.y, b); }
    MTL explicit vec(T a, vec<T, 2> b) { put(0, a, b.x, b.y); }
    MTL explicit vec(vec<T, 2> a, T b, T c) { put(0, a.x, a.y, b, c); }
    MTL explicit vec(T a, vec<T, 2> b, T c) { put(0, a, b.x, b.y, c); }
    MTL explicit vec(T a, T b, vec<T, 2> c) { put(0, a, b, c.x, c.y); }
    MTL explicit vec(vec<T, 3> a, T b) { put(0, a.x, a.y, a.z, b); }
    MTL explicit vec(T a, vec<T, 3> b) { put(0, a, b.x, b.y, b.z); }
    /* Four bytes become halves without a conversion: behind 0x64 a byte is the half 1024 + byte. Bytes with a sign are moved
     * to 0 to 255 first. */
    template <class U, class = enable_if_t<!std::is_same<U, T>::value>>
    MTL explicit vec(vec<U, N> o) {
        if constexpr (N == 4 && is_same_v<T, half> && std::is_integral<U>::value && sizeof(U) == 1 && !is_same_v<U, bool>) {
            const unsigned x = as_type<unsigned>(o) ^ (std::is_signed<U>::value ? 0x80808080u : 0);
            unsigned       h[2] = {__byte_perm(x, 0x64646464u, 0x4140), __byte_perm(x, 0x64646464u, 0x4342)};
            const __half2  less = __half2half2(__float2half_rn(std::is_signed<U>::value ? 1152.0f : 1024.0f));
            EACH(2) h[i] = as_type<unsigned>(__hsub2_rn(as_type<__half2>(h[i]), less));
            __builtin_memcpy(this, h, sizeof h);
        } else EACH(N) (*this)[i] = T(o[i]);
    }
    MTL vec(const packed_vec<T, N> &o) {
        if (o.is_aligned()) *this = *(const vec *)&o;
        else EACH(N) (*this)[i] = o[i];
    }

    template <class... R> MTL void put(int i, T first, R... rest) {
        (*this)[i] = first;
        if constexpr (sizeof...(rest) > 0) put(i + 1, rest...);
    }
    MTL T       &operator[](int i) { return (&this->x)[i]; }
    MTL const T &operator[](int i) const { return (&this->x)[i]; }
    template <int... I> MTL vec<T, int(sizeof...(I))> get() const { return {(*this)[I]...}; }
    template <int... I> MTL swizzle<vec, I...> set() { return {*this}; }

#define X(op)                                                                                      \
    friend MTL vec operator op(vec p, vec q) { EACH_OF(p[i] op q[i]) }                             \
    MTL vec       &operator op##=(vec q) { return *this = *this op q; }
    X(+) X(-) X(*) X(/) X(%) X(&) X(|) X(^) X(<<) X(>>)
#undef X
    friend MTL vec operator-(vec p) { EACH_OF(-p[i]) }
    friend MTL vec operator+(vec p) { return p; }
    friend MTL vec operator~(vec p) { EACH_OF(~p[i]) }
#define X(op)                                                                                      \
    friend MTL vec<bool, N> operator op(vec p, vec q) {                                            \
        vec<bool, N> r;                                                                            \
        EACH(N) r[i] = p[i] op q[i];                                                               \
        return r;                                                                                  \
    }
    X(<) X(<=) X(>) X(>=) X(==) X(!=) X(&&) X(||)
#undef X
    friend MTL vec<bool, N> operator!(vec p) {
        vec<bool, N> r;
        EACH(N) r[i] = !p[i];
        return r;
    }
};

/* What stands left of an assignment to v.xz. */
template <class V, int... I> struct swizzle {
    V &of;
    typedef vec<typename V::component, int(sizeof...(I))> value;
    MTL operator value() const { return {of[I]...}; }
    MTL void operator=(value v) {
        int i = 0;
        ((of[I] = v[i++]), ...);
    }
    MTL void operator+=(value v) { *this = value(*this) + v; }
    MTL void operator-=(value v) { *this = value(*this) - v; }
    MTL void operator*=(value v) { *this = value(*this) * v; }
    MTL void operator/=(value v) { *this = value(*this) / v; }
};

/* Aligned as an element. NVIDIA's vector accesses fault on less than their own alignment, so an
 * address decides: a whole vector where it is aligned, elements elsewhere. */
template <class T, int N> struct packed_vec {
    T e[N];
    packed_vec() = default;
    MTL packed_vec(vec<T, N> v) { EACH(N) e[i] = v[i]; }
    MTL bool is_aligned() const { /* three elements take less room than their vector */
        return N != 3 && (ulong(this) & (sizeof(vec<T, N>) - 1)) == 0;
    }
    MTL void operator=(vec<T, N> v) {
        if (is_aligned()) *(vec<T, N> *)this = v;
        else EACH(N) e[i] = v[i];
    }
    MTL T &operator[](int i) { return e[i]; }
    MTL T  operator[](int i) const { return e[i]; }
};

#define X(T, name)                                                                                 \
    typedef vec<T, 2> name##2;                                                                     \
    typedef vec<T, 3> name##3;                                                                     \
    typedef vec<T, 4> name##4;                                                                     \
    typedef packed_vec<T, 2> packed_##name##2;                                                     \
    typedef packed_vec<T, 3> packed_##name##3;                                                     \
    typedef packed_vec<T, 4> packed_##name##4;
X(bool, bool) X(char, char) X(uchar, uchar) X(short, short) X(ushort, ushort) X(int, int)
X(uint, uint) X(long, long) X(ulong, ulong) X(half, half) X(float, float) X(bfloat, bfloat)
#undef X

template <class T, ulong N> struct array {
    T             of[N];
    MTL T        &operator[](ulong i) { return of[i]; }
    MTL const T  &operator[](ulong i) const { return of[i]; }
    MTL constexpr ulong size() const { return N; }
};

template <class T> struct numeric_limits;
#define X(T, least, most)                                                                          \
    template <> struct numeric_limits<T> {                                                         \
        static MTL constexpr T min() { return T(least); }                                          \
        static MTL constexpr T lowest() { return T(least); }                                       \
        static MTL constexpr T max() { return T(most); }                                           \
    };
X(bool, 0, 1) X(char, -128, 127) X(uchar, 0, 255) X(short, -32768, 32767) X(ushort, 0, 65535)
X(int, -2147483647 - 1, 2147483647) X(uint, 0, 4294967295u)
X(long, -9223372036854775807l - 1, 9223372036854775807l) X(ulong, 0, ~0ul)
#undef X
#define X(T, least, most, eps)                                                                     \
    template <> struct numeric_limits<T> {                                                         \
        static MTL T min() { return T(least); }                                                    \
        static MTL T lowest() { return T(-(most)); }                                               \
        static MTL T max() { return T(most); }                                                     \
        static MTL T epsilon() { return T(eps); }                                                  \
        static MTL T infinity() { return T(INFINITY); }                                            \
        static MTL T quiet_NaN() { return T(NAN); }                                                \
    };
X(float, 0x1p-126f, 0x1.fffffep127f, 0x1p-23f) X(half, 0x1p-14f, 0x1.ffcp15f, 0x1p-10f)
X(bfloat, 0x1p-126f, 0x1.fep127f, 0x1p-7f)
#undef X

/* -- Functions of numbers -------------------------------- */

/* Each for floats, for the short floats by way of float, and for vectors element by element. */
#define OF_VECTORS_1(name)                                                                         \
    template <class T, int N> MTL auto name(vec<T, N> x)->vec<decltype(name(x[0])), N> {           \
        vec<decltype(name(x[0])), N> r;                                                            \
        EACH(N) r[i] = name(x[i]);                                                                 \
        return r;                                                                                  \
    }
#define OF_VECTORS_2(name)                                                                         \
    template <class T, int N> MTL auto name(vec<T, N> x, vec<T, N> y)                              \
        ->vec<decltype(name(x[0], x[0])), N> {                                                     \
        vec<decltype(name(x[0], x[0])), N> r;                                                      \
        EACH(N) r[i] = name(x[i], y[i]);                                                           \
        return r;                                                                                  \
    }                                                                                              \
    template <class T, int N> MTL auto name(vec<T, N> x, T y) { return name(x, vec<T, N>(y)); }    \
    template <class T, int N> MTL auto name(T x, vec<T, N> y) { return name(vec<T, N>(x), y); }
#define OF_VECTORS_3(name)                                                                         \
    template <class T, int N> MTL vec<T, N> name(vec<T, N> x, vec<T, N> y, vec<T, N> z) {          \
        vec<T, N> r;                                                                               \
        EACH(N) r[i] = name(x[i], y[i], z[i]);                                                     \
        return r;                                                                                  \
    }                                                                                              \
    template <class T, int N> MTL vec<T, N> name(vec<T, N> x, T y, T z) {                          \
        return name(x, vec<T, N>(y), vec<T, N>(z));                                                \
    }

/* ptxas 13.0 makes copysign.f32 of a register and itself its absolute value. */
MTL float sign_from(float x, float y) {
    return __uint_as_float((__float_as_uint(x) & 0x7fffffffu) |
                           (__float_as_uint(y) & 0x80000000u));
}

#define FLOAT_1(name, expr)                                                                        \
    MTL float  name(float x) { return expr; }                                                      \
    MTL half   name(half h) { return half(name(float(h))); }                                       \
    MTL bfloat name(bfloat h) { return bfloat(name(float(h))); }                                   \
    OF_VECTORS_1(name)
#define FLOAT_2(name, expr)                                                                        \
    MTL float  name(float x, float y) { return expr; }                                             \
    MTL half   name(half g, half h) { return half(name(float(g), float(h))); }                     \
    MTL bfloat name(bfloat g, bfloat h) { return bfloat(name(float(g), float(h))); }               \
    OF_VECTORS_2(name)

#define PRECISE_1(X)                                                                               \
    X(exp, ::expf(x)) X(exp2, ::exp2f(x)) X(exp10, ::exp10f(x)) X(log, ::logf(x))                  \
    X(log2, ::log2f(x)) X(log10, ::log10f(x)) X(sin, ::sinf(x)) X(cos, ::cosf(x))                  \
    X(tan, ::tanf(x)) X(tanh, ::tanhf(x)) X(rsqrt, ::rsqrtf(x)) X(sqrt, ::sqrtf(x))                \
    X(sinh, ::sinhf(x)) X(cosh, ::coshf(x)) X(asin, ::asinf(x)) X(acos, ::acosf(x))                \
    X(atan, ::atanf(x)) X(asinh, ::asinhf(x)) X(acosh, ::acoshf(x)) X(atanh, ::atanhf(x))          \
    X(sinpi, ::sinpif(x)) X(cospi, ::cospif(x))
#define PRECISE_2(X)                                                                               \
    X(pow, ::powf(x, y)) X(powr, ::powf(x, y)) X(atan2, ::atan2f(x, y)) X(fmod, ::fmodf(x, y))     \
    X(divide, x / y)
#define PLAIN_1(X)                                                                                 \
    X(fabs, ::fabsf(x)) X(floor, ::floorf(x)) X(ceil, ::ceilf(x)) X(trunc, ::truncf(x))            \
    X(rint, ::rintf(x)) X(round, ::roundf(x)) X(fract, x - ::floorf(x))                            \
    X(saturate, __saturatef(x))                                                                    \
    X(sign, x > 0 ? 1.0f : x < 0 ? -1.0f : x == 0 ? x : 0.0f)
#define PLAIN_2(X)                                                                                 \
    X(fmax, ::fmaxf(x, y)) X(fmin, ::fminf(x, y)) X(copysign, sign_from(x, y))                     \
    X(fdim, ::fdimf(x, y)) X(step, y < x ? 0.0f : 1.0f) X(nextafter, ::nextafterf(x, y))
MTL float approximate_exp2(float x) {
    float r;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
MTL float approximate_log2(float x) {
    float r;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
MTL float approximate_rsqrt(float x) {
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
MTL float approximate_sqrt(float x) {
    float r;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}
#define FAST_1(X)                                                                                  \
    X(exp, approximate_exp2(x * M_LOG2E_F)) X(exp2, approximate_exp2(x))                           \
    X(exp10, approximate_exp2(x * 3.3219280948873623f)) X(log, approximate_log2(x) * M_LN2_F)      \
    X(log2, approximate_log2(x)) X(log10, approximate_log2(x) * 0.30102999566398120f)              \
    X(sin, __sinf(x)) X(cos, __cosf(x)) X(tan, __tanf(x)) X(rsqrt, approximate_rsqrt(x))           \
    X(sqrt, approximate_sqrt(x))                                                                   \
    X(tanh, 1.0f - __fdividef(2.0f, 1.0f + approximate_exp2(x * (2.0f * M_LOG2E_F))))              \
    X(sinh, ::sinhf(x)) X(cosh, ::coshf(x)) X(asin, ::asinf(x)) X(acos, ::acosf(x))                \
    X(atan, ::atanf(x)) X(asinh, ::asinhf(x)) X(acosh, ::acoshf(x)) X(atanh, ::atanhf(x))          \
    X(sinpi, ::sinpif(x)) X(cospi, ::cospif(x))
#define FAST_2(X)                                                                                  \
    X(pow, approximate_exp2(y * approximate_log2(x)))                                              \
    X(powr, approximate_exp2(y * approximate_log2(x))) X(divide, __fdividef(x, y))                 \
    X(atan2, ::atan2f(x, y)) X(fmod, ::fmodf(x, y))
PRECISE_1(FLOAT_1) PRECISE_2(FLOAT_2) PLAIN_1(FLOAT_1) PLAIN_2(FLOAT_2)
namespace precise { PRECISE_1(FLOAT_1) PRECISE_2(FLOAT_2) PLAIN_1(FLOAT_1) PLAIN_2(FLOAT_2) }
namespace fast { FAST_1(FLOAT_1) FAST_2(FLOAT_2) PLAIN_1(FLOAT_1) PLAIN_2(FLOAT_2) }

MTL float  fma(float x, float y, float z) { return ::fmaf(x, y, z); }
MTL half   fma(half x, half y, half z) { return half(__hfma(x.v, y.v, z.v)); }
MTL bfloat fma(bfloat x, bfloat y, bfloat z) { return bfloat(__hfma(x.v, y.v, z.v)); }
OF_VECTORS_3(fma)
template <class T> MTL T mix(T x, T y, T a) { return x + (y - x) * a; }
MTL float ldexp(float x, int n) { return ::ldexpf(x, n); }
MTL half  ldexp(half x, int n) { return half(::ldexpf(float(x), n)); }
MTL int   ilogb(float x) { return ::ilogbf(x); }
MTL float frexp(float x, int &power) { return ::frexpf(x, &power); }
MTL float modf(float x, float &whole) { return ::modff(x, &whole); }
MTL float sincos(float x, float &c) {
    c = ::cosf(x);
    return ::sinf(x);
}

/* min, max, clamp: of integers and floats of one type; NaN is as in fmin and fmax. */
template <class T> MTL enable_if_t<std::is_integral<T>::value, T> min(T x, T y) {
    return y < x ? y : x;
}
template <class T> MTL enable_if_t<std::is_integral<T>::value, T> max(T x, T y) {
    return x < y ? y : x;
}
#define X(T)                                                                                       \
    MTL T min(T x, T y) { return fmin(x, y); }                                                     \
    MTL T max(T x, T y) { return fmax(x, y); }
X(float) X(half) X(bfloat)
#undef X
OF_VECTORS_2(min) OF_VECTORS_2(max)
template <class T> MTL T clamp(T x, T low, T high) { return min(max(x, low), high); }
template <class T, int N> MTL vec<T, N> clamp(vec<T, N> x, T low, T high) {
    return min(max(x, vec<T, N>(low)), vec<T, N>(high));
}

/* Integers. */
template <class T>
MTL enable_if_t<std::is_signed<T>::value && std::is_integral<T>::value, T> abs(T x) {
    return x < 0 ? T(-x) : x;
}
template <class T> MTL enable_if_t<std::is_unsigned<T>::value, T> abs(T x) { return x; }
MTL float abs(float x) { return ::fabsf(x); }
MTL half  abs(half x) { return fabs(x); }
OF_VECTORS_1(abs)
MTL int   mulhi(int x, int y) { return ::__mulhi(x, y); }
MTL uint  mulhi(uint x, uint y) { return ::__umulhi(x, y); }
MTL long  mulhi(long x, long y) { return ::__mul64hi(x, y); }
MTL ulong mulhi(ulong x, ulong y) { return ::__umul64hi(x, y); }
MTL short mulhi(short x, short y) { return short(int(x) * int(y) >> 16); }
MTL ushort mulhi(ushort x, ushort y) { return ushort(uint(x) * uint(y) >> 16); }
MTL char  mulhi(char x, char y) { return char(int(x) * int(y) >> 8); }
MTL uchar mulhi(uchar x, uchar y) { return uchar(uint(x) * uint(y) >> 8); }
OF_VECTORS_2(mulhi)
/* Half of a sum without overflow: (x + y) >> 1, and (x + y + 1) >> 1. */
template <class T> MTL enable_if_t<std::is_integral<T>::value, T> hadd(T x, T y) {
    return T((x >> 1) + (y >> 1) + (x & y & T(1)));
}
template <class T> MTL enable_if_t<std::is_integral<T>::value, T> rhadd(T x, T y) {
    return T((x >> 1) + (y >> 1) + ((x | y) & T(1)));
}
OF_VECTORS_2(hadd) OF_VECTORS_2(rhadd)
template <class T> MTL T clz(T x) {
    const ulong u = ulong(std::make_unsigned_t<T>(x));
    return T(::__clzll((long long)u) - int(64 - 8 * sizeof(T)));
}
template <class T> MTL T ctz(T x) {
    const ulong u = ulong(std::make_unsigned_t<T>(x));
    return u ? T(::__ffsll((long long)u) - 1) : T(8 * sizeof(T));
}
template <class T> MTL T popcount(T x) {
    return T(::__popcll((unsigned long long)std::make_unsigned_t<T>(x)));
}
template <class T> MTL T reverse_bits(T x) {
    return T(::__brevll((unsigned long long)std::make_unsigned_t<T>(x)) >> (64 - 8 * sizeof(T)));
}
template <class T> MTL T rotate(T x, T n) {
    typedef std::make_unsigned_t<T> U;
    const int                       bits = int(8 * sizeof(T)), k = int(n) & (bits - 1);
    return T(U(U(x) << k) | U(U(x) >> ((bits - k) & (bits - 1))));
}
template <class T> MTL T extract_bits(T x, uint at, uint bits) {
    const uint all = 8 * sizeof(T);
    return bits ? T(T(x << (all - at - bits)) >> (all - bits)) : T(0);
}
template <class T> MTL T mad24(T x, T y, T z) { return x * y + z; }
template <class T> MTL T mul24(T x, T y) { return x * y; }
OF_VECTORS_1(popcount)

/* Tests and choices. */
#define TEST(name, expr)                                                                           \
    MTL bool name(float x) { return expr; }                                                        \
    MTL bool name(half h) { return name(float(h)); }                                               \
    MTL bool name(bfloat h) { return name(float(h)); }                                             \
    OF_VECTORS_1(name)
TEST(isnan, (as_type<uint>(x) & 0x7fffffffu) > 0x7f800000u)
TEST(isinf, (as_type<uint>(x) & 0x7fffffffu) == 0x7f800000u)
TEST(isfinite, (as_type<uint>(x) & 0x7fffffffu) < 0x7f800000u)
TEST(signbit, (as_type<uint>(x) >> 31) != 0)
#undef TEST
template <class T> MTL bool isunordered(T x, T y) { return isnan(x) || isnan(y); }
template <class T> MTL bool isordered(T x, T y) { return !isunordered(x, y); }
OF_VECTORS_2(isunordered) OF_VECTORS_2(isordered)
template <class T> MTL T select(T x, T y, bool c) { return c ? y : x; }
template <class T, int N> MTL vec<T, N> select(vec<T, N> x, vec<T, N> y, vec<bool, N> c) {
    vec<T, N> r;
    EACH(N) r[i] = c[i] ? y[i] : x[i];
    return r;
}
template <int N> MTL bool all(vec<bool, N> v) {
    bool r = true;
    EACH(N) r = r && v[i];
    return r;
}
template <int N> MTL bool any(vec<bool, N> v) {
    bool r = false;
    EACH(N) r = r || v[i];
    return r;
}
template <class T, int N> MTL T dot(vec<T, N> x, vec<T, N> y) {
    T r = x[0] * y[0];
    for (int i = 1; i < N; i++) r = fma(x[i], y[i], r);
    return r;
}

/* -- Where a thread is -------------------------------- */

/* Bits of a lane's number, from the left: Metal's b4 b3 b2 b1 b0 is the hardware's b4 b2 b1 b3 b0.
 * Apple's lane holds row (b4 b2 b1), columns (b3 b0 0) and the next; mma.sync's lane h holds row
 * (h4 h3 h2), columns (h1 h0 0) and the next. */
#ifdef METAL_MATRICES
MTL uint lane_of(uint hardware) {
    return (hardware & 17u) | (hardware & 12u) >> 1 | (hardware & 2u) << 2;
}
MTL uint hardware_of(uint lane) { return (lane & 17u) | (lane & 6u) << 1 | (lane & 8u) >> 2; }
#else
MTL uint lane_of(uint hardware) { return hardware; }
MTL uint hardware_of(uint lane) { return lane; }
#endif
/* Threads of a threadgroup have whole simdgroups along x. */
MTL uint  thread_index_in_simdgroup() { return lane_of(threadIdx.x & 31u); }
MTL uint3 thread_position_in_threadgroup() {
    return uint3((threadIdx.x & ~31u) | thread_index_in_simdgroup(), threadIdx.y, threadIdx.z);
}
MTL uint3 threads_per_threadgroup() { return uint3(blockDim.x, blockDim.y, blockDim.z); }
MTL uint3 threadgroup_position_in_grid() { return uint3(blockIdx.x, blockIdx.y, blockIdx.z); }
MTL uint3 threadgroups_per_grid() { return uint3(gridDim.x, gridDim.y, gridDim.z); }
MTL uint3 thread_position_in_grid() {
    return threadgroup_position_in_grid() * threads_per_threadgroup() +
        thread_position_in_threadgroup();
}
MTL uint3 threads_per_grid() { return threadgroups_per_grid() * threads_per_threadgroup(); }
MTL uint  thread_index_in_threadgroup() {
    const uint3 at = thread_position_in_threadgroup();
    return at.x + blockDim.x * (at.y + blockDim.y * at.z);
}
MTL uint simdgroup_index_in_threadgroup() { return thread_index_in_threadgroup() / 32; }
MTL uint threads_per_simdgroup() { return 32; }
MTL uint simdgroups_per_threadgroup() { return blockDim.x * blockDim.y * blockDim.z / 32; }
/* As the kernel declares it: a vector or one number. */
template <class T> struct built_in {
    static MTL T of(uint3 at) { return T(at.x); }
    static MTL T of(uint at) { return T(at); }
};
template <class T> struct built_in<vec<T, 2>> {
    static MTL vec<T, 2> of(uint3 at) { return vec<T, 2>(T(at.x), T(at.y)); }
};
template <class T> struct built_in<vec<T, 3>> {
    static MTL vec<T, 3> of(uint3 at) { return vec<T, 3>(T(at.x), T(at.y), T(at.z)); }
};
/* A constant argument whose bytes are written into the text. */
template <class T, uint N> MTL T literal(const uint (&words)[N]) {
    static_assert(sizeof(T) <= sizeof words, "an argument longer than its bytes");
    T r;
    memcpy(&r, words, sizeof r);
    return r;
}

/* -- Order -------------------------------- */

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4 };
MTL mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(int(a) | int(b)); }
enum memory_order { memory_order_relaxed, memory_order_seq_cst, memory_order_acq_rel,
                    memory_order_acquire, memory_order_release };
enum thread_scope { thread_scope_thread, thread_scope_simdgroup, thread_scope_threadgroup,
                    thread_scope_device };
MTL void threadgroup_barrier(mem_flags) { __syncthreads(); }
MTL void simdgroup_barrier(mem_flags) { __syncwarp(); }
MTL void atomic_thread_fence(mem_flags, memory_order, thread_scope = thread_scope_device) {
    __threadfence();
}

/* -- SIMD-groups -------------------------------- */

/* The value of a hardware lane, of any size. */
template <class T> MTL T from_lane(T x, uint hardware) {
    uint w[(sizeof(T) + 3) / 4] = {};
    memcpy(w, &x, sizeof x);
    EACH(int(sizeof w / 4)) w[i] = __shfl_sync(~0u, w[i], hardware);
    memcpy(&x, w, sizeof x);
    return x;
}
template <class T> MTL T simd_shuffle(T x, ushort lane) { return from_lane(x, hardware_of(lane)); }
template <class T> MTL T simd_broadcast(T x, ushort lane) { return simd_shuffle(x, lane); }
template <class T> MTL T simd_broadcast_first(T x) { return from_lane(x, 0); }
template <class T> MTL T simd_shuffle_xor(T x, ushort mask) {
    uint w[(sizeof(T) + 3) / 4] = {};
    memcpy(w, &x, sizeof x);
    EACH(int(sizeof w / 4)) w[i] = __shfl_xor_sync(~0u, w[i], int(hardware_of(mask)));
    memcpy(&x, w, sizeof x);
    return x;
}
template <class T> MTL T simd_shuffle_and_fill_up(T x, T fill, ushort n) {
    const uint lane = thread_index_in_simdgroup();
    const T    r = simd_shuffle(x, ushort(lane - n & 31u));
    return lane < n ? fill : r;
}
template <class T> MTL T simd_shuffle_and_fill_down(T x, T fill, ushort n) {
    const uint lane = thread_index_in_simdgroup();
    const T    r = simd_shuffle(x, ushort(lane + n & 31u));
    return lane + n > 31 ? fill : r;
}
template <class T> MTL T simd_shuffle_up(T x, ushort n) {
    return simd_shuffle_and_fill_up(x, x, n);
}
template <class T> MTL T simd_shuffle_down(T x, ushort n) {
    return simd_shuffle_and_fill_down(x, x, n);
}
template <class T> MTL T simd_shuffle_rotate_up(T x, ushort n) {
    return simd_shuffle(x, ushort(thread_index_in_simdgroup() - n & 31u));
}
template <class T> MTL T simd_shuffle_rotate_down(T x, ushort n) {
    return simd_shuffle(x, ushort(thread_index_in_simdgroup() + n & 31u));
}
#define X(name, expr)                                                                              \
    template <class T> MTL T simd_##name(T x) {                                                    \
        _Pragma("unroll") for (int d = 16; d; d /= 2) {                                            \
            const T y = from_lane(x, (threadIdx.x ^ uint(d)) & 31u);                               \
            x = expr;                                                                              \
        }                                                                                          \
        return x;                                                                                  \
    }                                                                                              \
    template <class T> MTL T quad_##name(T x) {                                                    \
        _Pragma("unroll") for (int d = 2; d; d /= 2) {                                             \
            const T y = simd_shuffle_xor(x, ushort(d));                                            \
            x = expr;                                                                              \
        }                                                                                          \
        return x;                                                                                  \
    }
X(sum, T(x + y)) X(product, T(x * y)) X(min, metal::min(x, y)) X(max, metal::max(x, y))
X(and, T(x & y)) X(or, T(x | y)) X(xor, T(x ^ y))
#undef X
#define X(name, op, one)                                                                           \
    template <class T> MTL T simd_prefix_inclusive_##name(T x) {                                   \
        _Pragma("unroll") for (uint d = 1; d < 32; d *= 2)                                         \
            x = T(x op simd_shuffle_and_fill_up(x, T(one), ushort(d)));                            \
        return x;                                                                                  \
    }                                                                                              \
    template <class T> MTL T simd_prefix_exclusive_##name(T x) {                                   \
        return simd_shuffle_and_fill_up(simd_prefix_inclusive_##name(x), T(one), ushort(1));       \
    }
X(sum, +, 0) X(product, *, 1)
#undef X
template <class T> MTL T quad_shuffle_xor(T x, ushort mask) { return simd_shuffle_xor(x, mask); }
template <class T> MTL T quad_shuffle(T x, ushort i) {
    return simd_shuffle(x, ushort((thread_index_in_simdgroup() & 28u) + i));
}
template <class T> MTL T quad_broadcast(T x, ushort i) { return quad_shuffle(x, i); }

struct simd_vote {
    typedef ulong vote_t;
    ulong         bits;
    MTL explicit simd_vote(ulong v = 0) : bits(v) {}
    MTL explicit operator ulong() const { return bits; }
    MTL bool     all() const { return uint(bits) == ~0u; }
    MTL bool     any() const { return uint(bits) != 0; }
};
MTL simd_vote simd_ballot(bool c) {
#ifdef METAL_MATRICES
    return simd_vote(__reduce_or_sync(~0u, uint(c) << thread_index_in_simdgroup()));
#else
    return simd_vote(__ballot_sync(~0u, c));
#endif
}
MTL simd_vote simd_active_threads_mask() { return simd_ballot(true); }
MTL bool      simd_all(bool c) { return __all_sync(~0u, c); }
MTL bool      simd_any(bool c) { return __any_sync(~0u, c); }
MTL bool      simd_is_first() { return thread_index_in_simdgroup() == 0; }

/* -- Atomics -------------------------------- */

template <class T> struct alignas(sizeof(T)) atomic { T value; };
typedef atomic<int>   atomic_int;
typedef atomic<uint>  atomic_uint;
typedef atomic<float> atomic_float;
typedef atomic<ulong> atomic_ulong;
#define X(name, function)                                                                          \
    template <class T, class U>                                                                    \
    MTL T atomic_##name##_explicit(volatile atomic<T> *p, U v, memory_order) {                     \
        return function(const_cast<T *>(&p->value), T(v));                                         \
    }
X(fetch_add, ::atomicAdd) X(fetch_sub, ::atomicSub) X(fetch_min, ::atomicMin)
X(fetch_max, ::atomicMax) X(fetch_and, ::atomicAnd) X(fetch_or, ::atomicOr)
X(fetch_xor, ::atomicXor) X(exchange, ::atomicExch)
#undef X
template <class U> MTL void atomic_min_explicit(volatile atomic_ulong *p, U v, memory_order) {
    ::atomicMin((unsigned long long *)&p->value, (unsigned long long)v);
}
template <class U> MTL void atomic_max_explicit(volatile atomic_ulong *p, U v, memory_order) {
    ::atomicMax((unsigned long long *)&p->value, (unsigned long long)v);
}
template <class T> MTL T atomic_load_explicit(const volatile atomic<T> *p, memory_order) {
    return p->value;
}
template <class T, class U>
MTL void atomic_store_explicit(volatile atomic<T> *p, U v, memory_order) {
    p->value = T(v);
}
template <class T, class U>
MTL bool atomic_compare_exchange_weak_explicit(volatile atomic<T> *p, T *expected, U v,
                                               memory_order, memory_order) {
    const uint want = as_type<uint>(*expected);
    const uint had = ::atomicCAS((uint *)&p->value, want, as_type<uint>(T(v)));
    *expected = as_type<T>(had);
    return had == want;
}

/* -- Matrices -------------------------------- */

#ifdef METAL_MATRICES
template <class T, int Columns, int Rows> struct simdgroup_matrix {
    static_assert(Columns == 8 && Rows == 8, "only 8x8 exists");
    vec<T, 2> of;
    simdgroup_matrix() = default;
    MTL explicit simdgroup_matrix(T diagonal) {
        const uint row = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
        of = vec<T, 2>(row == column ? diagonal : T(0), row == column + 1 ? diagonal : T(0));
    }
    MTL vec<T, 2> &thread_elements() { return of; }
};
typedef simdgroup_matrix<float, 8, 8>  simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8>   simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;

template <class T, int C, int R> MTL simdgroup_matrix<T, C, R> make_filled_simdgroup_matrix(T v) {
    simdgroup_matrix<T, C, R> m;
    m.of = vec<T, 2>(v);
    return m;
}

/* A pair in one access where it is aligned. The compiler knows that of arrays, if their address is
 * asked for in their own space: a generic one's low bits are the same, but nothing is known of
 * them. */
template <class T> MTL bool pairs(const T *p) {
    return (__cvta_generic_to_shared(p) & (2 * sizeof(T) - 1)) == 0;
}
template <class T>
MTL void simdgroup_load(simdgroup_matrix<T, 8, 8> &m, const T *p, ulong stride = 8,
                        ulong2 origin = ulong2(0), bool transpose = false) {
    const uint row = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
    p += origin.y * stride + origin.x;
    if (transpose) {
        m.of.x = p[column * stride + row];
        m.of.y = p[(column + 1) * stride + row];
        return;
    }
    p += row * stride + column;
    if (pairs(p)) m.of = *(const vec<T, 2> *)p;
    else m.of = vec<T, 2>(p[0], p[1]);
}
template <class T>
MTL void simdgroup_store(simdgroup_matrix<T, 8, 8> m, T *p, ulong stride = 8,
                         ulong2 origin = ulong2(0), bool transpose = false) {
    const uint row = threadIdx.x % 32 / 4, column = threadIdx.x % 4 * 2;
    p += origin.y * stride + origin.x;
    if (transpose) {
        p[column * stride + row] = m.of.x;
        p[(column + 1) * stride + row] = m.of.y;
        return;
    }
    p += row * stride + column;
    if (pairs(p)) *(vec<T, 2> *)p = m.of;
    else p[0] = m.of.x, p[1] = m.of.y;
}

#ifdef METAL_REGISTERS
/* Not to be run: takes the registers that a product takes where matrices are the hardware's own,
 * its operands' and no more. mma.sync wants four for each sum, two of them unused here. */
template <class T> MTL float2 product(vec<T, 2> a, vec<T, 2> b, float2 c) {
    if constexpr (sizeof(T) == 2)
        asm volatile("{.reg .f32 p, q; mov.b32 p, %2; mov.b32 q, %3;\n"
                     "fma.rn.f32 %0, p, q, %0; fma.rn.f32 %1, p, q, %1;}"
                     : "+f"(c.x), "+f"(c.y)
                     : "r"(as_type<uint>(a)), "r"(as_type<uint>(b)));
    else
        asm volatile("fma.rn.f32 %0, %2, %4, %0; fma.rn.f32 %1, %3, %5, %1;"
                     : "+f"(c.x), "+f"(c.y)
                     : "f"(a.x), "f"(a.y), "f"(b.x), "f"(b.y));
    return c;
}
#else
/* b with rows and columns exchanged, as the right operand of mma.sync wants it. */
MTL uint transposed(uint b) {
    uint r;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(r) : "r"(b));
    return r;
}
/* In floats, the lane of row r and columns c, c+1 gets the elements of rows c, c+1 in column r. Two
 * shuffles: a lane of an even row offers its first element first, one of an odd row its second. */
MTL float2 transposed(float2 b) {
    const uint h = threadIdx.x % 32, row = h / 4, from = (h % 4) * 8 + h / 8;
    const bool odd = row % 2 != 0;
    const float p = __shfl_sync(~0u, odd ? b.y : b.x, from + (odd ? 4 : 0));
    const float q = __shfl_sync(~0u, odd ? b.x : b.y, from + (odd ? 0 : 4));
    return odd ? float2(q, p) : float2(p, q);
}
/* Half of a 16x8 product; the other eight rows are zero. Volatile, so that no product moves under a
 * condition that not all lanes meet. */
#define X(T, name)                                                                                 \
    MTL float2 product(vec<T, 2> a, vec<T, 2> b, float2 c) {                                       \
        float2 d;                                                                                  \
        float  e, f;                                                                               \
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32." name "." name ".f32 {%0,%1,%2,%3}, "  \
            "{%4,%5}, {%6}, {%7,%8,%9,%9};"                                                         \
            : "=f"(d.x), "=f"(d.y), "=f"(e), "=f"(f)                                               \
            : "r"(as_type<uint>(a)), "r"(0), "r"(transposed(as_type<uint>(b))), "f"(c.x),          \
              "f"(c.y), "f"(0.0f));                                                                \
        return d;                                                                                  \
    }
X(half, "f16") X(bfloat, "bf16")
#undef X
/* Floats: products and sums in double by DMMA, which is exact but for the last rounding. Its lane
 * has one column of a, so the even columns go first and the odd ones after them. */
MTL float2 product(float2 a, float2 b, float2 c) {
    const float2 t = transposed(b);
#ifdef METAL_TF32
    float2 d;
    float  e, f;
    asm volatile("{.reg .b32 a0, a1, b0, b1;\n"
        "cvt.rna.tf32.f32 a0, %4; cvt.rna.tf32.f32 a1, %5;\n"
        "cvt.rna.tf32.f32 b0, %6; cvt.rna.tf32.f32 b1, %7;\n"
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {a0,%10,a1,%10}, "
        "{b0,b1}, {%8,%9,%11,%11};}"
        : "=f"(d.x), "=f"(d.y), "=f"(e), "=f"(f)
        : "f"(a.x), "f"(a.y), "f"(t.x), "f"(t.y), "f"(c.x), "f"(c.y), "r"(0), "f"(0.0f));
    return d;
#else
    double x = c.x, y = c.y;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(x), "+d"(y) : "d"(double(a.x)), "d"(double(t.x)));
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
        : "+d"(x), "+d"(y) : "d"(double(a.y)), "d"(double(t.y)));
    return float2(float(x), float(y));
#endif
}
#endif
template <class A, class B> MTL float2 product(vec<A, 2> a, vec<B, 2> b, float2 c) {
    return product(float2(a), float2(b), c);
}
template <class D, class A, class B, class C>
MTL void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8> &d, simdgroup_matrix<A, 8, 8> a,
                                       simdgroup_matrix<B, 8, 8> b, simdgroup_matrix<C, 8, 8> c) {
    d.of = vec<D, 2>(product(a.of, b.of, float2(c.of)));
}
template <class D, class A, class B>
MTL void simdgroup_multiply(simdgroup_matrix<D, 8, 8> &d, simdgroup_matrix<A, 8, 8> a,
                            simdgroup_matrix<B, 8, 8> b) {
    d.of = vec<D, 2>(product(a.of, b.of, float2(0.0f)));
}
#endif

} // namespace metal
#endif
