/* Metal's library for stock clang, which makes SPIR-V of it: C++ for OpenCL 2021. Text comes from metal.py.
 *
 * Nothing here runs: what counts is the instructions that a call becomes. Functions agx_OP_TYPE are only declared;
 * mesa/count.c knows them. TYPE is a type's letter and bits, u32, or v where nothing is returned.
 *
 * A vector is clang's own, so that a load of one is a load of one. Debug lines are those of the text: nothing here
 * has any. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define device __global
#define constant __constant
#define threadgroup __local
#define thread __private
#define kernel __kernel
#define INLINE inline __attribute__((always_inline, nodebug))
#define PURE __attribute__((const, nothrow))
#define LANES __attribute__((const, nothrow, convergent)) /* stays where it is in control flow */
#define EFFECT __attribute__((nothrow, convergent))

#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()
#define M_LN2_F 0.69314718f
#define M_LOG2E_F 1.44269504f
#define M_PI_F 3.14159265f

typedef unsigned char  uchar;
typedef unsigned short ushort;
typedef unsigned int   uint;
typedef unsigned long  ulong;
typedef unsigned long  size_t;
typedef long           ptrdiff_t;
typedef signed char    int8_t;
typedef uchar          uint8_t;
typedef short          int16_t;
typedef ushort         uint16_t;
typedef int            int32_t;
typedef uint           uint32_t;
typedef long           int64_t;
typedef ulong          uint64_t;

/* -- Vectors ------------------------------------------------------------------------------------ */

template <class T, int N> using vec = T __attribute__((ext_vector_type(N)));
#define X(T)                                                                                       \
    typedef T T##2 __attribute__((ext_vector_type(2)));                                            \
    typedef T T##3 __attribute__((ext_vector_type(3)));                                            \
    typedef T T##4 __attribute__((ext_vector_type(4)));                                            \
    typedef T packed_##T##2 __attribute__((ext_vector_type(2), aligned(sizeof(T))));               \
    typedef T packed_##T##4 __attribute__((ext_vector_type(4), aligned(sizeof(T))));
X(char) X(uchar) X(short) X(ushort) X(int) X(uint) X(long) X(ulong) X(half) X(float)
#undef X

template <class A, class B> struct is_same { static constexpr bool value = false; };
template <class A> struct is_same<A, A> { static constexpr bool value = true; };
template <class A, class B> constexpr __constant bool is_same_v = is_same<A, B>::value;

template <bool> struct only {};
template <> struct only<true> { typedef void type; };

/* A parameter that takes no part in deduction. */
template <class T> struct plain_type { typedef T type; };
template <class T> using plain = typename plain_type<T>::type;

template <class V> struct shape { typedef V element; enum { n = 1 }; };
template <class T, int N> struct shape<vec<T, N>> { typedef T element; enum { n = N }; };


/* bfloat is 16 bits of storage; arithmetic is in float, as G13 has none of its own. */
struct bfloat {
    ushort bits;
    bfloat() = default;
    INLINE bfloat(float f) {
        const uint u = __builtin_bit_cast(uint, f);
        bits = ushort(f != f ? 0x7fffu : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
    }
    template <class V, class = typename only<is_same<V, const volatile __global bfloat>::value ||
                                             is_same<V, const __constant bfloat>::value>::type>
    INLINE bfloat(V &o) : bits(o.bits) {}
    INLINE operator float() const { return __builtin_bit_cast(float, uint(bits) << 16); }
};
INLINE bfloat operator-(bfloat a) { return bfloat(-float(a)); }

/* Vectors of what clang has none of: bool and bfloat. */
#define PAIR(name, T, align)                                                                       \
    struct __attribute__((aligned(align))) name {                                                  \
        T x, y;                                                                                    \
        name() = default;                                                                          \
        INLINE name(T a) : x(a), y(a) {}                                                           \
        INLINE name(T a, T b) : x(a), y(b) {}                                                      \
        INLINE T operator[](int i) const { return i ? y : x; }                                     \
        PAIR_##T(name)                                                                             \
    };
#define QUAD(name, T, align)                                                                       \
    struct __attribute__((aligned(align))) name {                                                  \
        T x, y, z, w;                                                                              \
        name() = default;                                                                          \
        INLINE name(T a) : x(a), y(a), z(a), w(a) {}                                               \
        INLINE name(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}                                \
        INLINE T operator[](int i) const { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }      \
        QUAD_##T(name)                                                                             \
    };
#define PAIR_bool(name)                                                                            \
    template <class T> INLINE name(vec<T, 2> v) : x(v.x != T(0)), y(v.y != T(0)) {}
#define QUAD_bool(name)                                                                            \
    template <class T>                                                                             \
    INLINE name(vec<T, 4> v) : x(v.x != T(0)), y(v.y != T(0)), z(v.z != T(0)), w(v.w != T(0)) {}
#define PAIR_bfloat(name) INLINE explicit name(float2 v) : x(v.x), y(v.y) {}
#define QUAD_bfloat(name) INLINE explicit name(float4 v) : x(v.x), y(v.y), z(v.z), w(v.w) {}
PAIR(bool2, bool, 1) QUAD(bool4, bool, 1)
PAIR(bfloat2, bfloat, 2) QUAD(bfloat4, bfloat, 8)
#undef PAIR_bfloat
#undef QUAD_bfloat
#define PAIR_bfloat(name)                                                                          \
    INLINE name(bfloat2 v) : x(v.x), y(v.y) {}                                                     \
    INLINE operator bfloat2() const { return bfloat2(x, y); }
#define QUAD_bfloat(name)                                                                          \
    INLINE name(bfloat4 v) : x(v.x), y(v.y), z(v.z), w(v.w) {}                                     \
    INLINE operator bfloat4() const { return bfloat4(x, y, z, w); }
PAIR(packed_bfloat2, bfloat, 2) QUAD(packed_bfloat4, bfloat, 2)

/* The bits of another type. Those of bfloats go one by one: as a whole they would be one wide integer. */
template <class T, class U> INLINE T as_type(U x) {
    if constexpr (is_same<T, bfloat4>::value && is_same<U, ushort4>::value) {
        T r;
        r.x.bits = x.x; r.y.bits = x.y; r.z.bits = x.z; r.w.bits = x.w;
        return r;
    } else if constexpr (is_same<T, ushort4>::value && is_same<U, bfloat4>::value) {
        T r;
        r.x = x.x.bits; r.y = x.y.bits; r.z = x.z.bits; r.w = x.w.bits;
        return r;
    } else return __builtin_bit_cast(T, x);
}

#define X(op)                                                                                      \
    INLINE bool2 operator op(bool2 a, bool2 b) {                                                   \
        return bool2(bool(a.x op b.x), bool(a.y op b.y));                                          \
    }                                                                                              \
    INLINE bool4 operator op(bool4 a, bool4 b) {                                                   \
        return bool4(bool(a.x op b.x), bool(a.y op b.y), bool(a.z op b.z), bool(a.w op b.w));      \
    }
X(&) X(|) X(^) X(&&) X(||) X(==) X(!=) X(<) X(<=) X(>) X(>=)
#undef X
INLINE bool2 operator!(bool2 a) { return bool2(!a.x, !a.y); }
INLINE bool4 operator!(bool4 a) { return bool4(!a.x, !a.y, !a.z, !a.w); }

/* float4(...) of one operand: a scalar for all, or a vector converted. metal.py writes made<float4>(...). */
template <class V, class A> struct converted {
    static INLINE V of(A a) {
        if constexpr (shape<V>::n == 1) return V(a);
        else if constexpr (shape<A>::n == 1) { V r = V(typename shape<V>::element(a)); return r; }
        else return __builtin_convertvector(a, V);
    }
};
#define X(S, E)                                                                                    \
    template <class V> struct converted<V, S##2> {                                                 \
        static INLINE V of(S##2 a) {                                                               \
            typedef typename shape<V>::element T;                                                  \
            V r;                                                                                   \
            r.x = T(E(a.x)); r.y = T(E(a.y));                                                      \
            return r;                                                                              \
        }                                                                                          \
    };                                                                                             \
    template <class V> struct converted<V, S##4> {                                                 \
        static INLINE V of(S##4 a) {                                                               \
            typedef typename shape<V>::element T;                                                  \
            V r;                                                                                   \
            r.x = T(E(a.x)); r.y = T(E(a.y)); r.z = T(E(a.z)); r.w = T(E(a.w));                    \
            return r;                                                                              \
        }                                                                                          \
    };
X(bool, bool) X(bfloat, float) X(packed_bfloat, float)
#undef X
template <> struct converted<bool2, bool2> { static INLINE bool2 of(bool2 a) { return a; } };
template <> struct converted<bool4, bool4> { static INLINE bool4 of(bool4 a) { return a; } };
template <class V, class A> INLINE V made(A a) { return converted<V, A>::of(a); }

/* Of several: one after the other. */
template <class V, int K, class A> INLINE void put(thread V &r, A a) {
    typedef typename shape<V>::element T;
    if constexpr (shape<A>::n == 1) r[K] = T(a);
    else {
        r[K] = T(a[0]); r[K + 1] = T(a[1]);
        if constexpr (shape<A>::n > 2) r[K + 2] = T(a[2]);
        if constexpr (shape<A>::n > 3) r[K + 3] = T(a[3]);
    }
}
template <class V, int K> INLINE void fill(thread V &) {}
template <class V, int K, class A, class... B> INLINE void fill(thread V &r, A a, B... b) {
    put<V, K>(r, a);
    fill<V, K + shape<A>::n>(r, b...);
}
template <class V, class A, class B, class... C> INLINE V made(A a, B b, C... c) {
    V r;
    fill<V, 0>(r, a, b, c...);
    return r;
}

/* A function of scalars, for vectors: element by element. */
#define OF_VECTORS_1(name)                                                                         \
    template <class T> INLINE vec<T, 2> name(vec<T, 2> v) {                                        \
        vec<T, 2> r;                                                                               \
        r.x = name(v.x); r.y = name(v.y);                                                          \
        return r;                                                                                  \
    }                                                                                              \
    template <class T> INLINE vec<T, 4> name(vec<T, 4> v) {                                        \
        vec<T, 4> r;                                                                               \
        r.x = name(v.x); r.y = name(v.y); r.z = name(v.z); r.w = name(v.w);                        \
        return r;                                                                                  \
    }
#define OF_VECTORS_2(name)                                                                         \
    template <class T> INLINE vec<T, 2> name(vec<T, 2> v, plain<vec<T, 2>> w) {                    \
        vec<T, 2> r;                                                                               \
        r.x = name(v.x, w.x); r.y = name(v.y, w.y);                                                \
        return r;                                                                                  \
    }                                                                                              \
    template <class T> INLINE vec<T, 4> name(vec<T, 4> v, plain<vec<T, 4>> w) {                    \
        vec<T, 4> r;                                                                               \
        r.x = name(v.x, w.x); r.y = name(v.y, w.y); r.z = name(v.z, w.z); r.w = name(v.w, w.w);    \
        return r;                                                                                  \
    }

/* In `c ? a : b` one operand may be an object in device memory: metal.py makes both values. */
struct metal_value {};
template <class T> INLINE constexpr T operator->*(metal_value, T x) { return x; }

/* -- What count.c makes of calls ----------------------------------------------------------------- */

extern "C" {
#define OF_TYPES(X, ...)                                                                           \
    X(__VA_ARGS__, f32, float) X(__VA_ARGS__, h16, half) X(__VA_ARGS__, i32, int)                  \
    X(__VA_ARGS__, u32, uint) X(__VA_ARGS__, i16, short) X(__VA_ARGS__, u16, ushort)
#define ONE(op, s, T) T agx_##op##_##s(T) LANES;
#define LANE(op, s, T) T agx_##op##_##s(T, uint) LANES;
#define X(op) OF_TYPES(ONE, op)
X(simdsum) X(simdproduct) X(simdmax) X(simdmin) X(simdand) X(simdor) X(simdxor)
X(inclsum) X(inclproduct) X(exclsum) X(exclproduct) X(first)
#undef X
#define X(op) OF_TYPES(LANE, op)
X(shuffle) X(shufflexor) X(shuffleup) X(shuffledown)
#undef X
uint agx_any_u32(uint) LANES;
uint agx_all_u32(uint) LANES;
uint agx_ballot_u32(uint) LANES;
void agx_barrier_v() EFFECT;
void agx_barrierall_v() EFFECT;
void agx_simdbarrier_v() EFFECT;

float2 agx_mma_f32(float2, float2, float2) LANES;
float2 agx_mma_f32h(half2, half2, float2) LANES;
half2  agx_mma_h16(half2, half2, half2) LANES;

#define X(op)                                                                                      \
    float agx_##op##_f32(float) PURE;                                                              \
    half  agx_##op##_h16(half) PURE;
X(exp2) X(log2) X(sin) X(cos) X(rsqrt) X(sqrt) X(rcp) X(rint) X(floor) X(ceil) X(trunc)
#undef X
float agx_divide_f32(float, float) PURE;
uint  agx_mulhi_u32(uint, uint) PURE;
int   agx_mulhi_i32(int, int) PURE;
uint  agx_clz_u32(uint) PURE;
uint  agx_popcount_u32(uint) PURE;
uint  agx_bitreverse_u32(uint) PURE;
#define X(name) uint agx_##name##_u32() PURE;
X(lane) X(simdgroup) X(tid) X(groupx) X(groupy) X(groupz) X(groupsx) X(groupsy) X(groupsz)
#undef X

#define OF_SPACES(X, s, T) X(s##g, __global, T) X(s##l, __local, T)
#define X(s, space, T)                                                                             \
    T agx_atomicsum_##s(volatile space T *, T) EFFECT;                                             \
    T agx_atomicxchg_##s(volatile space T *, T) EFFECT;                                            \
    T agx_atomiccas_##s(volatile space T *, T, T) EFFECT;                                          \
    T agx_atomicload_##s(volatile space T *) EFFECT;
OF_SPACES(X, i32, int) OF_SPACES(X, u32, uint) OF_SPACES(X, f32, float)
#undef X
#define X(s, space, T)                                                                             \
    T agx_atomicmax_##s(volatile space T *, T) EFFECT;                                             \
    T agx_atomicmin_##s(volatile space T *, T) EFFECT;                                             \
    T agx_atomicand_##s(volatile space T *, T) EFFECT;                                             \
    T agx_atomicor_##s(volatile space T *, T) EFFECT;                                              \
    T agx_atomicxor_##s(volatile space T *, T) EFFECT;
OF_SPACES(X, i32, int) OF_SPACES(X, u32, uint)
#undef X
}

/* -- Threads ------------------------------------------------------------------------------------ */

INLINE uint3 threadgroup_position() {
    return (uint3)(agx_groupx_u32(), agx_groupy_u32(), agx_groupz_u32());
}
INLINE uint3 threadgroups() {
    return (uint3)(agx_groupsx_u32(), agx_groupsy_u32(), agx_groupsz_u32());
}

enum mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
INLINE mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }
INLINE EFFECT void threadgroup_barrier(mem_flags f) {
    if (uint(f) & 1) agx_barrierall_v();
    else agx_barrier_v();
}
INLINE EFFECT void simdgroup_barrier(mem_flags) { agx_simdbarrier_v(); }

/* -- Lanes -------------------------------------------------------------------------------------- */

/* 8 bits go as 16. */
#define X(name, agx)                                                                               \
    INLINE float  name(float x) { return agx##_f32(x); }                                           \
    INLINE half   name(half x) { return agx##_h16(x); }                                            \
    INLINE int    name(int x) { return agx##_i32(x); }                                             \
    INLINE uint   name(uint x) { return agx##_u32(x); }                                            \
    INLINE short  name(short x) { return agx##_i16(x); }                                           \
    INLINE ushort name(ushort x) { return agx##_u16(x); }                                          \
    INLINE char   name(char x) { return char(agx##_i16(x)); }                                      \
    INLINE uchar  name(uchar x) { return uchar(agx##_u16(x)); }                                    \
    OF_VECTORS_1(name)
X(simd_sum, agx_simdsum) X(simd_product, agx_simdproduct) X(simd_max, agx_simdmax)
X(simd_min, agx_simdmin) X(simd_and, agx_simdand) X(simd_or, agx_simdor) X(simd_xor, agx_simdxor)
X(simd_prefix_inclusive_sum, agx_inclsum) X(simd_prefix_inclusive_product, agx_inclproduct)
X(simd_prefix_exclusive_sum, agx_exclsum) X(simd_prefix_exclusive_product, agx_exclproduct)
X(simd_broadcast_first, agx_first)
#undef X

#define X(name, agx)                                                                               \
    INLINE float  name(float x, ushort l) { return agx##_f32(x, l); }                              \
    INLINE half   name(half x, ushort l) { return agx##_h16(x, l); }                               \
    INLINE int    name(int x, ushort l) { return agx##_i32(x, l); }                                \
    INLINE uint   name(uint x, ushort l) { return agx##_u32(x, l); }                               \
    INLINE short  name(short x, ushort l) { return agx##_i16(x, l); }                              \
    INLINE ushort name(ushort x, ushort l) { return agx##_u16(x, l); }                             \
    INLINE char   name(char x, ushort l) { return char(agx##_i16(x, l)); }                         \
    INLINE uchar  name(uchar x, ushort l) { return uchar(agx##_u16(x, l)); }                       \
    INLINE bool   name(bool x, ushort l) { return agx##_u16(x, l) != 0; }                          \
    template <class T> INLINE vec<T, 2> name(vec<T, 2> v, ushort l) {                              \
        vec<T, 2> r;                                                                               \
        r.x = name(v.x, l); r.y = name(v.y, l);                                                    \
        return r;                                                                                  \
    }                                                                                              \
    template <class T> INLINE vec<T, 4> name(vec<T, 4> v, ushort l) {                              \
        vec<T, 4> r;                                                                               \
        r.x = name(v.x, l); r.y = name(v.y, l); r.z = name(v.z, l); r.w = name(v.w, l);            \
        return r;                                                                                  \
    }
X(simd_shuffle, agx_shuffle) X(simd_broadcast, agx_shuffle) X(simd_shuffle_xor, agx_shufflexor)
X(simd_shuffle_up, agx_shuffleup) X(simd_shuffle_down, agx_shuffledown)
/* Counted as one instruction; nobody reads the values. */
X(simd_shuffle_rotate_up, agx_shuffleup) X(simd_shuffle_rotate_down, agx_shuffledown)
#undef X
INLINE bool  simd_any(bool x) { return agx_any_u32(x) != 0; }
INLINE bool  simd_all(bool x) { return agx_all_u32(x) != 0; }
INLINE ulong simd_ballot(bool x) { return agx_ballot_u32(x); }

/* -- Matrices ----------------------------------------------------------------------------------- */

/* A lane has two neighbors of a row. Those of bfloat are multiplied as floats. */
template <class T> struct lane_pair { typedef vec<T, 2> type; };
template <> struct lane_pair<bfloat> { typedef float2 type; };
template <class T, int Columns = 8, int Rows = 8> struct simdgroup_matrix {
    typedef typename lane_pair<T>::type pair;
    pair                                e;
    INLINE thread pair                 &thread_elements() thread { return e; }
};
typedef simdgroup_matrix<float>  simdgroup_float8x8;
typedef simdgroup_matrix<half>   simdgroup_half8x8;
typedef simdgroup_matrix<bfloat> simdgroup_bfloat8x8;

template <class T, int R, int C> INLINE simdgroup_matrix<T> make_filled_simdgroup_matrix(T v) {
    simdgroup_matrix<T> m;
    m.e[0] = v;
    m.e[1] = v;
    return m;
}

INLINE uint matrix_row() {
    const uint l = agx_lane_u32();
    return ((l >> 2) & 4) | ((l >> 1) & 3);
}
INLINE uint matrix_column() {
    const uint l = agx_lane_u32();
    return ((l >> 1) & 4) | ((l & 1) << 1);
}

/* Offsets in 32 bits, and a pair in one access where it lies together. */
template <class T, class P>
INLINE void load_matrix(thread simdgroup_matrix<T> &d, P p, uint pitch, ulong2 origin, bool turned) {
    p += uint(origin.y) * pitch + uint(origin.x);
    P    q = turned ? p + matrix_column() * pitch + matrix_row() : p + matrix_row() * pitch + matrix_column();
    uint step = turned ? pitch : 1u;
    d.e[0] = q[0];
    d.e[1] = q[step];
}
#define X(space)                                                                                   \
    template <class T>                                                                             \
    INLINE void simdgroup_load(thread simdgroup_matrix<T> &d, const space T *p, ulong pitch = 8,   \
                               ulong2 origin = (ulong2)(0, 0), bool turned = false) {              \
        typedef vec<T, 2> pair __attribute__((aligned(sizeof(T))));                                \
        if (turned) return load_matrix<T>(d, p, uint(pitch), origin, true);                        \
        p += uint(origin.y) * uint(pitch) + uint(origin.x);                                        \
        d.e = *(const space pair *)(p + matrix_row() * uint(pitch) + matrix_column());             \
    }                                                                                              \
    template <>                                                                                    \
    INLINE void simdgroup_load<bfloat>(thread simdgroup_bfloat8x8 &d, const space bfloat *p,       \
                                       ulong pitch, ulong2 origin, bool turned) {                  \
        load_matrix<bfloat>(d, p, uint(pitch), origin, turned);                                    \
    }                                                                                              \
    template <class T>                                                                             \
    INLINE void simdgroup_store(simdgroup_matrix<T> d, space T *p, ulong pitch = 8) {              \
        typedef vec<T, 2> pair __attribute__((aligned(sizeof(T))));                                \
        *(space pair *)(p + matrix_row() * uint(pitch) + matrix_column()) = d.e;                   \
    }
X(__local) X(__global)
#undef X

#define X(D, A, B, C, agx)                                                                         \
    INLINE void simdgroup_multiply_accumulate(thread simdgroup_matrix<D> &d, simdgroup_matrix<A> a, \
                                              simdgroup_matrix<B> b, simdgroup_matrix<C> c) {      \
        d.e = agx(a.e, b.e, c.e);                                                                  \
    }
X(float, half, half, float, agx_mma_f32h) X(float, float, float, float, agx_mma_f32)
X(float, bfloat, bfloat, float, agx_mma_f32) X(half, half, half, half, agx_mma_h16)
#undef X

/* -- Numbers ------------------------------------------------------------------------------------ */

/* name, over float x, over half x; bfloat by way of float. */
#define FLOATS_1(name, f, h)                                                                       \
    INLINE float  name(float x) { return f; }                                                      \
    INLINE half   name(half x) { return h; }                                                       \
    INLINE bfloat name(bfloat y) {                                                                 \
        float x = float(y);                                                                        \
        return bfloat(f);                                                                          \
    }                                                                                              \
    OF_VECTORS_1(name)
#define FLOATS_2(name, f)                                                                          \
    INLINE float  name(float a, float b) { return f; }                                             \
    INLINE half   name(half a, half b) { return f; }                                               \
    INLINE bfloat name(bfloat x, bfloat y) {                                                       \
        float a = float(x), b = float(y);                                                          \
        return bfloat(f);                                                                          \
    }                                                                                              \
    OF_VECTORS_2(name)
/* An instruction of both widths; one of float, rounded to half behind it. */
#define BOTH(name, agx) FLOATS_1(name, agx##_f32(x), agx##_h16(x))
#define WIDE(name, f) FLOATS_1(name, f(x), half(f(float(x))))

BOTH(rint, agx_rint) BOTH(floor, agx_floor) BOTH(ceil, agx_ceil) BOTH(trunc, agx_trunc)
FLOATS_1(fabs, __builtin_elementwise_abs(x), __builtin_elementwise_abs(x))
FLOATS_1(fract, x - agx_floor_f32(x), x - agx_floor_h16(x))
FLOATS_1(round, agx_trunc_f32(x + __builtin_elementwise_copysign(0.5f, x)),
         agx_trunc_h16(x + __builtin_elementwise_copysign(0.5h, x)))
FLOATS_1(sign, (x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : 0.0f), (x > 0.0h ? 1.0h : x < 0.0h ? -1.0h : 0.0h))
FLOATS_2(fmin, __builtin_elementwise_min(a, b)) FLOATS_2(fmax, __builtin_elementwise_max(a, b))
FLOATS_2(copysign, __builtin_elementwise_copysign(a, b))

namespace fast {
BOTH(exp2, agx_exp2) BOTH(log2, agx_log2) BOTH(rsqrt, agx_rsqrt) BOTH(sqrt, agx_sqrt)
BOTH(sin, agx_sin) BOTH(cos, agx_cos)
FLOATS_1(exp, agx_exp2_f32(x * M_LOG2E_F), agx_exp2_h16(x * 1.4427h))
FLOATS_1(log, agx_log2_f32(x) * M_LN2_F, agx_log2_h16(x) * 0.69315h)
FLOATS_1(log10, agx_log2_f32(x) * 0.30103f, agx_log2_h16(x) * 0.30103h)
FLOATS_1(exp10, agx_exp2_f32(x * 3.321928f), agx_exp2_h16(x * 3.321928h))
INLINE float tanh_of(float x) { return 1.0f - 2.0f * agx_rcp_f32(agx_exp2_f32(x * 2.88539f) + 1.0f); }
WIDE(tanh, tanh_of)
INLINE float divide(float a, float b) { return agx_divide_f32(a, b); }
INLINE float pow(float a, float b) { return agx_exp2_f32(agx_log2_f32(a) * b); }
} // namespace fast

/* Stand-ins of about the size that a refined function has: Apple's own are not known here. */
namespace precise {
INLINE float sqrt_of(float x) {
    const float r = agx_rsqrt_f32(x), h = 0.5f * r;
    float       s = x * r;
    s = __builtin_elementwise_fma(s, __builtin_elementwise_fma(-h, s, 0.5f), s);
    s = __builtin_elementwise_fma(__builtin_elementwise_fma(-s, s, x), h, s);
    return x == 0.0f || x == INFINITY ? x : s;
}
INLINE float exp_of(float x) {
    const float n = agx_rint_f32(x * M_LOG2E_F);
    float       r = __builtin_elementwise_fma(n, -0.693145752f, x);
    r = __builtin_elementwise_fma(n, -1.42860677e-6f, r);
    return agx_exp2_f32(n) * agx_exp2_f32(r * M_LOG2E_F);
}
INLINE float tan_of(float x) { return agx_sin_f32(x) / agx_cos_f32(x); }
INLINE float cube(float x) { return x * x * x; }
FLOATS_1(sqrt, sqrt_of(x), half(agx_sqrt_f32(float(x))))
BOTH(rsqrt, agx_rsqrt) BOTH(exp2, agx_exp2) BOTH(log2, agx_log2) BOTH(sin, agx_sin) BOTH(cos, agx_cos)
FLOATS_1(exp, exp_of(x), half(agx_exp2_f32(float(x) * M_LOG2E_F)))
FLOATS_1(log, agx_log2_f32(x) * M_LN2_F, half(agx_log2_f32(float(x)) * M_LN2_F))
FLOATS_1(log10, agx_log2_f32(x) * 0.30103f, half(agx_log2_f32(float(x)) * 0.30103f))
FLOATS_1(exp10, agx_exp2_f32(x * 3.321928f), half(agx_exp2_f32(float(x) * 3.321928f)))
FLOATS_1(tanh, 1.0f - 2.0f / (exp_of(2.0f * x) + 1.0f), half(fast::tanh_of(float(x))))
FLOATS_1(tan, tan_of(x), half(agx_sin_f32(x) / agx_cos_f32(x)))
FLOATS_1(sinpi, agx_sin_f32(x * M_PI_F), half(agx_sin_f32(float(x) * M_PI_F)))
FLOATS_1(cospi, agx_cos_f32(x * M_PI_F), half(agx_cos_f32(float(x) * M_PI_F)))
FLOATS_1(tanpi, tan_of(x), half(agx_sin_f32(x) / agx_cos_f32(x)))
FLOATS_1(sinh, exp_of(x) - exp_of(-x), half(exp_of(x) - exp_of(-x)))
FLOATS_1(cosh, exp_of(x) + exp_of(-x), half(exp_of(x) + exp_of(-x)))
/* So that they compile; their size means nothing. */
FLOATS_1(asin, cube(x), x * x * x) FLOATS_1(acos, cube(x), x * x * x) FLOATS_1(atan, cube(x), x * x * x)
BOTH(asinh, agx_log2) BOTH(acosh, agx_log2) BOTH(atanh, agx_log2)
INLINE float  atan2(float a, float b) { return a / b; }
INLINE float  divide(float a, float b) { return a / b; }
INLINE float  pow(float a, float b) { return agx_exp2_f32(agx_log2_f32(a) * b); }
FLOATS_2(fmod, a - b * agx_trunc_f32(a / b))
using ::fmax;
using ::fmin;
} // namespace precise

template <class T> INLINE T min(T a, plain<T> b) { return __builtin_elementwise_min(a, b); }
template <class T> INLINE T max(T a, plain<T> b) { return __builtin_elementwise_max(a, b); }
template <class T> INLINE T clamp(T x, plain<T> a, plain<T> b) { return min(max(x, a), b); }
template <class T> INLINE T fma(T a, plain<T> b, plain<T> c) { return __builtin_elementwise_fma(a, b, c); }
template <class T> INLINE T abs(T a) { return __builtin_elementwise_abs(a); }
template <class T> INLINE T dot(vec<T, 2> a, vec<T, 2> b) { return a.x * b.x + a.y * b.y; }
template <class T> INLINE T dot(vec<T, 4> a, vec<T, 4> b) {
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}
INLINE float fdim(float a, float b) { return a > b ? a - b : 0.0f; }

#define OF_BOTH(R, name, T)                                                                        \
    INLINE R##2 name(vec<T, 2> a, vec<T, 2> b) { return R##2(name(a.x, b.x), name(a.y, b.y)); }    \
    INLINE R##4 name(vec<T, 4> a, vec<T, 4> b) {                                                   \
        return R##4(name(a.x, b.x), name(a.y, b.y), name(a.z, b.z), name(a.w, b.w));               \
    }
#define X(T)                                                                                       \
    INLINE bool isnan(T x) { return x != x; }                                                      \
    INLINE bool isinf(T x) { return __builtin_elementwise_abs(x) == T(INFINITY); }                 \
    INLINE bool isfinite(T x) { return __builtin_elementwise_abs(float(x)) < INFINITY; }           \
    INLINE bool isunordered(T a, T b) { return a != a || b != b; }                                 \
    INLINE bool isordered(T a, T b) { return a == a && b == b; }                                   \
    INLINE bool2 isinf(vec<T, 2> v) { return bool2(isinf(v.x), isinf(v.y)); }                      \
    INLINE bool4 isinf(vec<T, 4> v) { return bool4(isinf(v.x), isinf(v.y), isinf(v.z), isinf(v.w)); } \
    OF_BOTH(bool, isunordered, T) OF_BOTH(bool, isordered, T)                                      \
    INLINE bool2 isnan(vec<T, 2> v) { return bool2(v.x != v.x, v.y != v.y); }                      \
    INLINE bool4 isnan(vec<T, 4> v) { return bool4(v.x != v.x, v.y != v.y, v.z != v.z, v.w != v.w); }
X(float) X(half)
#undef X
INLINE bool isnan(bfloat x) { return float(x) != float(x); }

template <class T> INLINE T select(T a, plain<T> b, bool c) { return c ? b : a; }
template <class T, class C> INLINE vec<T, 2> select(vec<T, 2> a, plain<vec<T, 2>> b, C c) {
    const bool2 m(c);
    vec<T, 2>   r;
    r.x = m.x ? b.x : a.x; r.y = m.y ? b.y : a.y;
    return r;
}
template <class T, class C> INLINE vec<T, 4> select(vec<T, 4> a, plain<vec<T, 4>> b, C c) {
    const bool4 m(c);
    vec<T, 4>   r;
    r.x = m.x ? b.x : a.x; r.y = m.y ? b.y : a.y; r.z = m.z ? b.z : a.z; r.w = m.w ? b.w : a.w;
    return r;
}
INLINE bool2 select(bool2 a, bool2 b, bool2 m) { return bool2(m.x ? b.x : a.x, m.y ? b.y : a.y); }
INLINE bool4 select(bool4 a, bool4 b, bool4 m) {
    return bool4(m.x ? b.x : a.x, m.y ? b.y : a.y, m.z ? b.z : a.z, m.w ? b.w : a.w);
}
template <class C> INLINE bfloat2 select(bfloat2 a, bfloat2 b, C c) {
    const bool2 m(c);
    return bfloat2(m.x ? b.x : a.x, m.y ? b.y : a.y);
}
template <class C> INLINE bfloat4 select(bfloat4 a, bfloat4 b, C c) {
    const bool4 m(c);
    return bfloat4(m.x ? b.x : a.x, m.y ? b.y : a.y, m.z ? b.z : a.z, m.w ? b.w : a.w);
}

/* -- Integers ----------------------------------------------------------------------------------- */

INLINE uint   mulhi(uint a, uint b) { return agx_mulhi_u32(a, b); }
INLINE int    mulhi(int a, int b) { return agx_mulhi_i32(a, b); }
INLINE ushort mulhi(ushort a, ushort b) { return ushort((uint(a) * uint(b)) >> 16); }
INLINE short  mulhi(short a, short b) { return short((int(a) * int(b)) >> 16); }
INLINE ulong  mulhi(ulong a, ulong b) {
    const ulong al = uint(a), ah = a >> 32, bl = uint(b), bh = b >> 32;
    const ulong middle = ah * bl + ((al * bl) >> 32), low = al * bh + uint(middle);
    return ah * bh + (middle >> 32) + (low >> 32);
}
INLINE long mulhi(long a, long b) {
    return long(mulhi(ulong(a), ulong(b)) - (a < 0 ? ulong(b) : 0) - (b < 0 ? ulong(a) : 0));
}
OF_VECTORS_2(mulhi)
template <class T> INLINE T hadd(T a, plain<T> b) { return T((a & b) + ((a ^ b) >> 1)); }
INLINE uint   clz(uint x) { return agx_clz_u32(x); }
INLINE int    clz(int x) { return int(agx_clz_u32(uint(x))); }
INLINE ushort clz(ushort x) { return ushort(agx_clz_u32(x) - 16); }
INLINE ulong  clz(ulong x) {
    const uint high = uint(x >> 32);
    return high ? agx_clz_u32(high) : 32u + agx_clz_u32(uint(x));
}
INLINE long  clz(long x) { return long(clz(ulong(x))); }
INLINE uint  popcount(uint x) { return agx_popcount_u32(x); }
INLINE int   popcount(int x) { return int(agx_popcount_u32(uint(x))); }
INLINE ulong popcount(ulong x) { return agx_popcount_u32(uint(x)) + agx_popcount_u32(uint(x >> 32)); }
INLINE uint  reverse_bits(uint x) { return agx_bitreverse_u32(x); }
INLINE uint  ctz(uint x) { return agx_clz_u32(agx_bitreverse_u32(x)); }
INLINE int   ctz(int x) { return int(ctz(uint(x))); }
INLINE uint  rotate(uint x, uint n) { return (x << (n & 31)) | (x >> ((32 - n) & 31)); }

/* -- Atomics ------------------------------------------------------------------------------------ */

/* Plain numbers, so that what a text does with them compiles. OpenCL has types of these names. */
#define atomic_int metal_atomic_int
#define atomic_uint metal_atomic_uint
#define atomic_float metal_atomic_float
typedef int   atomic_int;
typedef uint  atomic_uint;
typedef float atomic_float;
enum memory_order { memory_order_relaxed };

#define X(s, space, T)                                                                             \
    INLINE T atomic_load_explicit(const volatile space T *p, memory_order) {                       \
        return agx_atomicload_##s((volatile space T *)p);                                          \
    }                                                                                              \
    INLINE void atomic_store_explicit(volatile space T *p, plain<T> v, memory_order) { *p = v; }   \
    INLINE T    atomic_exchange_explicit(volatile space T *p, plain<T> v, memory_order) {          \
        return agx_atomicxchg_##s(p, v);                                                           \
    }                                                                                              \
    INLINE T atomic_fetch_add_explicit(volatile space T *p, plain<T> v, memory_order) {            \
        return agx_atomicsum_##s(p, v);                                                            \
    }                                                                                              \
    INLINE T atomic_fetch_sub_explicit(volatile space T *p, plain<T> v, memory_order) {            \
        return agx_atomicsum_##s(p, T(0) - v);                                                     \
    }                                                                                              \
    INLINE bool atomic_compare_exchange_weak_explicit(volatile space T *p, thread T *expected,     \
                                                      plain<T> v, memory_order, memory_order) {    \
        const T    old = agx_atomiccas_##s(p, *expected, v);                                       \
        const bool same = old == *expected;                                                        \
        *expected = old;                                                                           \
        return same;                                                                               \
    }
OF_SPACES(X, i32, int) OF_SPACES(X, u32, uint) OF_SPACES(X, f32, float)
#undef X
#define FETCH(op, s, space, T)                                                                     \
    INLINE T atomic_fetch_##op##_explicit(volatile space T *p, plain<T> v, memory_order) {         \
        return agx_atomic##op##_##s(p, v);                                                         \
    }
#define X(s, space, T)                                                                             \
    FETCH(max, s, space, T) FETCH(min, s, space, T) FETCH(and, s, space, T)                        \
    FETCH(or, s, space, T) FETCH(xor, s, space, T)
OF_SPACES(X, i32, int) OF_SPACES(X, u32, uint)
#undef X
