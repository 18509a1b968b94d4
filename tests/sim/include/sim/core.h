/* Address spaces, scalar types and the few templates that every other header needs.
 *
 * Metal text is compiled as C++ for OpenCL, the one dialect of clang that already knows Metal's
 * rules for address spaces: pointers into different spaces do not convert, `double` does not exist,
 * shift counts are masked, calls that synchronise are never duplicated or moved into branches. On a
 * CPU target all spaces are the same memory, so the checked program is also the one that runs. */
#ifndef SIM_CORE_H
#define SIM_CORE_H

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define device __global
#define threadgroup __local
#ifdef SIM_THREAD_ANYWHERE
#define thread
#else
#define thread __private
#endif
#define constant const __constant

/* No debug lines of its own: an access made by a header shows up at the caller's line. And overflow
 * in here is meant. */
#define SIM_FN inline __attribute__((always_inline, nodebug, no_sanitize("undefined")))

/* OpenCL owns these names; Metal's own types stand behind macros so that both can exist. */
#define atomic_int sim_metal_atomic_int
#define atomic_uint sim_metal_atomic_uint
#define atomic_bool sim_metal_atomic_bool
#define atomic_float sim_metal_atomic_float
#define atomic_ulong sim_metal_atomic_ulong
#define atomic_long sim_metal_atomic_long /* and Metal has none of these */
#define atomic_double sim_metal_atomic_double
#define atomic_flag sim_metal_atomic_flag
#define atomic_size_t sim_metal_atomic_size_t

#include "runtime.h"

typedef unsigned char  uchar;
typedef unsigned short ushort;
typedef unsigned int   uint;
typedef unsigned long  ulong;

#ifdef SIM_FOREIGN
typedef char          int8_t;
typedef unsigned long size_t;
typedef long          ptrdiff_t;
typedef unsigned long uintptr_t;
typedef long          intptr_t;
#else
typedef signed char int8_t;
#endif
typedef unsigned char  uint8_t;
typedef short          int16_t;
typedef unsigned short uint16_t;
typedef int            int32_t;
typedef unsigned int   uint32_t;
typedef long           int64_t;
typedef unsigned long  uint64_t;

namespace sim {

template <bool B, typename T = void> struct enable {};
template <typename T> struct enable<true, T> {
    typedef T type;
};

template <typename A, typename B> struct same {
    static constexpr bool value = false;
};
template <typename A> struct same<A, A> {
    static constexpr bool value = true;
};

template <typename T> struct is_integer {
    static constexpr bool value = false;
};
template <typename T> struct is_signed {
    static constexpr bool value = false;
};
#define X(T, S)                                                                                    \
    template <> struct is_integer<T> {                                                             \
        static constexpr bool value = true;                                                        \
    };                                                                                             \
    template <> struct is_signed<T> {                                                              \
        static constexpr bool value = S;                                                           \
    };
X(char, true) X(uchar, false) X(short, true) X(ushort, false)
X(int, true) X(uint, false) X(long, true) X(ulong, false)
#undef X

constexpr ulong larger_of(ulong a, ulong b) { return a > b ? a : b; }

/* Bytes of threadgroup memory that variables need, from (size, alignment) pairs in order. */
constexpr ulong group_bytes_from(ulong at) { return (at + 15ul) & ~15ul; }
template <typename... Rest>
constexpr ulong group_bytes_from(ulong at, ulong size, ulong align, Rest... rest) {
    return group_bytes_from(((at + align - 1ul) & ~(align - 1ul)) + size, rest...);
}
template <typename... Rest> constexpr ulong group_bytes(Rest... rest) {
    return group_bytes_from(0ul, rest...);
}

/* A parameter of this type takes no part in deduction, so that it accepts conversions. */
template <typename T> struct plain {
    typedef T type;
};

/* Metal gives division by zero, and the lowest number by -1, an unspecified value and no trap.
 * Here it is a value that nobody expects, and a counter. */
template <typename T> SIM_FN constexpr T quotient(T a, T b, bool remainder) {
    if (b == T(0)) return T(sim_divide_by_zero(remainder));
    if constexpr (is_signed<T>::value)
        if (b == T(-1)) {
            const T negative = T(ulong(0) - ulong(a));
            if (sizeof(T) >= 4 && a == negative && a != T(0))
                return T(sim_divide_by_zero(remainder));
            return remainder ? T(0) : negative;
        }
    return remainder ? T(a % b) : T(a / b);
}

/* The front end writes `a / b` as `a * divide() * b`, which binds alike, and `a /= b` as
 * `a *= divide() += b`. So operands keep their types and integer division can be watched. */
struct divide {};
struct remainder {};
template <typename T> struct dividend {
    T value;
};
template <typename T> struct dividend_of_remainder {
    T value;
};
template <typename T> struct divisor {
    T value;
};
template <typename T> struct divisor_of_remainder {
    T value;
};

template <typename T> SIM_FN constexpr dividend<T> operator*(T a, divide) { return {a}; }
template <typename T> SIM_FN constexpr dividend_of_remainder<T> operator*(T a, remainder) {
    return {a};
}

template <typename T, typename U>
SIM_FN constexpr auto operator*(dividend<T> a, U b) -> decltype(a.value / b) {
    typedef decltype(a.value / b) R;
    if constexpr (is_integer<R>::value) return quotient<R>(R(a.value), R(b), false);
    else return a.value / b;
}
template <typename T, typename U>
SIM_FN constexpr auto operator*(dividend_of_remainder<T> a, U b) -> decltype(a.value % b) {
    typedef decltype(a.value % b) R;
    if constexpr (is_integer<R>::value) return quotient<R>(R(a.value), R(b), true);
    else return a.value % b;
}

template <typename T> SIM_FN constexpr divisor<T> operator+=(divide, T b) { return {b}; }
template <typename T> SIM_FN constexpr divisor_of_remainder<T> operator+=(remainder, T b) {
    return {b};
}

/* For components of vectors, whose compound assignment clang spells out as get, operate, put. */
template <typename T, typename U>
SIM_FN auto operator*(T a, divisor<U> b) -> decltype(a / b.value) {
    return a * divide() * b.value;
}
template <typename T, typename U>
SIM_FN auto operator*(T a, divisor_of_remainder<U> b) -> decltype(a % b.value) {
    return a * remainder() * b.value;
}

template <typename T, typename U>
SIM_FN auto operator*=(T &a, divisor<U> b) -> decltype(a / b.value, a) {
    a = a * divide() * b.value;
    return a;
}
template <typename T, typename U>
SIM_FN auto operator*=(T &a, divisor_of_remainder<U> b) -> decltype(a % b.value, a) {
    a = a * remainder() * b.value;
    return a;
}

/* In `c ? a : b` one operand may be an object in device memory and the other a value. For Metal's
 * built-in vectors and bfloat that is nothing special; for classes it is an error, so the front end
 * writes `c ? value() ->* a : value() ->* b`, which makes a value of the first operand of each. */
struct value {};
template <typename T> SIM_FN constexpr T operator->*(value, T x) { return x; }

} // namespace sim

#endif
