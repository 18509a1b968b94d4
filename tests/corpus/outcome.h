/* What became of one case, and how that is kept on disk and passed between processes. */
#ifndef CORPUS_OUTCOME_H
#define CORPUS_OUTCOME_H

#include "../sim/sim.h"
#include "compile.h"

#include <string>
#include <vector>

namespace corpus {

enum class verdict { right, wrong, refused, violation, by_nature };

struct outcome {
    std::string                       name, suite, source; /* name: suite/file */
    verdict                           what = verdict::right;
    std::string                       why; /* empty when right */
    std::vector<diag>                 refusals;
    double                            error = 0;   /* the largest relative error of a buffer */
    double                            seconds = 0; /* in the simulator */
    bool                              compile_only = false, cached = false;
    uint64_t                          benign_races = 0, aliased = 0, zero_divisions = 0;
    std::vector<sim::kernel_counters> counters;
};

std::string to_json(const outcome &o);
bool        from_json(const std::string &text, outcome &o); /* false when it is not one */

/* Results by key in a directory, one file each. */
class outcome_cache {
public:
    explicit outcome_cache(const std::string &directory);
    bool find(const std::string &key, outcome &o) const;
    void put(const std::string &key, const outcome &o) const;

private:
    std::string directory_;
};

} // namespace corpus

#endif
