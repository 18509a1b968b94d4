/* The rows of fusion.rows and corners.rows as cases. */
#ifndef OPLIST_FUSION_H
#define OPLIST_FUSION_H

#include "run.h"

namespace oplist {

/* In a quick run every second row in one type, in turn; with `all` each, and what is almost an operation is not run. */
std::vector<test_case> fusion_cases(const std::string &file, bool quick, bool all = false);

} // namespace oplist

#endif
