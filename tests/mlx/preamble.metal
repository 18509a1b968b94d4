// What stands before a kernel in MLX: the names that mlx/backend/metal/kernels/utils.h declares at file scope,
// in words of our own and as far as the simulator reads them. A body that uses one of them for something else
// must be seen to fail here.
#include <metal_stdlib>
using namespace metal;

typedef half float16_t;
typedef bfloat bfloat16_t;
struct complex64_t {
    float real;
    float imag;
};
struct Limits {
    float max;
    float min;
};
struct WorkPerThread {
    int n;
};
struct LoopedElemToLoc {
    int dim;
};
struct ConditionalType {
    int type;
};
constant int MAX_REDUCE_SPECIALIZED_DIMS = 4;
constant int REDUCE_N_READS = 4;
constant int REDUCE_N_WRITES = 4;
constant int SOFTMAX_N_READS = 4;
constant int RMS_N_READS = 4;
constant int RMS_LOOPED_LIMIT = 4096;
inline ushort bfloat16_to_uint16(bfloat16_t x) { return as_type<ushort>(x); }
inline bfloat16_t uint16_to_bfloat16(ushort x) { return as_type<bfloat16_t>(x); }
inline int ceildiv(int n, int m) { return (n + m - 1) / m; }
inline float log1p(float x) { return metal::log(1.0f + x); }
inline bool cast_to(float x) { return x != 0.0f; }
inline int elem_to_loc(int elem, int stride) { return elem * stride; }
inline int elem_to_loc_1(int elem, int stride) { return elem * stride; }
inline int elem_to_loc_2(int elem, int stride) { return elem * stride; }
inline int elem_to_loc_3(int elem, int stride) { return elem * stride; }

