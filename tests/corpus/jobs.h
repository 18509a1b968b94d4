/* Work cut into pieces that processes take one after the other, with answers line by line. */
#ifndef CORPUS_JOBS_H
#define CORPUS_JOBS_H

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

namespace corpus {

struct job_options {
    unsigned jobs = 2;
    uint64_t count = 0;   /* items */
    uint64_t at_once = 1; /* of them in a piece */
    double   seconds = 0; /* begin nothing new after; 0: as long as it takes */
};

double now(); /* seconds, from some point on */

/* In processes: `work(first, last, out)` writes lines of up to 4,000 bytes. Here: `take(line)` as they come. A process that dies
 * takes no more than its piece with it. Returns how many items were begun. */
uint64_t run_jobs(const job_options &o, const std::function<void(uint64_t, uint64_t, FILE *)> &work, const std::function<void(const std::string &)> &take);

} // namespace corpus

#endif
