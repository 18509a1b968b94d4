/* After mlx/backend/common/metal_kernel.cpp and custom_kernel.cpp of ml-explore/mlx 846d176: what they write,
 * not how. Template arguments and atomic outputs are left out: tmetal uses neither. */
#include "wrap.h"

#include <stdexcept>

namespace mlx {

namespace {

/* The built-in inputs in MLX's order, and which of them have three components. */
struct attribute {
    const char *name;
    bool        triple;
};
const attribute known[] = {
    {"dispatch_quadgroups_per_threadgroup", false},
    {"dispatch_simdgroups_per_threadgroup", false},
    {"dispatch_threads_per_threadgroup", true},
    {"grid_origin", true},
    {"grid_size", true},
    {"quadgroup_index_in_threadgroup", false},
    {"quadgroups_per_threadgroup", false},
    {"simdgroup_index_in_threadgroup", false},
    {"simdgroups_per_threadgroup", false},
    {"thread_execution_width", false},
    {"thread_index_in_quadgroup", false},
    {"thread_index_in_simdgroup", false},
    {"thread_index_in_threadgroup", false},
    {"thread_position_in_grid", true},
    {"thread_position_in_threadgroup", true},
    {"threadgroup_position_in_grid", true},
    {"threadgroups_per_grid", true},
    {"threads_per_grid", true},
    {"threads_per_simdgroup", false},
    {"threads_per_threadgroup", true},
};

std::string type_of(const std::string &dtype) {
    static const char *const types[][2] = {
        {"bool_", "bool"},      {"int8", "int8_t"},     {"int16", "int16_t"},       {"int32", "int32_t"},
        {"int64", "int64_t"},   {"uint8", "uint8_t"},   {"uint16", "uint16_t"},     {"uint32", "uint32_t"},
        {"uint64", "uint64_t"}, {"float16", "float16_t"}, {"bfloat16", "bfloat16_t"}, {"float32", "float"},
    };
    for (const auto &t : types)
        if (dtype == t[0]) return t[1];
    throw std::runtime_error("MLX has no type " + dtype);
}

bool has(const std::string &text, const std::string &word) {
    return text.find(word) != std::string::npos;
}

/* Arguments one by one, each with the next buffer index. */
struct signature {
    std::string text;
    unsigned    n = 0;

    unsigned buffer(const std::string &declared) {
        text += (n ? ",\n  " : "  ") + declared + " [[buffer(" + std::to_string(n) + ")]]";
        if (n > 30) throw std::runtime_error("more than 31 buffers");
        return n++;
    }
};

} // namespace

kernel wrap(const std::string &name, const std::string &header, const std::string &source,
            const std::vector<array> &inputs, const std::vector<array> &outputs) {
    kernel    k;
    signature s;
    if (outputs.empty()) throw std::runtime_error("at least one output is needed");
    k.name = "custom_kernel_" + name;
    for (const array &a : inputs) {
        k.name += "_" + type_of(a.dtype) + (a.ndim == 0 ? "s" : a.size < 8 ? "c" : "");
        k.inputs.push_back(s.buffer(std::string("const ") + (a.size < 8 ? "constant " : "device ") +
                                    type_of(a.dtype) + (a.ndim ? "* " : "& ") + a.name));
        if (a.ndim == 0) continue;
        const std::string extra[][2] = {{"const constant int* ", "_shape"},
                                        {"const constant int64_t* ", "_strides"},
                                        {"const constant int& ", "_ndim"}};
        for (const auto &e : extra) {
            if (!has(source, a.name + e[1])) continue;
            k.shapes.push_back(a.name + e[1]);
            s.buffer(e[0] + a.name + e[1]);
        }
    }
    for (const array &a : outputs) {
        k.name += "_" + type_of(a.dtype);
        k.outputs.push_back(s.buffer("device " + type_of(a.dtype) + "* " + a.name));
    }
    for (const attribute &a : known) {
        if (!has(source, a.name)) continue;
        k.attributes.push_back(a.name);
        s.text += std::string(",\n  ") + (a.triple ? "uint3 " : "uint ") + a.name + " [[" + a.name + "]]";
    }
    k.text = header + "[[kernel]] void " + k.name + "(\n" + s.text + ") {\n" + source + "\n}\n";
    return k;
}

} // namespace mlx
