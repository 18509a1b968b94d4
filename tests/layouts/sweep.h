/* The sweep over reductions: kinds, element types, shapes, forced layouts. */
#ifndef REDUCE_SWEEP_H
#define REDUCE_SWEEP_H

#include "../oplist/run.h"

namespace reduce {

struct layout {
    const char *name; /* "": the planner picks */
    unsigned    bits; /* of tmetal_layout */
};

extern const layout layouts[6];

/* The worst ratio of lines touched to the fewest among the cases that are held to it, and how many these are. */
struct line_bar {
    double      worst = 0;
    std::string where;
    size_t      held = 0;
};
extern line_bar lines;

/* Cases in groups of one list with all layouts. `quick`: a slice of them. */
std::vector<oplist::test_case> all_cases(bool quick);

} // namespace reduce

#endif
