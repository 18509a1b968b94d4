/* Compiles op lists with tmetal and runs their plans in the simulator. */
#ifndef OPLIST_RUN_H
#define OPLIST_RUN_H

#include "../sim/sim.h"
#include "reference.h"

#include <functional>
#include <string>
#include <vector>

namespace oplist {

/* A line of the summary of a graph. */
struct fusion {
    bool        applied;
    std::string what, reason;
};

struct layout_row { /* a tmetal_layout_row of a value that is loaded or stored */
    std::string kernel, value, reason;
    unsigned    layout = 0, width = 0, lines = 0, fewest = 0;
};

struct compiled {
    int         code = 0; /* tmetal_code */
    std::string message, msl, plan;
    unsigned    line = 0, column = 0; /* of the first error */
    size_t      peak = 0;             /* bytes of the arena */
    std::vector<fusion>      fusions; /* what the summary says of the graph */
    std::vector<std::string> remarks; /* "about: text" */
    size_t      kernels = 0;
    uint64_t    bytes_before = 0, bytes = 0;
    std::vector<layout_row>  rows;
    std::vector<std::string> missed_layouts; /* remarks: a layout that the caller wanted is not there */
};

struct how {
    std::string gpu, layouts; /* options of that name; "": not given */
    bool        plain = false, tensors = false; /* tensors: products by matmul2d */
};

compiled    compile(const std::string &list, const how &options = how());
std::string print(const std::string &list); /* as tmetal writes it; "" when refused */

/* What a case must also hold to, once it has run. Returns "" or what is wrong. */
using further = std::function<std::string(const compiled &, const sim::report &)>;

struct test_case {
    std::string name, list;
    further     more;
    bool        counters = false, told = false; /* told: not run, `more` asks what is said of it */
    how         options;
    uint64_t    seed = 0; /* of the inputs; 0: another for each case. The same list and seed is worked out once */
};

struct verdict {
    std::string name, why; /* "": right */
};

/* All cases, texts built together, in order; texts and inputs that are the same run once. */
std::vector<verdict> run_all(const std::vector<test_case> &cases, const std::string &keep_directory);

} // namespace oplist

#endif
