/* Worker processes over batches of cases. */
#ifndef CORPUS_POOL_H
#define CORPUS_POOL_H

#include "batch.h"

namespace corpus {

struct pool_options {
    judge_options judge;
    unsigned      jobs = 2;
    unsigned      batch = 24;       /* cases for one run of clang */
    bool          progress = false; /* a bar on standard error */
};

/* An outcome for every path, in their order. A worker that dies takes no other case with it: what
 * it had not finished is done again one by one, and the case that kills it is a violation. */
std::vector<outcome> judge_all(const std::vector<std::string> &case_paths,
                               const pool_options             &options);

} // namespace corpus

#endif
