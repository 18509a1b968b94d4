/* Judges a batch of cases: compiles them to Metal, builds all texts in one go, runs each. */
#ifndef CORPUS_BATCH_H
#define CORPUS_BATCH_H

#include "outcome.h"
#include "recorded.h"

#include <functional>

namespace corpus {

struct judge_options {
    compile_options compile;
    uint64_t        seed = 1;
    bool            counters = false;
    bool            fresh = false; /* do not look into the cache */
    bool            run = true;    /* false: only compile to Metal, for the census */
    double          seconds = 60;  /* for one case in the simulator */
    std::string     cache_directory;
};

/* Calls `done` once for every path, as results come. */
void judge(const std::vector<std::string> &case_paths, const judge_options &options,
           const std::function<void(const outcome &)> &done);

} // namespace corpus

#endif
