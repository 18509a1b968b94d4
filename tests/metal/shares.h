/* How long kernels take on the GPU, as shares of a copy of the same bytes in the same run. */
#ifndef METAL_SHARES_H
#define METAL_SHARES_H

#include "host.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace device {

struct share {
    std::string kernel, layout, size; /* "row sum", "TILED" or "" for the compiler's choice, "4096x4096" */
    bool        is_measured = false;
    double      middle = 0, low = 0, high = 0; /* time of the copy over time of the kernel: median of the runs, quartiles */
    std::string why; /* it was not measured */
};

struct share_options {
    std::vector<std::pair<unsigned, unsigned>> sizes; /* rows and columns; none: 4096 of each */
    std::string              dtype = "f32";
    std::vector<std::string> layouts; /* forced on the row sum */
    bool                     only_sums = false;
    tmetal_options           compile{};
    unsigned                 runs = 9;
    uint64_t                 milliseconds = 20000;
};

/* Calls `each` with every share. False: a launch hung, and what was made is still in use: the process should end. */
bool measure(tmetal_metal *metal, const share_options &o, const std::function<void(const share &)> &each);

} // namespace device

#endif
