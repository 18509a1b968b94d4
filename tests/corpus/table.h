/* What is printed at the end of a run. */
#ifndef CORPUS_TABLE_H
#define CORPUS_TABLE_H

#include "outcome.h"

#include <cstdio>

namespace corpus {

/* Cases that cannot agree by nature, one a line: a pattern (as a shell's, over the name or the
 * source), then a reason. `#` starts a comment. */
class exceptions {
public:
    explicit exceptions(const std::string &path);
    const std::string *reason(const outcome &o) const; /* NULL: none */

private:
    struct entry {
        std::string pattern, reason;
    };
    std::vector<entry> entries_;
};

void print_table(FILE *out, const std::vector<outcome> &all);
void print_failures(FILE *out, const std::vector<outcome> &all);
void print_counters(FILE *out, const std::vector<outcome> &all);

/* Refusals by code and operation, with the number of cases in each suite. */
void print_census(FILE *out, const std::vector<outcome> &all);

} // namespace corpus

#endif
