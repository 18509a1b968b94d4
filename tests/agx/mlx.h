/* What MLX's kernels ask of Metal's library and of MLX's own files beyond metal.h: types and traits. mlx.py puts it in front. */
#define METAL_FUNC INLINE

template <bool C, class T = void> struct enable_if_of {};
template <class T> struct enable_if_of<true, T> { typedef T type; };
template <bool C, class T = void> using enable_if_t = typename enable_if_of<C, T>::type;
template <bool C, class A, class B> struct conditional_of { typedef B type; };
template <class A, class B> struct conditional_of<true, A, B> { typedef A type; };
template <bool C, class A, class B> using conditional_t = typename conditional_of<C, A, B>::type;

template <class T> struct bare { typedef T type; };
template <class T> struct bare<const T> { typedef T type; };
template <class T> struct bare<constant T> { typedef T type; };
template <class T> struct bare<const constant T> { typedef T type; };
template <class T> struct bare<thread T> { typedef T type; };
template <class T> struct bare<const thread T> { typedef T type; };
template <class T> using remove_cv_t = typename bare<T>::type;
template <class T> using remove_addrspace_t = typename bare<T>::type;
template <class T> struct pointer_element { typedef T type; };
template <class T> struct pointer_element<device T *> { typedef remove_cv_t<T> type; };
template <class T> struct pointer_element<threadgroup T *> { typedef remove_cv_t<T> type; };
template <class T> using pointer_element_t = typename pointer_element<T>::type;

template <class T> constexpr constant bool is_floating_point_v = is_same_v<T, float> || is_same_v<T, half>;
template <class T> struct is_integer {
    static constexpr constant bool value = is_same_v<T, int> || is_same_v<T, uint> || is_same_v<T, short> ||
                                           is_same_v<T, ushort> || is_same_v<T, char> || is_same_v<T, uchar> ||
                                           is_same_v<T, long> || is_same_v<T, ulong> || is_same_v<T, bool>;
};

template <class T> struct numeric_limits {
    static constexpr T max() { return T(~T(0)) > T(0) ? T(~T(0)) : T(((1ul << (8 * sizeof(T) - 2)) - 1) * 2 + 1); }
    static constexpr T min() { return T(~max()); }
};
template <> struct numeric_limits<float> {
    static constexpr float infinity() { return __builtin_inff(); }
    static constexpr float max() { return 3.402823466e+38f; }
};
template <> struct numeric_limits<half> {
    static constexpr half infinity() { return half(__builtin_inff()); }
    static constexpr half max() { return 65504.0h; }
};

/* Named by operators of types that no row has. */
template <class T> struct complex_t { T real, imag; };
typedef complex_t<float> complex64_t;
typedef bfloat bfloat16_t;
template <class T> struct mlx_atomic { T value; };
template <class A, class B> void mlx_atomic_fetch_add_explicit(A, B, size_t);

/* MLX is built without fast math. */
using precise::exp2;
using precise::rsqrt;

template <class T> using uniform = T;
template <class T> INLINE constexpr T make_uniform(T x) { return x; }
template <class T> INLINE T simd_shuffle_and_fill_up(T x, T filling, ushort l) {
    return agx_lane_u32() < l ? filling : simd_shuffle_up(x, l);
}

#define X(space)                                                                                   \
    template <class V, class T, class Y> INLINE void load_pair(thread V &d, const space T *p, Y step) { \
        typedef vec<T, 2> pair __attribute__((aligned(sizeof(T))));                                \
        pair v;                                                                                    \
        if (int(step) == 1) v = *(const space pair *)p;                                            \
        else { v.x = p[0]; v.y = p[step]; }                                                        \
        d = __builtin_convertvector(v, V);                                                         \
    }
X(__local) X(__global)
#undef X
