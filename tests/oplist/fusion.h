/* The rows of fusion.rows as cases. */
#ifndef OPLIST_FUSION_H
#define OPLIST_FUSION_H

#include "run.h"

namespace oplist {

/* In a quick run every second row, each in one type, in turn. */
std::vector<test_case> fusion_cases(const std::string &file, bool quick);

} // namespace oplist

#endif
