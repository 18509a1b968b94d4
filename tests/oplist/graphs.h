/* Op lists made at random, and lists of fusion.rows changed in a few places. */
#ifndef OPLIST_GRAPHS_H
#define OPLIST_GRAPHS_H

#include "run.h"

#include <string>

namespace oplist {

/* The list that a seed stands for: every third is one of the bases with one to three changes. */
std::string random_list(uint64_t seed, const std::vector<std::string> &bases);

struct graph_options {
    uint64_t    graphs = 0, first = 1;
    unsigned    jobs = 1, ways = 2;
    double      seconds = 0; /* begin nothing new after; 0: as long as it takes */
    std::string results;     /* a file: a line for each graph that is wrong */
    bool        census = false, print = false;
};

/* Through compiler, simulator and reference; 0 when nothing differs. */
int run_graphs(const graph_options &o);

} // namespace oplist

#endif
