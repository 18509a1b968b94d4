/* What is printed at the end of a run. */
#ifndef CORPUS_TABLE_H
#define CORPUS_TABLE_H

#include "exceptions.h"
#include "outcome.h"

#include <cstdio>

namespace corpus {

void print_table(FILE *out, const std::vector<outcome> &all);
void print_failures(FILE *out, const std::vector<outcome> &all, bool refused); /* refused: print those too */
void print_counters(FILE *out, const std::vector<outcome> &all);

/* Refusals by code and operation, with the number of cases in each suite. */
void print_census(FILE *out, const std::vector<outcome> &all);

} // namespace corpus

#endif
