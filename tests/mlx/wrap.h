/* The text that MLX makes of a body: what mx.fast.metal_kernel does before it compiles. */
#ifndef MLX_WRAP_H
#define MLX_WRAP_H

#include <string>
#include <vector>

namespace mlx {

struct array {
    std::string name;  /* as in input_names or output_names */
    std::string dtype; /* in Python: "float32" */
    size_t      ndim = 1, size = 0;
};

struct kernel {
    std::string              name, text; /* the function; the whole text */
    std::vector<unsigned>    inputs, outputs; /* buffer indices */
    std::vector<std::string> attributes, shapes; /* what was found in the body */
};

/* Throws std::runtime_error where MLX throws. */
kernel wrap(const std::string &name, const std::string &header, const std::string &source,
            const std::vector<array> &inputs, const std::vector<array> &outputs);

} // namespace mlx

#endif
