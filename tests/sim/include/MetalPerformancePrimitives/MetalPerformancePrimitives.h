/* matmul2d and its cooperative tensors. Included by <metal_stdlib> from language 4.0 on; texts must
 * include it themselves. The rules are those of Apple's MPPTensorOpsMatMul2d.h: what it asserts is
 * asserted here, what it leaves open is a violation (tensor.cc). Which thread holds which element
 * differs from run to run, unless SIM_TENSOR_MAP=m5. */
#ifndef SIM_METAL_PERFORMANCE_PRIMITIVES
#define SIM_METAL_PERFORMANCE_PRIMITIVES
#include "../metal_tensor"

#if __METAL_VERSION__ >= 400

namespace mpp {
namespace tensor_ops {

/* The descriptor is a class there and a template argument of its type; this dialect knows numbers
 * alone, so it is a function beside the class that has the mode. */
struct matmul2d_descriptor {
    enum class mode { multiply, multiply_accumulate };
};
SIM_FN constexpr ulong matmul2d_descriptor(int m, int n, int k = -1, bool left = false,
                                           bool right = false, bool relaxed = false,
                                           enum matmul2d_descriptor::mode mode =
                                               matmul2d_descriptor::mode::multiply) {
    return (ulong)(m & 0xfff) | (ulong)(n & 0xfff) << 12 | (ulong)(k & 0xffffff) << 24 |
           (ulong)left << 48 | (ulong)right << 49 | (ulong)relaxed << 50 | (ulong)mode << 51;
}

} // namespace tensor_ops
} // namespace mpp

namespace sim {

template <typename T> constexpr bool is_small_int =
    same<T, signed char>::value || same<T, uchar>::value;
template <typename T> constexpr bool is_tensor_float =
    same<T, half>::value || same<T, float>::value || same<T, metal::bfloat>::value;

/* MPPTensorOpsMatMul2d.h: what may be multiplied into what. */
template <typename A, typename B, typename C> constexpr bool may_multiply() {
    if (is_small_int<A> && is_small_int<B>) return same<A, B>::value && same<C, int>::value;
    if ((!is_tensor_float<A> && !is_small_int<A>) || (!is_tensor_float<B> && !is_small_int<B>))
        return false;
    if (same<C, float>::value) return true;
    if (same<A, metal::bfloat>::value || same<B, metal::bfloat>::value)
        return !same<A, float>::value && !same<B, float>::value &&
               (same<C, metal::bfloat>::value ||
                (same<C, half>::value && (same<A, half>::value || same<B, half>::value)));
    return same<C, half>::value && (same<A, half>::value || same<B, half>::value) &&
           !same<A, float>::value && !same<B, float>::value;
}

/* Elements of one operand, held by the threads of a scope together. `role`: left, right, result. */
template <typename T, ulong D, uint Groups, uint Role> struct cooperative {
    typedef T element_type;
    static constexpr uint m = D & 0xfff, n = D >> 12 & 0xfff, k = D >> 24 & 0xffffff;
    static constexpr uint sim_role = Role;
    static constexpr bool lr = Role == 0 ? (D >> 48 & 1) != 0 : Role == 1 && (D >> 49 & 1) != 0;
    static constexpr uint columns = Role == 0 ? (lr ? m : k) : Role == 1 ? (lr ? k : n) : n;
    static constexpr uint rows = Role == 0 ? (lr ? k : m) : Role == 1 ? (lr ? n : k) : m;
    T sim_v[columns * rows / (32 * Groups) + 2];

    SIM_FN ushort get_capacity() const {
        return ushort(sim_tensor_capacity(columns * rows, 32 * Groups));
    }
    SIM_FN uint sim_index(uint i) const {
        return sim_tensor_index(columns, rows, 32 * Groups, i, Role);
    }
    SIM_FN bool is_valid_element(ushort i) const { return sim_index(i) != ~0u; }
    SIM_FN metal::array<int, 2> get_multidimensional_index(ushort i) const {
        const uint at = sim_index(i);
        return metal::array<int, 2>({int(at & 0xffff), int(at >> 16)});
    }
    SIM_FN T  operator[](ushort i) const { return sim_v[i]; }
    SIM_FN T &operator[](ushort i) { return sim_v[i]; }
    SIM_FN T  get(ushort i) const { return is_valid_element(i) ? sim_v[i] : T(0.0f); }
    SIM_FN void set(ushort i, T x) {
        if (is_valid_element(i)) sim_v[i] = x;
    }
    template <typename E, typename X, typename G>
    SIM_FN void load(metal::tensor<E, X, G> &t, uint at = SIM_HERE) {
        move(t, false, at);
    }
    template <typename E, typename X, typename G>
    SIM_FN void store(metal::tensor<E, X, G> &t, uint at = SIM_HERE) {
        move(t, true, at);
    }

private:
    template <typename E, typename X, typename G>
    SIM_FN void move(metal::tensor<E, X, G> &t, bool out, uint at) {
        static_assert(same<typename bare<E>::type, T>::value,
                      "load and store do not convert: element types must be the same");
        sim_tensor_operand(Role, (ulong)t.sim_data, tensor_element<T>::id, sizeof(T),
                           t.sim_extent[0], t.sim_extent[1], t.sim_stride[0], t.sim_stride[1]);
        sim_tensor_move(columns, rows, Groups, Role, out, (ulong)&sim_v[0], at);
    }
};

/* Operands of run(): memory, or what the threads hold. */
template <typename E, typename X, typename G>
SIM_FN void operand(uint which, const metal::tensor<E, X, G> &t) {
    typedef typename bare<E>::type T;
    sim_tensor_operand(which, (ulong)t.sim_data, tensor_element<T>::id, sizeof(T), t.sim_extent[0],
                       t.sim_extent[1], t.sim_stride[0], t.sim_stride[1]);
}
template <typename T, ulong D, uint N, uint R>
SIM_FN void operand(uint which, const cooperative<T, D, N, R> &t) {
    typedef cooperative<T, D, N, R> C;
    sim_tensor_operand(which, (ulong)&t.sim_v[0], tensor_element<T>::id, sizeof(T), C::columns,
                       C::rows, 0, 0);
}
template <typename T> constexpr bool is_cooperative = false;
template <typename T, ulong D, uint N, uint R>
constexpr bool is_cooperative<cooperative<T, D, N, R>> = true;

/* What a destination was made for goes with it. */
template <typename L, typename R, typename C, ulong D, uint N>
struct destination : cooperative<C, D, N, 2> {};

} // namespace sim

namespace mpp {
namespace tensor_ops {

template <ulong D, typename Scope> struct matmul2d {
    static constexpr uint m = D & 0xfff, n = D >> 12 & 0xfff, k = D >> 24 & 0xffffff,
                          N = Scope::sim_groups;
    static constexpr bool dynamic = k == 0xffffff;
    static_assert(m % 16 == 0 || n % 16 == 0, "At least one of M or N must be a multiple of 16");
    static_assert(dynamic || (k && k % 16 == 0), "K must be dynamic or a multiple of 16");

    template <typename L, typename R, typename C>
    SIM_FN sim::destination<L, R, C, D, N> get_destination_cooperative_tensor() {
        static_assert(sim::same<L, metal::remove_addrspace_t<L>>::value &&
                          sim::same<R, metal::remove_addrspace_t<R>>::value,
                      "operand types carry an address space: wrap them in remove_addrspace_t");
        static_assert(sim::may_multiply<typename L::element_type, typename R::element_type, C>(),
                      "Unsupported type");
        return {};
    }
    template <typename A, typename B, typename C>
    SIM_FN sim::cooperative<A, D, N, 0> get_left_input_cooperative_tensor() {
        input<A, B, C>();
        return {};
    }
    template <typename A, typename B, typename C>
    SIM_FN sim::cooperative<B, D, N, 1> get_right_input_cooperative_tensor() {
        input<A, B, C>();
        return {};
    }
    template <typename L, typename R, typename DL, typename DR, typename C>
    SIM_FN void run(L &left, R &right, sim::destination<DL, DR, C, D, N> &to, uint at = SIM_HERE) {
        static_assert(sim::same<metal::remove_addrspace_t<L>, DL>::value &&
                          sim::same<metal::remove_addrspace_t<R>, DR>::value,
                      "Input types must match cooperative tensor types");
        sim::operand(0, left);
        sim::operand(1, right);
        sim::operand(2, static_cast<sim::cooperative<C, D, N, 2> &>(to));
        sim_tensor_run(D, N,
                       sim::is_cooperative<DL> | sim::is_cooperative<DR> << 1, at);
    }

private:
    template <typename A, typename B, typename C> static SIM_FN void input() {
        static_assert(N == 1, "Input cooperative tensors require a single SIMD group");
        static_assert(!dynamic, "Inner dimension cannot be dynamic with input cooperative tensors");
        static_assert(m == 32 || n == 32 || k == 32, "one of M, N and K must be 32");
        static_assert(sim::may_multiply<A, B, C>(), "Unsupported type");
    }
};

} // namespace tensor_ops
} // namespace mpp

#endif
#endif
