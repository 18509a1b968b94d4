/* The launch plan that tmetal prints beside its Metal text: which kernels to launch in which order,
 * with how many threads, and what to bind where. */
#ifndef SIM_PLAN_H
#define SIM_PLAN_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace sim {

enum class plan_argument_kind {
    buffer, /* the buffer of parameter `param` at `index` */
    bytes,  /* the value of parameter `param` at byte `offset` of the packed bytes at `index` */
    address, /* the address of parameter `param`'s buffer, 8 bytes at `offset` of those bytes */
    scratch, /* scratch memory `id` at `index` */
    debug,   /* `size` zeroed bytes at `index` for device prints and asserts */
    programs, /* the number of programs along axis `param`, an int like bytes */
    padding, /* 1 when descriptor parameter `param` pads with NaN, else 0, an int like bytes */
    length   /* how many bytes parameter `param`'s buffer holds from its offset on, 8 bytes like bytes */
};

struct plan_argument {
    plan_argument_kind kind = plan_argument_kind::buffer;
    unsigned           param = 0, index = 0, id = 0, align = 16;
    std::string        name, type;
    bool               writes = true;
    size_t             offset = 0, size = 0;
};

/* What the kernel was compiled for: every value of the parameter must be a multiple. */
struct plan_specialization {
    unsigned    param = 0, multiple = 1;
    std::string name;
    bool        is_pointer = false;
};

struct plan_kernel {
    std::string                        name, entry; /* entry: the function in the Metal text */
    std::array<uint32_t, 3>            threads{{0, 1, 1}};
    bool                               per_program = true; /* one threadgroup per Triton program */
    std::array<uint32_t, 3>            grid{{1, 1, 1}};    /* otherwise */
    std::array<uint32_t, 3>            times{{1, 1, 1}};   /* that many threadgroups for each program */
    uint32_t                           programs = 1;       /* that many programs, along x, in each threadgroup */
    std::vector<std::array<size_t, 2>> dynamic;            /* [[threadgroup(index)]], bytes */
    std::vector<plan_argument>         arguments;
    std::vector<plan_specialization>   specialized;
};

struct launch_plan {
    struct scratch_buffer {
        unsigned id;
        size_t   bytes;
        bool     zero; /* must be zero before the first launch */
        size_t   program_bytes; /* more for each program */
    };
    std::string                 gpu;
    int                         version = 310; /* of the language: __METAL_VERSION__ */
    std::vector<scratch_buffer> scratch;
    std::vector<plan_kernel>    kernels; /* in launch order */
};

/* Throws std::runtime_error with the place and the reason. Keys that are not known are ignored. */
launch_plan parse_plan(const std::string &json);

} // namespace sim

#endif
