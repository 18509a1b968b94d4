/* What compiled kernels and the simulator call each other by.
 *
 * This file is read by both sides: by clang as C++ for OpenCL while it compiles Metal text, and by
 * the C++ compiler that builds the simulator. Everything is passed by value and in plain integers
 * or floats, so that the two sides need no common view of vectors, half or address spaces.
 *
 * `at` is where the call stands in the Metal text (see SIM_HERE). It comes from the front end, not
 * from the return address, because an optimiser may copy one call to several addresses. */
#ifndef SIM_RUNTIME_H
#define SIM_RUNTIME_H

#ifdef __OPENCL_CPP_VERSION__
#define SIM_CONST __attribute__((const))
#else
#define SIM_CONST
#endif

/* Line and column of the caller when used as a default argument: 20 bits and 12 bits. */
#define SIM_HERE ((unsigned)__builtin_LINE() << 12 | ((unsigned)__builtin_COLUMN() & 4095u))

/* Built-in inputs: the value is `base + axis`. */
enum sim_builtin_id {
    SIM_THREADGROUP_POSITION = 0,
    SIM_THREADGROUPS = 3,
    SIM_THREAD_POSITION = 6, /* in the threadgroup */
    SIM_THREADS = 9,         /* per threadgroup */
    SIM_GRID_POSITION = 12,
    SIM_GRID_THREADS = 15,
    SIM_GRID_ORIGIN = 18,
    SIM_THREAD_INDEX = 21, /* in the threadgroup */
    SIM_LANE,
    SIM_SIMDGROUP,
    SIM_SIMDGROUPS,
    SIM_SIMD_WIDTH,
    SIM_QUAD_LANE,
    SIM_QUAD,
    SIM_QUADS,
    SIM_BUILTIN_COUNT
};

/* What a 32-bit word holds; narrower values travel in the low bits. */
enum sim_type { SIM_I8, SIM_U8, SIM_I16, SIM_U16, SIM_I32, SIM_U32, SIM_F16, SIM_BF16, SIM_F32 };

/* SIMD-group functions; the text is the name that a report uses. */
#define SIM_SIMD_OPS(X)                                                                            \
    X(SUM, "simd_sum")                                                                             \
    X(PRODUCT, "simd_product")                                                                     \
    X(MIN, "simd_min")                                                                             \
    X(MAX, "simd_max")                                                                             \
    X(AND, "simd_and")                                                                             \
    X(OR, "simd_or")                                                                               \
    X(XOR, "simd_xor")                                                                             \
    X(INCLUSIVE_SUM, "simd_prefix_inclusive_sum")                                                  \
    X(EXCLUSIVE_SUM, "simd_prefix_exclusive_sum")                                                  \
    X(INCLUSIVE_PRODUCT, "simd_prefix_inclusive_product")                                          \
    X(EXCLUSIVE_PRODUCT, "simd_prefix_exclusive_product")                                          \
    X(BROADCAST, "simd_broadcast")                                                                 \
    X(BROADCAST_FIRST, "simd_broadcast_first")                                                     \
    X(SHUFFLE, "simd_shuffle")                                                                     \
    X(SHUFFLE_XOR, "simd_shuffle_xor")                                                             \
    X(SHUFFLE_UP, "simd_shuffle_up")                                                               \
    X(SHUFFLE_DOWN, "simd_shuffle_down")                                                           \
    X(ROTATE_UP, "simd_shuffle_rotate_up")                                                         \
    X(ROTATE_DOWN, "simd_shuffle_rotate_down")                                                     \
    X(FILL_UP, "simd_shuffle_and_fill_up")                                                         \
    X(FILL_DOWN, "simd_shuffle_and_fill_down")                                                     \
    X(BALLOT, "simd_ballot")                                                                       \
    X(ACTIVE_MASK, "simd_active_threads_mask")                                                     \
    X(IS_FIRST, "simd_is_first")                                                                   \
    X(ALL, "simd_all")                                                                             \
    X(ANY, "simd_any")                                                                             \
    X(QUAD_SUM, "quad_sum")                                                                        \
    X(QUAD_PRODUCT, "quad_product")                                                                \
    X(QUAD_MIN, "quad_min")                                                                        \
    X(QUAD_MAX, "quad_max")                                                                        \
    X(QUAD_AND, "quad_and")                                                                        \
    X(QUAD_OR, "quad_or")                                                                          \
    X(QUAD_XOR, "quad_xor")                                                                        \
    X(QUAD_BROADCAST, "quad_broadcast")                                                            \
    X(QUAD_SHUFFLE, "quad_shuffle")                                                                \
    X(QUAD_SHUFFLE_XOR, "quad_shuffle_xor")                                                        \
    X(QUAD_SHUFFLE_UP, "quad_shuffle_up")                                                          \
    X(QUAD_SHUFFLE_DOWN, "quad_shuffle_down")                                                      \
    X(MATRIX_LOAD, "simdgroup_load")                                                               \
    X(MATRIX_STORE, "simdgroup_store")                                                             \
    X(MATRIX_MULTIPLY, "simdgroup_multiply_accumulate")                                            \
    X(TENSOR_RUN, "run")                                                                           \
    X(TENSOR_LOAD, "load")                                                                         \
    X(TENSOR_STORE, "store")                                                                       \
    X(BARRIER, "simdgroup_barrier")                                                                \
    X(GROUP_BARRIER, "threadgroup_barrier")

enum sim_simd_op {
#define X(id, text) SIM_OP_##id,
    SIM_SIMD_OPS(X)
#undef X
    SIM_OP_COUNT
};

enum sim_atomic_op {
    SIM_ATOMIC_LOAD,
    SIM_ATOMIC_STORE,
    SIM_ATOMIC_EXCHANGE,
    SIM_ATOMIC_ADD,
    SIM_ATOMIC_SUB,
    SIM_ATOMIC_MIN,
    SIM_ATOMIC_MAX,
    SIM_ATOMIC_AND,
    SIM_ATOMIC_OR,
    SIM_ATOMIC_XOR,
    SIM_ATOMIC_CAS
};

/* mem_flags, with Apple's values. */
enum sim_mem { SIM_MEM_NONE = 0, SIM_MEM_DEVICE = 1, SIM_MEM_THREADGROUP = 2, SIM_MEM_TEXTURE = 4 };

/* Math that has no instruction. One argument, then two. All are exact to a float's last bit or
 * nearly so: they are computed in double. The `fast_` ones follow the formulas that Apple
 * documents, with their traps (see math.cc). */
#define SIM_MATH_1(X)                                                                              \
    X(acos) X(acosh) X(asin) X(asinh) X(atan) X(atanh) X(cos) X(cosh) X(cospi) X(exp) X(exp2)      \
    X(exp10) X(log) X(log2) X(log10) X(rsqrt) X(sin) X(sinh) X(sinpi) X(tan) X(tanh) X(tanpi)      \
    X(fast_acosh) X(fast_asinh) X(fast_atanh) X(fast_cos) X(fast_cosh) X(fast_log) X(fast_log2)    \
    X(fast_log10) X(fast_sin) X(fast_sinh) X(fast_tan) X(fast_tanh)
#define SIM_MATH_2(X) X(atan2) X(fmod) X(pow) X(nextafter) X(fast_atan2) X(fast_pow) X(fast_fmod)

typedef struct sim_pair {
    float a, b;
} sim_pair;

extern "C" {
unsigned long sim_arg(unsigned index);
unsigned      sim_builtin(unsigned which);
unsigned long sim_threadgroup(unsigned id, unsigned long name, unsigned long bytes,
                              unsigned long align);

void     sim_barrier(unsigned mem, unsigned at);
unsigned sim_simd(unsigned op, unsigned type, unsigned bits, unsigned arg, unsigned fill,
                  unsigned at);
void     sim_fence(unsigned mem, unsigned order, unsigned scope);
unsigned sim_atomic(unsigned long address, unsigned op, unsigned type, unsigned value,
                    unsigned order, unsigned at);
unsigned sim_atomic_cas(unsigned long address, unsigned *expected, unsigned desired, unsigned order,
                        unsigned at);
void     sim_atomic_wide(unsigned long address, unsigned op, unsigned long value, unsigned at);

unsigned long sim_matrix_load(unsigned long address, unsigned bytes, unsigned long per_row,
                              unsigned long column, unsigned long row, unsigned transpose,
                              unsigned at);
void          sim_matrix_store(unsigned long address, unsigned bytes, unsigned long per_row,
                               unsigned long column, unsigned long row, unsigned transpose,
                               unsigned long bits, unsigned at);
sim_pair      sim_matrix_multiply(sim_pair a, sim_pair b, sim_pair c, unsigned type, unsigned at);

/* Metal 4 tensors, see tensor.cc. `which`: 0 left operand, 1 right, 2 result. A cooperative tensor is
 * the address of what this thread holds of it, with strides of 0. */
void     sim_tensor_operand(unsigned which, unsigned long address, unsigned type, unsigned bytes,
                            int columns, int rows, int step, int row_step);
void     sim_tensor_run(unsigned long shape, unsigned groups, unsigned held, unsigned at);
void     sim_tensor_move(unsigned columns, unsigned rows, unsigned groups, unsigned role,
                         unsigned out, unsigned long held, unsigned at);
unsigned sim_tensor_capacity(unsigned elements, unsigned threads) SIM_CONST;
unsigned sim_tensor_index(unsigned columns, unsigned rows, unsigned threads, unsigned i,
                          unsigned role);

long sim_divide_by_zero(unsigned remainder);
void sim_outside(long value, long lo, long hi, unsigned at);
void sim_log_begin(unsigned long format); /* address of the text */
void sim_log_integer(long value);
void sim_log_float(float value);
void sim_log_end(void);

float sim_fma_half(float a, float b, float c) SIM_CONST;
float sim_ldexp(float x, int n) SIM_CONST;
int   sim_ilogb(float x) SIM_CONST;
float sim_frexp_part(float x) SIM_CONST;
int   sim_frexp_power(float x) SIM_CONST;
#define X(name) float sim_##name(float x) SIM_CONST;
SIM_MATH_1(X)
#undef X
#define X(name) float sim_##name(float x, float y) SIM_CONST;
SIM_MATH_2(X)
#undef X
}

#endif
