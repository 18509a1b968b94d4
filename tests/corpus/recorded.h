/* A recorded launch: NAME.case and the bytes of NAME.bin. */
#ifndef CORPUS_RECORDED_H
#define CORPUS_RECORDED_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace corpus {

/* How a number lies in memory. fp8 by Triton's names: e5m2, e4m3fn (fp8e4nv), e4m3fnuz (fp8e4b8),
 * e5m2fnuz (fp8e5b16), e4m3b11 (fp8e4b15). */
enum class element {
    integer,
    boolean,
    f64,
    f32,
    f16,
    bf16,
    e5m2,
    e4m3fn,
    e4m3fnuz,
    e5m2fnuz,
    e4m3b11
};

struct element_type {
    element  kind = element::integer;
    unsigned bytes = 1;

    bool is_float() const { return kind != element::integer && kind != element::boolean; }
    bool is_fp8() const { return is_float() && bytes == 1; }
};

/* "f32", "fp32", "u8", "i1", "f8E5M2", ...; throws std::runtime_error for others. */
element_type parse_element(const std::string &name);

struct recorded_buffer {
    size_t size = 0;
    bool   has_in = false, has_out = false;
    size_t in = 0, out = 0; /* offsets in the .bin */
};

/* One parameter of the kernel. A descriptor stands for several: its buffer, sizes, strides. */
struct recorded_parameter {
    bool         is_buffer = false;
    unsigned     buffer = 0;
    size_t       offset = 0;
    element_type type;
    std::string  text; /* of a scalar: what stood after the type */
    bool         pads_nan = false; /* of a descriptor */
};

struct recorded_case {
    std::string                     path, name; /* path without extension; name: suite/file */
    std::string                     suite, source, kernel;
    std::array<uint32_t, 3>         grid{{1, 1, 1}};
    unsigned                        warps = 4;
    bool                            compile_only = false;
    std::vector<recorded_buffer>    buffers;
    std::vector<recorded_parameter> parameters;
    std::string                     bytes; /* of the .bin */
};

/* `path` ends in .case. Throws std::runtime_error with file and line. */
recorded_case read_case(const std::string &path);

/* A scalar as the `size` bytes that a launch passes; throws when the text does not fit. */
std::vector<uint8_t> encode_scalar(const recorded_parameter &p, const std::string &type,
                                   size_t size);

} // namespace corpus

#endif
