/* Runs a recorded case in the simulator by its launch plan, and compares every buffer. */
#ifndef CORPUS_LAUNCH_H
#define CORPUS_LAUNCH_H

#include "../sim/plan.h"
#include "../sim/sim.h"
#include "compare.h"
#include "recorded.h"

#include <memory>

namespace corpus {

struct buffer_result {
    unsigned    buffer = 0;
    std::string name;             /* of the first parameter that it was passed as */
    bool        recorded = false; /* has an `out`; otherwise it must be unchanged */
    comparison  result;
};

struct case_result {
    std::string                plan_error; /* the plan does not fit the case */
    sim::report                report;
    std::vector<buffer_result> buffers;
    std::vector<uint8_t>       debug; /* what kernels left in their debug argument */
    std::vector<std::vector<uint8_t>> after; /* the case's buffers as the launch left them */

    bool        right() const;
    std::string why() const; /* the first thing that is wrong; empty when right */
};

/* `unit` is the name under which the case's Metal text was built into `m`. */
case_result run_case(const sim::module &m, const std::string &unit, const sim::launch_plan &plan,
                     const recorded_case &c, const precision &p, const sim::run_options &options);

} // namespace corpus

#endif
